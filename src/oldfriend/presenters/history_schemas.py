"""Belief history: the decisions about what is believed, for the API, programs, JSON and text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from oldfriend.beliefs.queries import BeliefDetails, BeliefHistory, HistoryEntry
from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import JournalEntry, JournalOp
from oldfriend.memory.segments import Segment
from oldfriend.presenters.base_schema import (
    Schema,
    describe,
    format_date,
    format_datetime,
    format_exact_time,
    format_time,
)
from oldfriend.presenters.belief_schemas import Belief, content_as_json, name_belief, to_datetime
from oldfriend.presenters.belief_text import format_belief_line
from oldfriend.presenters.message_schemas import (
    MessageSchema,
    StoredMessage,
    evidence_as_json,
    format_message,
)

OP_LABELS: Final[Mapping[JournalOp, str]] = {
    "learned": "learned",
    "revised": "added to",
    "disputed": "became doubtful",
    "superseded": "superseded by something newer",
    "merged": "merged into another",
    "deprecated": "dropped: too weak to keep",
    "fulfilled": "came true",
    "expired": "over: its time has passed, or it was called off",
    "ended": "ended: nothing supports it any more",
    "reopened": "believed again",
    "corrected": "corrected",
    "confirmed": "confirmed",
    "rejected": "rejected",
    "unrejected": "not rejected after all",
    "pinned": "pinned",
    "unpinned": "unpinned",
    "separated": "kept apart",
    "proposed": "read, and not believed until you confirm it",
    "withdrawn": "no longer waits to be confirmed",
}
READ_OTHERWISE: Final = "ended: its words were read again, without it"
AUTHOR_LABELS: Final[Mapping[str, str]] = {
    "person": "you",
    "rules": "rules",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntrySchema(Schema):
    """A decision in the history of a belief."""

    id: str = field(
        metadata=describe(
            "The id of the belief decided about: this one, or one that it replaced or "
            "was replaced by."
        )
    )
    op: JournalOp
    by: str
    at: str
    until: str | None
    text: str
    because: tuple[MessageSchema, ...]

    @classmethod
    def from_domain(cls, entry: HistoryEntry, *, zone: str) -> Self:
        """Present an entry of a belief's history to the API."""
        return cls(
            id=entry.change.object_id,
            op=entry.change.op,
            by=format_author(entry.change.author),
            at=format_time(entry.change.decided_at, zone),
            until=format_time(entry.until, zone),
            text=name_belief(entry.change.after),
            because=tuple(MessageSchema.from_domain(each) for each in entry.cause_messages),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySchema(Schema):
    """The history of a belief, oldest first."""

    id: str
    steps: tuple[HistoryEntrySchema, ...]

    @classmethod
    def from_domain(cls, history: BeliefHistory, *, zone: str) -> Self:
        """Present the history of a belief to the API."""
        return cls(
            id=history.object_id,
            steps=tuple(
                HistoryEntrySchema.from_domain(each, zone=zone) for each in history.entries
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision about a belief: when, what, by whom and based on which messages."""

    at: datetime
    until: datetime | None  # when the next one was made; None: it still holds
    op: str  # learned, revised, superseded, corrected …
    by: str  # "person", a rule or a prompt with its version
    belief: Belief  # as it was decided
    because: tuple[StoredMessage, ...]

    @classmethod
    def from_domain(cls, entry: HistoryEntry, zone: str) -> Self:
        """Present an entry of a belief's history to a program."""
        return cls(
            at=from_micros(entry.change.decided_at, zone),
            until=to_datetime(entry.until, zone),
            op=entry.change.op,
            by=entry.change.author,
            belief=Belief.from_domain(
                BeliefDetails(content=entry.change.after), zone, now=entry.change.decided_at
            ),
            because=tuple(map(StoredMessage.from_domain, entry.cause_messages)),
        )


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
        "decided_at": format_exact_time(entry.change.decided_at, zone),
        "until": format_exact_time(entry.until, zone),
        "segment": entry.change.segment,
        "after": content_as_json(entry.change.after, zone=zone),
        "because": [StoredMessage.from_domain(each).as_json() for each in entry.cause_messages],
    }


def format_history(history: BeliefHistory, *, zone: str) -> str:
    """Format the decisions about a belief in order."""
    return "\n".join(line for step in history.entries for line in format_history_entry(step, zone))


def format_history_entry(entry: HistoryEntry, zone: str) -> list[str]:
    """Format one decision."""
    change = entry.change
    until = f", until {format_datetime(entry.until, zone)}" if entry.until is not None else ""
    head = (
        f"{format_datetime(change.decided_at, zone)}  {format_op(change)}, by "
        f"{format_author(change.author)}{until}"
    )
    where = f" (read in segment {shorten_id(change.segment)})" if change.segment else ""
    return [
        head + where,
        f"    {format_belief_line(change.after, zone=zone)}",
        *(f"  {format_message(message)}" for message in entry.cause_messages),
    ]


def format_op(change: JournalEntry) -> str:
    """Format what was decided; of what a reading has ended, that its words were read otherwise."""
    return READ_OTHERWISE if change.op == "ended" and change.segment else OP_LABELS[change.op]


def format_author(author: str) -> str:
    """Format the author of a decision."""
    name = author.partition("/")[0]
    who = AUTHOR_LABELS.get(name, author)
    return who if who in {"you", author} else f"{who} ({author})"


def format_segment_line(segment: Segment, *, zone: str) -> str:
    """Format a segment that was read on one line."""
    first, last = format_date(segment.from_at, zone), format_date(segment.until_at, zone)
    span = first if first == last else f"{first} to {last}"
    count = "1 message" if segment.messages == 1 else f"{segment.messages:,} messages"
    author = f", read by {format_author(segment.author)}" if segment.author else ""
    return f"{shorten_id(segment.id)}  {count} of {span}{author}"


def format_ending(change: JournalEntry) -> str:
    """Format on one line what a reading has ended, and why."""
    return f"no longer believed: {name_belief(change.after)} ({format_op(change)})"
