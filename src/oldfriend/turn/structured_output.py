"""Structured output: parses a model's text into a value, with one repair attempt.

The caller supplies the schema and the parser.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from oldfriend.domain.errors import BrokenOutput, OutputTruncated
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Completion, CompletionRequest, LanguageModel, PromptTurn
from oldfriend.prompts.prompt import get_prompt, join_prompt_ids

T = TypeVar("T")

REPAIR_PROMPT: Final = "mend/1"
TOO_DEEP_MESSAGE: Final = "it is nested too deep."

_FENCE: Final = "```"
_FENCE_HEAD = re.compile(r"\A[\w-]*+[^\S\n]*+\n")
_MAX_SCAN_RATIO: Final = 8
"""The scan for JSON reads at most this many times the text's length."""
_OPENING = re.compile(r"\{\s*+[\"}]|\[\s*+[\]\[{\"\d\-tfn]")
"""Matches what may begin an object or a list."""
_MAX_DECODE_ERRORS: Final = 1_000


async def complete_structured(
    model: LanguageModel, request: CompletionRequest, parse: Callable[[JsonValue], T]
) -> T:
    """Return the parsed value of a model's answer; ``parse`` raises ValueError to reject it.

    The error is then shown to the model, which may answer once more; that call is logged under both
    prompt ids. Raises OutputTruncated, BrokenOutput, and what the model raises.
    """
    answer = await model.complete(request)
    try:
        return parse(extract_json(answer.text))
    except ValueError as error:
        if answer.is_truncated:
            raise OutputTruncated(build_unusable_text(answer, request, error)) from error
        repair_turn = PromptTurn(
            role="instruction", text=get_prompt(REPAIR_PROMPT).render("wish", error=str(error))
        )
    repair_request = replace(
        request,
        prompt=join_prompt_ids(request.prompt, REPAIR_PROMPT),
        turns=(*request.turns, answer.turn, repair_turn),
    )
    repaired = await model.complete(repair_request)
    try:
        return parse(extract_json(repaired.text))
    except ValueError as error:
        raise BrokenOutput(build_unusable_text(repaired, request, error)) from error


def build_unusable_text(
    answer: Completion, request: CompletionRequest, error: ValueError
) -> LocalizedText:
    """Build the text that tells what was wrong with the last answer to a request."""
    how = (
        "it ended at its limit" if answer.is_truncated else "also when it was shown what was wrong"
    )
    return localizable(
        "answer_unusable",
        f"{answer.model} gave no usable answer for {request.prompt}, {how}: {error}",
        model=answer.model,
    )


def extract_json(text: str) -> JsonValue:
    """Return the JSON in a text: all of it, a fenced block, or the longest object or list.

    Raises ValueError.
    """
    for candidate in (text, *list_fenced_blocks(text)):
        try:
            return _decode_json(candidate.strip())
        except RecursionError as error:
            raise ValueError(TOO_DEEP_MESSAGE) from error
        except ValueError:
            continue
    return _extract_longest(text)


def list_fenced_blocks(text: str) -> Iterator[str]:
    """Yield the contents of the fenced blocks in a text."""
    for block in text.split(_FENCE)[1:-1:2]:
        if head := _FENCE_HEAD.match(block):
            yield block[head.end() :]


def _decode_json(text: str) -> JsonValue:
    value: JsonValue = json.loads(text, parse_constant=_reject_constant, parse_float=_parse_finite)
    return value


def _extract_longest(text: str) -> JsonValue:
    """Return the longest object or list that stands between other words."""
    decoder = json.JSONDecoder(parse_constant=_reject_constant, parse_float=_parse_finite)
    longest: tuple[int, JsonValue] | None = None
    end = looked_at = errors = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < end:
            continue  # inside a value already read
        if errors == _MAX_DECODE_ERRORS or looked_at > _MAX_SCAN_RATIO * len(text):
            break
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except RecursionError as error:
            raise ValueError(TOO_DEEP_MESSAGE) from error
        except ValueError as error:
            error_at = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            looked_at, errors = looked_at + error_at - opening.start(), errors + 1
            continue
        if longest is None or end - opening.start() > longest[0]:
            longest = end - opening.start(), value
    if longest is None:
        raise ValueError("there is no JSON in it." if text.strip() else "it is empty.")
    return longest[1]


def _parse_finite(number: str) -> float:
    """Return the number. Raises ValueError if it is not finite."""
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{number[:40]} is too large.")
    return value


def _reject_constant(constant: str) -> JsonValue:
    """Raise ValueError: NaN and Infinity are not JSON."""
    raise ValueError(f"{constant} is not JSON.")
