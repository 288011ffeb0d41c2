"""oldfriend forget: show what would go, ask, take it away for good, and prove it."""

import argparse
import json
from collections.abc import Iterable, Iterator

from oldfriend.app.forgetting import Preview, Report, forget, preview
from oldfriend.app.house import House
from oldfriend.app.showing import one_line
from oldfriend.cli.columns import counted
from oldfriend.cli.opening import is_at_terminal, opened
from oldfriend.cli.whom import is_yes, person_looked_into
from oldfriend.domain.clock import Micros, from_micros, parse_moment, start_of_day
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Change, Entity, Memory
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.forgetting.foreseeing import Foreseen
from oldfriend.memory.forgetting.holding import Said

NOT_DONE = 1
MOST_SHOWN = 8
A_DATE = 10  # characters of "2024-05-03"
COUNTED = {
    "messages": ("message", ""), "memories": ("memory", "memories"),
    "entities": ("name", ""), "summaries": ("summary", "summaries"),
    "replies": ("reply that loses its words", "replies that lose their words"),
}  # fmt: skip
NOTHING_NAMED = (
    "Name what is to be forgotten: ids of messages or memories, --about NAME, "
    "--between DATE DATE, --import NUMBER, or --everything."
)
BEYOND_REACH = """What I cannot take back: what a model's provider or a chat platform keeps of it, \
exports and backups that were made of it, what a disk keeps of deleted files, and a reply of mine \
that says it in other words."""
OF_A_SERVER = "PostgreSQL's own files and archives may keep the bytes until they are used again."
STILL_READ = "Another process still reads the log of writes; run it again once that has ended."


async def run(options: argparse.Namespace) -> int:
    """Show it, ask, forget it, and say whether it is gone.

    A program is not asked: without --yes it is shown what would go, and nothing is done.
    """
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
        wish = wish_from(options, person.zone)
        foreseen = await preview(house, person.id, wish, orphan=options.orphan)
        if options.dry_run or not (options.json and options.yes):
            show(options, preview_as_json(foreseen), preview_as_text(foreseen))
        if options.dry_run:
            return 0
        if options.json and not options.yes:
            return NOT_DONE
        if is_empty(foreseen.foreseen) or not (options.yes or is_agreed()):
            if not options.json:
                print("Nothing was forgotten.")
            return NOT_DONE
        report = await forget(house, person.id, wish, orphan=options.orphan)
        show(options, report_as_json(report), report_as_text(report, house))
    return 0 if report.is_proved else 1


def show(options: argparse.Namespace, values: JsonValue, text: str) -> None:
    """Print it as it was asked for."""
    print(json.dumps(values, ensure_ascii=False) if options.json else text)


def wish_from(options: argparse.Namespace, zone: str) -> Wish:
    """What was typed. Raises InvalidInput where nothing was named."""
    since, until = span_from(options.between, zone) if options.between else (None, None)
    wish = Wish(
        ids=tuple(options.ids), about=options.about, since=since, until=until,
        batch=options.batch, everything=options.everything,
    )  # fmt: skip
    if wish == Wish():
        raise InvalidInput(NOTHING_NAMED)
    return wish


def span_from(between: Iterable[str], zone: str) -> tuple[Micros, Micros]:
    """From the beginning of the first day to the end of the second, or from time to time."""
    first, last = (text.strip() for text in between)
    since, until = parse_moment(first, zone)[0], parse_moment(last, zone)[0]
    if len(last) == A_DATE:
        until = start_of_day(until, zone, days_back=-1)
    if until <= since:
        raise InvalidInput(f"--between takes the earlier date first, and not {first} and {last}.")
    return since, until


