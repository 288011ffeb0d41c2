"""Embedder protocol: models that turn texts into vectors, and the accounts that pay for them."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.model import ModelCall

Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Model whose vectors are close where texts have a similar meaning."""

    @property
    def model(self) -> str:
        """Name and revision; only vectors of the same one can be compared."""

    @property
    def dimension(self) -> int:
        """Number of dimensions of a vector."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector per text, in order, as rows. Raises EmbeddingFailed."""


class Account(Protocol):
    """Account to which provider requests are charged."""

    async def check(self) -> None:
        """Raise AllowanceUsedUp if nothing more may be spent now."""

    async def record(self, call: ModelCall) -> None:
        """Record a finished call before its result is used."""


class BillableEmbedder(Protocol):
    """Embedder whose requests are charged to an account; free ones do not implement this."""

    def with_account(self, account: Account) -> Embedder:
        """Return this embedder charged to another account."""


def with_account(embedder: Embedder, account: Account) -> Embedder:
    """Charge an embedder's requests to an account, if it costs anything."""
    return embedder.with_account(account) if is_billable(embedder) else embedder


def is_billable(embedder: object) -> TypeGuard[BillableEmbedder]:
    """Tell whether an embedder can be charged; `isinstance` with a protocol is slow."""
    return hasattr(embedder, "with_account")


class UnavailableEmbedder:
    """Embedder that raises why the chosen model cannot be used."""

    def __init__(self, model: str, dimension: int, reason: str) -> None:
        """Take the name and dimension of the chosen model, and the reason."""
        self.model = model
        self.dimension = dimension
        self._why = reason

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Raise EmbeddingFailed, unless there are no texts."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        raise EmbeddingFailed(self._why)
