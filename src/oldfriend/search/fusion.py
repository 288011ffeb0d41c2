"""Fusion: the learned ranking model and its sureness that a hit answers, read once from JSON.

`scripts/learn_fusion.py` writes the file and documents the training data.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.search.features import RankingContext
from oldfriend.search.types import Floats, multiply

WEIGHTS_FILE: Final = Path(__file__).parent / "learned.json"
ANSWERABILITY_FEATURES: Final = (
    "covered_most",
    "covered_around_most",
    "covered_by_best",
    "session_covered_by_best",
    "known_words",
    "unknown_words",
    "words_share",
    "around_share",
    "around_share_of_best",
    "cosine_most",
    "cosine_of_best",
    "cosine_of_three",
    "cosine_above_mean",
    "best_above_mean",
    "word_count",
    "no_meaning",
    "lead_over_tenth",
    "lead_over_all",
    "best_score",
    "idf_mean",
    "idf_most",
    "together",
    "date",
    "asked_as_i",
    "few",
    "few_covered",
    "few_cosine",
)
_TINY: Final = 1e-6
_LEAD_RANK: Final = 10
_TOP_COUNT: Final = 3
_FEW_MESSAGES: Final = 20  # messages


def compute_answerability_features(context: RankingContext, scores: Floats) -> Floats:
    """Compute the ANSWERABILITY_FEATURES in order; `scores` are those of the candidates."""
    order = np.argsort(-scores, kind="stable")
    values = (
        _word_features(context, int(order[0]))
        | _similarity_features(context, order)
        | _score_features(scores, order)
    )
    values["together"] = float(context.candidates.adjacent_pairs[order[:_LEAD_RANK]].max())
    values["asked_as_i"] = float(context.parsed.is_first_person)
    values["date"] = float(bool(context.parsed.spans))
    # Among few messages, a lead over the others means little.
    few = values["few"] = _FEW_MESSAGES / (_FEW_MESSAGES + len(context.index))
    values["few_covered"] = few * values["covered_most"]
    values["few_cosine"] = few * values["cosine_most"]
    return np.array([values[name] for name in ANSWERABILITY_FEATURES], dtype=np.float32)


def _word_features(context: RankingContext, best: int) -> dict[str, float]:
    candidates, scanned = context.candidates, context.scanned
    is_name = [word.surface in context.speaker_match.surfaces for word in context.parsed.words]
    idf = np.where(np.array(is_name, np.bool_), 0, scanned.idf)
    weights = idf / max(float(idf.sum()), _TINY)
    covered = multiply(candidates.matches, weights)
    around = multiply(candidates.matches_around, weights)
    in_session = candidates.matches[candidates.sessions == candidates.sessions[best]].any(axis=0)
    known = np.array(scanned.is_known_word, np.bool_)
    word_count = max(int((idf > 0).sum()), 1)
    rarity = float(np.log1p(2 * (len(context.index) + _FEW_MESSAGES)))
    row = candidates.rows[best]
    return {
        "covered_most": float(covered.max()),
        "covered_around_most": float(around.max()),
        "covered_by_best": float(covered[best]),
        "session_covered_by_best": float(multiply(in_session, weights)),
        "known_words": float(multiply(known, weights)),
        "unknown_words": float((~known & (idf > 0)).sum()),
        "words_share": float(scanned.lexical.max() / scanned.max_possible),
        "around_share": float(scanned.lexical_around.max() / scanned.max_possible),
        "around_share_of_best": float(scanned.lexical_around[row] / scanned.max_possible),
        "word_count": float(np.log1p((idf > 0).sum())),
        "idf_mean": float(idf.sum() / word_count / rarity),
        "idf_most": float(idf.max(initial=0) / rarity),
    }


def _similarity_features(context: RankingContext, order: NDArray[np.intp]) -> dict[str, float]:
    scanned = context.scanned
    cosine = scanned.cosine[context.candidates.rows]
    similarity_weight = scanned.similarity_weight
    return {
        "no_meaning": 1 - similarity_weight,
        "cosine_most": float(cosine.max()) * similarity_weight,
        "cosine_of_best": float(cosine[order[0]]),
        "cosine_of_three": float(cosine[order[:_TOP_COUNT]].mean()),
        "cosine_above_mean": (float(cosine.max()) - scanned.mean_cosine) * similarity_weight,
        "best_above_mean": (float(cosine[order[0]]) - scanned.mean_cosine) * similarity_weight,
    }


def _score_features(scores: Floats, order: NDArray[np.intp]) -> dict[str, float]:
    best = float(scores[order[0]])
    return {
        "best_score": best,
        "lead_over_tenth": best - float(scores[order[:_LEAD_RANK][-1]]),
        "lead_over_all": -float(np.log(np.exp(scores - best).sum())),
    }


_MAX_DEVIATIONS: Final = 4.0  # standard deviations; the nets were trained within this range


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FusionNet:
    """Small neural net that corrects the linear score for interactions of features."""

    hidden_weights: Floats  # input × unit
    hidden_bias: Floats  # of each unit
    output_weights: Floats  # of each unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FusionModel:
    """Ranking model: linear weights by chat type, plus the mean of some nets."""

    weights: Floats  # chat type × feature
    mean: Floats  # of each feature, in the training data of the nets
    std: Floats
    nets: tuple[FusionNet, ...] = ()

    def score(self, features: Floats, chat_types: Floats) -> Floats:
        """Return a score for each candidate; only differences between scores are meaningful."""
        scores: Floats = multiply(features, multiply(chat_types, self.weights))
        if self.nets:
            inputs = build_net_inputs(features, chat_types, self.mean, self.std)
            scores = scores + sum(_run_net(net, inputs) for net in self.nets) / len(self.nets)
        return scores.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchWeights:
    """Learned weights of ranking and answerability."""

    feature_names: tuple[str, ...]
    fusion: FusionModel
    score_decay: float  # how fast a hit's score falls off from the best one's
    answerability_weights: Floats
    answerability_bias: float


class _NetData(TypedDict):
    inward: str  # packed, input × unit
    shift: list[float]
    outward: list[float]


def build_net_inputs(features: Floats, chat_types: Floats, mean: Floats, std: Floats) -> Floats:
    """Build the input of the nets: standardized and clipped features, and the chat types."""
    inputs = np.empty((len(features), features.shape[1] + len(chat_types) - 1), np.float32)
    standardized = (features - mean) / std
    np.minimum(
        np.maximum(standardized, -_MAX_DEVIATIONS),
        _MAX_DEVIATIONS,
        out=inputs[:, : features.shape[1]],
    )
    inputs[:, features.shape[1] :] = chat_types[1:]
    return inputs


def _run_net(net: FusionNet, inputs: Floats) -> Floats:
    output: Floats = multiply(
        np.maximum(multiply(inputs, net.hidden_weights) + net.hidden_bias, 0), net.output_weights
    )
    return output


@lru_cache(maxsize=1)
def load_weights() -> SearchWeights:
    """Load the weights that ship with this version."""
    learned = json.loads(read_bundled_file(WEIGHTS_FILE))
    return SearchWeights(
        feature_names=tuple(learned["fusion"]),
        fusion=FusionModel(
            weights=_to_array(list(learned["fusion"].values())).T,
            mean=_to_array(learned["mean"]),
            std=_to_array(learned["spread"]),
            nets=tuple(_parse_net(net) for net in learned["nets"]),
        ),
        score_decay=learned["falling_off"],
        answerability_weights=_to_array(list(learned["judgement"].values())),
        answerability_bias=learned["judgement_shift"],
    )


def _parse_net(data: _NetData) -> FusionNet:
    hidden_bias = _to_array(data["shift"])
    return FusionNet(
        hidden_weights=unpack_floats(data["inward"]).reshape(-1, len(hidden_bias)),
        hidden_bias=hidden_bias,
        output_weights=_to_array(data["outward"]),
    )


def pack_floats(numbers: Floats) -> str:
    """Encode numbers as base64 of float32: as JSON they would take milliseconds to read."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")


def unpack_floats(packed: str) -> Floats:
    """Decode what `pack_floats` has encoded."""
    return np.frombuffer(base64.b64decode(packed), dtype="<f4").astype(np.float32)


def _to_array(numbers: Sequence[float] | Sequence[Sequence[float]]) -> Floats:
    return np.array(numbers, dtype=np.float32)
