"""The parser of prompts to a reader: labels of a request as lines of the life.

Reads what ``background/laying_out`` writes. Of what is answered it knows the parts, not their
meaning.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend_evals.lives.life import Belief, BeliefId, Cited, Life, Line, LineId

_MESSAGE = re.compile(r'^<message id="(m\d+)"[^>]*>(.*)</message>$', re.MULTILINE)
_KNOWN = re.compile(r'^<known id="(k\d+)"[^>]*>(.*)</known>$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPrompt:
    """The lines that are to be read, what of the truth is known, and the parts that are wanted."""

    lines: Mapping[LineId, str]  # with the small names that stand for them
    known: Mapping[BeliefId, str]
    parts: frozenset[str]
    is_again: bool  # the answer before could not be used

    def list_quotes(self, belief: Belief) -> Sequence[Cited]:
        """The words for a belief that stand in what is to be read."""
        return [quote for quote in belief.quotes if quote.line in self.lines]


def parse_prompt(request: CompletionRequest, life: Life) -> ParsedPrompt:
    """What a request lays before the model, told by its labels."""
    texts = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)]
    laid = texts[0]
    shape = request.output or {}
    parts = shape.get("properties")
    return ParsedPrompt(
        lines=_parse_lines(laid, life),
        known=_parse_known(laid, life),
        parts=frozenset(parts) if isinstance(parts, dict) else frozenset(),
        is_again=len(texts) > 1,
    )


def _parse_lines(laid: str, life: Life) -> dict[LineId, str]:
    """Which lines the labels are; of lines with the same words, the next."""
    left = {line.id: _flatten(line.spoken.text) for line in life.lines}
    found: dict[LineId, str] = {}
    for alias, text in _MESSAGE.findall(laid):
        words = _flatten(text)
        line = next((line for line, said in left.items() if said == words), None)
        if line is not None:
            found[line] = alias
            del left[line]
    return found


def _parse_known(laid: str, life: Life) -> dict[BeliefId, str]:
    """Which beliefs of the truth are known already, by their wordings."""
    known = {_flatten(text): alias for alias, text in _KNOWN.findall(laid)}
    return {
        belief.id: known[_flatten(text)]
        for belief in life.truth.beliefs
        for text in reversed(belief.texts)
        if _flatten(text) in known
    }


def _flatten(text: str) -> str:
    return " ".join(text.split())


def find_line(life: Life, line: LineId) -> Line:
    """The line with an id."""
    return next(each for each in life.lines if each.id == line)


def add_part(
    life: Life,
    request: CompletionRequest,
    answered: str,
    part: str,
    told_in: Callable[[Life, Mapping[LineId, str]], Iterable[JsonValue]],
) -> str:
    """A reader's answer with one more part, made of the lines that it has read, if it is wanted."""
    try:
        parts = json.loads(answered)
    except ValueError:
        return answered
    asked = parse_prompt(request, life)
    if part in asked.parts:
        parts[part] = [*told_in(life, asked.lines)]
    return json.dumps(parts, ensure_ascii=False)
