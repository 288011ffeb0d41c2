"""Remote embeddings: an embedder that uses OpenAI's embeddings API or one that imitates it.

Uses POST …/embeddings, at a provider or on this machine. Each request is charged to an account.
"""

import asyncio
import random
from asyncio import CancelledError
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypedDict

import httpx2
import numpy as np

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.llm.adapters import error_texts
from oldfriend.llm.adapters.http_connections import open_http_client
from oldfriend.llm.adapters.pricing import compute_price
from oldfriend.llm.embedding import Account, Vectors
from oldfriend.llm.model import (
    MAX_TOKENS,
    CallOutcome,
    Completion,
    CompletionRequest,
    ModelCall,
    TokenUsage,
)
from oldfriend.llm.providers import ModelConfig, is_free

BATCH_SIZE: Final = 96
"""Texts per request."""
MAX_TEXT_CHARS: Final = 6_000
"""Characters sent of a text: in any language below 8,192 tokens, the limit of most models."""
MIN_TEXT_CHARS: Final = 100
COOLDOWN_S: Final = 30.0
"""Seconds after a failure in which interactive calls fail at once."""
TOO_LARGE_STATUSES: Final = frozenset({400, 413, 422})
TRANSIENT_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
MAX_QUOTED_CHARS: Final = 200
MAX_RETRY_AFTER_DIGITS: Final = 6
"""Digits of the seconds in a Retry-After header that are accepted."""
EMBEDDING_REQUEST: Final = CompletionRequest(
    purpose="embedding", prompt="", system_prompt="", turns=()
)
"""Request in call records: embeddings have no prompt, and the texts are stored elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Number of tries, and pauses between them."""

    max_tries: int
    first_pause_s: float
    max_pause_s: float
    timeout_s: float


INTERACTIVE_RETRY: Final = RetryPolicy(
    max_tries=2, first_pause_s=0.2, max_pause_s=1.0, timeout_s=10.0
)
"""For calls that a person waits for."""
BULK_RETRY: Final = RetryPolicy(max_tries=6, first_pause_s=0.5, max_pause_s=20.0, timeout_s=120.0)
MAX_INTERACTIVE_TEXTS: Final = 64
"""Calls with at most this many texts count as interactive."""


