"""Which vectors of a model of before still stand in for those of the present one?

While all is embedded anew, each message is found by the one vector that it has. Whose messages
these are, and which model it is, it does not know.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.directions import Directions
from oldfriend.memory.search.values import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Former:
    """Vectors by their messages' positions; one that is not needed any more counts 0."""

    positions: Ints
    vectors: Directions
    counting: Floats  # 1, or 0

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.positions.nbytes + self.vectors.nbytes + self.counting.nbytes

    def joined(self, more: "Former") -> "Former":
        """With those of other messages; their vectors are added to these, not copied with them."""
        self.vectors.extend(more.vectors)
        return Former(
            positions=np.concatenate([self.positions, more.positions]),
            vectors=self.vectors,
            counting=np.concatenate([self.counting, more.counting]),
        )

    def made_narrow(self) -> "Former":
        """The same in fewer bytes."""
        return replace(self, vectors=self.vectors.made_narrow())

    def without(self, positions: NDArray[np.integer]) -> "Former":
        """Without those of these messages; copied only once half of them are not needed."""
        kept = ~np.isin(self.positions, positions)
        left = Former(positions=self.positions, vectors=self.vectors, counting=self.counting * kept)
        return left if 2 * np.count_nonzero(left.counting) > len(kept) else left.taken(kept)

    def moved(self, to: Ints) -> "Former":
        """With each message at its new position; `to` is negative for one that is gone."""
        moved = Former(positions=to[self.positions], vectors=self.vectors, counting=self.counting)
        return moved.taken(moved.positions >= 0)

    def taken(self, kept: NDArray[np.bool_]) -> "Former":
        """Only those that are kept and count."""
        chosen = kept & (self.counting > 0)
        return Former(
            positions=self.positions[chosen],
            vectors=self.vectors.taken(chosen),
            counting=self.counting[chosen],
        )
