"""Training of the fusion weights on questions whose answers are known, in NumPy.

The fusion is learned list by list (a softmax over a question's candidates, so that what counts
is who comes first): weights by kind of chat, then nets for what a sum cannot say. The judgement
tells questions that have an answer from those that have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from oldfriend.search.fusion import (
    ANSWERABILITY_FEATURES,
    FusionModel,
    FusionNet,
    SearchWeights,
    build_net_inputs,
    pack_floats,
)
from oldfriend.search.message_search import CHAT_TYPES
from oldfriend.search.types import Floats
from oldfriend_evals.lbfgs import Doubles, minimize
from oldfriend_evals.mlp import Lists, learn_nets, softmax

_RIDGE: Final = 60.0
_KIND_RIDGE: Final = 300.0  # what holds for one kind of chat only must be worth more
_JUDGEMENT_RIDGE: Final = 3.0
_SURE: Final = 30.0
_NO_SPREAD: Final = 1e-4  # the file keeps four digits
_SEEDS: Final = (1, 2, 3, 4)
_NETS_SHARE: Final = 0.5
_RATES: Final = np.arange(0.1, 3, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """A question's candidates: their features, and which of them answer it."""

    features: Floats
    answers: Doubles
    chat: Floats  # which kind of chat it is
    stands_for: Floats  # how many candidates each one stands for
    weight: float = 1.0


def learn_fusion(lessons: Sequence[Lesson], seeds: Sequence[int] = _SEEDS) -> FusionModel:
    """Weights and nets under which the answers come first."""
    lists = _build_lists([lesson for lesson in lessons if lesson.answers.any()])
    mean, spread = lists.table.mean(axis=0), lists.table.std(axis=0)
    # A feature that is always the same here teaches nothing: it has no weight, and must not get one
    # by a division by nearly nothing where it is another one day.
    spread[spread < _NO_SPREAD] = 1
    weights = _learn_weights(lists, mean, spread)
    known = (lists.spread_out(lists.chat) * (lists.table @ weights.T)).sum(axis=1)
    inputs = np.concatenate(
        [
            build_net_inputs(lists.table[start : start + size], chat, mean, spread)
            for start, size, chat in zip(lists.starts, lists.sizes, lists.chat, strict=True)
        ]
    )
    nets = tuple(_weaken(learn_nets(lists, inputs, known, seed)) for seed in seeds)
    return FusionModel(weights=weights, mean=mean, std=spread, nets=nets)


def _weaken(net: FusionNet) -> FusionNet:
    """Let a net say less: in full it knows its own kinds better and those left out worse."""
    return replace(net, output_weights=np.float32(_NETS_SHARE) * net.output_weights)


def _build_lists(lessons: Sequence[Lesson]) -> Lists:
    sizes = np.array([len(lesson.answers) for lesson in lessons])
    return Lists(
        table=np.concatenate([lesson.features for lesson in lessons]),
        chat=np.stack([lesson.chat for lesson in lessons]),
        starts=np.cumsum(sizes) - sizes,
        sizes=sizes,
        target=np.concatenate([lesson.answers / lesson.answers.sum() for lesson in lessons]),
        standing=np.log(np.concatenate([lesson.stands_for for lesson in lessons])),
        counts=np.array([lesson.weight for lesson in lessons]),
    )


def _learn_weights(lists: Lists, mean: Floats, spread: Floats) -> Floats:
    """The sum's weights, kind of chat × feature, held small by how widely they hold."""
    table = (lists.table - mean) / spread
    shape = (lists.chat.shape[1], table.shape[1])
    held = np.full((shape[0], 1), _KIND_RIDGE)
    held[0] = _RIDGE
    chat, counts = lists.spread_out(lists.chat), lists.spread_out(lists.counts)

    def missed(point: Doubles) -> tuple[float, Doubles]:
        weights = point.reshape(shape)
        scores = (chat * (table @ weights.T.astype(np.float32))).sum(axis=1) + lists.standing
        likely = softmax(scores, lists.starts, lists.sizes)
        loss = -(counts * lists.target * np.log(likely + 1e-30)).sum()
        off = (counts * (likely - lists.target)).astype(np.float32)
        slope = (chat * off[:, None]).T @ table
        return float(loss + (held * weights**2).sum() / 2), (slope + held * weights).ravel()

    weights = minimize(missed, np.zeros(shape[0] * shape[1])).reshape(shape)
    scaled: Floats = (weights / spread).astype(np.float32)
    return scaled


def learn_probability(
    table: Floats, is_true: Doubles, ridge: float = _JUDGEMENT_RIDGE
) -> tuple[Floats, float]:
    """Logistic weights and shift for "is it true?"."""
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-6
    rows = np.column_stack([(table - mean) / spread, np.ones(len(table))]).astype(np.float64)
    held = np.append(np.full(table.shape[1], ridge), 0)

    def missed(weights: Doubles) -> tuple[float, Doubles]:
        scores = rows @ weights
        loss = (np.logaddexp(0, scores) - is_true * scores).sum()
        likely = 1 / (1 + np.exp(-np.clip(scores, -_SURE, _SURE)))
        slope = rows.T @ (likely - is_true) + held * weights
        return float(loss + (held * weights**2).sum() / 2), slope

    weights = minimize(missed, np.zeros(rows.shape[1]))
    scaled = weights[:-1] / spread
    return scaled.astype(np.float32), float(weights[-1] - scaled @ mean)


def learn_falling_off(behind: Floats, answers: Doubles) -> float:
    """The rate at which hits that far behind the best one answer less often than it does."""
    best = float(answers[behind == 0].mean())
    missed = [((answers - best * np.exp(rate * behind)) ** 2).sum() for rate in _RATES]
    return float(_RATES[int(np.argmin(missed))])


def to_json(weights: SearchWeights, about: str) -> dict[str, object]:
    """The learned file: each number beside its name."""
    fusion = weights.fusion
    return {
        "about": about,
        "kinds_of_chat": list(CHAT_TYPES),
        "fusion": {
            name: _round(column)
            for name, column in zip(weights.feature_names, fusion.weights.T, strict=True)
        },
        "falling_off": round(weights.score_decay, 5),
        "judgement": {
            name: round(float(weight), 5)
            for name, weight in zip(
                ANSWERABILITY_FEATURES, weights.answerability_weights, strict=True
            )
        },
        "judgement_shift": round(weights.answerability_bias, 5),
        "mean": _round(fusion.mean),
        "spread": _round(fusion.std),
        "nets": [_net_to_json(net) for net in fusion.nets],
    }


def _net_to_json(net: FusionNet) -> dict[str, object]:
    return {
        "inward": pack_floats(net.hidden_weights),
        "shift": _round(net.hidden_bias),
        "outward": _round(net.output_weights),
    }


def _round(numbers: Floats) -> list[float]:
    return [round(float(number), 4) for number in numbers]
