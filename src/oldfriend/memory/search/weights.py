"""What has been learned about finding? Numbers in a file beside this module, read once.

`scripts/learn_fusion.py` writes the file; it says there from what and when.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from oldfriend.memory.search.values import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """How much each feature counts, and how a score and a judgement become a probability."""

    features: tuple[str, ...]
    fusion: Floats
    hit_scale: float  # probability of a hit = sigmoid(scale × score + shift)
    hit_shift: float
    judgement: Floats
    judgement_shift: float


@lru_cache(maxsize=1)
def learned_weights() -> Weights:
    """The weights that ship with this version."""
    text = files("oldfriend.memory.search").joinpath("learned.json").read_text("utf-8")
    learned = json.loads(text)
    return Weights(
        features=tuple(learned["fusion"]),
        fusion=np.array(list(learned["fusion"].values()), dtype=np.float32),
        hit_scale=learned["hit"]["scale"],
        hit_shift=learned["hit"]["shift"],
        judgement=np.array(list(learned["judgement"].values()), dtype=np.float32),
        judgement_shift=learned["judgement_shift"],
    )
