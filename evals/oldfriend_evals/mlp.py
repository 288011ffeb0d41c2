"""Small neural networks that learn what a weighted sum leaves over, list by list (Adam)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.fusion import FusionNet
from oldfriend.search.types import Floats
from oldfriend_evals.lbfgs import Doubles

Whole: TypeAlias = NDArray[np.int64]

_UNITS: Final = 32
_ROUNDS: Final = 12
_LISTS_AT_ONCE: Final = 32
_PACE: Final = 3e-3
_SHRINKING: Final = 3e-2
_LEFT_OUT: Final = 0.1  # share of the inputs that a step does not see
_SLOPE_MEMORY: Final = 0.9
_SIZE_MEMORY: Final = 0.99


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """All lessons one below the other."""

    table: Floats  # candidate × feature
    chat: Floats  # list × kind of chat
    starts: Whole
    sizes: Whole
    target: Doubles  # of each candidate: its share of the answer
    standing: Doubles  # of each candidate: log of how many it stands for
    counts: Doubles  # of each list

    def spread_out(self, by_list: NDArray[np.floating]) -> NDArray[np.floating]:
        """A row for each list becomes a row for each candidate."""
        return np.repeat(by_list, self.sizes, axis=0)


def softmax(scores: NDArray[np.floating], starts: Whole, sizes: Whole) -> Doubles:
    """The share of each candidate in its list."""
    below_best = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
    lifted: Doubles = np.exp(below_best.astype(np.float64))
    shares: Doubles = lifted / np.repeat(np.add.reduceat(lifted, starts), sizes)
    return shares


def learn_nets(lists: Lists, inputs: Floats, known: Floats, seed: int) -> FusionNet:
    """A net whose answer, added to the scores that are known, brings the answers first."""
    random = np.random.default_rng(seed)
    width = inputs.shape[1]
    parts = [
        random.normal(0, width**-0.5, (width, _UNITS)).astype(np.float32),
        np.zeros(_UNITS, np.float32),
        random.normal(0, 0.1, _UNITS).astype(np.float32),
    ]
    parts[0][~inputs.any(axis=0)] = 0  # nothing is learned of what is never there
    slopes, sizes = [np.zeros_like(p) for p in parts], [np.zeros_like(p) for p in parts]
    batches = list(_list_batches(len(lists.sizes), random))
    for step, batch in enumerate(batches, 1):
        seen = np.float32(1 / (1 - _LEFT_OUT)) * (random.random((width,)) >= _LEFT_OUT)
        pace = _PACE * (1 + np.cos(np.pi * step / len(batches))) / 2
        for at, slope in enumerate(_compute_gradients(lists, inputs, known, parts, batch, seen)):
            slopes[at] += (1 - _SLOPE_MEMORY) * (slope - slopes[at])
            sizes[at] += (1 - _SIZE_MEMORY) * (slope**2 - sizes[at])
            mean = slopes[at] / (1 - _SLOPE_MEMORY**step)
            size = np.sqrt(sizes[at] / (1 - _SIZE_MEMORY**step)) + 1e-8
            shrinking = _SHRINKING * parts[at] if at != 1 else 0
            parts[at] -= (pace * (mean / size + shrinking)).astype(np.float32)
    return FusionNet(hidden_weights=parts[0], hidden_bias=parts[1], output_weights=parts[2])


def _list_batches(lists: int, random: np.random.Generator) -> Iterator[Whole]:
    for _ in range(_ROUNDS):
        yield from np.array_split(random.permutation(lists), -(-lists // _LISTS_AT_ONCE))


def _compute_gradients(
    lists: Lists, inputs: Floats, known: Floats, parts: Sequence[Floats], batch: Whole, seen: Floats
) -> tuple[Floats, Floats, Floats]:
    inward, shift, outward = parts
    sizes = lists.sizes[batch]
    starts = np.cumsum(sizes) - sizes
    rows = np.repeat(lists.starts[batch] - starts, sizes) + np.arange(sizes.sum())
    shown = inputs[rows] * seen
    units = np.maximum(shown @ inward + shift, 0)
    likely = softmax(known[rows] + lists.standing[rows] + units @ outward, starts, sizes)
    off = np.repeat(lists.counts[batch], sizes) * (likely - lists.target[rows]) / len(batch)
    off = off.astype(np.float32)
    back = off[:, None] * outward * (units > 0)
    return shown.T @ back, back.sum(axis=0), units.T @ off
