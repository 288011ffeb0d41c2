"""A model that says what it was told to say: for tests, also of those who build on Oldfriend.

It can be slow, ask for tools, fail, and break off in the middle of a word.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from oldfriend.domain.errors import ModelError, ModelUnavailable
from oldfriend.llm.model import Completion, Request, Say, ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """One answer, and how it comes."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    piece: int = 8  # characters that are said at once
    delay_s: float = 0.0  # before the first piece
    pause_s: float = 0.0  # before each piece
    error: ModelError | None = None  # raised instead of ending …
    after: int = 0  # … when so many characters were said
    usage: Usage = field(default_factory=Usage)
    cost: int | None = 0


Answer: TypeAlias = str | Scripted | ModelError


@dataclass(slots=True)
class ScriptedModel:
    """Answers one after another from a list, or each request by a function.

    When the list has come to its end, its last answer is given again.
    """

    answers: Sequence[Answer] | Callable[[Request], Answer]
    name: str = "scripted:model"
    asked: list[Request] = field(default_factory=list)

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """The next answer."""
        self.asked.append(request)
        answer = as_scripted(self._next(request))
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        await self._speak(answer, say)
        if answer.error is not None:
            raise answer.error
        return Completion(
            model=self.name, text=answer.text, calls=answer.calls, usage=answer.usage,
            cost=answer.cost,
        )  # fmt: skip

    def _next(self, request: Request) -> Answer:
        if callable(self.answers):
            return self.answers(request)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]

    async def _speak(self, answer: Scripted, say: Say | None) -> None:
        spoken = answer.text if answer.error is None else answer.text[: answer.after]
        for start in range(0, len(spoken), answer.piece):
            if answer.pause_s:
                await asyncio.sleep(answer.pause_s)
            if say is not None:
                await say(spoken[start : start + answer.piece])


def as_scripted(answer: Answer) -> Scripted:
    """An answer with all that belongs to it."""
    if isinstance(answer, str):
        return Scripted(text=answer)
    if isinstance(answer, ModelError):
        return Scripted(error=answer)
    return answer


def cut(text: str, *, after: int) -> Scripted:
    """An answer whose connection breaks when so many characters were said."""
    lost = ModelUnavailable("The connection was lost in the middle of the reply.")
    return Scripted(text=text, error=lost, after=after)
