"""Belief text: beliefs as lines for the terminal."""

from collections.abc import Iterable

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.belief_times import get_told_zone, is_overdue
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.memories import Entity, EvidenceStats, JournalObject, StoredBelief, Summary
from oldfriend.domain.messages import Message
from oldfriend.memory.derived_evidence import list_premises
from oldfriend.memory.expiry import UNCONFIRMED_TTL
from oldfriend.memory.receipts import MemoryUsage
from oldfriend.memory.reflection_log import is_question
from oldfriend.presenters.base_schema import format_date, format_datetime, to_one_line
from oldfriend.presenters.message_schemas import evidence_as_text, format_message


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


def format_flags(belief: JournalObject, zone: str, now: Micros | None = None) -> str:
    """Format what qualifies a belief apart from its words."""
    found: list[str] = []
    if isinstance(belief, Summary):
        found += (
            ["rolled up into another"] if not belief.is_active and belief.ended_at is None else []
        )
    else:
        found += [] if belief.status in {"active", "confirmed"} else [belief.status]
        found += ["pinned"] if belief.is_pinned else []
        found += ["by you"] if belief.is_by_person else []
    if isinstance(belief, StoredBelief):
        found += ["question"] if is_question(belief) else []
        found += [f"impact {belief.impact:+d}"] if belief.impact else []
        found += [] if belief.due_at is None else [format_due(belief, zone, now)]
    if isinstance(belief, StoredBelief) and belief.status == "unconfirmed":
        waits_until = format_date(belief.learned_at + UNCONFIRMED_TTL, zone)
        found.append(f"waits for your word until {waits_until}")
    elif belief.ended_at is not None:
        found.append(f"until {format_end(belief, belief.ended_at, zone)}")
    return f"  [{', '.join(found)}]" if found else ""


def format_end(belief: JournalObject, ended_at: Micros, zone: str) -> str:
    """Format until when a belief was true, if a newer one has superseded it, else believed."""
    if isinstance(belief, StoredBelief) and belief.status == "superseded" and belief.holds_until:
        return format_date(belief.holds_until, get_told_zone(belief, zone))
    return format_date(ended_at, zone)


def format_due(memory: StoredBelief, zone: str, now: Micros | None) -> str:
    """Format when a belief is due, or was."""
    state = "due" if now is None or not is_overdue(memory, zone, now=now) else "overdue since"
    return f"{state} {format_date(memory.due_at or 0, get_told_zone(memory, zone), memory.grain)}"


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
            "Nothing that was said supports it any more."
            if not is_by_person(content)
            else "You said so yourself, here.",
        ]
    return "\n".join(lines)


def format_uses(uses: MemoryUsage, zone: str) -> str:
    """Format in how many replies a belief was recalled."""
    replies = "1 reply" if uses.replies == 1 else f"{uses.replies:,} replies"
    last = format_date(uses.last_at, zone)
    return f"recalled for {replies}, {uses.used:,} of which mention it; last on {last}"


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
    if isinstance(belief, StoredBelief):
        found += [f"{belief.key}: {belief.value}"] if belief.value else []
        dated = (
            ("happened", belief.happened_at),
            ("holds from", belief.holds_from),
            ("holds until", belief.holds_until),
        )
        told_zone = get_told_zone(belief, zone)
        found += [f"{name}: {format_date(at, told_zone, belief.grain)}" for name, at in dated if at]
        found += [f"tags: {', '.join(belief.tags)}"] if belief.tags else []
        found += [f"felt: {belief.arousal} of 10"] if belief.arousal is not None else []
        found += [f"set off by: {', '.join(belief.cues)}"] if belief.cues else []
        made_of = list_premises(belief)
        found += [f"made of: {', '.join(map(shorten_id, made_of))}"] if made_of else []
    if isinstance(belief, Entity) and belief.status == "uncertain" and belief.same_as:
        found.append(f"perhaps the same as {shorten_id(belief.same_as)}")
    is_thought = isinstance(belief, StoredBelief) and belief.kind == "thought"
    if standing is not None and standing.times_seen and not is_thought:
        times = "once" if standing.times_seen == 1 else f"{standing.times_seen} times"
        sure = f"confidence {standing.confidence:.0%}, strength {standing.strength:.1f}"
        found.append(f"{sure}; said {times}, last on {format_date(standing.last_seen, zone)}")
    return [*found, f"learned: {format_datetime(belief.learned_at, zone)}"]


def format_belief_lines(beliefs: Iterable[BeliefDetails], *, zone: str, now: Micros) -> list[str]:
    """Format beliefs, one line each; for those still open, also whether they are overdue."""
    return [
        format_belief_line(
            each.content, zone=zone, now=now if each.content.ended_at is None else None
        )
        for each in beliefs
    ]
