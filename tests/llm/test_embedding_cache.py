"""The same question is embedded once, as long as it was asked lately."""

from collections.abc import Sequence

import numpy as np
import pytest

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.embedding import (
    CACHE_SIZE,
    Account,
    CachingEmbedder,
    Embedder,
    UnavailableEmbedder,
    Vectors,
)
from oldfriend.llm.model import ModelCall


class Lengths:
    """An embedder whose vectors say how long a text is; it remembers what it was given."""

    model = "lengths"
    dimension = 2

    def __init__(self) -> None:
        """Nothing yet."""
        self.given: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector for each."""
        self.given += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def inner() -> Lengths:
    """An embedder."""
    return Lengths()


async def test_repeated_text_is_embedded_once(inner: Lengths) -> None:
    """Alone, with others, and twice in one call; each in its place."""
    recent: Embedder = CachingEmbedder(inner)
    assert (await recent.embed(["a", "bb", "a"]))[:, 0].tolist() == [1, 2, 1]
    assert (await recent.embed(["ccc", "bb"]))[:, 0].tolist() == [3, 2]

    assert inner.given == ["a", "bb", "ccc"]
    assert (recent.model, recent.dimension) == ("lengths", 2)


async def test_cache_evicts_the_least_recently_used_text(inner: Lengths) -> None:
    """The one that was asked for longest ago goes first."""
    recent = CachingEmbedder(inner)
    await recent.embed(["first"])
    for number in range(CACHE_SIZE):
        await recent.embed([f"{number}"])
        await recent.embed(["first"])
    assert inner.given.count("first") == 1
    await recent.embed(["0"])

    assert CACHE_SIZE == 500
    assert inner.given.count("0") == 2


async def test_bulk_embedding_bypasses_the_cache(inner: Lengths) -> None:
    """An import must not push out what is asked."""
    recent = CachingEmbedder(inner)
    await recent.embed(["a"])
    assert (await recent.embed(["a"] * 1000)).shape == (1000, 2)
    assert (await recent.embed([])).shape == (0, 2)

    assert inner.given == ["a"] * 1001


async def test_unavailable_embedder_error_is_passed_on_and_not_cached() -> None:
    """And so does who remembers for it; nothing of that is remembered."""
    recent = CachingEmbedder(UnavailableEmbedder("openai:x/3", 3, "There is no key for openai."))
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="There is no key for openai"):
            await recent.embed(["a"])

    assert (await recent.embed([])).shape == (0, 3)


class Charged(Lengths):
    """An embedder that costs something."""

    def __init__(self, account: Account | None = None) -> None:
        """At somebody's expense, or nobody's."""
        super().__init__()
        self.account = account

    def with_account(self, account: Account) -> "Charged":
        """At another's expense."""
        return Charged(account)


class Purse:
    """An account."""

    async def check(self) -> None:
        """Let it be."""

    async def record(self, call: ModelCall) -> None:
        """Let it be."""


async def test_cache_is_shared_between_accounts(inner: Lengths) -> None:
    """What somebody paid for is there for all; what costs nothing stays as it is."""
    first, purse = CachingEmbedder(Charged()), Purse()
    await first.embed(["a"])
    second = first.with_account(purse)
    await second.embed(["a", "bb"])
    await first.embed(["bb"])

    assert isinstance(second.embedder, Charged)
    assert second.embedder.account is purse
    assert second.embedder.given == ["bb"]
    assert CachingEmbedder(inner).with_account(purse).embedder is inner
