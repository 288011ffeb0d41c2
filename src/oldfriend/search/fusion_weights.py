"""Fusion weights: the learned ranking model, read once from a JSON file beside this module.

`scripts/learn_fusion.py` writes the file and documents the training data.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, TypedDict

import numpy as np

from oldfriend.search.types import Floats

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
        scores: Floats = features @ (chat_types @ self.weights)
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
    output: Floats = (
        np.maximum(inputs @ net.hidden_weights + net.hidden_bias, 0) @ net.output_weights
    )
    return output


@lru_cache(maxsize=1)
def load_weights() -> SearchWeights:
    """Load the weights that ship with this version."""
    text = files("oldfriend.search").joinpath("learned.json").read_text("utf-8")
    learned = json.loads(text)
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
