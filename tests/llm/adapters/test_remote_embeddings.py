"""Vectors from a server are those of the texts that were asked about, whatever goes wrong."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np
import pytest

from oldfriend.domain.errors import AllowanceUsedUp, EmbeddingFailed
from oldfriend.llm.adapters.remote_embeddings import BULK_RETRY, INTERACTIVE_RETRY, RemoteEmbedder
from oldfriend.llm.model import TokenUsage
from oldfriend.llm.providers import build_model_config
from tests.fakes.embedding_server import EmbeddingServer, embedding_server
from tests.fakes.raw_server import raw_server, whole
from tests.hashed_embedder import Hashed
from tests.llm.usage_accounts import Purse

AT_ONCE = {"first_pause_s": 0.01, "max_pause_s": 0.02, "timeout_s": 2.0}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A server that has been asked nothing yet."""
    with embedding_server() as server:
        yield server


@asynccontextmanager
async def embedder_at(
    url: str,
    *,
    dimension: int = 512,
    key: str | None = None,
    name: str = "hashed",
    purse: Purse | None = None,
) -> AsyncIterator[RemoteEmbedder]:
    """An embedder that does not wait long."""
    embedder = RemoteEmbedder(
        build_model_config(f"mine:{name}", base_url=url, key=key),
        dimension,
        purse or Purse(),
        interactive=replace(INTERACTIVE_RETRY, **AT_ONCE),
        bulk=replace(BULK_RETRY, **AT_ONCE),
    )
    yield embedder
    await embedder.close()


async def test_remote_embeddings_are_batched_ordered_and_normalized(
    server: EmbeddingServer,
) -> None:
    """However many there are, and in whatever order they come back."""
    texts = [f"text number {number}" for number in range(250)]
    async with embedder_at(server.url) as embedder:
        vectors = await embedder.embed(texts)
        assert (await embedder.embed([])).shape == (0, 512)

    assert np.allclose(vectors, await Hashed().embed(texts), atol=1e-6)
    assert [len(asked) for asked in server.asked] == [96, 96, 58]
    assert embedder.model == "mine:hashed/512"


async def test_api_key_is_sent_and_never_appears_in_errors(server: EmbeddingServer) -> None:
    """Not even where the server repeats it."""
    server.refusals = [(418, "who is sk-secret?"), (401, "sk-secret is wrong")]
    async with embedder_at(server.url, key="sk-secret") as embedder:
        with pytest.raises(EmbeddingFailed, match=r"who is \[key\]"):
            await embedder.embed(["a"] * 65)
        with pytest.raises(EmbeddingFailed, match="connect embedder") as refused:
            await embedder.embed(["a"] * 65)

    assert "sk-secret" not in str(refused.value)
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


async def test_transient_failure_is_retried_more_often_in_bulk(server: EmbeddingServer) -> None:
    """More often in bulk than while somebody waits."""
    texts = [f"{number}" for number in range(65)]
    server.refusals = [(status, "later") for status in (429, 500, 503, 529, 502)]
    async with embedder_at(server.url) as embedder:
        assert (await embedder.embed(texts)).shape == (65, 512)
        server.refusals = [(503, "overloaded")] * 3
        with pytest.raises(EmbeddingFailed, match=r"mine failed \(503\).*overloaded"):
            await embedder.embed(["one question"])

    assert len(server.asked) == 6 + 2


async def test_failed_embedder_is_skipped_until_bulk_work_succeeds(server: EmbeddingServer) -> None:
    """Until bulk work has found that it goes again."""
    server.refusals = [(503, "overloaded")] * 2
    async with embedder_at(server.url) as embedder:
        for _ in range(3):
            with pytest.raises(EmbeddingFailed):
                await embedder.embed(["one question"])
        assert len(server.asked) == 2

        await embedder.embed(["bulk"] * 65)
        assert (await embedder.embed(["one question"])).shape == (1, 512)


async def test_too_long_text_is_shortened_until_accepted(server: EmbeddingServer) -> None:
    """It is cut until the model takes it."""
    server.longest = 500
    texts = ["short", "word " * 3_000, "", "short too"]
    async with embedder_at(server.url) as embedder:
        vectors = await embedder.embed(texts)

    assert np.allclose(vectors[[0, 3]], await Hashed().embed(["short", "short too"]), atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_permanently_rejected_text_raises_the_server_message(server: EmbeddingServer) -> None:
    """It does not go on for ever."""
    server.refusals = [(400, "not today")] * 1000
    async with embedder_at(server.url) as embedder:
        with pytest.raises(EmbeddingFailed, match="rejected this.*not today"):
            await embedder.embed(["a", "b"])


async def test_vectors_of_another_length_are_refused(server: EmbeddingServer) -> None:
    """They would be compared with others of the same name."""
    async with embedder_at(server.url, dimension=384) as embedder:
        with pytest.raises(EmbeddingFailed, match="of 512 numbers, not of 384"):
            await embedder.embed(["a"])


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "[]",
        {"data": []},
        {"data": [{"embedding": "no"}]},
        {"data": None},
        "null",
        {"data": [{"embedding": [1, "x"]}]},
        {"data": [{"embedding": [0, 0]}]},
        {"data": [{"embedding": [1, 0], "index": 7}]},
        {"data": [{"embedding": [[1, 0]]}]},
        '{"data": [{"embedding": [NaN, 1]}]}',
    ],
)
async def test_malformed_embedding_response_raises_an_error(body: object) -> None:
    """Nothing of it is kept."""
    async with raw_server(whole(body)) as server, embedder_at(server.url, dimension=2) as embedder:
        with pytest.raises(EmbeddingFailed, match="something that is not a list of 1 vectors"):
            await embedder.embed(["a"])


