"""L-BFGS: limited-memory quasi-Newton minimization in NumPy."""

from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Doubles: TypeAlias = NDArray[np.float64]
Step: TypeAlias = tuple[Doubles, Doubles]

_REMEMBERED: Final = 20
_MOST_STEPS: Final = 120
_MOST_HALVINGS: Final = 20
_KEPT_PROMISE: Final = 1e-4  # a step must bring this share of what the slope promises
_ENOUGH: Final = 1e-7


def minimize(function: Callable[[Doubles], tuple[float, Doubles]], start: Doubles) -> Doubles:
    """The point at which `function`, which returns its value and slope, is lowest."""
    point, steps = start, deque[Step](maxlen=_REMEMBERED)
    value, slope = function(point)
    for _ in range(_MOST_STEPS):
        direction = -_apply_curvature(slope, steps)
        length = 1.0 if steps else 1 / max(float(np.abs(slope).sum()), 1e-12)
        promised = float(slope @ direction)
        for _ in range(_MOST_HALVINGS):
            reached, next_slope = function(point + length * direction)
            if reached <= value + _KEPT_PROMISE * length * promised:
                break
            length /= 2
        else:
            break
        moved, turned = length * direction, next_slope - slope
        if moved @ turned > 0:
            steps.append((moved, turned))
        gained, point, value, slope = value - reached, point + moved, reached, next_slope
        if gained < _ENOUGH * abs(value) and len(steps) > 1:
            break
    return point


def _apply_curvature(slope: Doubles, steps: deque[Step]) -> Doubles:
    """The slope, corrected by the curvature that the last steps have shown."""
    shares: list[float] = []
    bent = slope.copy()
    for moved, turned in reversed(steps):
        shares.append(float(moved @ bent / (moved @ turned)))
        bent -= shares[-1] * turned
    if steps:
        moved, turned = steps[-1]
        bent *= (moved @ turned) / (turned @ turned)
    for moved, turned in steps:
        bent += (shares.pop() - float(turned @ bent / (moved @ turned))) * moved
    return bent
