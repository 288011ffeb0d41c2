"""Embedder protocol: models that turn texts into vectors, and the accounts that pay for them."""

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
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


CACHE_SIZE = 500
MIN_BULK_TEXTS = 64
"""Calls with at least this many texts bypass the cache."""


class CachingEmbedder:
    """Embedder with an LRU cache of texts."""

    def __init__(self, embedder: Embedder, *, max_size: int = CACHE_SIZE) -> None:
        """Wrap an embedder."""
        self.embedder = embedder
        self._max_size = max_size
        self._cache: OrderedDict[str, Vectors] = OrderedDict()

    def with_account(self, account: Account) -> "CachingEmbedder":
        """Return an embedder that shares this cache and charges another account."""
        other = copy(self)
        other.embedder = with_account(self.embedder, account)
        return other

    @property
    def model(self) -> str:
        """Model of the wrapped embedder."""
        return self.embedder.model

    @property
    def dimension(self) -> int:
        """Dimension of the wrapped embedder."""
        return self.embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector per text, in order, as rows. Raises EmbeddingFailed."""
        if not 0 < len(texts) < MIN_BULK_TEXTS:
            return await self.embedder.embed(texts)
        rows = {text: self._cache[text] for text in texts if text in self._cache}
        if new := [text for text in dict.fromkeys(texts) if text not in rows]:
            rows |= zip(new, await self.embedder.embed(new), strict=True)
        for text in texts:
            self._cache[text] = rows[text]
            self._cache.move_to_end(text)
        while len(self._cache) > self._max_size:
            self._cache.popitem(last=False)
        return np.stack([rows[text] for text in texts])