class RemoteEmbedder:
    """Embedder of a provider; connections are opened at the first use and closed by `close`."""

    def __init__(
        self,
        config: ModelConfig,
        dimension: int | None,
        account: Account,
        *,
        interactive: RetryPolicy = INTERACTIVE_RETRY,
        bulk: RetryPolicy = BULK_RETRY,
        connection: "_SharedConnection | None" = None,
    ) -> None:
        """Take the model and the dimension of its vectors; None: any."""
        self.dimension = dimension or 0
        self.model = f"{config.model}/{dimension}"
        self._config = config
        self._account = account
        self._interactive, self._bulk = interactive, bulk
        self._connection = connection or _SharedConnection()

    def with_account(self, account: Account) -> "RemoteEmbedder":
        """Return an embedder that shares these connections and charges another account."""
        return RemoteEmbedder(
            self._config,
            self.dimension or None,
            account,
            interactive=self._interactive,
            bulk=self._bulk,
            connection=self._connection,
        )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector per text, in order, as rows. Raises EmbeddingFailed."""
        policy = self._interactive if len(texts) <= MAX_INTERACTIVE_TEXTS else self._bulk
        now = asyncio.get_running_loop().time
        if policy is self._interactive and now() < self._connection.cooldown_until:
            raise EmbeddingFailed(
                localizable(
                    "provider_rests",
                    f"{self._config.provider} failed a moment ago.",
                    provider=self._config.provider,
                )
            )
        if not is_free(self._config):  # once per call, so that no paid batch is wasted half-way
            await self._account.check()
        parts = [np.zeros((0, self.dimension), dtype=np.float32)]
        for start in range(0, len(texts), BATCH_SIZE):
            batch = [text[:MAX_TEXT_CHARS] or " " for text in texts[start : start + BATCH_SIZE]]
            try:
                parts.append(await self._embed_batch(batch, policy))
            except EmbeddingFailed:
                self._connection.cooldown_until = now() + COOLDOWN_S
                raise
        self._connection.cooldown_until = 0.0
        return np.concatenate(parts if self.dimension else parts[1:])

    async def close(self) -> None:
        """Close the connections."""
        if self._connection.http is not None:
            await self._connection.http.aclose()
            self._connection.http = None

    async def _embed_batch(self, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
        """Embed some texts; a batch that is too large is split, and a text that is too long cut."""
        try:
            return await self._ask_with_retry(texts, retry)
        except _TooLargeError as refused:
            if len(texts) > 1:
                half = len(texts) // 2
                parts = [
                    await self._embed_batch(part, retry) for part in (texts[:half], texts[half:])
                ]
                return np.concatenate(parts)
            if len(texts[0]) <= MIN_TEXT_CHARS:
                raise EmbeddingFailed(*refused.args) from refused
            return await self._embed_batch([texts[0][: len(texts[0]) // 2]], retry)

    async def _ask_with_retry(self, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
        """Send a request, with retries where they may help."""
        tries = 0
        while True:
            try:
                return await self._ask(texts, retry)
            except _TransientError as error:
                tries += 1
                if tries >= retry.max_tries:
                    raise EmbeddingFailed(*error.args) from error
                pause = min(retry.first_pause_s * 2 ** (tries - 1), retry.max_pause_s)
                requested = min(error.retry_after_s or 0.0, retry.max_pause_s)
                await asyncio.sleep(max(requested, pause * random.uniform(0.5, 1.0)))

    async def _ask(self, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
        """Send one request and record it, however it ends."""
        now = asyncio.get_running_loop().time
        started, completion = now(), None

        async def keep(outcome: CallOutcome, why: str | None = None) -> None:
            call = ModelCall(
                request=EMBEDDING_REQUEST,
                model=self._config.model,
                outcome=outcome,
                completion=completion,
                error=why,
                latency_us=round((now() - started) * 1_000_000),
            )
            await self._account.record(call)

        try:
            response = await self._send(texts, retry)
            completion = build_embedding_completion(self._config, texts, response)
            vectors = parse_vectors(
                self._config, response, count=len(texts), dimension=self.dimension
            )
        except CancelledError:
            await keep("cut off", "It was stopped, or took too long.")
            raise
        except (EmbeddingFailed, _TransientError, _TooLargeError) as error:
            await keep("failed", str(error))
            raise
        await keep("done")
        return vectors

    async def _send(self, texts: Sequence[str], retry: RetryPolicy) -> httpx2.Response:
        """Return a provider's response, if it is no failure."""
        config = self._config
        body = {"model": config.name, "input": list(texts), "encoding_format": "float"}
        timeout = httpx2.Timeout(
            retry.timeout_s, connect=min(config.timeouts.connect_s, retry.timeout_s)
        )
        try:
            response = await self._open_http().post("embeddings", json=body, timeout=timeout)
        except httpx2.ConnectError as error:
            raise _TransientError(error_texts.format_unreachable(config)) from error
        except httpx2.TimeoutException as error:
            raise _TransientError(error_texts.format_timeout(config)) from error
        except httpx2.HTTPError as error:
            raise _TransientError(error_texts.format_connection_lost(config)) from error
        if response.status_code != httpx2.codes.OK:
            raise map_embedding_error(config, response)
        return response

    def _open_http(self) -> httpx2.AsyncClient:
        if self._connection.http is None:
            config = self._config
            self._connection.http = open_http_client(
                config.base_url,
                base=f"{config.base_url.rstrip('/')}/",
                headers={"Authorization": f"Bearer {config.key}"} if config.key else {},
            )
        return self._connection.http


@dataclass(slots=True)
class _SharedConnection:
    """State shared by all accounts' embedders of one model."""

    http: httpx2.AsyncClient | None = None
    cooldown_until: float = 0.0  # by the event loop's clock


