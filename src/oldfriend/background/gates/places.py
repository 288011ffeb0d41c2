"""Where do quoted words stand? Found in the message that is cited, and made exact.

A model straightens quotation marks, spaces and letter case; the words must still be there in one
piece. What the words are worth is not known here.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.background.extraction import Quote
from oldfriend.background.gates.reasons import Reason
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import Message
from oldfriend.turn.perceive import SENTENCE

AROUND: Final = " \t\n\"'“”„«»‘’「」…"
"""What models put around words that they quote."""
SAME: Final = str.maketrans("’‘“”„«»—–", '\'\'"""""--')
LOOKED_AT: Final = 100_000
"""Characters of a message; far more than a model is shown of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a message quoted words stand."""

    message: Message
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words, exactly as they were said."""
        return self.message.text[self.start : self.end]

    @property
    def quote(self) -> Quote:
        """The exact quote."""
        return Quote(message=self.message.id, text=self.text)

    def sentences(self) -> Iterator[str]:
        """The sentences that the words are part of, whole."""
        for found in SENTENCE.finditer(self.message.text):
            if found.start() < self.end and self.start < found.end():
                yield found.group().strip()

    @property
    def said(self) -> str:
        """All of those sentences."""
        return " ".join(self.sentences()) or self.text


def place_of(quote: Quote, messages: Mapping[MessageId, Message]) -> Place | Reason:
    """Where a quote stands, or why it stands nowhere."""
    message = messages.get(quote.message)
    if message is None:
        return "unknown message"
    if not any(character.isalnum() for character in quote.text):
        return "no quote"
    return found_in(message, quote.text) or "invented quote"


def found_in(message: Message, words: str) -> Place | None:
    """The first place in a message where words stand, whatever their spacing and width."""
    exact = message.text.find(words)
    if exact >= 0:
        return Place(message=message, start=exact, end=exact + len(words))
    text, origins = squeezed(message.text)
    sought, _ = squeezed(words.strip(AROUND))
    at = text.find(sought) if sought else -1
    if at < 0:
        return None
    return Place(message=message, start=origins[at], end=origins[at + len(sought) - 1] + 1)


def squeezed(text: str) -> tuple[str, list[int]]:
    """A text without spaces, case and width, and where each of its characters comes from."""
    characters: list[str] = []
    origins: list[int] = []
    for origin, character in enumerate(text[:LOOKED_AT].translate(SAME)):
        for part in unicodedata.normalize("NFKD", character.casefold()).casefold():
            if not part.isspace() and unicodedata.category(part) != "Cf":
                characters.append(part)
                origins.append(origin)
    return "".join(characters), origins
