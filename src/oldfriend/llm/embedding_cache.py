"""Embedding cache: an LRU cache of embedded texts, so that a query is not embedded twice.

Texts that come in bulk bypass the cache.
"""

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy

import numpy as np

from oldfriend.llm.embedding import Account, Embedder, Vectors, with_account

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