def is_agreed() -> bool:
    """Ask the person at the terminal. Raises InvalidInput where there is none."""
    if not is_at_terminal():
        raise InvalidInput(
            "What is forgotten does not come back. To look at it first: --dry-run. "
            "If you are sure, add --yes."
        )
    return is_yes("Forget all of this for good? [y/N] ")


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
        *part("These go, and are learned anew from other words:", anew_of(plan)),
        *part("These stay, for they have other evidence:", keeping_of(plan)),
        *part("These are NOT forgotten, though nothing is left that they rest on:",
              (line_of(change) for change in plan.orphans.values())),
        *part("My replies that repeat it lose their words:", map(said_line, last_of(plan.replies))),
        *part("These chats and imports lose their names:", (f"  {each}" for each in plan.titles)),
        *part("This part of the name is said elsewhere and stays; name it, too, to forget it:",
              (f"  {each}" for each in plan.namesakes)),
        *part("These say nearly the same and stay; name them, too, to forget them:",
              map(said_line, plan.near)),
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
    return (line_of(change) for each, change in plan.objects.items() if each not in plan.anew)


def anew_of(plan: Foreseen) -> Iterator[str]:
    """The beliefs that are learned anew."""
    return (line_of(plan.objects[each]) for each in sorted(plan.anew))


def keeping_of(plan: Foreseen) -> Iterator[str]:
    """The beliefs that stay with less evidence."""
    return (
        f"  …{each[-8:]}  {counted(left, 'other quote')}" for each, left in plan.keeping.items()
    )


def said_line(said: Said) -> str:
    """A message to read."""
    at = from_micros(said.said_at, said.zone).strftime("%Y-%m-%d %H:%M")
    return f"  …{said.id[-8:]}  {at}  {said.speaker or said.role}: {one_line(said.text)}"


def line_of(change: Change) -> str:
    """A belief to read."""
    return f"  …{change.object[-8:]}  {kind_of(change)}: {one_line(words_of(change))}"


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
            f"{counted(shown.calls, 'call')} of a model had it; my records of these lose it."
        )
    if shown.backups:
        yield f"These copies of the database are deleted: {', '.join(shown.backups)}"


def report_as_text(report: Report, house: House) -> str:
    """What was done, to read."""
    counts = [counted(report.counts[name], *COUNTED[name]) for name in COUNTED]
    lines = [f"Forgotten: {', '.join(each for each in counts if not each.startswith('0 '))}."]
    if report.orphans:
        kept = counted(len(report.orphans), "belief")
        lines.append(f"Not forgotten: {kept} that rested on it. See: oldfriend memory list")
    if report.is_proved:
        looked = f" and {counted(report.files, 'file')}" if report.files else ""
        lines.append(f"I looked for it in all tables{looked}: it is gone.")
    lines += [f"It still stands in {each.place} ({each.count})." for each in report.left]
    lines += [f"The copy {each} could not be deleted; delete it yourself." for each in report.stuck]
    if not report.log_is_empty:
        lines.append(STILL_READ if house.db.files() else OF_A_SERVER)
    return "\n".join([*lines, BEYOND_REACH, f"Report {report.digest[:16]}"])


def preview_as_json(shown: Preview) -> JsonValue:
    """What would go, for a program."""
    plan = shown.foreseen
    return {
        "counts": dict(shown.counts),
        "messages": [said_as_json(each) for each in last_of(plan.messages)],
        "beliefs": [
            {"id": each, "kind": kind_of(change), "text": words_of(change),
             "is_learned_anew": each in plan.anew}
            for each, change in plan.objects.items()
        ],
        "keep": [{"id": each, "evidence": left} for each, left in plan.keeping.items()],
        "orphans": list[JsonValue](plan.orphans),
        "replies": [each.id for each in last_of(plan.replies)],
        "near": [said_as_json(each) for each in plan.near],
        "namesakes": list[JsonValue](plan.namesakes),
        "titles": list[JsonValue](plan.titles),
        "exposed": {
            "replies": plan.answers, "calls": shown.calls,
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
        "near": list[JsonValue](report.near), "orphans": list[JsonValue](report.orphans),
        "files": report.files, "log_is_empty": report.log_is_empty,
        "stuck": list[JsonValue](report.stuck), "digest": report.digest,
    }  # fmt: skip
