"""Scripted model: gives scripted replies, for our tests and for those of plugins and integrations.

It can be slow, call tools, fail, and break off in the middle of a word.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from oldfriend.domain.errors import ModelError, ModelUnavailable
from oldfriend.llm.model import Completion, CompletionRequest, TextCallback, TokenUsage, ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One answer and its timing."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    chunk_size: int = 8  # characters per piece
    delay_s: float = 0.0  # before the first piece
    chunk_delay_s: float = 0.0  # before each piece
    error: ModelError | None = None  # raised instead of ending …
    error_after: int = 0  # … after so many characters
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: int | None = 0
    is_truncated: bool = False  # it ended at its token limit


ScriptedAnswer: TypeAlias = str | ScriptedReply | ModelError


@dataclass(slots=True)
class ScriptedModel:
    """Model that gives answers from a list in order, or by a function of the request.

    At the end of the list, the last answer is repeated.
    """

    answers: Sequence[ScriptedAnswer] | Callable[[CompletionRequest], ScriptedAnswer]
    name: str = "scripted:model"
    requests: list[CompletionRequest] = field(default_factory=list)

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Give the next answer."""
        self.requests.append(request)
        answer = to_scripted_reply(self._next(request))
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        await self._stream(answer, on_text)
        if answer.error is not None:
            raise answer.error
        return Completion(
            model=self.name,
            text=answer.text,
            calls=answer.calls,
            usage=answer.usage,
            cost=answer.cost,
            is_truncated=answer.is_truncated,
        )

    def _next(self, request: CompletionRequest) -> ScriptedAnswer:
        if callable(self.answers):
            return self.answers(request)
        return self.answers[min(len(self.requests), len(self.answers)) - 1]

    async def _stream(self, answer: ScriptedReply, on_text: TextCallback | None) -> None:
        streamed = answer.text if answer.error is None else answer.text[: answer.error_after]
        for start in range(0, len(streamed), answer.chunk_size):
            if answer.chunk_delay_s:
                await asyncio.sleep(answer.chunk_delay_s)
            if on_text is not None:
                await on_text(streamed[start : start + answer.chunk_size])


def to_scripted_reply(answer: ScriptedAnswer) -> ScriptedReply:
    """Convert an answer to a ScriptedReply."""
    if isinstance(answer, str):
        return ScriptedReply(text=answer)
    if isinstance(answer, ModelError):
        return ScriptedReply(error=answer)
    return answer


def build_broken_reply(text: str, *, after: int) -> ScriptedReply:
    """Build an answer whose connection breaks after so many characters."""
    error = ModelUnavailable("The connection was lost in the middle of the reply.")
    return ScriptedReply(text=text, error=error, error_after=after)
