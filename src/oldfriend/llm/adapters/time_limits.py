"""Time limits: how long a model may take to answer, to begin, and between pieces; and how much."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final, TypeVar

from oldfriend.domain.errors import ModelUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import sanitize_text
from oldfriend.llm.model import TextCallback
from oldfriend.llm.providers import Timeouts

T = TypeVar("T")

MAX_ANSWER_CHARS: Final = 400_000
"""Far more than any token limit that is asked for allows, and less than a message may hold."""
HIGH_SURROGATES: Final = frozenset(map(chr, range(0xD800, 0xDC00)))
"""The first halves of characters; a server may send the second one in the next piece."""


@asynccontextmanager
async def limit_time(model: str, seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """Raise ModelUnavailable when a model takes longer."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield limit
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise ModelUnavailable(
            localizable("model_slow", f"{model} did not answer in time.", model=model),
            outage="slow",
        ) from error


def check_length(model: str, chars: int) -> None:
    """Raise ModelUnavailable for an answer that is too long to be one."""
    if chars > MAX_ANSWER_CHARS:
        said = f"more than {MAX_ANSWER_CHARS:,} characters"
        raise ModelUnavailable(
            localizable(
                "answer_unreadable",
                f"{model} answered with something that cannot be read: {said}",
                model=model,
                said=said,
            ),
            outage="failing",
        )


async def relay_pieces(
    pieces: AsyncGenerator[str | T, None], on_text: TextCallback, *, model: str, timeouts: Timeouts
) -> T:
    """Pass the pieces of text on, and return the response that ends them."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.total_s
    length, half = 0, ""
    async with (
        limit_time(model, min(timeouts.first_token_s, timeouts.total_s)) as limit,
        aclosing(pieces) as relayed,
    ):
        async for piece in relayed:
            if not isinstance(piece, str):
                return piece
            limit.reschedule(end)  # a slow reader may use all of the remaining time
            length += len(piece)
            check_length(model, length)
            whole = f"{half}{piece}"
            half = whole[-1:] if whole[-1:] in HIGH_SURROGATES else ""
            if text := whole[: len(whole) - len(half)]:
                await on_text(sanitize_text(text))
            limit.reschedule(min(end, loop.time() + timeouts.idle_s))
    raise AssertionError("a stream ends with the response")
