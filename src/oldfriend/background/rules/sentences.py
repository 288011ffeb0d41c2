"""What does a message state, sentence by sentence, and where may a statement begin?

Leaves out what is not to be taken at its word: questions, wishes, jokes, words in quotation marks.
Knows nothing of what the statements mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oldfriend.background.rules.books import RuleBook
from oldfriend.domain.messages import Message

LOOKED_AT: Final = 4_000
"""Characters of a message; what is longer was hardly typed by hand."""

_BREAK = re.compile(
    r"(?<=[.!?…])(?<!\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS]r\.)(?<!Mrs\.)\s+|(?<=[。！？])|\n+"
)
_HIDDEN = "\ufffc"
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』"
    r"|```.*?```|`[^`\n]*`|https?://\S+|^\s*[>|].*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a message, with the places where a statement may begin."""

    message: Message
    words: str  # exactly as they stand in the message
    plain: str  # the same, letter for letter, with quoted words hidden
    starts: tuple[int, ...]


def statements_in(message: Message, book: RuleBook) -> Iterator[Sentence]:
    """The sentences of a message that suppose nothing; in a question no statement begins."""
    text = message.text[:LOOKED_AT]
    if book.caution.joke.search(text):
        return
    plain = _QUOTED.sub(lambda quoted: _HIDDEN * len(quoted[0]), text)
    for begin, end in _sentence_bounds(plain):
        sentence = plain[begin:end]
        if book.caution.doubt.search(sentence):
            continue
        is_question = bool(book.caution.question.search(sentence))
        yield Sentence(
            message=message,
            words=text[begin:end],
            plain=sentence,
            starts=() if is_question else tuple(_starts_in(sentence, book)),
        )


def is_hidden(words: str) -> bool:
    """Whether some of the words stood in quotation marks."""
    return _HIDDEN in words


def _sentence_bounds(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for gap in _BREAK.finditer(text):
        yield from _trimmed(text, begin, gap.start())
        begin = gap.end()
    yield from _trimmed(text, begin, len(text))


def _trimmed(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    words = text[begin:end]
    begin += len(words) - len(words.lstrip())
    if words.strip():
        yield begin, begin + len(words.strip())


def _starts_in(sentence: str, book: RuleBook) -> Iterator[int]:
    """Where statements of the speaker begin; those after "she said" are somebody else's."""
    places = [0, *(found.end() for found in book.start.finditer(sentence))]
    reported = book.caution.reported.search(sentence)
    for place in places:
        if reported and reported.start() < place:
            return
        yield place
        lead = book.lead.match(sentence, place)
        if lead and lead.end() > place:
            yield lead.end()
