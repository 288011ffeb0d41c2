"""Do two that are alike say the same, or almost? A model is asked, and names what differs first.

Asked only where ``likeness`` leaves it open. Knows no database.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.background.likeness import Told
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import BrokenOutput, ModelRefused
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Memory
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.labelling import inert
from oldfriend.turn.structured import ask_for

PROMPT: Final = "adjudicate/1"
MOST_TOKENS: Final = 500
MOST_DIFFERENCES: Final = 12
LONGEST_DIFFERENCE: Final = 200
FORM: Final[Mapping[str, JsonValue]] = {
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
class Adjudication:
    """What a model makes of two sentences."""

    differences: tuple[str, ...]
    core_intent_match: bool  # are they about the same matter?
    is_same: bool  # is one of them enough?


UNDECIDED: Final = Adjudication(differences=(), core_intent_match=False, is_same=False)
"""What nobody could tell apart or together stays as it is: two."""


async def adjudicate(
    model: Model, one: Told, other: Told, *, language: str = "en"
) -> Adjudication:  # fmt: skip
    """Whether two say the same; without a usable answer they do not.

    Raises what the model raises, such as ModelUnavailable.
    """
    try:
        return await ask_for(model, request_for(one, other, language), adjudication_from)
    except (BrokenOutput, ModelRefused):
        return UNDECIDED


def request_for(one: Told, other: Told, language: str) -> Request:
    """What a model is asked."""
    prompt = get_prompt(PROMPT)
    ask = prompt.render(
        "ask", one=told(prompt, one, language), other=told(prompt, other, language)
    )  # fmt: skip
    return Request(
        purpose="adjudicate",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        turns=(Turn(role="house", text=ask),),
        output=FORM,
        most_tokens=MOST_TOKENS,
        shown=tuple(dict.fromkeys([*ids_behind(one), *ids_behind(other)])),
    )


def ids_behind(sentence: Told) -> Iterator[str]:
    """By what a sentence is found again when it is to be forgotten: itself, or what it quotes."""
    if isinstance(sentence, Memory):
        yield sentence.id
    else:
        yield from (quote.message for quote in sentence.quotes)


def told(prompt: Prompt, sentence: Told, language: str) -> str:
    """A sentence as the model may read it: unable to end its label."""
    at = sentence.happened_at if sentence.due_at is None else sentence.due_at
    return prompt.render(
        "told",
        kind=sentence.pattern or sentence.kind,
        language=sentence.language if isinstance(sentence, Memory) else language,
        when="" if at is None else from_micros(at).strftime("%Y-%m-%d"),
        text=inert(sentence.text),
    )


def adjudication_from(answer: JsonValue) -> Adjudication:
    """What a model has answered. Raises ValueError where it is not what was asked for."""
    match answer:
        case {
            "differences": list(named),
            "core_intent_match": bool(matches),
            "is_same": bool(is_same),
        }:
            differences = tuple(
                each[:LONGEST_DIFFERENCE] for each in named if isinstance(each, str)
            )  # fmt: skip
        case _:
            raise ValueError('it has no "differences", or "is_same" is neither true nor false.')
    if is_same and not matches:
        raise ValueError("what is the same is about the same matter.")
    return Adjudication(
        differences=differences[:MOST_DIFFERENCES], core_intent_match=matches, is_same=is_same
    )
