"""How does a model's text become a value of ours? Read, and mended once if it cannot be.

Each caller brings the form and the reader; what the value means is not known here.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from oldfriend.domain.errors import BrokenOutput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.sayings import saying
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.prompts.prompt import get_prompt, joined

T = TypeVar("T")

PROMPT: Final = "mend/1"

_FENCED = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")


async def ask_for(model: Model, request: Request, parse: Callable[[JsonValue], T]) -> T:
    """The value that a model gives; ``parse`` raises ValueError where it will not do.

    The error is then shown to the model, which may answer once more: by both prompts, as the
    ledger has it. Raises BrokenOutput, and what the model raises.
    """
    answer = await model.complete(request)
    try:
        return parse(find_json(answer.text))
    except ValueError as error:
        wish = Turn(role="house", text=get_prompt(PROMPT).render("wish", error=str(error)))
    mending = replace(
        request, prompt=joined(request.prompt, PROMPT), turns=(*request.turns, answer.turn, wish)
    )
    again = await model.complete(mending)
    try:
        return parse(find_json(again.text))
    except ValueError as error:
        raise BrokenOutput(saying(
            "answer_unusable",
            f"{again.model} gave no usable answer for {request.prompt}, "
            f"also when it was shown what was wrong: {error}",
            model=again.model,
        )) from error  # fmt: skip


def find_json(text: str) -> JsonValue:
    """The JSON in a text: all of it, what stands in a fence, or the longest object or list.

    Raises ValueError.
    """
    for candidate in (text, *_FENCED.findall(text)):
        try:
            return _decoded(candidate.strip())
        except ValueError:
            continue
    return _longest_within(text)


def _decoded(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, parse_constant=_refuse)
    return value


def _longest_within(text: str) -> JsonValue:
    """The longest object or list that stands between other words."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    longest: tuple[int, JsonValue] | None = None
    end = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < end:
            continue  # within one that was read
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except ValueError:
            continue
        if longest is None or end - opening.start() > longest[0]:
            longest = end - opening.start(), value
    if longest is None:
        raise ValueError("there is no JSON in it." if text.strip() else "it is empty.")
    return longest[1]


def _refuse(constant: str) -> JsonValue:
    """NaN and Infinity are Python's, not JSON's."""
    raise ValueError(f"{constant} is not JSON.")
