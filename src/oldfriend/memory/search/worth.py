"""What is a belief worth that answers a question? By its kind, how it stands, and how long ago.

Computed when it is read and kept nowhere, so that nothing fades that nobody looks at. Knows
nothing of questions.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known, PatternKind, Status


class Decay(NamedTuple):
    """After so many days half is lost of what there is above the floor."""

    half_life: float
    floor: float


DECAY_OF_PATTERN: Final[Mapping[PatternKind, Decay]] = {
    "behavior": Decay(90, 0.45), "belief": Decay(90, 0.45), "goal": Decay(60, 0.35),
    "preference": Decay(90, 0.45), "emotion": Decay(14, 0.15), "temporal": Decay(365, 0.60),
    "causal": Decay(90, 0.45),
}  # fmt: skip
"""ACCEPTANCE G12."""
DECAY_OF_EVENT: Final = Decay(14, 0.0)
DECAY_OF_ATTRIBUTE: Final = Decay(365, 0.60)  # as what is bound to time: the slowest of G12

VALIDITY: Final[Mapping[Status, float]] = {"active": 1.0, "tentative": 0.5, "disputed": 0.5}
"""ACCEPTANCE W9; what is over has none, unless one asks for the past."""
PAST: Final = 0.8

_STRENGTH_SHARE: Final = 0.25
_STRENGTH_MOST: Final = 2.0
_ONCE: Final = 1 + _STRENGTH_SHARE * math.log(2)  # what a pattern is worth that was seen once
# ACCEPTANCE J4; what an event of middling impact has is worth 1.
_CLOSE, _RECENT, _IMPACT, _TAGGED, _NAMED = 3.0, 0.5, 2.0, 0.5, 1.5
_MIDDLING_EVENT: Final = _CLOSE + _RECENT + _IMPACT / 2
# ACCEPTANCE J5.
_SIMILAR, _LATELY, _IMPORTANT = 0.4, 0.3, 0.3


def worth_of(known: Known, now: Micros, *, is_named: bool = False) -> float:
    """What a belief is worth beside others that answer as well, 0 to 1.

    ``is_named``: the question names somebody or something that it is about.
    """
    memory = known.memory
    worth = 1.0  # a promise is open as long as it is
    if memory.kind == "pattern":
        worth = _of_pattern(known, now)
    elif memory.kind == "event":
        worth = _of_event(known, now, is_named=is_named)
    elif memory.kind in {"fact", "preference"}:
        worth = _of_attribute(known, now)
    return worth * (PAST if memory.ended_at is not None else VALIDITY.get(memory.status, 0.0))


def _of_pattern(known: Known, now: Micros) -> float:
    decay = DECAY_OF_PATTERN[known.memory.pattern or "behavior"]
    strength = min(math.log(1 + known.standing.strength), _STRENGTH_MOST)
    strong = (1 + _STRENGTH_SHARE * strength) / _ONCE
    return min(1.0, recency(known, decay, now) * strong * known.standing.confidence)


def _of_event(known: Known, now: Micros, *, is_named: bool) -> float:
    memory = known.memory
    sum_of_all = (
        _CLOSE
        + _RECENT * recency(known, DECAY_OF_EVENT, now)
        + _IMPACT * abs(memory.impact) / 10
        + _TAGGED * bool(memory.tags or memory.relational)
        + _NAMED * is_named
    )
    return min(1.0, sum_of_all / _MIDDLING_EVENT)


def _of_attribute(known: Known, now: Micros) -> float:
    lately = recency(known, DECAY_OF_ATTRIBUTE, now)
    return _SIMILAR + _LATELY * lately + _IMPORTANT * known.memory.importance


def recency(known: Known, decay: Decay, now: Micros) -> float:
    """1 when it was just said again, less with time, never below the floor; pinned, always 1."""
    if known.memory.is_pinned:
        return 1.0
    days = max(0, now - known.standing.last_seen) / DAY
    return decay.floor + (1 - decay.floor) * math.pow(0.5, days / decay.half_life)
