"""How are beliefs and their histories shown, to people as text and to programs as JSON values?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from oldfriend.app.believing.history import History, Step
from oldfriend.app.believing.looking import Belief
from oldfriend.app.showing import (
    message_as_json,
    message_line,
    one_line,
    words_as_json,
    words_as_text,
)
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import short
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Believed,
    ChangeOp,
    Entity,
    Memory,
    Standing,
    Summary,
)
from oldfriend.domain.messages import Message
from oldfriend.memory.borrowing import lenders_of
from oldfriend.memory.receipts import Uses
from oldfriend.memory.rows import kind_of
from oldfriend.memory.segments import Segment
from oldfriend.memory.thoughts import is_question

DEED: Final[Mapping[ChangeOp, str]] = {
    "learned": "learned", "revised": "added to", "disputed": "became doubtful",
    "superseded": "overtaken by something newer", "merged": "merged into another",
    "deprecated": "let go: too weak to keep", "fulfilled": "came true", "expired": "ran out",
    "ended": "ended: nothing speaks for it any more", "reopened": "believed again",
    "corrected": "corrected", "confirmed": "confirmed", "rejected": "rejected",
    "unrejected": "not rejected after all", "pinned": "pinned", "unpinned": "unpinned",
    "separated": "kept apart",
}  # fmt: skip
WHO: Final[Mapping[str, str]] = {
    "person": "you", "rules": "rules", "summarise-by-rules": "rules", "extract": "a model",
    "summarise": "a model", "adjudicate": "a model", "reply": "a model", "merge": "rules",
    "clock": "the calendar", "undo": "an undo", "reflect": "its reflection", "tick": "its thinking",
    "describe": "a model", "settle": "rules", "borrow": "rules",
}  # fmt: skip


def line_of(what: Believed, *, zone: str, now: Micros | None = None) -> str:
    """Something believed, on one line; with ``now`` also whether its time has passed."""
    if isinstance(what, Entity):
        names = f", also {', '.join(what.aliases)}" if what.aliases else ""
        told = f": {one_line(what.description)}" if what.description else ""
        return f"{short(what.id)}  {what.kind:<11} {what.name}{names}{told}{marks(what, zone)}"
    if isinstance(what, Summary):
        span = f"{day(what.from_at, zone)} to {day(what.until_at, zone)}"
        return f"{short(what.id)}  level {what.level}  {span}  {what.text}{marks(what, zone)}"
    return f"{short(what.id)}  {what.kind:<11} {one_line(what.text)}{marks(what, zone, now)}"


def segment_line(segment: Segment, *, zone: str) -> str:
    """A stretch of talk that was read, on one line."""
    first, last = day(segment.from_at, zone), day(segment.until_at, zone)
    span = first if first == last else f"{first} to {last}"
    many = "1 message" if segment.messages == 1 else f"{segment.messages:,} messages"
    by = f", read by {by_whom(segment.author)}" if segment.author else ""
    return f"{short(segment.id)}  {many} of {span}{by}"


def marks(what: Believed, zone: str, now: Micros | None = None) -> str:
    """What is to be known of it beside its words."""
    found: list[str] = []
    if isinstance(what, Summary):
        found += ["folded into another"] if not what.is_active and what.ended_at is None else []
    else:
        found += [] if what.status in {"active", "confirmed"} else [what.status]
        found += ["pinned"] if what.is_pinned else []
        found += ["by you"] if what.is_by_person else []
    if isinstance(what, Memory):
        found += ["question"] if is_question(what) else []
        found += [f"impact {what.impact:+d}"] if what.impact else []
        found += [due_of(what.due_at, zone, now)] if what.due_at is not None else []
    if what.ended_at is not None:
        found.append(f"until {day(until_of(what) or what.ended_at, zone)}")
    return f"  [{', '.join(found)}]" if found else ""


def until_of(what: Believed) -> Micros | None:
    """Until when it was so, where something newer has overtaken it since."""
    if isinstance(what, Memory) and what.status == "superseded":
        return what.holds_until
    return None


def due_of(due_at: Micros, zone: str, now: Micros | None) -> str:
    """When something is due, or was."""
    return f"{'due' if now is None or now <= due_at else 'overdue since'} {day(due_at, zone)}"


def belief_as_text(belief: Belief, *, zone: str, now: Micros) -> str:
    """Something believed with everything that is known about it, to read."""
    what = belief.what
    lines = [line_of(what, zone=zone, now=now if what.ended_at is None else None)]
    lines += [f"    {line}" for line in details_of(what, belief.standing, zone)]
    lines += [f"    {uses_as_text(belief.uses, zone)}"] if belief.uses is not None else []
    ties = [f"  • {one_line(each.memory.text)}" for each in belief.ties]
    lines += ["", "Tied:", *ties] if ties else []
    for stance, title in (("supports", "Because of:"), ("contradicts", "Against it:")):
        words = [each for each in belief.words if each.stance == stance]
        told = [f"  • {words_as_text(each)}" for each in words]
        lines += ["", title, *told] if words else []
    lines += ["", "Made of:"] if belief.made_of else []
    lines += [part_line(each, zone=zone) for each in belief.made_of]
    if not belief.words and not isinstance(what, Summary):
        lines += ["", "Nothing that was said speaks for it any more." if not is_by_person(what)
                  else "You said so yourself, here."]  # fmt: skip
    return "\n".join(lines)


def uses_as_text(uses: Uses, zone: str) -> str:
    """For how many replies it came to mind."""
    replies = "1 reply" if uses.replies == 1 else f"{uses.replies:,} replies"
    last = day(uses.last_at, zone)
    return f"came to mind for {replies}, of which {uses.used:,} say it; last on {last}"


def part_line(part: Message | Summary, *, zone: str) -> str:
    """Something of which a summary was made, on one line."""
    return f"  • {line_of(part, zone=zone)}" if isinstance(part, Summary) else message_line(part)


def is_by_person(what: Believed) -> bool:
    """Whether the person has written or confirmed it."""
    return not isinstance(what, Summary) and what.is_by_person


def details_of(what: Believed, standing: Standing | None, zone: str) -> list[str]:
    """Its fields, as far as they say something."""
    found = [f"id: {what.id}"]
    if isinstance(what, Memory):
        found += [f"{what.key}: {what.value}"] if what.value else []
        found += [f"happened: {day(what.happened_at, zone)}"] if what.happened_at else []
        found += [f"so since: {day(what.holds_from, zone)}"] if what.holds_from else []
        found += [f"so until: {day(what.holds_until, zone)}"] if what.holds_until else []
        found += [f"tags: {', '.join(what.tags)}"] if what.tags else []
        found += [f"felt: {what.arousal} of 10"] if what.arousal is not None else []
        found += [f"set off by: {', '.join(what.cues)}"] if what.cues else []
        made_of = lenders_of(what)
        found += [f"made of: {', '.join(map(short, made_of))}"] if made_of else []
    if isinstance(what, Entity) and what.status == "uncertain" and what.same_as:
        found.append(f"perhaps the same as {short(what.same_as)}")
    is_thought = isinstance(what, Memory) and what.kind == "thought"
    if standing is not None and standing.times_seen and not is_thought:
        times = "once" if standing.times_seen == 1 else f"{standing.times_seen} times"
        sure = f"sure: {standing.confidence:.0%}, strength {standing.strength:.1f}"
        found.append(f"{sure}; said {times}, last on {day(standing.last_seen, zone)}")
    return [*found, f"learned: {minute(what.learned_at, zone)}"]


def history_as_text(history: History, *, zone: str) -> str:
    """What was decided, in order, to read."""
    return "\n".join(line for step in history.steps for line in step_lines(step, zone))


def step_lines(step: Step, zone: str) -> list[str]:
    """One decision."""
    change = step.change
    until = f", until {minute(step.until, zone)}" if step.until is not None else ""
    head = (
        f"{minute(change.decided_at, zone)}  {DEED[change.op]}, by {by_whom(change.author)}{until}"
    )
    where = f" (read in segment {short(change.segment)})" if change.segment else ""
    return [head + where, f"    {line_of(change.after, zone=zone)}", *(
        f"  {message_line(message)}" for message in step.because
    )]  # fmt: skip


def by_whom(author: str) -> str:
    """Who has decided, in words."""
    name = author.partition("/")[0]
    who = WHO.get(name, author)
    return who if who in {"you", author} else f"{who} ({author})"


def belief_as_json(belief: Belief, *, zone: str) -> dict[str, JsonValue]:
    """Something believed, for a program."""
    return {
        **believed_as_json(belief.what, zone=zone),
        **standing_as_json(belief.standing, zone),
        **uses_as_json(belief.uses, zone),
        **parts_as_json(belief.made_of, zone),
        "evidence": [words_as_json(each) for each in belief.words],
    }


def uses_as_json(uses: Uses | None, zone: str) -> dict[str, JsonValue]:
    """For which replies a memory came to mind, for a program; nothing where that was not read."""
    if uses is None:
        return {}
    last_at = moment(uses.last_at, zone)
    return {"came_to_mind": {"replies": uses.replies, "used": uses.used, "last_at": last_at}}


def parts_as_json(parts: Sequence[Message | Summary], zone: str) -> dict[str, JsonValue]:
    """Of what a summary was made, for a program; nothing where that was not read."""
    made_of: list[JsonValue] = [
        believed_as_json(each, zone=zone) if isinstance(each, Summary) else message_as_json(each)
        for each in parts
    ]
    return {"made_of": made_of} if made_of else {}


def believed_as_json(what: Believed, *, zone: str) -> dict[str, JsonValue]:
    """It, without its words."""
    common: dict[str, JsonValue] = {
        "id": what.id, "kind": kind_of(what),
        "learned_at": moment(what.learned_at, zone), "ended_at": moment(what.ended_at, zone),
    }  # fmt: skip
    if isinstance(what, Memory):
        return common | memory_as_json(what, zone)
    if isinstance(what, Entity):
        return common | {
            "name": what.name, "is": what.kind, "aliases": [*what.aliases],
            "description": what.description, "status": what.status, "same_as": what.same_as,
            "is_pinned": what.is_pinned, "is_by_person": what.is_by_person,
        }  # fmt: skip
    return common | {
        "level": what.level, "text": what.text, "topics": [*what.topics],
        "from_at": moment(what.from_at, zone), "until_at": moment(what.until_at, zone),
        "is_active": what.is_active, "sources": [*what.sources], "segments": [*what.segments],
    }  # fmt: skip


def memory_as_json(what: Memory, zone: str) -> dict[str, JsonValue]:
    """The fields of a memory, for a program."""
    return {
        "text": what.text, "status": what.status, "subject": what.subject, "trust": what.trust,
        "key": what.key, "value": what.value, "impact": what.impact, "tags": [*what.tags],
        "arousal": what.arousal, "cues": [*what.cues],
        "importance": what.importance, "happened_at": moment(what.happened_at, zone),
        "holds_from": moment(what.holds_from, zone), "holds_until": moment(what.holds_until, zone),
        "due_at": moment(what.due_at, zone), "entities": [*what.entities],
        "relations": [{"kind": link.kind, "other": link.other} for link in what.relations],
        "is_pinned": what.is_pinned, "is_by_person": what.is_by_person,
    }  # fmt: skip


def standing_as_json(standing: Standing | None, zone: str) -> dict[str, JsonValue]:
    """How a memory stands, for a program."""
    if standing is None:
        return {}
    return {
        "confidence": standing.confidence, "strength": round(standing.strength, 4),
        "times_seen": standing.times_seen, "last_seen": moment(standing.last_seen, zone),
    }  # fmt: skip


def history_as_json(history: History, *, zone: str) -> dict[str, JsonValue]:
    """What was decided, in order, for a program."""
    return {
        "id": history.object,
        "steps": [step_as_json(step, zone) for step in history.steps],
        "evidence": [words_as_json(each) for each in history.words],
    }


def step_as_json(step: Step, zone: str) -> dict[str, JsonValue]:
    """One decision, for a program."""
    return {
        "object": step.change.object, "op": step.change.op, "author": step.change.author,
        "decided_at": moment(step.change.decided_at, zone), "until": moment(step.until, zone),
        "segment": step.change.segment, "after": believed_as_json(step.change.after, zone=zone),
        "because": [message_as_json(each) for each in step.because],
    }  # fmt: skip


def listed(told: Iterable[Belief], *, zone: str, now: Micros) -> list[str]:
    """Beliefs, a line each; of what is open still, whether it is overdue."""
    return [
        line_of(each.what, zone=zone, now=now if each.what.ended_at is None else None)
        for each in told
    ]


def moment(at: Micros | None, zone: str) -> str | None:
    """A moment for a program; None where there is none."""
    return None if at is None else from_micros(at, zone).isoformat()


def minute(at: Micros, zone: str) -> str:
    """A moment to read."""
    return from_micros(at, zone).strftime("%Y-%m-%d %H:%M")


def day(at: Micros, zone: str) -> str:
    """A day to read."""
    return from_micros(at, zone).strftime("%Y-%m-%d")
