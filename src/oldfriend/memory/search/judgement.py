"""Is any of what was found good enough? Judged on absolute signs, not on being the best.

Speakers' names are left out of the account: asked of the wrong conversation they match as well.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.features import Evidence
from oldfriend.memory.search.values import Floats

JUDGED_BY: Final = (
    "covered_most", "covered_around_most", "covered_by_best", "session_covered_by_best",
    "known_words", "unknown_words", "words_share", "around_share", "around_share_of_best",
    "cosine_most", "cosine_of_best", "cosine_of_three", "cosine_above_mean", "best_above_mean",
    "word_count", "no_meaning", "lead_over_tenth", "lead_over_all", "best_score", "idf_mean",
    "idf_most", "together", "date", "asked_as_i", "few", "few_covered", "few_cosine",
)  # fmt: skip
_TINY: Final = 1e-6
_LEAD: Final = 10
_TOP: Final = 3
_FEW: Final = 20  # messages


def judged_by(given: Evidence, scores: Floats) -> Floats:
    """What the judgement rests on, in the order of JUDGED_BY; scores are of the candidates."""
    order = np.argsort(-scores, kind="stable")
    values = _of_words(given, int(order[0])) | _of_meaning(given, order) | _of_scores(scores, order)
    values["together"] = float(given.near.together[order[:_LEAD]].max())
    values["asked_as_i"] = float(given.asked.first_person)
    values["date"] = float(bool(given.asked.spans))
    # Where there are few messages, being ahead of the others means little.
    few = values["few"] = _FEW / (_FEW + len(given.index))
    values["few_covered"] = few * values["covered_most"]
    values["few_cosine"] = few * values["cosine_most"]
    return np.array([values[name] for name in JUDGED_BY], dtype=np.float32)


def _of_words(given: Evidence, best: int) -> dict[str, float]:
    near, scanned = given.near, given.scanned
    is_name = [word.surface in given.meant.surfaces for word in given.asked.words]
    idf = np.where(np.array(is_name, np.bool_), 0, scanned.idf)
    weights = idf / max(float(idf.sum()), _TINY)
    covered, around = near.here @ weights, near.around @ weights
    in_session = near.here[near.sessions == near.sessions[best]].any(axis=0)
    known = np.array(scanned.word_is_known, np.bool_)
    telling = max(int((idf > 0).sum()), 1)
    rarity = float(np.log1p(2 * (len(given.index) + _FEW)))
    row = near.rows[best]
    return {
        "covered_most": float(covered.max()),
        "covered_around_most": float(around.max()),
        "covered_by_best": float(covered[best]),
        "session_covered_by_best": float(in_session @ weights),
        "known_words": float(known @ weights),
        "unknown_words": float((~known & (idf > 0)).sum()),
        "words_share": float(scanned.lexical.max() / scanned.possible),
        "around_share": float(scanned.lexical_around.max() / scanned.possible),
        "around_share_of_best": float(scanned.lexical_around[row] / scanned.possible),
        "word_count": float(np.log1p((idf > 0).sum())),
        "idf_mean": float(idf.sum() / telling / rarity),
        "idf_most": float(idf.max(initial=0) / rarity),
    }


def _of_meaning(given: Evidence, order: NDArray[np.intp]) -> dict[str, float]:
    scanned = given.scanned
    cosine = scanned.cosine[given.near.rows]
    has_meaning = scanned.meaning_weight
    return {
        "no_meaning": 1 - has_meaning,
        "cosine_most": float(cosine.max()) * has_meaning,
        "cosine_of_best": float(cosine[order[0]]),
        "cosine_of_three": float(cosine[order[:_TOP]].mean()),
        "cosine_above_mean": (float(cosine.max()) - scanned.mean_cosine) * has_meaning,
        "best_above_mean": (float(cosine[order[0]]) - scanned.mean_cosine) * has_meaning,
    }


def _of_scores(scores: Floats, order: NDArray[np.intp]) -> dict[str, float]:
    best = float(scores[order[0]])
    return {
        "best_score": best,
        "lead_over_tenth": best - float(scores[order[:_LEAD][-1]]),
        "lead_over_all": -float(np.log(np.exp(scores - best).sum())),
    }
