"""What has been learned about finding? Numbers in a file beside this module, read once.

`scripts/learn_fusion.py` writes the file; it says there from what and when.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, TypedDict

import numpy as np

from oldfriend.memory.search.values import Floats

_FARTHEST: Final = 4.0  # standard deviations; beyond it a net has seen nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Net:
    """A small net that corrects the weighted sum where features matter together."""

    inward: Floats  # input × unit
    shift: Floats  # of each unit
    outward: Floats  # of each unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fusion:
    """How features become one score: weights by kind of chat, and the mean of some nets."""

    weights: Floats  # kind of chat × feature
    mean: Floats  # of each feature, where the nets were learned
    spread: Floats
    nets: tuple[Net, ...] = ()

    def score(self, features: Floats, chat: Floats) -> Floats:
        """A score for each candidate; only their differences mean something."""
        scores: Floats = features @ (chat @ self.weights)
        if self.nets:
            inputs = net_inputs(features, chat, self.mean, self.spread)
            scores = scores + sum(_answer(net, inputs) for net in self.nets) / len(self.nets)
        return scores.astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """How much each feature counts, and how sure an answer is."""

    features: tuple[str, ...]
    fusion: Fusion
    falling_off: float  # how fast a hit's score falls behind the best one's
    judgement: Floats
    judgement_shift: float


class _LearnedNet(TypedDict):
    inward: list[list[float]]
    shift: list[float]
    outward: list[float]


def net_inputs(features: Floats, chat: Floats, mean: Floats, spread: Floats) -> Floats:
    """What a net sees of each candidate: its features, standardised, and the kind of chat."""
    inputs = np.empty((len(features), features.shape[1] + len(chat) - 1), np.float32)
    standard = (features - mean) / spread
    np.minimum(np.maximum(standard, -_FARTHEST), _FARTHEST, out=inputs[:, : features.shape[1]])
    inputs[:, features.shape[1] :] = chat[1:]
    return inputs


def _answer(net: Net, inputs: Floats) -> Floats:
    answer: Floats = np.maximum(inputs @ net.inward + net.shift, 0) @ net.outward
    return answer


@lru_cache(maxsize=1)
def learned_weights() -> Weights:
    """The weights that ship with this version."""
    text = files("oldfriend.memory.search").joinpath("learned.json").read_text("utf-8")
    learned = json.loads(text)
    return Weights(
        features=tuple(learned["fusion"]),
        fusion=Fusion(
            weights=_floats(list(learned["fusion"].values())).T,
            mean=_floats(learned["mean"]),
            spread=_floats(learned["spread"]),
            nets=tuple(_net(net) for net in learned["nets"]),
        ),
        falling_off=learned["falling_off"],
        judgement=_floats(list(learned["judgement"].values())),
        judgement_shift=learned["judgement_shift"],
    )


def _net(learned: _LearnedNet) -> Net:
    return Net(
        inward=_floats(learned["inward"]),
        shift=_floats(learned["shift"]),
        outward=_floats(learned["outward"]),
    )


def _floats(numbers: Sequence[float] | Sequence[Sequence[float]]) -> Floats:
    return np.array(numbers, dtype=np.float32)
