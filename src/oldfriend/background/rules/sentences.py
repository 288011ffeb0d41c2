"""What does a message state, sentence by sentence, and where may a statement begin?

Leaves out what is not to be taken at its word: questions, wishes, jokes, words in quotation marks,
and what is said by the way ("by the way"). Knows nothing of what the statements mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from oldfriend.background.rules.books import RuleBook
from oldfriend.domain.messages import Message

LOOKED_AT: Final = 4_000
"""Characters of a message; what is longer was hardly typed by hand."""

LEFT_OUT: Final = "omitted"
"""So importers mark that a picture or the like was left out of the file."""

_BREAK = re.compile(
    r"(?<=[.!?…])(?<!\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS]r\.)(?<!Mrs\.)"
    r"(?<!\bHi!)(?<!\bHey!)(?<!\bHello!)(?<!\bHola!)(?<!\bSalut!)(?<!\bBonjour!)"
    r"(?<!\bSalut !)(?<!\bBonjour !)\s+|(?<=[。！？])|\n+"
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
    plain: str  # the same with quoted words hidden, without asides, and spelled out
    starts: tuple[int, ...]  # in plain; none in a question
    denied: str = ""  # words that it says were wrong; they are not in plain
    about: "Sentence | None" = None  # what it says otherwise, where it says nothing by itself

    @property
    def is_question(self) -> bool:
        """Whether it asks something."""
        return not self.starts


def statements_in(message: Message, book: RuleBook) -> Iterator[Sentence]:
    """The sentences of a message that suppose nothing; in a question no statement begins."""
    for words, spelled in sentences_in(spoken_text(message)[:LOOKED_AT], book):
        plain, denied = undenied(spelled, book)
        starts = tuple(starts_in(plain, book))
        yield Sentence(message=message, words=words, plain=plain, starts=starts, denied=denied)


def undenied(sentence: str, book: RuleBook) -> tuple[str, str]:
    """A sentence as what it says is so, and the words that it says never were; else "".

    "Ana doesn't live in Porto, she lives in Faro" is "Ana lives in Faro", and denies "in Porto";
    who lives in Faro by now has lived elsewhere, and denies nothing.
    """
    for words, put in book.instead.denied:
        found = words.search(sentence)
        if found:
            denied = "" if book.instead.by_now.search(sentence) else found["denied"].strip()
            return " ".join(words.sub(put, sentence, count=1).split()), denied
    return sentence, ""


def sentences_in(text: str, book: RuleBook) -> Iterator[tuple[str, str]]:
    """The sentences of a text that suppose nothing, as they stand there and as they are read."""
    if book.caution.joke.search(text):
        return
    plain = _QUOTED.sub(lambda quoted: _HIDDEN * len(quoted[0]), text)
    for begin, end in _sentence_bounds(plain):
        if not book.caution.doubt.search(plain[begin:end]):
            yield text[begin:end], spelled_out(without_asides(plain[begin:end], book), book)


def spoken_text(message: Message) -> str:
    """What somebody has said in a message, without the line that stands for a picture."""
    media = message.details.get("media")
    if not media:
        return message.text
    first, _, caption = message.text.partition("\n")
    return caption if media == LEFT_OUT or media in first else message.text


def without_asides(sentence: str, book: RuleBook) -> str:
    """A sentence without "by the way" and its like, wherever they stand."""
    return book.aside.sub(_gap, sentence).strip() if book.aside.search(sentence) else sentence


def spelled_out(sentence: str, book: RuleBook) -> str:
    """A sentence with whom it is about put in where it leaves them out, or calls them "she"."""
    for words, put in book.spelled_out:
        sentence = words.sub(put, sentence)
    return sentence


def _gap(aside: re.Match[str]) -> str:
    """What stays of an aside: a comma if there was one between words, else a space."""
    marks = re.findall("[,，]", aside[0])
    is_between = aside.start() > 0 and aside.end() < len(aside.string)
    return f"{marks[0]} " if marks and is_between else " "


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


def starts_in(sentence: str, book: RuleBook) -> Iterator[int]:
    """Where statements of the speaker begin; those after "she said" are somebody else's."""
    if book.caution.question.search(sentence):
        return
    places = [0, *(found.end() for found in book.start.finditer(sentence))]
    reported = book.caution.reported.search(sentence)
    for place in places:
        if reported and reported.start() < place:
            return
        yield place
        lead = book.lead.match(sentence, place)
        if lead and lead.end() > place:
            yield lead.end()
