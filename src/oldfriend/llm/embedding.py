"""What do we ask of a model that turns texts into vectors?

It does not know which model answers, nor who keeps the vectors.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.model import Call

Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """A model whose vectors lie close together where texts mean the same."""

    @property
    def model(self) -> str:
        """Its name and revision: vectors can be compared only under the same one."""

    @property
    def dimension(self) -> int:
        """How many numbers make a vector."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in order, or raise EmbeddingFailed."""


class Account(Protocol):
    """At whose expense a provider is asked."""

    async def check(self) -> None:
        """Raise AllowanceUsedUp where nothing more may be spent now."""

    async def record(self, call: Call) -> None:
        """Keep a finished call, before anything is done with what it gave."""


class Charging(Protocol):
    """Has what it asks of a provider charged to an account; what asks nobody costs nothing."""

    def charged_to(self, account: Account) -> Embedder:
        """The same embedder, at another's expense."""


def charged_to(embedder: Embedder, account: Account) -> Embedder:
    """The same embedder, where it costs anything at somebody's expense."""
    return embedder.charged_to(account) if is_charging(embedder) else embedder


def is_charging(embedder: object) -> TypeGuard[Charging]:
    """Whether it can be charged; ``isinstance`` takes as long as reading a row, each turn."""
    return hasattr(embedder, "charged_to")


class NoEmbedder:
    """Stands where the chosen model cannot be reached, and says why."""

    def __init__(self, model: str, dimension: int, why: str) -> None:
        """Go by the name of the model that was chosen."""
        self.model = model
        self.dimension = dimension
        self._why = why

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Raise EmbeddingFailed."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        raise EmbeddingFailed(self._why)
