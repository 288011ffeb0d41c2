"""Token quota: limits the input and output tokens of one reflection, including its retries.

Knows neither the prompts nor what becomes of the answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import estimate_tokens
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    LanguageModel,
    PromptTurn,
    TextCallback,
    estimate_input_tokens,
)
from oldfriend.prompts.prompt import join_prompt_ids
from oldfriend.turn.structured_output import extract_json

MIN_OUTPUT_TOKENS: Final = 200
"""A request with less room for its answer is not made."""

T = TypeVar("T")


@dataclass(slots=True)
class TokenQuotaModel:
    """Token quota model: a model with total token limits that keeps its completions."""

    model: LanguageModel
    max_input_tokens: int
    max_output_tokens: int
    completions: list[Completion] = field(default_factory=list)
    input_tokens_used: int = 0
    output_tokens_used: int = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    async def complete(
        self, request: CompletionRequest, on_text: TextCallback | None = None
    ) -> Completion:
        """Complete a request. Raises BrokenOutput if the quota leaves no room for an answer."""
        input_tokens, tokens_left = (
            estimate_input_tokens(request),
            self.max_output_tokens - self.output_tokens_used,
        )
        if (
            self.input_tokens_used + input_tokens > self.max_input_tokens
            or tokens_left < MIN_OUTPUT_TOKENS
        ):
            raise BrokenOutput(f"{self.name} has said all that it may, and nothing usable.")
        request = replace(request, most_tokens=min(request.most_tokens, tokens_left))
        answer = await self.model.complete(request, on_text)
        self.completions.append(answer)
        self.input_tokens_used += answer.usage.input or input_tokens
        self.output_tokens_used += answer.usage.output or estimate_tokens(answer.text)
        return answer


async def ask_to_reword(
    model: TokenQuotaModel,
    request: CompletionRequest,
    instruction: str,
    prompt: str,
    parse: Callable[[JsonValue], T],
) -> T | None:
    """Ask the model to reword its answer; None if unusable or the quota is used up.

    The request is attributed to both prompts.
    """
    turns = (*request.turns, model.completions[-1].turn, PromptTurn(role="house", text=instruction))
    reword_request = replace(request, prompt=join_prompt_ids(request.prompt, prompt), turns=turns)
    try:
        answer = await model.complete(reword_request)
        return parse(extract_json(answer.text))
    except (ValueError, BrokenOutput):
        return None
