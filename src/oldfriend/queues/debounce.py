"""Debounce: joins message fragments that arrive in quick succession.

A *fragment* is a piece of a long text that the channel has split; a *burst* is several messages
without a pause. It is decided once, when a piece arrives: the piece joins the turn that is still
waiting for more, or begins a new one. Pure functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.queues.jobs_table import MAX_CLAIMED_JOBS

MIN_FRAGMENT_CHARS = 4_000
"""A text of this length may have been split by its channel."""
MAX_FRAGMENT_GAP = 3 * SECOND // 2
MAX_BURST_CHARS = 50_000
MAX_BURST = 10 * SECOND
"""Messages that never pause are answered after this long all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstItem:
    """What debouncing needs to know of a message."""

    sender: str | None  # who sent it; in a group not the person whose memory it goes into
    number: int | None  # the channel's own message number, where it has one
    chars: int
    at: Micros  # of arrival


def is_possible_fragment(item: BurstItem) -> bool:
    """Return whether the rest of this text may still arrive."""
    return item.number is not None and item.chars >= MIN_FRAGMENT_CHARS


def is_continuation(before: BurstItem, after: BurstItem) -> bool:
    """Return whether one fragment continues where the other was split."""
    return (
        is_possible_fragment(before)
        and before.sender == after.sender
        and before.number is not None
        and after.number == before.number + 1
        and after.at - before.at < MAX_FRAGMENT_GAP
    )


def can_join(item: BurstItem, *, debounce_s: float) -> bool:
    """Return whether messages like this one are ever joined."""
    return debounce_s > 0 or item.number is not None


def is_same_burst(burst: Sequence[BurstItem], item: BurstItem, *, debounce_s: float) -> bool:
    """Return whether a message belongs to the turn that the given burst, in order, has begun.

    ``debounce_s`` is the pause that ends a burst; with 0 each message is a turn of its own.
    """
    first, last = burst[0], burst[-1]
    if len(burst) >= MAX_CLAIMED_JOBS or sum(p.chars for p in burst) + item.chars > MAX_BURST_CHARS:
        return False
    is_in_burst = (
        first.sender == item.sender
        and item.at - last.at < debounce_s * SECOND
        and item.at - first.at < MAX_BURST
    )
    return is_in_burst or is_continuation(last, item)


def compute_due_at(burst: Sequence[BurstItem], *, debounce_s: float) -> Micros:
    """Return when a turn stops waiting for more messages."""
    first, last = burst[0], burst[-1]
    quiet = min(last.at + round(debounce_s * SECOND), first.at + MAX_BURST)
    rest = last.at + MAX_FRAGMENT_GAP if is_possible_fragment(last) else last.at
    return max(quiet, rest)


def join_texts(items: Sequence[tuple[BurstItem, str]]) -> str:
    """Join the texts of a turn: fragments seamlessly, messages by line breaks."""
    text = items[0][1] if items else ""
    for (before, _), (after, after_text) in pairwise(items):
        text += after_text if is_continuation(before, after) else f"\n{after_text}"
    return text
