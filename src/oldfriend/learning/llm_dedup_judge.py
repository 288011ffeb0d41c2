"""LLM dedup judge: asks a model whether two similar sentences say the same or almost the same.

The model names the differences first. Used only where ``similarity`` is undecided. Uses no
database.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.errors import BrokenOutput, ModelRefusal
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import StoredBelief
from oldfriend.learning.similarity import ClaimOrMemory
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.prompt_labels import format_iso_day, sanitize
from oldfriend.turn.structured_output import complete_structured

PROMPT: Final = "adjudicate/2"
MAX_TOKENS: Final = 500
MAX_DIFFERENCES: Final = 12
MAX_DIFFERENCE_LENGTH: Final = 200
OUTPUT_SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "differences": {"type": "array", "items": {"type": "string"}},
        "core_intent_match": {"type": "boolean"},
        "is_same": {"type": "boolean"},
    },
    "required": ["differences", "core_intent_match", "is_same"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupJudgement:
    """Dedup judgement: a model's comparison of two sentences."""

    differences: tuple[str, ...]
    core_intent_match: bool  # whether they are about the same matter
    is_same: bool  # whether one of them is enough


UNDECIDED: Final = DedupJudgement(differences=(), core_intent_match=False, is_same=False)
"""Fallback: pairs that nobody could decide stay two."""


async def judge_duplicate(
    model: LanguageModel,
    one: ClaimOrMemory,
    other: ClaimOrMemory,
    *,
    language: str = "en",
    zone: str = "UTC",
) -> DedupJudgement:
    """Ask a model whether two statements say the same; without a usable answer they do not.

    Their days are told by the clocks of ``zone``, as the sentences themselves tell them.
    Raises what the model raises, such as ModelUnavailable.
    """
    try:
        return await complete_structured(
            model, build_judge_request(one, other, language, zone), parse_judgement
        )
    except (BrokenOutput, ModelRefusal):
        return UNDECIDED


def build_judge_request(
    one: ClaimOrMemory, other: ClaimOrMemory, language: str, zone: str
) -> CompletionRequest:
    """Build the request for a judgement, which is the same in whatever order the two are given."""
    prompt = get_prompt(PROMPT)
    first, second = sorted(format_statement(prompt, each, language, zone) for each in (one, other))
    ask = prompt.render("ask", one=first, other=second)
    return CompletionRequest(
        purpose="adjudicate",
        prompt=prompt.id,
        system_prompt=prompt.render("system_prompt"),
        turns=(PromptTurn(role="instruction", text=ask),),
        output=OUTPUT_SCHEMA,
        max_output_tokens=MAX_TOKENS,
        shown=tuple(dict.fromkeys([*list_source_ids(one), *list_source_ids(other)])),
    )


def list_source_ids(statement: ClaimOrMemory) -> Iterator[str]:
    """Yield the ids by which deletion finds a statement: its own, or its quoted messages'."""
    if isinstance(statement, StoredBelief):
        yield statement.id
    else:
        yield from (quote.message for quote in statement.quotes)


def format_statement(prompt: Prompt, statement: ClaimOrMemory, language: str, zone: str) -> str:
    """Render a statement for the model; it cannot close its label."""
    at = statement.happened_at if statement.due_at is None else statement.due_at
    told_zone = get_told_zone(statement, zone) if isinstance(statement, StoredBelief) else zone
    return prompt.render(
        "told",
        kind=statement.pattern or statement.kind,
        language=statement.language if isinstance(statement, StoredBelief) else language,
        when="" if at is None else format_iso_day(at, told_zone, statement.grain),
        text=sanitize(statement.text),
    )


def parse_judgement(answer: JsonValue) -> DedupJudgement:
    """Parse a model's answer. Raises ValueError if it is not what was asked for."""
    match answer:
        case {
            "differences": list(named),
            "core_intent_match": bool(matches),
            "is_same": bool(is_same),
        }:
            differences = tuple(
                each[:MAX_DIFFERENCE_LENGTH] for each in named if isinstance(each, str)
            )
        case _:
            raise ValueError('it has no "differences", or "is_same" is neither true nor false.')
    if is_same and not matches:
        raise ValueError("what is the same is about the same matter.")
    return DedupJudgement(
        differences=differences[:MAX_DIFFERENCES], core_intent_match=matches, is_same=is_same
    )
