"""How much should each sign count? Learned from questions whose answers are known. NumPy only.

The fusion is learned list by list (a softmax over a question's candidates, so that what counts
is who comes first); the judgement tells questions that have an answer from those that have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.judgement import JUDGED_BY
from oldfriend.memory.search.values import Floats
from oldfriend.memory.search.weights import Weights

Doubles: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

_RIDGE: Final = 60.0
_JUDGEMENT_RIDGE: Final = 3.0
_STEPS: Final = 30
_ENOUGH: Final = 1e-5
_KEPT_PROMISE: Final = 0.2  # a step must bring this share of what the slope promises


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """A question's candidates: their features, and which of them answer it."""

    features: Floats
    answers: Doubles
    weight: float = 1.0


def learn_fusion(lessons: Sequence[Lesson], ridge: float = _RIDGE) -> Floats:
    """Weights under which the answers come first, by Newton's method."""
    lessons = [lesson for lesson in lessons if lesson.answers.any()]
    table = np.concatenate([lesson.features for lesson in lessons])
    spread = table.std(axis=0) + 1e-6
    table = (table - table.mean(axis=0)) / spread
    sizes = np.array([len(lesson.answers) for lesson in lessons])
    starts = np.cumsum(sizes) - sizes
    target = np.concatenate([lesson.answers / lesson.answers.sum() for lesson in lessons])
    lists = _Lists(
        table=table,
        starts=starts,
        sizes=sizes,
        target=target,
        counts=np.repeat(np.array([lesson.weight for lesson in lessons]), sizes),
        ridge=ridge,
    )
    weights = np.zeros(table.shape[1])
    loss = lists.loss(weights)
    for _ in range(_STEPS):
        step, promised = lists.newton_step(weights)
        if promised < _ENOUGH * loss:
            break
        # A full step may overshoot where the softmax is flat.
        while (shorter := lists.loss(weights - step)) > loss - promised * _KEPT_PROMISE:
            step, promised = step / 2, promised / 2
        weights, loss = weights - step, shorter
    scaled: Floats = (weights / spread).astype(np.float32)
    return scaled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Lists:
    """All lessons one below the other, standardised."""

    table: Floats
    starts: Whole
    sizes: Whole
    target: Doubles
    counts: Doubles
    ridge: float

    def loss(self, weights: Doubles) -> float:
        likely = self._likely(weights)
        missed = -(self.counts * self.target * np.log(likely + 1e-30)).sum()
        return float(missed + self.ridge * (weights @ weights) / 2)

    def newton_step(self, weights: Doubles) -> tuple[Doubles, float]:
        """The step to take, and what the slope promises of it."""
        likely = self._likely(weights)
        slope = self.table.T @ (self.counts * (likely - self.target)).astype(np.float32)
        weighted = self.table * likely[:, None].astype(np.float32)
        means = np.add.reduceat(weighted, self.starts)
        weighted *= self.counts[:, None].astype(np.float32)
        bend = self.table.T @ weighted
        bend = bend - means.T @ (means * self.counts[self.starts][:, None].astype(np.float32))
        held = self.ridge * np.eye(len(weights))
        uphill = slope + self.ridge * weights
        step: Doubles = np.linalg.solve(bend + held, uphill)
        return step, float(uphill @ step)

    def _likely(self, weights: Doubles) -> Doubles:
        return _softmax(self.table @ weights.astype(np.float32), self.starts, self.sizes)


def _softmax(scores: Floats, starts: Whole, sizes: Whole) -> Doubles:
    below_best = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
    lifted: Doubles = np.exp(below_best.astype(np.float64))
    shares: Doubles = lifted / np.repeat(np.add.reduceat(lifted, starts), sizes)
    return shares


def learn_probability(
    table: Floats, is_true: Doubles, ridge: float = _JUDGEMENT_RIDGE
) -> tuple[Floats, float]:
    """Logistic weights and shift for "is it true?"."""
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-6
    rows = np.column_stack([(table - mean) / spread, np.ones(len(table))]).astype(np.float64)
    held = ridge * np.eye(rows.shape[1])
    held[-1, -1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (likely - is_true) + held @ weights
        bend = (rows * (likely * (1 - likely))[:, None]).T @ rows + held
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < _ENOUGH:
            break
    scaled = weights[:-1] / spread
    return scaled.astype(np.float32), float(weights[-1] - scaled @ mean)


def put_together(
    names: tuple[str, ...],
    fusion: Floats,
    lessons: Sequence[Lesson],
    judged: Floats,
    has_answer: Doubles,
) -> Weights:
    """Everything that ships, from what was learned and the cases to judge."""
    scores = np.concatenate([lesson.features @ fusion for lesson in lessons])
    answers = np.concatenate([lesson.answers for lesson in lessons])
    scale, shift = learn_probability(scores[:, None], answers, ridge=1e-3)
    judgement, judgement_shift = learn_probability(judged, has_answer)
    return Weights(
        features=names,
        fusion=fusion,
        hit_scale=float(scale[0]),
        hit_shift=shift,
        judgement=judgement,
        judgement_shift=judgement_shift,
    )


def as_json(weights: Weights, about: str) -> dict[str, object]:
    """The learned file: each number beside its name."""
    return {
        "about": about,
        "fusion": {
            name: round(float(weight), 5)
            for name, weight in zip(weights.features, weights.fusion, strict=True)
        },
        "hit": {"scale": round(weights.hit_scale, 5), "shift": round(weights.hit_shift, 5)},
        "judgement": {
            name: round(float(weight), 5)
            for name, weight in zip(JUDGED_BY, weights.judgement, strict=True)
        },
        "judgement_shift": round(weights.judgement_shift, 5),
    }
