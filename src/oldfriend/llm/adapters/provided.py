"""How is an embedding model reached over the network, or in a server on this machine?

By the interface that OpenAI has and nearly all imitate: POST …/embeddings. Each request is charged
to an account. This module does not know what the texts are, nor where the vectors go.
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
from oldfriend.domain.sayings import saying
from oldfriend.llm.adapters import troubles
from oldfriend.llm.adapters.pricing import price
from oldfriend.llm.catalogue import Choice, is_free, is_on_this_machine
from oldfriend.llm.embedding import Account, Vectors
from oldfriend.llm.model import Call, Completion, Outcome, Request, Usage

AT_ONCE: Final = 96
"""Texts in one request."""
LONGEST_TEXT: Final = 6_000
"""Characters that are sent: in no language more than the 8,192 tokens that most models read."""
SHORTEST_TEXT: Final = 100
REST_S: Final = 30.0
"""After a failure, whoever waits is told at once for so long."""
TOO_MUCH: Final = frozenset({400, 413, 422})
MAY_PASS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
MOST_QUOTED: Final = 200
REQUEST: Final = Request(purpose="embedding", prompt="", stable="", turns=())
"""What the record says of a request: no prompt goes along, and the texts are kept elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Persistence:
    """How often to try, and how long to wait."""

    tries: int
    first_pause_s: float
    longest_pause_s: float
    answer_s: float


FOR_FEW: Final = Persistence(tries=2, first_pause_s=0.2, longest_pause_s=1.0, answer_s=10.0)
"""Somebody waits."""
IN_BULK: Final = Persistence(tries=6, first_pause_s=0.5, longest_pause_s=20.0, answer_s=120.0)
FEW: Final = 64
"""Texts in one call up to which somebody is thought to wait."""


