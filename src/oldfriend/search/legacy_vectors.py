"""Legacy vectors: vectors of a previous embedding model, used until their messages are re-embedded.

Each message is found by the one vector that it has.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.types import Floats, Ints
from oldfriend.search.vector_array import VectorArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LegacyVectors:
    """Vectors with their messages' positions; a mask of 0 marks one that is no longer needed."""

    positions: Ints
    vectors: VectorArray
    mask: Floats  # 1, or 0

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self.positions.nbytes + self.vectors.nbytes + self.mask.nbytes

    def concat(self, other: "LegacyVectors") -> "LegacyVectors":
        """Return these with those of other messages; extends this vector array in place."""
        self.vectors.extend(other.vectors)
        return LegacyVectors(
            positions=np.concatenate([self.positions, other.positions]),
            vectors=self.vectors,
            mask=np.concatenate([self.mask, other.mask]),
        )

    def to_quantized(self) -> "LegacyVectors":
        """Return these with quantized vectors."""
        return replace(self, vectors=self.vectors.to_quantized())

    def drop(self, positions: NDArray[np.integer]) -> "LegacyVectors":
        """Return these without those messages; copies only once half of them are not needed."""
        kept = ~np.isin(self.positions, positions)
        left = LegacyVectors(positions=self.positions, vectors=self.vectors, mask=self.mask * kept)
        return left if 2 * np.count_nonzero(left.mask) > len(kept) else left.take(kept)

    def remap(self, to: Ints) -> "LegacyVectors":
        """Return these with messages at new positions; a negative one in `to` drops the message."""
        remapped = LegacyVectors(positions=to[self.positions], vectors=self.vectors, mask=self.mask)
        return remapped.take(remapped.positions >= 0)

    def take(self, kept: NDArray[np.bool_]) -> "LegacyVectors":
        """Return only the masked-in vectors that are kept."""
        chosen = kept & (self.mask > 0)
        return LegacyVectors(
            positions=self.positions[chosen],
            vectors=self.vectors.take(chosen),
            mask=self.mask[chosen],
        )
