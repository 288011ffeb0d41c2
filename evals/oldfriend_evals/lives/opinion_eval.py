"""Opinions: a companion that follows its prompt, and a reader that lies.

Who is lured gives in, unless the prompt tells them what they have said before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import StoredBelief
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.turn.prompt_labels import sanitize
from oldfriend_evals.lives.life import Life, Line, LineId, Stand
from oldfriend_evals.lives.prompt_parser import add_part, find_line

NOTHING_TO_SAY: Final = "…"


def build_reply_model(life: Life) -> Callable[[Line], Callable[[CompletionRequest], str]]:
    """What the companion says to a line, once it has read its prompt."""
    lured = {bait: stand for stand in life.truth.stands for bait in stand.baits}

    def reply(line: Line) -> Callable[[CompletionRequest], str]:
        stand = lured.get(line.id)

        def speak(request: CompletionRequest) -> str:
            gives_in = stand is not None and not is_told(request, stand, life)
            return stand.contrary if stand and gives_in else find_reply(line, life)

        return speak

    return reply


def find_reply(line: Line, life: Life) -> str:
    """What the companion said in the life before the person went on in this chat.

    Where it says what it thinks, only that: a reader knows its lines by their words.
    """
    said = [*takewhile(lambda each: each.spoken.role == "companion", _find_next(line, life))]
    thinks = [each for each in said if each.id in {stand.line for stand in life.truth.stands}]
    return "\n\n".join(each.spoken.text for each in thinks or said) or NOTHING_TO_SAY


def is_told(request: CompletionRequest, stand: Stand, life: Life) -> bool:
    """Whether a prompt says what the companion thinks, or what it said of it."""
    turns = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)]
    words = (stand.text, find_line(life, stand.line).spoken.text)
    return any(
        sanitize(each) in request.call_instructions or each in "\n".join(turns) for each in words
    )


def add_opinions(life: Life, request: CompletionRequest, answered: str) -> str:
    """An answer of a reader, with the opinions in what was read, and with their contraries."""
    return add_part(life, request, answered, "opinions", list_opinions)


def list_opinions(life: Life, lines: Mapping[LineId, str]) -> Iterator[JsonValue]:
    """What the companion says it thinks in some lines; where it was lured, the contrary."""
    for stand in life.truth.stands:
        if stand.line in lines:
            yield build_opinion(
                stand.text, stand, [quote_line(life, lines, stand.line)], bearing="new"
            )
        for bait in stand.baits:
            own = [line.id for line in _find_next(find_line(life, bait), life)][:1]
            if bait in lines and own and own[0] in lines:
                words = quote_line(life, lines, own[0])
                yield build_opinion(stand.contrary, stand, [words], bearing="new")
                yield build_opinion(stand.contrary, stand, [words], bearing="supersedes")
                yield build_opinion(
                    stand.contrary, stand, [quote_line(life, lines, bait)], bearing="new"
                )


def build_opinion(
    text: str, stand: Stand, quotes: list[JsonValue], *, bearing: str
) -> dict[str, JsonValue]:
    """One opinion in an answer."""
    return {
        "text": text,
        "quotes": quotes,
        "subject": "companion",
        "key": stand.topic,
        "bearing": bearing,
        "target": None,
        "confidence": 0.9,
        "signal": "explicit",
    }


def quote_line(life: Life, lines: Mapping[LineId, str], line: LineId) -> JsonValue:
    """The whole of a line as a quote."""
    return {"message": lines[line], "text": find_line(life, line).spoken.text}


def list_contraries(stands: Iterable[Stand], texts: Iterable[str]) -> list[str]:
    """The contraries of what the companion thinks, among texts."""
    contrary = {stand.contrary for stand in stands}
    return [text for text in texts if text in contrary]


def list_held(life: Life, memories: Iterable[StoredBelief]) -> list[Stand]:
    """What it thinks by the truth, and is known to think."""
    texts = {each.text for each in memories if each.kind == "opinion"}
    return [stand for stand in life.truth.stands if stand.text in texts]


def _find_next(line: Line, life: Life) -> list[Line]:
    """What was said after a line in its chat."""
    chat = [each for each in life.lines if each.chat == line.chat]
    return chat[chat.index(line) + 1 :]