async def test_unreachable_embedding_server_raises_an_error_with_its_address() -> None:
    """Or that is not what was thought."""
    async with embedder_at("http://127.0.0.1:9/v1") as embedder:
        with pytest.raises(EmbeddingFailed, match=r"reached at http://127.0.0.1:9/v1. Is it runn"):
            await embedder.embed(["a"])
    async with raw_server([]) as server, embedder_at(server.url) as embedder:
        with pytest.raises(EmbeddingFailed, match="connection to mine was lost"):
            await embedder.embed(["a"])
    async with raw_server(whole("", status=404)) as server, embedder_at(server.url) as embedder:
        with pytest.raises(EmbeddingFailed, match="has no embedding model 'hashed'"):
            await embedder.embed(["a"])
    async with raw_server([5.0]) as server, embedder_at(server.url) as embedder:
        embedder._interactive = replace(INTERACTIVE_RETRY, max_tries=1, timeout_s=0.1)
        with pytest.raises(EmbeddingFailed, match="did not answer in time"):
            await embedder.embed(["a"])


async def test_every_embedding_request_is_recorded_with_its_outcome(
    server: EmbeddingServer,
) -> None:
    """With the tokens that were reported; a rest in which nobody is asked is no call."""
    server.refusals = [(503, "overloaded")]
    purse = Purse()
    async with embedder_at(server.url, purse=purse) as embedder:
        await embedder.embed([f"text {number}" for number in range(97)])
        server.refusals = [(503, "overloaded")] * 2
        for _ in range(2):
            with pytest.raises(EmbeddingFailed):
                await embedder.embed(["a question"])

    assert purse.outcomes == ["failed", "done", "done", "failed", "failed"]
    failed, done, *_ = purse.calls
    assert "overloaded" in (failed.error or "")
    assert (failed.model, failed.request.purpose) == ("mine:hashed", "embedding")
    assert failed.completion is None
    assert done.completion is not None
    assert done.completion.usage == TokenUsage(input=7)
    assert done.completion.cost == 0  # it runs on this machine
    assert 0 < done.latency_us < 5_000_000


async def test_unusable_embedding_response_is_recorded_with_its_cost() -> None:
    """And is recorded as one that failed."""
    purse = Purse()
    body = {"data": [], "usage": {"total_tokens": 9, "cost": 0.0000015}}
    async with raw_server(whole(body)) as server, embedder_at(server.url, purse=purse) as embedder:
        with pytest.raises(EmbeddingFailed):
            await embedder.embed(["a"])

    (call,) = purse.calls
    assert call.outcome == "failed"
    assert call.completion is not None
    assert (call.completion.usage.input, call.completion.cost) == (9, 2)


@pytest.mark.parametrize(
    ("usage", "kept"),
    [
        ({"total_tokens": 10**30}, (0, 0)),
        ({"total_tokens": -1}, (0, 0)),
        ({"total_tokens": 9, "cost": 1e300}, (9, None)),
        ({"total_tokens": 9, "cost": -1}, (9, None)),
    ],
)
async def test_impossible_token_count_or_cost_is_ignored(
    usage: dict[str, float], kept: tuple[int, int | None]
) -> None:
    """It would fit into no database."""
    purse = Purse()
    body = {"data": [], "usage": usage}
    async with raw_server(whole(body)) as server, embedder_at(server.url, purse=purse) as embedder:
        with pytest.raises(EmbeddingFailed):
            await embedder.embed(["a"])

    (call,) = purse.calls
    assert call.completion is not None
    assert (call.completion.usage.input, call.completion.cost) == kept


async def test_missing_token_count_is_estimated_and_the_price_stays_unknown() -> None:
    """What is not known is not taken for nothing."""
    purse = Purse()
    body = {"data": [{"embedding": [1, 0]}]}
    async with (
        raw_server(whole(body)) as server,
        embedder_at(server.url, dimension=2, name="hashed:cloud", purse=purse) as embedder,
    ):
        await embedder.embed(["a" * 400])

    (call,) = purse.calls
    assert call.completion is not None
    assert (call.completion.usage.input, call.completion.cost) == (100, None)


async def test_cancelled_embedding_call_is_recorded_as_cut_off() -> None:
    """Perhaps it was paid for."""
    purse = Purse()
    async with raw_server([5.0]) as server, embedder_at(server.url, purse=purse) as embedder:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await embedder.embed(["a"])

    assert purse.outcomes == ["cut off"]


async def test_exhausted_allowance_blocks_only_that_account(
    server: EmbeddingServer,
) -> None:
    """What was begun is ended; another account goes on over the same connections."""
    poor, rich = Purse(left=1), Purse()
    async with embedder_at(server.url, name="hashed:cloud", purse=poor) as embedder:
        await embedder.embed(["text"] * 97)
        with pytest.raises(AllowanceUsedUp):
            await embedder.embed(["text"])
        assert len(server.asked) == 2
        assert (await embedder.with_account(rich).embed(["a"])).shape == (1, 512)

    assert (poor.outcomes, rich.outcomes) == (["done", "done"], ["done"])


async def test_local_embedding_is_recorded_despite_an_exhausted_allowance(
    server: EmbeddingServer,
) -> None:
    """It costs nothing."""
    purse = Purse(left=0)
    async with embedder_at(server.url, purse=purse) as embedder:
        await embedder.embed(["a"])

    assert purse.outcomes == ["done"]
