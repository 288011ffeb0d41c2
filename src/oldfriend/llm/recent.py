"""Which vectors were asked for just now? The same question is not embedded twice.

It does not know which model it stands before. Texts that come in bulk are not kept.
"""

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy

import numpy as np

from oldfriend.llm.embedding import Account, Embedder, Vectors, charged_to

MOST_KEPT = 500
BULK = 64
"""Texts in one call from which on they are passed through."""


class Recent:
    """An embedder that remembers its last few texts, the least recently asked for going first."""

    def __init__(self, embedder: Embedder, *, most: int = MOST_KEPT) -> None:
        """Stand before an embedder."""
        self.embedder = embedder
        self._most = most
        self._kept: OrderedDict[str, Vectors] = OrderedDict()

    def charged_to(self, account: Account) -> "Recent":
        """The same memory before the same embedder, at another's expense."""
        other = copy(self)
        other.embedder = charged_to(self.embedder, account)
        return other

    @property
    def model(self) -> str:
        """The embedder's."""
        return self.embedder.model

    @property
    def dimension(self) -> int:
        """The embedder's."""
        return self.embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in order, or raise EmbeddingFailed."""
        if not 0 < len(texts) < BULK:
            return await self.embedder.embed(texts)
        rows = {text: self._kept[text] for text in texts if text in self._kept}
        if new := [text for text in dict.fromkeys(texts) if text not in rows]:
            rows |= zip(new, await self.embedder.embed(new), strict=True)
        for text in texts:
            self._kept[text] = rows[text]
            self._kept.move_to_end(text)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return np.stack([rows[text] for text in texts])
