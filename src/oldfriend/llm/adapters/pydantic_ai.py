"""How is a provider asked, in pieces or at once, and never waited for without end?

It asks one model once: who is asked next, and who keeps the record, is the chain's business.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from oldfriend.domain.errors import ModelMisconfigured, ModelUnavailable
from oldfriend.domain.sayings import saying
from oldfriend.llm.adapters.clients import open_client, open_http
from oldfriend.llm.adapters.failing import failure, refusal
from oldfriend.llm.adapters.pricing import price
from oldfriend.llm.adapters.translating import (
    completion_from,
    messages_from,
    parameters_from,
    settings_from,
)
from oldfriend.llm.catalogue import Choice
from oldfriend.llm.model import Completion, Request, Say

BROKEN: Final = (
    AgentRunError, UserError, httpx2.HTTPError,
    ValueError, LookupError, TypeError, AttributeError, AssertionError,
)  # fmt: skip
"""What the library raises; the plain ones where a provider's answer is not of the shape it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PydanticModel:
    """One model of one provider."""

    choice: Choice
    client: Model
    http: httpx2.AsyncClient

    @property
    def name(self) -> str:
        """Provider and name."""
        return self.choice.model

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Ask it once."""
        if say is None:
            response = await self._ask_at_once(request)
        else:
            response = await self._ask_in_pieces(request, say)
        return self._read(response, request)

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def _ask_at_once(self, request: Request) -> ModelResponse:
        async with self._no_longer_than(self.choice.patience.whole_s):
            with self._failures_as_ours():
                return await model_request(
                    self.client,
                    messages_from(request.turns, self.name),
                    model_settings=self._settings(request),
                    model_request_parameters=parameters_from(request, self.client.profile),
                    instrument=False,
                )

    async def _ask_in_pieces(self, request: Request, say: Say) -> ModelResponse:
        patience, loop = self.choice.patience, asyncio.get_running_loop()
        end = loop.time() + patience.whole_s
        async with (
            self._no_longer_than(min(patience.first_s, patience.whole_s)) as limit,
            aclosing(self._pieces(request)) as pieces,
        ):
            async for piece in pieces:
                if isinstance(piece, ModelResponse):
                    return piece
                limit.reschedule(end)  # whoever listens may take their time
                if piece:
                    await say(piece)
                limit.reschedule(min(end, loop.time() + patience.silence_s))
        raise AssertionError("a stream ends with the response")

    async def _pieces(self, request: Request) -> AsyncGenerator[str | ModelResponse, None]:
        """The text as it comes, an empty piece for what is none, and at the end the whole."""
        with self._failures_as_ours():
            stream = model_request_stream(
                self.client,
                messages_from(request.turns, self.name),
                model_settings=self._settings(request),
                model_request_parameters=parameters_from(request, self.client.profile),
                instrument=False,
            )
            joints = TextJoints()
            async with stream as events:
                async for event in events:
                    yield joints.text_of(event)
                yield events.get()

    def _settings(self, request: Request) -> ModelSettings:
        # vLLM refuses a request for more than its model can hold; others take it for a wish.
        has_room = self.choice.provider != "vllm"
        return settings_from(request, self.client.profile, has_room=has_room)

    def _read(self, response: ModelResponse, request: Request) -> Completion:
        """What came back, in our words; an answer that was not ended is none."""
        details = response.provider_details or {}
        is_cut = response.finish_reason == "length" or details.get("finish_reason") == "incomplete"
        if response.finish_reason is None and not is_cut:
            raise ModelUnavailable(saying(
                "reply_lost", f"The connection to {self.name} was lost in mid-reply.",
                model=self.name,
            ))  # fmt: skip
        if response.finish_reason == "content_filter":
            raise refusal(self.choice, str(details.get("refusal", "")))
        cost = price(self.choice, response.usage, response.model_name)
        return completion_from(response, request, model=self.name, cost=cost, is_cut=is_cut)

    @asynccontextmanager
    async def _no_longer_than(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                yield limit
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                saying("model_slow", f"{self.name} did not answer in time.", model=self.name),
                outage="slow",
            ) from error

    @contextmanager
    def _failures_as_ours(self) -> Iterator[None]:
        try:
            yield
        except BROKEN as error:
            ours = failure(self.choice, error)
            # What a provider says of a wrong key may contain parts of it.
            raise ours from (None if isinstance(ours, ModelMisconfigured) else error)


@dataclass(slots=True)
class TextJoints:
    """Puts an empty line between texts that something else stands between."""

    _has_text: bool = False
    _is_in_text: bool = False

    def text_of(self, event: ModelResponseStreamEvent) -> str:
        """The text of an event; empty where it has none."""
        if isinstance(event, PartStartEvent):
            gap = "\n\n" if self._has_text and not self._is_in_text else ""
            self._is_in_text = isinstance(event.part, TextPart)
            if not isinstance(event.part, TextPart):
                return ""
            self._has_text = True
            return gap + event.part.content
        if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
            return event.delta.content_delta
        return ""


def open_model(choice: Choice) -> PydanticModel:
    """A model that can be asked; the caller closes it. Raises ModelMisconfigured."""
    try:
        http = open_http(choice)
        client = open_client(choice, http)
    except (UserError, ValueError, httpx2.InvalidURL) as error:
        raise ModelMisconfigured(saying(
            "address_unfit", f"{choice.provider} cannot be reached at {choice.base_url!r}: {error}",
            provider=choice.provider, address=choice.base_url, error=str(error),
        )) from error  # fmt: skip
    return PydanticModel(choice=choice, client=client, http=http)
