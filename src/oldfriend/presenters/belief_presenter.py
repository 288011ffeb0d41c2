"""Belief presenter: beliefs and their histories as text and as JSON values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from oldfriend.beliefs.history import BeliefHistory, HistoryEntry
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Entity,
    EvidenceStats,
    JournalObject,
    JournalOp,
    Memory,
    Summary,
)
from oldfriend.domain.messages import Message
from oldfriend.memory.derived_evidence import list_premises
from oldfriend.memory.receipts import MemoryUsage
from oldfriend.memory.segments import Segment
from oldfriend.memory.serialization import get_kind
from oldfriend.memory.thoughts import is_question
from oldfriend.presenters.receipt_presenter import (
    evidence_as_json,
    evidence_as_text,
    format_message,
    message_as_json,
    to_one_line,
)

OP_LABELS: Final[Mapping[JournalOp, str]] = {
    "learned": "learned",
    "revised": "added to",
    "disputed": "became doubtful",
    "superseded": "overtaken by something newer",
    "merged": "merged into another",
    "deprecated": "let go: too weak to keep",
    "fulfilled": "came true",
    "expired": "ran out",
    "ended": "ended: nothing speaks for it any more",
    "reopened": "believed again",
    "corrected": "corrected",
    "confirmed": "confirmed",
    "rejected": "rejected",
    "unrejected": "not rejected after all",
    "pinned": "pinned",
    "unpinned": "unpinned",
    "separated": "kept apart",
}
AUTHOR_LABELS: Final[Mapping[str, str]] = {
    "person": "you",
    "rules": "rules",
    "summarise-by-rules": "rules",
    "extract": "a model",
    "summarise": "a model",
    "adjudicate": "a model",
    "reply": "a model",
    "merge": "rules",
    "clock": "the calendar",
    "undo": "an undo",
    "reflect": "its reflection",
    "tick": "its thinking",
    "describe": "a model",
    "settle": "rules",
    "borrow": "rules",
}


def format_belief_line(belief: JournalObject, *, zone: str, now: Micros | None = None) -> str:
    """Format a belief on one line; with ``now`` also whether it is overdue."""
    if isinstance(belief, Entity):
        names = f", also {', '.join(belief.aliases)}" if belief.aliases else ""
        description = f": {to_one_line(belief.description)}" if belief.description else ""
        return (
            f"{shorten_id(belief.id)}  {belief.kind:<11} "
            f"{belief.name}{names}{description}{format_flags(belief, zone)}"
        )
    if isinstance(belief, Summary):
        span = f"{format_date(belief.from_at, zone)} to {format_date(belief.until_at, zone)}"
        return (
            f"{shorten_id(belief.id)}  level {belief.level}  {span}  "
            f"{belief.text}{format_flags(belief, zone)}"
        )
    return (
        f"{shorten_id(belief.id)}  {belief.kind:<11} "
        f"{to_one_line(belief.text)}{format_flags(belief, zone, now)}"
    )


def format_segment_line(segment: Segment, *, zone: str) -> str:
    """Format a segment that was read on one line."""
    first, last = format_date(segment.from_at, zone), format_date(segment.until_at, zone)
    span = first if first == last else f"{first} to {last}"
    count = "1 message" if segment.messages == 1 else f"{segment.messages:,} messages"
    author = f", read by {format_author(segment.author)}" if segment.author else ""
    return f"{shorten_id(segment.id)}  {count} of {span}{author}"


def format_flags(belief: JournalObject, zone: str, now: Micros | None = None) -> str:
    """Format what qualifies a belief apart from its words."""
    found: list[str] = []
    if isinstance(belief, Summary):
        found += ["folded into another"] if not belief.is_active and belief.ended_at is None else []
    else:
        found += [] if belief.status in {"active", "confirmed"} else [belief.status]
        found += ["pinned"] if belief.is_pinned else []
        found += ["by you"] if belief.is_by_person else []
    if isinstance(belief, Memory):
        found += ["question"] if is_question(belief) else []
        found += [f"impact {belief.impact:+d}"] if belief.impact else []
        found += [format_due(belief.due_at, zone, now)] if belief.due_at is not None else []
    if belief.ended_at is not None:
        found.append(f"until {format_date(find_superseded_until(belief) or belief.ended_at, zone)}")
    return f"  [{', '.join(found)}]" if found else ""


def find_superseded_until(belief: JournalObject) -> Micros | None:
    """Return until when a belief was true, if a newer one has superseded it."""
    if isinstance(belief, Memory) and belief.status == "superseded":
        return belief.holds_until
    return None


def format_due(due_at: Micros, zone: str, now: Micros | None) -> str:
    """Format when a belief is due, or was."""
    return (
        f"{'due' if now is None or now <= due_at else 'overdue since'} {format_date(due_at, zone)}"
    )


def format_belief(belief: BeliefDetails, *, zone: str, now: Micros) -> str:
    """Format a belief with everything that is known about it."""
    content = belief.content
    lines = [format_belief_line(content, zone=zone, now=now if content.ended_at is None else None)]
    lines += [f"    {line}" for line in format_details(content, belief.standing, zone)]
    lines += [f"    {format_uses(belief.uses, zone)}"] if belief.uses is not None else []
    relations = [f"  • {to_one_line(each.memory.text)}" for each in belief.relations]
    lines += ["", "Tied:", *relations] if relations else []
    for stance, title in (("supports", "Because of:"), ("contradicts", "Against it:")):
        evidence = [each for each in belief.evidence if each.stance == stance]
        quotes = [f"  • {evidence_as_text(each)}" for each in evidence]
        lines += ["", title, *quotes] if evidence else []
    lines += ["", "Made of:"] if belief.sources else []
    lines += [format_source_line(each, zone=zone) for each in belief.sources]
    if not belief.evidence and not isinstance(content, Summary):
        lines += [
            "",
            "Nothing that was said speaks for it any more."
            if not is_by_person(content)
            else "You said so yourself, here.",
        ]
    return "\n".join(lines)


def format_uses(uses: MemoryUsage, zone: str) -> str:
    """Format in how many replies a belief was recalled."""
    replies = "1 reply" if uses.replies == 1 else f"{uses.replies:,} replies"
    last = format_date(uses.last_at, zone)
    return f"came to mind for {replies}, of which {uses.used:,} say it; last on {last}"


def format_source_line(source: Message | Summary, *, zone: str) -> str:
    """Format one source of a summary on one line."""
    return (
        f"  • {format_belief_line(source, zone=zone)}"
        if isinstance(source, Summary)
        else format_message(source)
    )


def is_by_person(belief: JournalObject) -> bool:
    """Return whether the person has written or confirmed a belief."""
    return not isinstance(belief, Summary) and belief.is_by_person


def format_details(belief: JournalObject, standing: EvidenceStats | None, zone: str) -> list[str]:
    """Format the fields of a belief that are set."""
    found = [f"id: {belief.id}"]
    if isinstance(belief, Memory):
        found += [f"{belief.key}: {belief.value}"] if belief.value else []
        found += (
            [f"happened: {format_date(belief.happened_at, zone)}"] if belief.happened_at else []
        )
        found += [f"so since: {format_date(belief.holds_from, zone)}"] if belief.holds_from else []
        found += (
            [f"so until: {format_date(belief.holds_until, zone)}"] if belief.holds_until else []
        )
        found += [f"tags: {', '.join(belief.tags)}"] if belief.tags else []
        found += [f"felt: {belief.arousal} of 10"] if belief.arousal is not None else []
        found += [f"set off by: {', '.join(belief.cues)}"] if belief.cues else []
        made_of = list_premises(belief)
        found += [f"made of: {', '.join(map(shorten_id, made_of))}"] if made_of else []
    if isinstance(belief, Entity) and belief.status == "uncertain" and belief.same_as:
        found.append(f"perhaps the same as {shorten_id(belief.same_as)}")
    is_thought = isinstance(belief, Memory) and belief.kind == "thought"
    if standing is not None and standing.times_seen and not is_thought:
        times = "once" if standing.times_seen == 1 else f"{standing.times_seen} times"
        sure = f"sure: {standing.confidence:.0%}, strength {standing.strength:.1f}"
        found.append(f"{sure}; said {times}, last on {format_date(standing.last_seen, zone)}")
    return [*found, f"learned: {format_datetime(belief.learned_at, zone)}"]


def format_history(history: BeliefHistory, *, zone: str) -> str:
    """Format the decisions about a belief in order."""
    return "\n".join(line for step in history.entries for line in format_history_entry(step, zone))


def format_history_entry(entry: HistoryEntry, zone: str) -> list[str]:
    """Format one decision."""
    change = entry.change
    until = f", until {format_datetime(entry.until, zone)}" if entry.until is not None else ""
    head = (
        f"{format_datetime(change.decided_at, zone)}  {OP_LABELS[change.op]}, by "
        f"{format_author(change.author)}{until}"
    )
    where = f" (read in segment {shorten_id(change.segment)})" if change.segment else ""
    return [
        head + where,
        f"    {format_belief_line(change.after, zone=zone)}",
        *(f"  {format_message(message)}" for message in entry.cause_messages),
    ]


def format_author(author: str) -> str:
    """Format the author of a decision."""
    name = author.partition("/")[0]
    who = AUTHOR_LABELS.get(name, author)
    return who if who in {"you", author} else f"{who} ({author})"


def belief_as_json(belief: BeliefDetails, *, zone: str) -> dict[str, JsonValue]:
    """Return a belief as JSON."""
    return {
        **content_as_json(belief.content, zone=zone),
        **standing_as_json(belief.standing, zone),
        **uses_as_json(belief.uses, zone),
        **sources_as_json(belief.sources, zone),
        "evidence": [evidence_as_json(each) for each in belief.evidence],
    }


def uses_as_json(uses: MemoryUsage | None, zone: str) -> dict[str, JsonValue]:
    """Return the usage of a memory as JSON; empty if it was not loaded."""
    if uses is None:
        return {}
    last_at = to_iso(uses.last_at, zone)
    return {"came_to_mind": {"replies": uses.replies, "used": uses.used, "last_at": last_at}}


def sources_as_json(sources: Sequence[Message | Summary], zone: str) -> dict[str, JsonValue]:
    """Return the sources of a summary as JSON; empty if they were not loaded."""
    made_of: list[JsonValue] = [
        content_as_json(each, zone=zone) if isinstance(each, Summary) else message_as_json(each)
        for each in sources
    ]
    return {"made_of": made_of} if made_of else {}


def content_as_json(belief: JournalObject, *, zone: str) -> dict[str, JsonValue]:
    """Return the content of a belief as JSON, without its evidence."""
    common: dict[str, JsonValue] = {
        "id": belief.id,
        "kind": get_kind(belief),
        "learned_at": to_iso(belief.learned_at, zone),
        "ended_at": to_iso(belief.ended_at, zone),
    }
    if isinstance(belief, Memory):
        return common | memory_as_json(belief, zone)
    if isinstance(belief, Entity):
        return common | {
            "name": belief.name,
            "is": belief.kind,
            "aliases": [*belief.aliases],
            "description": belief.description,
            "status": belief.status,
            "same_as": belief.same_as,
            "is_pinned": belief.is_pinned,
            "is_by_person": belief.is_by_person,
        }
    return common | {
        "level": belief.level,
        "text": belief.text,
        "topics": [*belief.topics],
        "from_at": to_iso(belief.from_at, zone),
        "until_at": to_iso(belief.until_at, zone),
        "is_active": belief.is_active,
        "sources": [*belief.sources],
        "segments": [*belief.segments],
    }


def memory_as_json(memory: Memory, zone: str) -> dict[str, JsonValue]:
    """Return the fields of a memory as JSON."""
    return {
        "text": memory.text,
        "status": memory.status,
        "subject": memory.subject,
        "trust": memory.trust,
        "key": memory.key,
        "value": memory.value,
        "impact": memory.impact,
        "tags": [*memory.tags],
        "arousal": memory.arousal,
        "cues": [*memory.cues],
        "importance": memory.importance,
        "happened_at": to_iso(memory.happened_at, zone),
        "holds_from": to_iso(memory.holds_from, zone),
        "holds_until": to_iso(memory.holds_until, zone),
        "due_at": to_iso(memory.due_at, zone),
        "entities": [*memory.entities],
        "relations": [{"kind": link.kind, "other": link.target} for link in memory.relations],
        "is_pinned": memory.is_pinned,
        "is_by_person": memory.is_by_person,
    }


def standing_as_json(standing: EvidenceStats | None, zone: str) -> dict[str, JsonValue]:
    """Return the evidence statistics of a memory as JSON."""
    if standing is None:
        return {}
    return {
        "confidence": standing.confidence,
        "strength": round(standing.strength, 4),
        "times_seen": standing.times_seen,
        "last_seen": to_iso(standing.last_seen, zone),
    }


def history_as_json(history: BeliefHistory, *, zone: str) -> dict[str, JsonValue]:
    """Return the decisions about a belief as JSON, in order."""
    return {
        "id": history.object_id,
        "steps": [entry_as_json(step, zone) for step in history.entries],
        "evidence": [evidence_as_json(each) for each in history.evidence],
    }


def entry_as_json(entry: HistoryEntry, zone: str) -> dict[str, JsonValue]:
    """Return one decision as JSON."""
    return {
        "object": entry.change.object_id,
        "op": entry.change.op,
        "author": entry.change.author,
        "decided_at": to_iso(entry.change.decided_at, zone),
        "until": to_iso(entry.until, zone),
        "segment": entry.change.segment,
        "after": content_as_json(entry.change.after, zone=zone),
        "because": [message_as_json(each) for each in entry.cause_messages],
    }


def format_belief_lines(beliefs: Iterable[BeliefDetails], *, zone: str, now: Micros) -> list[str]:
    """Format beliefs, one line each; for those still open, also whether they are overdue."""
    return [
        format_belief_line(
            each.content, zone=zone, now=now if each.content.ended_at is None else None
        )
        for each in beliefs
    ]


def to_iso(at: Micros | None, zone: str) -> str | None:
    """Format a moment as ISO 8601; None if there is none."""
    return None if at is None else from_micros(at, zone).isoformat()


def format_datetime(at: Micros, zone: str) -> str:
    """Format a date and time."""
    return from_micros(at, zone).strftime("%Y-%m-%d %H:%M")


def format_date(at: Micros, zone: str) -> str:
    """Format a date."""
    return from_micros(at, zone).strftime("%Y-%m-%d")
