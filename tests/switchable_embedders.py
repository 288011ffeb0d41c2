"""Two models for a switch between them, whose vectors alone tell which message a question means.

What is said and what is asked about it have no word in common, so that nothing but the right
vector, compared by the right model, finds the answer.
"""

from collections.abc import Sequence

import numpy as np

from oldfriend.llm.embedding import Vectors

SAID = ["ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du"]
ASKED = ["ka", "ke", "ki", "ko", "ku", "ta", "te", "ti", "to", "tu"]


def said(number: int) -> str:
    """What is said with a number."""
    return "".join(SAID[int(digit)] for digit in f"{number:06}")


def asked(number: int) -> str:
    """The question that means the same."""
    return "".join(ASKED[int(digit)] for digit in f"{number:06}")


class Telling:
    """A model that knows which number is meant; its cosines begin where it likes."""

    def __init__(self, model: str, dimension: int, *, floor: float = 0.0) -> None:
        """Go by a name; two texts with nothing in common have a cosine of ``floor``."""
        self.model = model
        self.dimension = dimension
        self._floor = floor

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each."""
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        syllables = text.rpartition(": ")[2]
        number = "".join(
            str((SAID if pair in SAID else ASKED).index(pair))
            for pair in (syllables[at : at + 2] for at in range(0, len(syllables), 2))
            if pair in SAID or pair in ASKED
        )
        seed = int(number or 0) if len(number) == 6 else sum(map(ord, text))
        meaning = self._unit(np.random.default_rng([self.dimension, seed]))
        noise = self._unit(np.random.default_rng([self.dimension, *text.encode()]))
        own = 0.75 * meaning + 0.66 * noise
        vector = np.sqrt(1 - self._floor) * own / np.linalg.norm(own)
        vector[0] = np.sqrt(self._floor)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def _unit(self, generator: np.random.Generator) -> np.ndarray:
        vector = generator.standard_normal(self.dimension)
        vector[0] = 0
        return vector / np.linalg.norm(vector)


OLD = Telling("old", 96)
NEW = Telling("new", 160, floor=0.8)
