"""Quote confidence: how likely what the fact tagger proposes tells a fact worth remembering.

A logistic regression over how sure the tagger is of the two best clauses, and how much of the
message is new: what was told before is known already, and mere talk repeats itself. Fitted by
`oldfriend_evals.quote_weights`.
"""

import math
from collections.abc import Sequence
from typing import Final

BEST_WEIGHT: Final = 0.364
SECOND_WEIGHT: Final = 0.279
ALONE_WEIGHT: Final = -1.84
"""Of a message of one clause, which lives hardly have: it is believed from a score of .65 on."""
NOVELTY_WEIGHT: Final = 2.685
BIAS: Final = 0.329
MIN_LOGIT: Final = 1.4
"""Logit of a quote that is believed. Of seven lives, each left out of the fit, nine of ten such
quotes hold a fact that their writers list, and these are half of all that they list."""
_TINY: Final = 1e-3


def estimate_confidence(scores: Sequence[float]) -> float:
    """Return the probability that a quote tells a fact, by its clauses' scores, if all is new."""
    best, *others = sorted(scores, reverse=True)
    second = SECOND_WEIGHT * to_logit(others[0]) if others else ALONE_WEIGHT
    logit = BIAS + BEST_WEIGHT * to_logit(best) + second + NOVELTY_WEIGHT
    return to_probability(logit)


def adjust_for_novelty(confidence: float, novelty: float) -> float:
    """Return the probability of a quote of which only a share is new."""
    return to_probability(to_logit(confidence) - NOVELTY_WEIGHT * (1 - novelty))


def is_believed(confidence: float) -> bool:
    """Tell whether a quote is believed."""
    return confidence >= to_probability(MIN_LOGIT)


def to_logit(probability: float) -> float:
    """Return the logit of a probability; neither 0 nor 1 makes it infinite."""
    return math.log(probability + _TINY) - math.log(1 - probability + _TINY)


def to_probability(logit: float) -> float:
    """Return the probability of a logit, such that `to_logit` returns it again."""
    share = 1 / (1 + math.exp(-logit))
    return min(max(share * (1 + 2 * _TINY) - _TINY, 0.0), 1.0)
