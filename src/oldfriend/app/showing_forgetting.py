"""How is what would be forgotten shown, and what was: to people as text, to programs as JSON?

Both ways in have it from here: the command line and the page.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.app.forgetting import Preview, Report
from oldfriend.app.showing import counted, one_line
from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Change, Entity, Memory, Summary
from oldfriend.memory.forgetting.foreseeing import Foreseen
from oldfriend.memory.forgetting.holding import Said

MOST_SHOWN: Final = 8
SHOWN_OF_ID: Final = 8
"""Characters at the end of an id, by which it is named."""
COUNTED: Final = {
    "messages": ("message", ""), "memories": ("memory", "memories"),
    "entities": ("name", ""), "summaries": ("summary", "summaries"),
    "replies": ("reply that loses its words", "replies that lose their words"),
}  # fmt: skip
BEYOND_REACH: Final = (
    "What I cannot take back: what a model's provider or a chat platform keeps of it, exports and "
    "backups that were made of it, what a disk keeps of deleted files, and a reply of mine that "
    "says it in other words."
)
WORDS_STAY: Final = (
    "The belief is gone; the words it was read from stay, and I may quote them. To forget these, "
    "too: {command}"
)
IN_A_GROUP: Final = (
    "Some of it was said in a group. The group, and each member whom I know, keeps what was said "
    "there in a memory of their own, which I have not touched. Whoever runs this Oldfriend can "
    "have it forgotten there, too: oldfriend forget --person NAME"
)
OF_A_SERVER: Final = (
    "PostgreSQL's own files and archives may keep the bytes until they are used again."
)
STILL_READ: Final = (
    "Another process still reads the log of writes; run it again once that has ended."
)


def is_empty(plan: Foreseen) -> bool:
    """Whether nothing of what was named is there."""
    return not (plan.messages or plan.objects or plan.orphans)


def preview_as_text(shown: Preview) -> str:
    """What would go, to read."""
    plan = shown.foreseen
    if is_empty(plan):
        return "Nothing of that is kept."
    return "\n".join([
        *part("These messages go:", messages_of(plan)),
        *part("These beliefs go:", beliefs_of(plan)),
        *part("These go, and are made anew from the words that stay:", anew_of(plan)),
        *part("These stay, for something else speaks for them:", keeping_of(plan)),
        *part("These are NOT forgotten, though nothing is left that they rest on:",
              (line_of(change) for change in plan.orphans.values())),
        *part("My replies that repeat it lose their words:", map(said_line, last_of(plan.replies))),
        *part("These chats and imports lose their names:", (f"  {each}" for each in plan.titles)),
        *part("This part of the name is said elsewhere and stays; name it, too, to forget it:",
              (f"  {each}" for each in plan.namesakes)),
        *part("These say nearly the same and stay; name them, too, to forget them:",
              (said_line(each) for each in plan.near if each.id not in plan.read_from)),
        *part("These words stay, though what goes was read from them:",
              map(said_line, words_kept(plan))),
        *part("These beliefs stay, and were read from the same words:",
              map(line_of, plan.beside.values())),
        *([f"To forget these, too: {command_for(plan)}"] if plan.read_from else []),
        *exposed_lines(shown),
    ])  # fmt: skip


def part(title: str, lines: Iterable[str]) -> list[str]:
    """Some lines under a title; nothing where there are none."""
    found = list(lines)
    more = len(found) - MOST_SHOWN
    rest = [f"  … and {more:,} more"] if more > 0 else []
    return [title, *found[:MOST_SHOWN], *rest] if found else []


def messages_of(plan: Foreseen) -> Iterator[str]:
    """The messages that go, each once."""
    return map(said_line, last_of(plan.messages))


def last_of(versions: Iterable[Said]) -> list[Said]:
    """Of each message the last of some versions."""
    return list({each.id: each for each in versions}.values())


def beliefs_of(plan: Foreseen) -> Iterator[str]:
    """The beliefs that go for good."""
    anew = made_anew(plan)
    return (line_of(change) for each, change in plan.objects.items() if each not in anew)


def anew_of(plan: Foreseen) -> Iterator[str]:
    """The beliefs that are made anew."""
    return (line_of(plan.objects[each]) for each in sorted(made_anew(plan)))


def made_anew(plan: Foreseen) -> frozenset[ObjectId]:
    """What goes and comes back from what stays: beliefs, and what was said in short."""
    if plan.chosen.is_everything:
        return plan.anew
    retold = {each for each, change in plan.objects.items() if isinstance(change.after, Summary)}
    return plan.anew | (retold - plan.chosen.objects)


def keeping_of(plan: Foreseen) -> Iterator[str]:
    """The beliefs that stay with less evidence, or by the person's own decision."""
    for each, left in plan.keeping.items():
        by = counted(left, "other quote") if left else "you have decided so yourself"
        yield f"{line_of(plan.staying[each])} ({by})"


def words_kept(plan: Foreseen) -> list[Said]:
    """The messages that stay although what was read from them goes."""
    return [each for each in plan.near if each.id in plan.read_from]


def command_for(plan: Foreseen) -> str:
    """What is typed to forget the words, too, and what else was read from them."""
    return command_of((*(each.id for each in words_kept(plan)), *plan.beside))


def command_of(ids: Iterable[str]) -> str:
    """What is typed to forget these."""
    return f"oldfriend forget {' '.join(each[-SHOWN_OF_ID:] for each in ids)}"


