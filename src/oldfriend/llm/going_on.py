"""A reply broke off and another model goes on with it: how do the two become one?

It knows neither models nor why the first one stopped.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.llm.model import Request, Say, Turn

GO_ON: Final = """\
[The connection broke in the middle of your reply; the last turn is how far it came, and the \
other side has read it. Continue the same reply. Begin by repeating its last words exactly \
("{tail}") and then go on from there, in the same language and voice. Do not start again, do not \
greet, do not mention the break.]"""

TAIL: Final = 24
"""About so many characters are asked to be repeated: they show where the two parts meet."""

LEAST_OVERLAP: Final = 3
"""Fewer equal characters are chance."""

_SPACELESS = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


def asked_to_go_on(request: Request, said: str) -> Request:
    """The same request, with what was said so far and the wish to go on."""
    tail = said[-TAIL:]
    if len(said) > TAIL and not said[-TAIL - 1].isspace():
        tail = tail.split(maxsplit=1)[-1]  # not from the middle of a word
    broken_off = Turn(role="companion", text=said)
    wish = Turn(role="house", text=GO_ON.format(tail=tail.strip()))
    return replace(request, turns=(*request.turns, broken_off, wish))


@dataclass(slots=True)
class Joint:
    """Passes on what comes after the words said already, without those that come again."""

    said: str
    say: Say
    _held: str = ""  # may still turn out to be said already
    _is_open: bool = field(init=False)

    def __post_init__(self) -> None:
        """Where nothing was said yet, nothing can come again."""
        self._is_open = not self.said

    async def take(self, piece: str) -> None:
        """Take the next piece; say what is new for certain."""
        if self._is_open:
            await self._pass(piece)
            return
        self._held += piece
        if not may_be_said_already(self.said, self._held):
            await self.close()

    async def close(self) -> None:
        """Say what was held back and is new; there is no more to compare."""
        if not self._is_open:
            self._is_open = True
            await self._pass(what_is_new(self.said, self._held))

    async def _pass(self, piece: str) -> None:
        if piece:
            self.said += piece
            await self.say(piece)


def may_be_said_already(said: str, text: str) -> bool:
    """Whether all of a beginning text stands in what was said, so that more must be seen."""
    return text.lstrip() in said


def what_is_new(said: str, text: str) -> str:
    """A text without the words at its start with which what was said ends."""
    begun = text.lstrip()
    overlap = next((size for size in range(len(begun), 0, -1) if _is_overlap(said, begun, size)), 0)
    if overlap:
        return begun[overlap:]
    return f" {text}" if _would_stick(said, text) else text


def _is_overlap(said: str, begun: str, size: int) -> bool:
    """Whether what was said ends with so many characters of the text, and not by chance."""
    if not said.endswith(begun[:size]):
        return False
    start = len(said) - size
    starts_word = start == 0 or not (_is_of_word(said[start - 1]) and _is_of_word(said[start]))
    return starts_word and (size >= LEAST_OVERLAP or start == 0)


def _would_stick(said: str, text: str) -> bool:
    """Whether the last word and the first would become one."""
    return bool(text) and _is_of_word(said[-1:]) and _is_of_word(text[:1])


def _is_of_word(character: str) -> bool:
    """Whether it is a letter or digit of a script that puts spaces between words."""
    return character.isalnum() and not _SPACELESS.match(character)
