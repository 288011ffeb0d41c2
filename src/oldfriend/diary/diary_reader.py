"""Diary reader: what a message writes into the diary, and which days it asks to read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any, Final, Literal

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.unicode_text import has_visible
from oldfriend.lang.command_menu import translate_command
from oldfriend.lang.language_pack import (
    choose_language_with,
    get_traits,
    list_languages,
    load_language_pack,
)
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.tokenizer import is_stop_word, tokenize

COMMAND: Final = re.compile(r"\A\s*+/(?:journal|diary)(?:@\w{1,64})?(?!\w)", re.IGNORECASE)
TAG: Final = re.compile(r"(?<!\w)#([^\W\d_]\w{0,39})")
MAX_QUESTION_CHARS: Final = 300
APOSTROPHES: Final = str.maketrans("\u2019\u2018\uff1a\uff0c\uff1f", "'':,?")
ADDRESS_BREAKS: Final = frozenset(",;:.!\n\u2014\u2013-\uff0c\uff1a\u3002\uff01\u2026")
EDGES: Final = " \t\r\n,:;.!\u2014\u2013-\uff0c\uff1a\u3002\uff01"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEntry:
    """What a message writes into the diary; empty if it only names the diary."""

    text: str
    is_command: bool

    @property
    def tags(self) -> tuple[str, ...]:
        """The words that are marked by #, each once."""
        return find_tags(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryQuestion:
    """Which entries a message asks to read; an overview is of them all."""

    kind: Literal["days", "on_this_day", "overview"]
    language: str
    first: date
    last: date
    names_diary: bool  # else the same words may ask for what was said in a chat


def read_entry(text: str, language: str) -> WrittenEntry | None:
    """Return what a message writes into the diary; None for any other message."""
    text = translate_command(text)
    command = COMMAND.match(text[:100])
    if command is not None:
        written = text[command.end() :].strip(EDGES)
        return WrittenEntry(text=written if has_visible(written) else "", is_command=True)
    head = text[:60].lower().translate(APOSTROPHES).lstrip()
    for each in list_codes(language):
        for opener in load_words(each)["openers"]:
            if head.startswith(opener):
                skipped = len(text[:60]) - len(text[:60].lstrip())
                rest = text[skipped + len(opener) :]
                if is_opened(opener, rest, each) and has_visible(rest.strip(EDGES)):
                    return WrittenEntry(text=rest.strip(EDGES), is_command=False)
    return None


def is_opened(opener: str, rest: str, language: str) -> bool:
    """Tell whether an entry follows an opener: after a break where that only names the diary."""
    if opener.endswith(tuple(load_words(language)["diary"])):
        return rest.lstrip(" ")[:1] in ADDRESS_BREAKS
    return not (opener[-1].isalpha() and rest[:1].isalpha() and get_traits(language).spaces)


def names_diary(text: str, language: str) -> bool:
    """Tell whether a text names the diary in a language or in English."""
    plain = text.lower()
    return any(each in plain for code in list_codes(language) for each in load_words(code)["diary"])


def find_tags(text: str) -> tuple[str, ...]:
    """Return the words of a text that are marked by #, each once."""
    return tuple(dict.fromkeys(TAG.findall(text)))


def merge_tags(tags: Sequence[str], before: str, after: str) -> tuple[str, ...]:
    """Return the tags of changed words, with those that an entry had besides its words."""
    others = [each for each in tags if each not in find_tags(before)]
    return tuple(dict.fromkeys([*others, *find_tags(after)]))


def read_question(text: str, at: Micros, zone: str, language: str) -> DiaryQuestion | None:
    """Return which entries a question asks to read; None for any other text."""
    if len(text) > MAX_QUESTION_CHARS:
        return None
    folded = text.lower().translate(APOSTROPHES)
    return read_question_in(folded, at, zone, choose_language_with("diary", language))


def read_question_in(text: str, at: Micros, zone: str, language: str) -> DiaryQuestion | None:
    """Return which entries a question in one language asks to read."""
    words = load_words(language)
    names_diary = has_any(text, words["diary"])
    if not (has_any(text, words["wrote"]) or (names_diary and has_any(text, words["show"]))):
        return None
    if not is_asked(text, words):
        return None
    if has_any(text, words["about"]):
        return None  # the memory finds what is about something
    today = from_micros(at, zone).date()
    if has_any(text, words["on_this_day"]):
        return DiaryQuestion(
            kind="on_this_day", language=language, first=today, last=today, names_diary=names_diary
        )
    days = find_days(text, words["year_ago_today"], at, zone, today)
    if days is None and names_diary and not names_more(text, words, language):
        return DiaryQuestion(
            kind="overview", language=language, first=today, last=today, names_diary=True
        )
    if days is None:
        return None
    return DiaryQuestion(
        kind="days", language=language, first=days[0], last=days[1], names_diary=names_diary
    )


def is_asked(text: str, words: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a text asks: by its mark, or by a word for asking before what it asks for."""
    asked = find_first(text, words["show"])
    named = [find_first(text, words[each]) for each in ("wrote", "diary")]
    return "?" in text or any(asked <= each < len(text) for each in named)


def names_more(text: str, words: Mapping[str, Sequence[str]], language: str) -> bool:
    """Tell whether a text names anything beside the diary and that it is to be shown."""
    for name in ("wrote", "diary", "show"):
        for each in sorted(words[name], key=len, reverse=True):
            text = text.replace(each, " ") if is_word_in(text, each) else text
    return any(not is_stop_word(each, language) for each in tokenize(text))


def find_first(text: str, words: Sequence[str]) -> int:
    """Return where the first of some words stands in a text; its length if none does."""
    places = [text.find(each) for each in words if is_word_in(text, each)]
    return min(places, default=len(text))


def find_days(
    text: str, year_ago_today: Sequence[str], at: Micros, zone: str, today: date
) -> tuple[date, date] | None:
    """Return the first and last day that a question names."""
    if has_any(text, year_ago_today):
        day = today - timedelta(days=366 if (today.month, today.day) == (2, 29) else 0)
        day = day if day != today else today.replace(year=today.year - 1)
        return day, day
    offset = from_micros(at, zone).utcoffset() or timedelta()
    spans = parse_date_spans(
        text, asked_at=at, zone_offset_s=int(offset.total_seconds()), is_past=True
    )
    return to_days(spans[0], today) if spans else None


def to_days(span: DateSpan, today: date) -> tuple[date, date]:
    """Return the days of a span; the last such ones if no year was named."""
    first, last = span.first, span.end - timedelta(days=1)
    if span.granularity == "month":
        last = (first.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
    if span.is_any_year and first > today:
        first, last = (
            each.replace(year=each.year - 1, day=min(each.day, 28 if each.month == 2 else 31))
            for each in (first, last)
        )
    return first, last


def has_any(text: str, words: Sequence[str]) -> bool:
    """Tell whether any of some words stands in a text as a word of its own."""
    return any(is_word_in(text, each) for each in words)


def is_word_in(text: str, word: str) -> bool:
    """Tell whether a word stands in a text, with no letter that is not Chinese beside it."""
    at = text.find(word)
    while at >= 0:
        around = (text[at - 1 : at] or " ", text[at + len(word) : at + len(word) + 1] or " ")
        if not word.isascii() or not any(each.isalpha() for each in around):
            return True
        at = text.find(word, at + 1)
    return False


def list_codes(language: str) -> list[str]:
    """Return the languages with words for a diary, the likeliest first."""
    return sorted(list_languages("diary"), key=lambda each: each != language)


@cache
def load_words(language: str) -> dict[str, Any]:
    """Load the words of a language, longest openers first. Raises KeyError for one without."""
    words = load_language_pack(language).read("diary")
    return {**words, "openers": sorted(words["openers"], key=len, reverse=True)}


def get_texts(language: str) -> dict[str, str]:
    """Return the texts of a language, else those of the fallback."""
    languages = list_languages("diary")
    texts: dict[str, str] = load_words(language if language in languages else languages[0])["texts"]
    return texts
