"""Where does a stretch of talk end, so that it can be read as a whole?

It ends when nobody has said anything for a while, when it has grown long, after so many turns,
and when somebody asks for it. What was cut waits to be read. Reads no words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import SESSION_IDLE, SESSION_MESSAGES, SESSION_TOKENS, CloseTrigger
from oldfriend.memory.people import get_chat, lock_person
from oldfriend.memory.segments import (
    Cut,
    Measure,
    Segment,
    Uncut,
    cut_segment,
    list_uncut,
    measure_uncut,
)
from oldfriend.memory.sessions import close_session

TURNS = 10
"""So many turns of the person are read at the latest (ACCEPTANCE D1)."""
EARLY_TURNS: Final = (3, 5, 7, 9)
"""Who is hardly known is read sooner, by how often they were; fewer than three may be trivial."""

ENDS_SESSION: dict[Cut, CloseTrigger] = {"idle": "idle", "asked": "asked", "shutdown": "shutdown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ripeness:
    """What makes a stretch of talk ripe."""

    now: Micros
    turns: int = TURNS
    because: Cut | None = None  # cut everything, for this reason
    imported: bool = False  # what was imported is all there


async def cut_ripe(tx: Transaction, person: PersonId, ripeness: Ripeness) -> list[Segment]:
    """Make segments of all the talk of a person that is ripe, the oldest first."""
    await lock_person(tx, person)
    return [
        segment
        for uncut in await list_uncut(tx, person)
        if (reason := why_ripe(uncut, ripeness)) is not None
        for segment in await cut(tx, person, uncut, reason, ripeness.now)
    ]


async def cut(
    tx: Transaction, person: PersonId, uncut: Uncut, reason: Cut, now: Micros
) -> list[Segment]:
    """Make segments of some talk, none longer than what is read at once."""
    if uncut.is_open and reason in ENDS_SESSION:
        chat = await get_chat(tx, person, uncut.chat)
        trigger = ENDS_SESSION[reason]
        await close_session(tx, chat, uncut.session, at=uncut.until_at, trigger=trigger)
    measures = await measure_uncut(tx, person, uncut)
    return [
        await cut_segment(tx, person, part_of(uncut, piece), cut_by=reason, now=now)
        for piece in pieces(measures)
    ]


def why_ripe(uncut: Uncut, ripeness: Ripeness) -> Cut | None:
    """Why some talk is to be read now; None: it goes on."""
    is_wanted = ripeness.because is not None or ripe_at(uncut) <= ripeness.now
    if uncut.is_imported and (ripeness.imported or is_wanted):
        return "import"
    if ripeness.because is not None:
        return ripeness.because
    if ripe_at(uncut) <= ripeness.now:
        return "idle"
    if uncut.messages >= SESSION_MESSAGES or uncut.tokens >= SESSION_TOKENS:
        return "length"
    return "turns" if uncut.turns >= ripeness.turns else None


def turns_until_read(segments: int, most: int) -> int:
    """After how many turns somebody is read at the latest, who was read so many times."""
    return min(most, EARLY_TURNS[segments]) if segments < len(EARLY_TURNS) else most


def ripe_at(uncut: Uncut) -> Micros:
    """When the pause after it has been long enough, if nothing more is said."""
    return max(uncut.written_at, uncut.until_at if uncut.is_open else 0) + SESSION_IDLE


def pieces(measures: Sequence[Measure]) -> Iterator[Sequence[Measure]]:
    """The messages of some talk, so many at once as are read as a whole."""
    piece: list[Measure] = []
    tokens = 0
    for each in measures:
        is_full = len(piece) == SESSION_MESSAGES or tokens + each.tokens > SESSION_TOKENS
        if piece and is_full:
            yield piece
            piece, tokens = [], 0
        piece.append(each)
        tokens += each.tokens
    if piece:
        yield piece


def part_of(uncut: Uncut, piece: Sequence[Measure]) -> Uncut:
    """The part of some talk that consists of these messages."""
    return replace(
        uncut, first_seq=piece[0].seq, last_seq=piece[-1].seq, messages=len(piece),
        tokens=sum(each.tokens for each in piece), from_at=min(each.at for each in piece),
        until_at=max(each.at for each in piece),
    )  # fmt: skip
