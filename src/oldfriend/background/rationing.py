"""How much may a model be shown, and say, in one time of thinking? Also when it is asked again.

What it is asked, and what is made of the answer, is not known here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import Completion, Model, Request, Say, ToolResult, Turn
from oldfriend.prompts.prompt import joined
from oldfriend.turn.structured import find_json

FEWEST_TOKENS: Final = 200
"""An answer for which there is less room is not asked for."""

T = TypeVar("T")


@dataclass(slots=True)
class Rationed:
    """A model that may be shown and say so much in all; keeps what it said."""

    model: Model
    tokens_in: int
    tokens_out: int
    heard: list[Completion] = field(default_factory=list)
    took_in: int = 0
    took_out: int = 0

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """The next answer. Raises BrokenOutput where there is no room left for one."""
        asked, room = tokens_of(request), self.tokens_out - self.took_out
        if self.took_in + asked > self.tokens_in or room < FEWEST_TOKENS:
            raise BrokenOutput(f"{self.name} has said all that it may, and nothing usable.")
        request = replace(request, most_tokens=min(request.most_tokens, room))
        answer = await self.model.complete(request, say)
        self.heard.append(answer)
        self.took_in += answer.usage.input or asked
        self.took_out += answer.usage.output or estimate_tokens(answer.text)
        return answer


def tokens_of(request: Request) -> int:
    """About how many tokens a model is shown."""
    turns = [turn.text for turn in request.turns if not isinstance(turn, ToolResult)]
    return sum(map(estimate_tokens, (request.stable, request.changing, *turns)))


async def say_again(
    heard: Rationed, request: Request, wish: str, prompt: str, parse: Callable[[JsonValue], T]
) -> T | None:
    """What a model says in other words; None: nothing usable, or it has said all that it may.

    It is asked by two prompts then, and known by the names of both.
    """
    turns = (*request.turns, heard.heard[-1].turn, Turn(role="house", text=wish))
    again = replace(request, prompt=joined(request.prompt, prompt), turns=turns)
    try:
        answer = await heard.complete(again)
        return parse(find_json(answer.text))
    except (ValueError, BrokenOutput):
        return None
