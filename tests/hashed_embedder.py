"""A second embedder, of another dimension: texts are close that share runs of letters.

It does not ship: search by words alone finds more than with its vectors (r@10 73.8 against 69.8
on our conversations).
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from oldfriend.llm.embedding import Vectors

PIECES = (3, 4, 5)
LONGEST_TEXT = 4_000


class Hashed:
    """Counts of runs of letters, each run at a place that its checksum says."""

    model = "hashed-letters-1"
    dimension = 512

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in order."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.vector(text)
        return vectors

    @classmethod
    def vector(cls, text: str) -> Vectors:
        """The vector of one text."""
        sums = [crc32(piece.encode("utf-8", "surrogatepass")) for piece in pieces_of(text)]
        hashes = np.array(sums, dtype=np.uint32)
        signs = np.where(hashes & 1, 1.0, -1.0)
        counts = np.bincount(hashes // 2 % cls.dimension, signs, cls.dimension)
        dampened = np.sign(counts) * np.sqrt(np.abs(counts))
        length = float(np.linalg.norm(dampened))
        if not length:  # an empty text, or one whose pieces cancel out
            dampened[0] = length = 1.0
        vector: Vectors = (dampened / length).astype(np.float32)
        return vector


def pieces_of(text: str) -> list[str]:
    """The runs of letters in each word, with where the word begins and ends."""
    words = [f"<{word}>" for word in text[:LONGEST_TEXT].casefold().split()]
    return [
        word[start : start + size]
        for word in words
        for size in PIECES
        for start in range(max(len(word) - size, 0) + 1)
    ]
