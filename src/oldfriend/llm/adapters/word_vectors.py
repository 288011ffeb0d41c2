"""Word vectors: the table in which all bundled networks look up their tokens, stored once."""

from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

WORDS_FILE: Final = "words.npy"
"""Token × channel, in eight bits."""
SCALES_FILE: Final = "word_scales.npy"
"""Token × 1: what to multiply a row with."""


class WordVectors:
    """The vectors of all tokens, read from the disk as they are needed."""

    def __init__(self, folder: Path) -> None:
        """Open the table of a folder. Raises OSError or ValueError if it cannot be read."""
        self._words = np.load(folder / WORDS_FILE, mmap_mode="r")
        self._scales = np.load(folder / SCALES_FILE)

    def look_up(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors of token ids: one more axis, of 384 channels."""
        vectors: npt.NDArray[np.float32] = self._words[ids].astype(np.float32) * self._scales[ids]
        return vectors


@lru_cache(maxsize=2)
def load_word_vectors(folder: Path) -> WordVectors:
    """Return the table of a folder; the networks of one process share it."""
    return WordVectors(folder)
