"""Segmentation: decides where a segment of a chat ends, so that it can be read as a whole.

A segment ends after a silence, at a maximum length, after a number of turns, or on request. Closed
segments wait to be read. Does not look at the words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_CLOCK_SKEW, Micros
from oldfriend.domain.ids import PersonId, SessionId
from oldfriend.domain.messages import (
    MAX_SESSION_MESSAGES,
    MAX_SESSION_TOKENS,
    SESSION_IDLE_GAP,
    SessionCloseReason,
)
from oldfriend.memory.people import get_chat, lock_person
from oldfriend.memory.segments import (
    CutReason,
    MessageSize,
    Segment,
    UncutSpan,
    cut_segment,
    list_message_sizes,
    list_uncut_spans,
)
from oldfriend.memory.sessions import close_session

MAX_TURNS = 10
"""Maximum number of the person's turns in a segment."""
EARLY_TURN_LIMITS: Final = (3, 5, 7, 9)
"""Lower limits for new people, by segments so far; fewer than three turns may be trivial."""

SESSION_CLOSE_TRIGGERS: dict[CutReason, SessionCloseReason] = {
    "idle": "idle",
    "asked": "asked",
    "shutdown": "shutdown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationCriteria:
    """Segmentation criteria: what makes messages ready to be cut into a segment."""

    now: Micros
    max_turns: int = MAX_TURNS
    force_reason: CutReason | None = None  # cut everything; "import": what was imported


async def cut_ready_segments(
    tx: Transaction,
    person: PersonId,
    criteria: SegmentationCriteria,
    *,
    session_id: SessionId | None = None,
) -> list[Segment]:
    """Cut what is ready of a person's messages, or of one session's; oldest segment first."""
    await lock_person(tx, person)
    return [
        segment
        for uncut in await list_uncut_spans(tx, person, session_id=session_id)
        if (reason := find_cut_reason(uncut, criteria)) is not None
        for segment in await cut_segments(tx, person, uncut, reason, criteria.now)
    ]


async def cut_segments(
    tx: Transaction, person: PersonId, uncut: UncutSpan, reason: CutReason, now: Micros
) -> list[Segment]:
    """Cut a span into segments, none longer than what is read at once."""
    if uncut.is_open and reason in SESSION_CLOSE_TRIGGERS:
        chat = await get_chat(tx, person, uncut.chat)
        trigger = SESSION_CLOSE_TRIGGERS[reason]
        await close_session(tx, chat, uncut.session, at=uncut.until_at, trigger=trigger)
    sizes = await list_message_sizes(tx, person, uncut)
    return [
        await cut_segment(tx, person, slice_uncut(uncut, piece), cut_by=reason, now=now)
        for piece in split_by_size(sizes)
    ]


def find_cut_reason(uncut: UncutSpan, criteria: SegmentationCriteria) -> CutReason | None:
    """Return why to cut a span now, or None."""
    is_idle = get_idle_deadline(uncut, now=criteria.now) <= criteria.now
    if uncut.is_imported and (is_idle or criteria.force_reason is not None):
        return "import"
    if criteria.force_reason not in {None, "import"}:
        return criteria.force_reason
    if is_idle:
        return "idle"
    if uncut.messages >= MAX_SESSION_MESSAGES or uncut.tokens >= MAX_SESSION_TOKENS:
        return "length"
    return "turns" if uncut.turns >= criteria.max_turns else None


def get_turn_limit(segments_read: int, limit: int) -> int:
    """Return the turn limit of a person with so many segments."""
    return (
        min(limit, EARLY_TURN_LIMITS[segments_read])
        if segments_read < len(EARLY_TURN_LIMITS)
        else limit
    )


def get_idle_deadline(uncut: UncutSpan, *, now: Micros) -> Micros:
    """Return when the silence after a span is long enough, if nothing more is said.

    A timestamp from a clock that was ahead is not waited for.
    """
    last_at = max(uncut.written_at, uncut.until_at if uncut.is_open else 0)
    return now if last_at > now + MAX_CLOCK_SKEW else last_at + SESSION_IDLE_GAP


def split_by_size(measures: Sequence[MessageSize]) -> Iterator[Sequence[MessageSize]]:
    """Split messages into groups that each fit into one segment."""
    piece: list[MessageSize] = []
    tokens = 0
    for each in measures:
        is_full = len(piece) == MAX_SESSION_MESSAGES or tokens + each.tokens > MAX_SESSION_TOKENS
        if piece and is_full:
            yield piece
            piece, tokens = [], 0
        piece.append(each)
        tokens += each.tokens
    if piece:
        yield piece


def slice_uncut(uncut: UncutSpan, measures: Sequence[MessageSize]) -> UncutSpan:
    """Return the part of a span that consists of these messages."""
    return replace(
        uncut,
        first_seq=measures[0].seq,
        last_seq=measures[-1].seq,
        messages=len(measures),
        tokens=sum(each.tokens for each in measures),
        from_at=min(each.at for each in measures),
        until_at=max(each.at for each in measures),
    )
