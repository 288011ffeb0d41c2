"""Time limits: how long a model may take to answer, to begin, and between two pieces."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from oldfriend.domain.errors import ModelUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.model import TextCallback
from oldfriend.llm.providers import Timeouts

T = TypeVar("T")


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


async def relay_pieces(
    pieces: AsyncGenerator[str | T, None], on_text: TextCallback, *, model: str, timeouts: Timeouts
) -> T:
    """Pass the pieces of text on, and return the response that ends them."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.total_s
    async with (
        limit_time(model, min(timeouts.first_token_s, timeouts.total_s)) as limit,
        aclosing(pieces) as relayed,
    ):
        async for piece in relayed:
            if not isinstance(piece, str):
                return piece
            limit.reschedule(end)  # a slow reader may use all of the remaining time
            if piece:
                await on_text(piece)
            limit.reschedule(min(end, loop.time() + timeouts.idle_s))
    raise AssertionError("a stream ends with the response")