class ProvidedEmbedder:
    """A model of a provider; its connections are opened at the first use, and closed by ours."""

    def __init__(
        self,
        choice: Choice,
        dimension: int | None,
        account: Account,
        *,
        for_few: Persistence = FOR_FEW,
        in_bulk: Persistence = IN_BULK,
        link: "_Link | None" = None,
    ) -> None:
        """Remember whom to ask, and how many numbers a vector must have; None: any number."""
        self.dimension = dimension or 0
        self.model = f"{choice.model}/{dimension}"
        self._choice = choice
        self._account = account
        self._for_few, self._in_bulk = for_few, in_bulk
        self._link = link or _Link()

    def charged_to(self, account: Account) -> "ProvidedEmbedder":
        """The same, over the same connections, at another's expense."""
        return ProvidedEmbedder(
            self._choice, self.dimension or None, account,
            for_few=self._for_few, in_bulk=self._in_bulk, link=self._link,
        )  # fmt: skip

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in order, or raise EmbeddingFailed."""
        how = self._for_few if len(texts) <= FEW else self._in_bulk
        now = asyncio.get_running_loop().time
        if how is self._for_few and now() < self._link.rests_until:
            raise EmbeddingFailed(saying(
                "provider_rests", f"{self._choice.provider} failed a moment ago.",
                provider=self._choice.provider,
            ))  # fmt: skip
        if not is_free(self._choice):  # only now: what was paid for is not thrown away half-way
            await self._account.check()
        parts = [np.zeros((0, self.dimension), dtype=np.float32)]
        for start in range(0, len(texts), AT_ONCE):
            some = [text[:LONGEST_TEXT] or " " for text in texts[start : start + AT_ONCE]]
            try:
                parts.append(await self._embed(some, how))
            except EmbeddingFailed:
                self._link.rests_until = now() + REST_S
                raise
        self._link.rests_until = 0.0
        return np.concatenate(parts if self.dimension else parts[1:])

    async def close(self) -> None:
        """Let the connections go."""
        if self._link.http is not None:
            await self._link.http.aclose()
            self._link.http = None

    async def _embed(self, texts: Sequence[str], how: Persistence) -> Vectors:
        """The vectors of a few texts; one that is too long for the model is cut until it is not."""
        try:
            return await self._persist(texts, how)
        except _TooMuch as refused:
            if len(texts) > 1:
                half = len(texts) // 2
                parts = [await self._embed(part, how) for part in (texts[:half], texts[half:])]
                return np.concatenate(parts)
            if len(texts[0]) <= SHORTEST_TEXT:
                raise EmbeddingFailed(*refused.args) from refused
            return await self._embed([texts[0][: len(texts[0]) // 2]], how)

    async def _persist(self, texts: Sequence[str], how: Persistence) -> Vectors:
        """Ask, and ask again where that may help."""
        tried = 0
        while True:
            try:
                return await self._ask(texts, how)
            except _Passing as trouble:
                tried += 1
                if tried >= how.tries:
                    raise EmbeddingFailed(*trouble.args) from trouble
                pause = min(how.first_pause_s * 2 ** (tried - 1), how.longest_pause_s)
                wished = min(trouble.wait_s or 0.0, how.longest_pause_s)
                await asyncio.sleep(max(wished, pause * random.uniform(0.5, 1.0)))

    async def _ask(self, texts: Sequence[str], how: Persistence) -> Vectors:
        """One request, which is kept however it ends."""
        now = asyncio.get_running_loop().time
        began, paid = now(), None

        async def keep(outcome: Outcome, why: str | None = None) -> None:
            call = Call(
                request=REQUEST, model=self._choice.model, outcome=outcome, completion=paid,
                error=why, latency_us=round((now() - began) * 1_000_000),
            )  # fmt: skip
            await self._account.record(call)

        try:
            answer = await self._send(texts, how)
            paid = paid_for(self._choice, texts, answer)
            vectors = vectors_in(self._choice, answer, count=len(texts), dimension=self.dimension)
        except CancelledError:
            await keep("cut off", "It was stopped, or took too long.")
            raise
        except (EmbeddingFailed, _Passing, _TooMuch) as error:
            await keep("failed", str(error))
            raise
        await keep("done")
        return vectors

    async def _send(self, texts: Sequence[str], how: Persistence) -> httpx2.Response:
        """What a provider answers, if it is no failure."""
        choice = self._choice
        body = {"model": choice.name, "input": list(texts), "encoding_format": "float"}
        timeout = httpx2.Timeout(how.answer_s, connect=min(choice.patience.connect_s, how.answer_s))
        try:
            answer = await self._connections().post("embeddings", json=body, timeout=timeout)
        except httpx2.ConnectError as error:
            raise _Passing(troubles.unreached(choice)) from error
        except httpx2.TimeoutException as error:
            raise _Passing(troubles.slow(choice)) from error
        except httpx2.HTTPError as error:
            raise _Passing(troubles.lost(choice)) from error
        if answer.status_code != httpx2.codes.OK:
            raise failure(choice, answer)
        return answer

    def _connections(self) -> httpx2.AsyncClient:
        if self._link.http is None:
            choice = self._choice
            self._link.http = httpx2.AsyncClient(
                base_url=f"{choice.base_url.rstrip('/')}/",
                headers={"Authorization": f"Bearer {choice.key}"} if choice.key else {},
                trust_env=not is_on_this_machine(choice.base_url),
            )
        return self._link.http


@dataclass(slots=True)
class _Link:
    """What all who ask the same embedder share."""

    http: httpx2.AsyncClient | None = None
    rests_until: float = 0.0  # by the loop's clock


class _Passing(Exception):
    """It may go well the next time."""

    def __init__(self, message: str, *, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class _TooMuch(Exception):
    """Fewer or shorter texts may go well."""


def failure(choice: Choice, answer: httpx2.Response) -> Exception:
    """What an answer that is none means, in words that do not contain the key."""
    status, said = answer.status_code, quoted(choice, answer)
    if status in MAY_PASS:
        told = troubles.failed(choice, said, status=status)
        return _Passing(told, wait_s=wait_in(answer.headers))
    if status in TOO_MUCH:
        return _TooMuch(troubles.not_taken(choice, said, status=status))
    if status in {401, 403}:
        return EmbeddingFailed(troubles.key_refused(choice, "embedder"))
    if status == 404:
        return EmbeddingFailed(troubles.model_unknown(choice, "embedding model", "embedder"))
    return EmbeddingFailed(troubles.failed(choice, said, status=status))


def wait_in(headers: httpx2.Headers) -> float | None:
    """How many seconds a provider asks to be left alone."""
    told = headers.get("retry-after", "")
    return float(told) if told.isdecimal() else None


def quoted(choice: Choice, answer: httpx2.Response) -> str:
    """The start of what a provider said, in one line and without the key."""
    line = " ".join(answer.text.split())
    if choice.key:
        line = line.replace(choice.key, "[key]")
    return line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """What a provider says that it counted."""

    input_tokens: int
    output_tokens: int = 0
    cost: Decimal | None = None


def paid_for(choice: Choice, texts: Sequence[str], answer: httpx2.Response) -> Completion:
    """What an answer was charged at, whether or not it can be used.

    Where nobody reports it, a token is taken for four characters, and the cost is not known.
    """
    counted = counted_in(answer)
    if counted is None:
        guessed = sum(map(len, texts)) // 4
        tokens, cost = guessed, 0 if is_free(choice) else None
    else:
        tokens, cost = counted.input_tokens, price(choice, counted, None)
    return Completion(model=choice.model, text="", usage=Usage(input=tokens), cost=cost)


def counted_in(answer: httpx2.Response) -> _Counted | None:
    """What an answer says of what it cost."""
    try:
        usage = answer.json()["usage"]
        tokens = int(usage.get("prompt_tokens") or usage["total_tokens"])
        cost = usage.get("cost")
        return _Counted(input_tokens=tokens, cost=None if cost is None else Decimal(str(cost)))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return None


class _Item(TypedDict):
    index: int
    embedding: list[float]


def vectors_in(choice: Choice, answer: httpx2.Response, *, count: int, dimension: int) -> Vectors:
    """The vectors in an answer, brought to length 1. Raises EmbeddingFailed."""
    unreadable = saying(
        "answer_no_vectors",
        f"{choice.model} answered with something that is no list of {count} vectors.",
        model=choice.model,
    )  # fmt: skip
    try:
        items: list[_Item] = answer.json()["data"]
        places = [item.get("index", place) for place, item in enumerate(items)]
        rows = np.array([item["embedding"] for item in items], dtype=np.float32)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise EmbeddingFailed(unreadable) from error
    if sorted(places) != list(range(count)) or rows.ndim != 2:
        raise EmbeddingFailed(unreadable)
    if dimension and rows.shape[1] != dimension:
        raise EmbeddingFailed(saying(
            "vectors_of_other_length",
            f"{choice.model} gives vectors of {rows.shape[1]} numbers, not of {dimension}. "
            "Choose it anew: oldfriend connect embedder",
            model=choice.model, found=rows.shape[1], wanted=dimension,
        ))  # fmt: skip
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise EmbeddingFailed(unreadable)
    vectors = np.empty_like(rows)
    vectors[places] = rows / lengths
    return vectors
