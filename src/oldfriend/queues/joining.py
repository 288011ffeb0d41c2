"""What was meant as one? Pieces that arrive in one go are answered in one turn.

A *fragment* is a piece of a long text that the channel cut up; a *burst* is several messages
without a pause. Decided once, when a piece arrives: it joins the turn that still waits for more,
or begins a new one. Values in, values out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.queues.letters import MOST_CLAIMED

FRAGMENT_CHARS = 4_000
"""A text as long as this may have been cut up by its channel (ACCEPTANCE A15)."""
FRAGMENT_GAP = 3 * SECOND // 2
MOST_CHARS = 50_000
LONGEST_BURST = 10 * SECOND
"""Who never pauses is answered all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A message as far as joining looks at it."""

    sender: str | None  # who has said it; in a group not whose memory it goes into
    number: int | None  # the channel's own, where it counts messages
    chars: int
    at: Micros  # of arrival


def may_be_cut(piece: Piece) -> bool:
    """Whether the rest of this text may still be on its way."""
    return piece.number is not None and piece.chars >= FRAGMENT_CHARS


def is_continuation(before: Piece, after: Piece) -> bool:
    """Whether one piece goes on where the other was cut."""
    return (
        may_be_cut(before)
        and before.sender == after.sender
        and before.number is not None
        and after.number == before.number + 1
        and after.at - before.at < FRAGMENT_GAP
    )


def may_join(piece: Piece, *, quiet_s: float) -> bool:
    """Whether pieces are ever joined where this one comes from."""
    return quiet_s > 0 or piece.number is not None


def joins(turn: Sequence[Piece], piece: Piece, *, quiet_s: float) -> bool:
    """Whether a piece belongs to the turn that these pieces, in order, have begun.

    ``quiet_s`` is the pause that ends a burst; 0: each message is a turn of its own.
    """
    first, last = turn[0], turn[-1]
    if len(turn) >= MOST_CLAIMED or sum(p.chars for p in turn) + piece.chars > MOST_CHARS:
        return False
    is_in_burst = (
        first.sender == piece.sender
        and piece.at - last.at < quiet_s * SECOND
        and piece.at - first.at < LONGEST_BURST
    )
    return is_in_burst or is_continuation(last, piece)


def due_at(turn: Sequence[Piece], *, quiet_s: float) -> Micros:
    """When a turn waits no longer for more pieces."""
    first, last = turn[0], turn[-1]
    quiet = min(last.at + round(quiet_s * SECOND), first.at + LONGEST_BURST)
    rest = last.at + FRAGMENT_GAP if may_be_cut(last) else last.at
    return max(quiet, rest)


def joined(pieces: Sequence[tuple[Piece, str]]) -> str:
    """The texts of one turn as one: a cut text without a seam, messages line by line."""
    text = pieces[0][1] if pieces else ""
    for (before, _), (after, words) in pairwise(pieces):
        text += words if is_continuation(before, after) else f"\n{words}"
    return text
