"""Sentences: splits a message into statements and finds where a statement may begin.

Leaves out what is not meant literally: questions, wishes, jokes, words in quotation marks and
asides ("by the way"). Knows nothing of what the statements mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.lang.glossing import is_common_word
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.rule_extraction.rule_loader import RuleBook
from oldfriend.memory.restatement_detection import load_restatement_words
from oldfriend.turn.attribution.orders import drop_reminders

LOOKED_AT: Final = 4_000
"""Characters of a message; what is longer was hardly typed by hand."""

MOST_SENTENCES: Final = 200
"""Of a message; more in so few characters say nothing."""

LEFT_OUT: Final = "omitted"
"""So importers mark that a picture or the like was left out of the file."""

AGED: Final = re.compile(r"(?P<name>(?!\d)\w[\w'’-]{0,24}) ?[(（](?P<age>\d{1,3})[)）]")
"""A word with a number in brackets behind it, as in "our kids Ella (7) and Bram (4)"."""
OLDEST: Final = 110
ENDINGS: Final = " .!。！"

_BREAK = re.compile(
    r"(?<=[.!?…])(?<!\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS]r\.)(?<!Mrs\.)(?<!\bMs\.)(?<!\b[DS]ra\.)"
    r"(?<!\bSrta\.)(?<!\bProf\.)(?<!\bMme\.)"
    r"(?<!\bHi!)(?<!\bHey!)(?<!\bHello!)(?<!\bHola!)(?<!\bSalut!)(?<!\bBonjour!)"
    r"(?<!\bSalut !)(?<!\bBonjour !)\s+|(?<=[。！？])|\n+"
)
_HIDDEN = "\ufffc"
_MARK: Final = "\u200b"
_NAME_QUOTED: Final = re.compile(
    r"(?P<before>\w{1,24})(?P<gap>\s?)[\"“„«「『]\s?(?P<name>[^\W\d_][\w'’-]{0,19})\s?[\"”“»」』]"
)
_CLAUSE_ENDS: Final = re.compile(r"[^\S\n]{0,8}(?:$|[\n.,;:!?…)–—。，；！？]|-\s)")
NAMING_CHARS: Final = 4
"""Letters by which a word is a form of one that names: "llamado" of "llama"."""
_FENCE: Final = "```"
_CLOSES: Final = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "«": "»",
    "「": "」",
    "『": "』",
    "`": "`",
    _FENCE: (_FENCE,),
}
"""What may end a quotation that begins so: on its line, but for a fence."""
_QUOTED = re.compile(
    r"(?P<mark>[\"“„«「『]|```|`)|https?://\S+|^[^\S\n]*+[>|].*$", re.DOTALL | re.MULTILINE
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
    plain = hide_quoted(with_quoted_names(text, book))
    bounds = list(islice(_sentence_bounds(plain), MOST_SENTENCES))
    if any(book.caution.joke.search(text[begin:end]) for begin, end in bounds):
        return
    for begin, end in bounds:
        words = plain[begin:end]
        if not book.caution.doubt.search(words):
            yield text[begin:end], plain_sentence(words, book)


def with_quoted_names(text: str, book: RuleBook) -> str:
    """Return a text with a name in quotation marks as one, where words before it name somebody.

    "A dog called "Bello"", and no more, for more may be what somebody is called: "called "Tom" a
    liar". A character that the rules leave out stands for each mark.
    """
    restated = load_restatement_words(book.language)
    naming = frozenset[str]() if restated is None else restated.framing_words

    def bare(found: re.Match[str]) -> str:
        before, name = found["before"].casefold(), found["name"]
        is_spaced = get_traits(book.language).spaces
        begins = {each[:NAMING_CHARS] for each in naming}
        is_named = before[:NAMING_CHARS] in begins if is_spaced else before[-1:] in naming
        is_said = is_spaced and (
            not name[:1].isupper() or is_common_word(name, book.language)  # called "Help"
        )
        goes_on = not _CLAUSE_ENDS.match(text, found.end()) and not book.start.match(
            text, found.end() + 1
        )
        if not is_named or is_said or goes_on:
            return found[0]
        return f"{found['before']}{found['gap']}{_MARK}{name}{_MARK}".ljust(len(found[0]))

    return _NAME_QUOTED.sub(bare, text)


def hide_quoted(text: str) -> str:
    """Replace what is quoted, fenced or linked, character by character."""
    hidden, done = [], 0
    for begin, end in quoted_spans(text):
        hidden += [text[done:begin], _HIDDEN * (end - begin)]
        done = end
    return "".join([*hidden, text[done:]])


def quoted_spans(text: str) -> Iterator[tuple[int, int]]:
    """Find what is quoted, fenced or linked, in time proportional to the text."""
    done, unclosed = 0, dict[str, int]()
    while found := _QUOTED.search(text, done):
        (begin, done), mark = found.span(), found["mark"]
        if not mark:
            yield begin, done
        elif begin >= unclosed.get(mark, 0):
            closing = _closing_of(text, mark, done)
            if closing is None:
                unclosed[mark] = _end_of_line(text, done) if mark != _FENCE else len(text)
            else:
                yield begin, closing
            done = closing or (begin + 2 if mark == _FENCE else done)


def _closing_of(text: str, mark: str, begin: int) -> int | None:
    """Where a quotation ends that was opened by a mark before this place."""
    end = _end_of_line(text, begin) if mark != _FENCE else len(text)
    ends = [at + len(each) for each in _CLOSES[mark] if (at := text.find(each, begin, end)) >= 0]
    return min(ends, default=None)


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def plain_sentence(words: str, book: RuleBook) -> str:
    """A sentence as the rules read it: spelled out, and short, with single spaces."""
    told = drop_reminders(" ".join(words.replace(_MARK, "").split()), book.language)
    spelled = spelled_out(without_asides(told, book), book)
    return shortened(" ".join(spelled.split()))


def shortened(sentence: str) -> str:
    """As much of a sentence as is looked at, up to the end of a word."""
    if len(sentence) <= MAX_SENTENCE_CHARS:
        return sentence
    return sentence[:MAX_SENTENCE_CHARS].rpartition(" ")[0] or sentence[:MAX_SENTENCE_CHARS]


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
    return with_ages_told(sentence, book)


def with_ages_told(sentence: str, book: RuleBook) -> str:
    """A sentence that tells in words how old somebody is of whom it does so in brackets."""
    aged = [found for found in AGED.finditer(sentence) if 0 < int(found["age"]) <= OLDEST]
    if not aged:
        return sentence
    told = "".join(book.aged.format(**found.groupdict()) for found in aged)
    return f"{AGED.sub(lambda found: found['name'], sentence).rstrip(ENDINGS)}{told}"


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
    if any(each.isalnum() or each == _HIDDEN for each in words):
        yield begin, begin + len(shortened(words.strip()))


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
