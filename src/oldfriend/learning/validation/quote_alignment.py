"""Quote alignment: locates a quote in the cited message and returns the exact original text.

Models normalize quotation marks, spaces and letter case; apart from these, the words must be there
in one piece. What the words prove is not decided here.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.domain.unicode_text import normalize
from oldfriend.learning.extraction import Quote
from oldfriend.learning.validation.rejection_reasons import RejectionReason
from oldfriend.turn.intent import SENTENCE_PATTERN

QUOTE_WRAPPERS: Final = " \t\n\"'“”„«»‘’「」…"
"""Characters that models put around quotes."""
PUNCTUATION_MAP: Final = str.maketrans("’‘“”„«»—–‹›", '\'\'"""""--<>')
"""Signs that models write for others, or that stand for them in a prompt."""
MAX_SEARCH_LENGTH: Final = 100_000
"""Characters of a message; far more than a model is shown of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSpan:
    """Quote span: the position of quoted words in a message."""

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

    def iter_sentences(self) -> Iterator[str]:
        """Yield the sentences that contain the words, whole unless one is too long."""
        first, last = self.start - MAX_SENTENCE_CHARS, self.end + MAX_SENTENCE_CHARS
        for found in SENTENCE_PATTERN.finditer(self.message.text, max(0, first), last):
            if found.start() < self.end and self.start < found.end():
                yield found.group().strip()

    @property
    def sentence_text(self) -> str:
        """The text of those sentences."""
        return " ".join(self.iter_sentences()) or self.text


def align_quote(quote: Quote, messages: Mapping[MessageId, Message]) -> QuoteSpan | RejectionReason:
    """Return where a quote is in its message, or why it was not found."""
    message = messages.get(quote.message)
    if message is None:
        return "unknown message"
    if not any(character.isalnum() for character in quote.text):
        return "no quote"
    return find_span(message, quote.text) or "invented quote"


def find_span(message: Message, quoted: str) -> QuoteSpan | None:
    """Return the first place in a message that matches a text, ignoring spacing, case and width."""
    exact = message.text.find(quoted)
    if exact >= 0:
        return QuoteSpan(message=message, start=exact, end=exact + len(quoted))
    text, origins = squeeze_text(message.text)
    needle, _ = squeeze_text(quoted.strip(QUOTE_WRAPPERS))
    at = text.find(needle) if needle else -1
    if at < 0:
        return None
    return QuoteSpan(message=message, start=origins[at], end=origins[at + len(needle) - 1] + 1)


def squeeze_text(text: str) -> tuple[str, list[int]]:
    """Return a text without spaces, case and width, and the original index of each character."""
    characters: list[str] = []
    origins: list[int] = []
    for origin, character in enumerate(text[:MAX_SEARCH_LENGTH].translate(PUNCTUATION_MAP)):
        for part in normalize("NFKD", character.casefold()).casefold():
            if not part.isspace() and unicodedata.category(part) != "Cf":
                characters.append(part)
                origins.append(origin)
    return "".join(characters), origins
