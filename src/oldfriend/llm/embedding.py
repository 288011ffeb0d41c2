"""What do we ask of a model that turns texts into vectors?

It does not know which model answers, nor who keeps the vectors.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """A model whose vectors lie close together where texts mean the same."""

    @property
    def model(self) -> str:
        """The name and revision that mark its vectors; only equal names can be compared."""

    @property
    def dimension(self) -> int:
        """How many numbers make one vector."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, in order; raise EmbeddingFailed if that cannot be."""
