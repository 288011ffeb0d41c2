"""Update detection: how likely a message tells that something has changed or was wrong.

Learned by `oldfriend_evals.update_link_training` from the features of `message_acts`, so that
"everything lives in Obsidian now" is known for an update without a list of such words.
"""

import math
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.message_acts import CACHE_SIZE, list_buckets

WEIGHTS_FILE: Final = Path(__file__).parent / "update_detection.npz"


@text_lru_cache(CACHE_SIZE)
def compute_update_logit(text: str) -> float:
    """Return the logit that a message tells an update of what was told before, of whatever."""
    weights, bias = load_update_weights()
    buckets = list_buckets(text)
    summed = float(weights[buckets].sum(dtype=np.float32))
    return summed / math.sqrt(max(len(buckets), 1)) + bias


@cache
def load_update_weights() -> tuple[npt.NDArray[np.float16], float]:
    """Return the weight of each bucket, and the bias."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        return stored["weights"], float(stored["bias"])