class _TransientError(Exception):
    """Failure that may pass."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class _TooLargeError(Exception):
    """Failure that fewer or shorter texts may avoid."""


def map_embedding_error(config: ModelConfig, response: httpx2.Response) -> Exception:
    """Map an error response to an exception whose text does not contain the key."""
    status, quoted = response.status_code, quote_response(config, response)
    if status in TRANSIENT_STATUSES:
        text = error_texts.format_failure(config, quoted, status=status)
        return _TransientError(text, retry_after_s=parse_retry_after(response.headers))
    if status in TOO_LARGE_STATUSES:
        return _TooLargeError(error_texts.format_rejected(config, quoted, status=status))
    if status in {401, 403}:
        return EmbeddingFailed(error_texts.format_key_refused(config, "embedder"))
    if status == 404:
        return EmbeddingFailed(
            error_texts.format_unknown_model(config, "embedding model", "embedder")
        )
    return EmbeddingFailed(error_texts.format_failure(config, quoted, status=status))


def parse_retry_after(headers: httpx2.Headers) -> float | None:
    """Return the seconds of a Retry-After header, if it has any."""
    value = headers.get("retry-after", "")
    return float(value) if is_ascii_number(value) and len(value) <= MAX_RETRY_AFTER_DIGITS else None


def quote_response(config: ModelConfig, response: httpx2.Response) -> str:
    """Return the start of a response on one line and without the key."""
    quoted = " ".join(response.text.split())
    if config.key:
        quoted = quoted.replace(config.key, "[key]")
    return quoted if len(quoted) <= MAX_QUOTED_CHARS else f"{quoted[:MAX_QUOTED_CHARS]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class _EmbeddingUsage:
    """Usage as the provider reports it."""

    input_tokens: int
    output_tokens: int = 0
    cost: Decimal | None = None


def build_embedding_completion(
    config: ModelConfig, texts: Sequence[str], response: httpx2.Response
) -> Completion:
    """Build the completion for the record of a response, whether or not the response is usable.

    If no usage is reported, a token counts as four characters and the cost is unknown, unless free.
    """
    usage = parse_usage(response)
    if usage is None:
        estimated = sum(map(len, texts)) // 4
        tokens, cost = estimated, 0 if is_free(config) else None
    else:
        tokens, cost = usage.input_tokens, compute_price(config, usage, None)
    return Completion(model=config.model, text="", usage=TokenUsage(input=tokens), cost=cost)


def parse_usage(response: httpx2.Response) -> _EmbeddingUsage | None:
    """Parse the usage in a response; None if missing or invalid."""
    try:
        usage = response.json()["usage"]
        tokens = int(usage.get("prompt_tokens") or usage["total_tokens"])
        cost = usage.get("cost")
        if not 0 <= tokens < MAX_TOKENS:
            return None
        return _EmbeddingUsage(
            input_tokens=tokens, cost=None if cost is None else Decimal(str(cost))
        )
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return None


class _EmbeddingItem(TypedDict):
    index: int
    embedding: list[float]


def parse_vectors(
    config: ModelConfig, response: httpx2.Response, *, count: int, dimension: int
) -> Vectors:
    """Parse the vectors in a response, scaled to length 1. Raises EmbeddingFailed."""
    unreadable = localizable(
        "answer_no_vectors",
        f"{config.model} answered with something that is not a list of {count} vectors.",
        model=config.model,
    )
    try:
        items: list[_EmbeddingItem] = response.json()["data"]
        places = [item.get("index", place) for place, item in enumerate(items)]
        rows = np.array([item["embedding"] for item in items], dtype=np.float32)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise EmbeddingFailed(unreadable) from error
    if sorted(places) != list(range(count)) or rows.ndim != 2:
        raise EmbeddingFailed(unreadable)
    if dimension and rows.shape[1] != dimension:
        raise EmbeddingFailed(
            localizable(
                "vectors_of_other_length",
                f"{config.model} gives vectors of {rows.shape[1]} numbers, not of {dimension}. To "
                "choose it again: oldfriend connect embedder",
                model=config.model,
                found=rows.shape[1],
                wanted=dimension,
            )
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise EmbeddingFailed(unreadable)
    vectors = np.empty_like(rows)
    vectors[places] = rows / lengths
    return vectors
