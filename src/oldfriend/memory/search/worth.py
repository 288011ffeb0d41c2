"""What is a belief worth that answers a question? By its kind, how it stands, and how long ago.

Computed when it is read and kept nowhere, so that nothing fades that nobody looks at, and another
scorer holds from the next question on. Knows nothing of questions.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Known, PatternKind, Status
from oldfriend.memory.search.scorers import Decay, Scorer, typed_decay

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

# ACCEPTANCE J4; what an event of middling impact has is worth 1.
_CLOSE, _RECENT, _IMPACT, _TAGGED, _NAMED = 3.0, 0.5, 2.0, 0.5, 1.5
_MIDDLING_EVENT: Final = _CLOSE + _RECENT + _IMPACT / 2
# ACCEPTANCE J5.
_SIMILAR, _LATELY, _IMPORTANT = 0.4, 0.3, 0.3


def worth_of(
    known: Known, now: Micros, *, is_named: bool = False, scorer: Scorer = typed_decay
) -> float:
    """What a belief is worth beside others that answer as well, 0 to 1.

    ``is_named``: the question names somebody or something that it is about.
    """
    memory = known.memory
    worth = 1.0  # a promise is open as long as it is
    if memory.kind == "pattern":
        decay = DECAY_OF_PATTERN[memory.pattern or "behavior"]
        worth = min(1.0, presence(known, decay, now, scorer) * known.standing.confidence)
    elif memory.kind in {"event", "thought"}:
        lately = presence(known, DECAY_OF_EVENT, now, scorer)
        worth = _of_event(known, lately, is_named=is_named)
    elif memory.kind == "triple":
        worth = known.standing.confidence
    elif memory.kind in {"fact", "preference"}:
        lately = min(1.0, presence(known, DECAY_OF_ATTRIBUTE, now, scorer))
        worth = _SIMILAR + _LATELY * lately + _IMPORTANT * memory.importance
    return worth * (PAST if memory.ended_at is not None else VALIDITY.get(memory.status, 0.0))


def presence(known: Known, decay: Decay, now: Micros, scorer: Scorer) -> float:
    """How present it is by a scorer; what is pinned, as on the day on which it was last said."""
    return scorer(known, decay, known.standing.last_seen if known.memory.is_pinned else now)


def _of_event(known: Known, lately: float, *, is_named: bool) -> float:
    memory = known.memory
    sum_of_all = (
        _CLOSE
        + _RECENT * lately
        + _IMPACT * abs(memory.impact) / 10
        + _TAGGED * bool(memory.tags or memory.relational)
        + _NAMED * is_named
    )
    return min(1.0, sum_of_all / _MIDDLING_EVENT)