def said_line(said: Said) -> str:
    """A message to read."""
    at = from_micros(said.said_at, said.zone).strftime("%Y-%m-%d %H:%M")
    return f"  …{said.id[-SHOWN_OF_ID:]}  {at}  {said.speaker or said.role}: {one_line(said.text)}"


def line_of(change: Change) -> str:
    """A belief to read."""
    return f"  …{change.object[-SHOWN_OF_ID:]}  {kind_of(change)}: {one_line(words_of(change))}"


def kind_of(change: Change) -> str:
    """What sort of thing a decision is about, as it is said."""
    after = change.after
    if isinstance(after, Memory):
        return after.kind
    return after.kind if isinstance(after, Entity) else "summary"


def words_of(change: Change) -> str:
    """What a decision says."""
    return change.after.name if isinstance(change.after, Entity) else change.after.text


def exposed_lines(shown: Preview) -> Iterator[str]:
    """Who has seen it."""
    if shown.foreseen.answers or shown.calls:
        yield (
            f"It was before me for {counted(shown.foreseen.answers, 'reply', 'replies')}, and "
            f"{counted(sum(shown.calls.values()), 'call')} of a model had it{to_whom(shown)}; my "
            "records of these lose it."
        )
    if shown.backups:
        yield f"These copies of the database are deleted: {', '.join(shown.backups)}"


def to_whom(shown: Preview) -> str:
    """Which models had it."""
    return f" ({', '.join(shown.calls)})" if shown.calls else ""


def report_as_text(report: Report, *, has_files: bool) -> str:
    """What was done, to read; ``has_files``: the database lies in files of ours."""
    counts = [counted(report.counts[name], *COUNTED[name]) for name in COUNTED]
    lines = [f"Forgotten: {', '.join(each for each in counts if not each.startswith('0 '))}."]
    if report.orphans:
        kept = counted(len(report.orphans), "belief")
        lines.append(f"Not forgotten: {kept} that rested on it. See: oldfriend memory list")
    if report.is_proved:
        looked = f" and {counted(report.files, 'file')}" if report.files else ""
        what = "what I believed of it" if report.read_from else "it"
        lines.append(f"I looked for {what} in all tables{looked}: it is gone.")
    lines += [f"It still stands in {each.place} ({each.count})." for each in report.left]
    lines += [f"The copy {each} could not be deleted; delete it yourself." for each in report.stuck]
    lines += remarks_on(report, has_files=has_files)
    return "\n".join([*lines, f"Report {report.digest[:16]}"])


def remarks_on(report: Report, *, has_files: bool) -> list[str]:
    """What stays that one may not expect to, and what cannot be taken back, in sentences."""
    stay = WORDS_STAY.format(command=command_of(report.read_from))
    return [*([stay] if report.read_from else []), *out_of_reach(report, has_files=has_files)]


def out_of_reach(report: Report, *, has_files: bool) -> list[str]:
    """What no forgetting here takes back, in sentences."""
    still = [STILL_READ if has_files else OF_A_SERVER]
    group = [IN_A_GROUP] if report.was_in_group else []
    return [*([] if report.log_is_empty else still), *group, BEYOND_REACH]


def preview_as_json(shown: Preview) -> JsonValue:
    """What would go, for a program."""
    plan = shown.foreseen
    anew = made_anew(plan)
    return {
        "counts": dict(shown.counts),
        "messages": [said_as_json(each) for each in last_of(plan.messages)],
        "beliefs": [
            {"id": each, "kind": kind_of(change), "text": words_of(change),
             "is_learned_anew": each in anew}
            for each, change in plan.objects.items()
        ],
        "keep": [{"id": each, "evidence": left} for each, left in plan.keeping.items()],
        "orphans": list[JsonValue](plan.orphans),
        "replies": [each.id for each in last_of(plan.replies)],
        "near": [said_as_json(each) for each in plan.near],
        "read_from": list[JsonValue](sorted(plan.read_from)),
        "beside": [
            {"id": each, "kind": kind_of(change), "text": words_of(change)}
            for each, change in plan.beside.items()
        ],
        "namesakes": list[JsonValue](plan.namesakes),
        "titles": list[JsonValue](plan.titles),
        "exposed": {
            "replies": plan.answers, "calls": sum(shown.calls.values()),
            "models": dict(shown.calls),
            "backups": list[JsonValue](shown.backups),
        },
    }  # fmt: skip


def said_as_json(said: Said) -> JsonValue:
    """A message for a program."""
    at = from_micros(said.said_at, said.zone).isoformat(timespec="seconds")
    return {"id": said.id, "at": at, "speaker": said.speaker, "text": said.text}


def report_as_json(report: Report) -> JsonValue:
    """What was done, for a program; without a word of it."""
    return {
        "counts": dict(report.counts), "ids": list[JsonValue](report.ids),
        "is_proved": report.is_proved,
        "left": [
            {"place": each.place, "what": each.what, "count": each.count} for each in report.left
        ],
        "near": list[JsonValue](report.near), "read_from": list[JsonValue](report.read_from),
        "orphans": list[JsonValue](report.orphans),
        "files": report.files, "log_is_empty": report.log_is_empty,
        "was_in_group": report.was_in_group,
        "stuck": list[JsonValue](report.stuck), "digest": report.digest,
    }  # fmt: skip
