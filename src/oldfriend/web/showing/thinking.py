"""How are times of thinking shown?"""

from collections.abc import Mapping

from oldfriend.domain.json import JsonValue
from oldfriend.memory.ticks import Tick
from oldfriend.web.shapes.thinking import Thought, TickShape
from oldfriend.web.showing.common import in_zone


def tick_shape(tick: Tick, *, zone: str) -> TickShape:
    """One time of thinking."""
    return TickShape(
        id=tick.id, kind=tick.kind, why=tick.why, at=in_zone(tick.ran_at, zone),
        tokens_in=tick.tokens_in, tokens_out=tick.tokens_out,
        learned=sum_of(tick.outcome, "learned"), rejected=sum_of(tick.outcome, "rejected"),
        error=tick.error,
    )  # fmt: skip


def thought_shape(tick: Tick, *, zone: str) -> Thought:
    """One time of thinking, with what was shown and said in it."""
    told = tick.transcript
    return Thought(
        **tick_shape(tick, zone=zone).model_dump(),
        shown=[] if told is None else list(told.shown),
        answered=[] if told is None else list(told.answered),
    )


def sum_of(outcome: Mapping[str, JsonValue], what: str) -> int:
    """How much of something came of it, of all kinds together."""
    counts = outcome.get(what)
    found = counts.values() if isinstance(counts, dict) else ()
    return sum(count for count in found if isinstance(count, int))
