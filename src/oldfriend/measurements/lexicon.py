"""Lexicon: the words of one language in which numbers are told and asked for, and its lexer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.lang.language_pack import list_languages, load_language_pack

MAX_TEXT_CHARS: Final = 1_000
"""Characters of a message that are read; a longer one tells a story."""
NUMBER: Final = re.compile(
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,2}(?![\d.,])|\d{1,30}(?:[.,']\d{1,6}){0,3}"
)
CLOCK: Final = re.compile(r"\d{1,2}:\d{2}(?!\d)")
DATE: Final = re.compile(r"(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4})(?!\d)")
WORD: Final = re.compile(r"[^\W\d_]+")
APOSTROPHES: Final = str.maketrans("\u2019\u2018\u02bc", "'''")
FULL_WIDTH: Final = str.maketrans("，。！？：；／　－", ",.!?:;/ -")
MINUS_SIGNS: Final = "-\u2212\u2013"
NUMBER_CLASS, CLOCK_CLASS, OTHER_CLASS, BREAK_CLASS = "number", "clock", "other", "break"
NEGATIVE_CLASS: Final = "negative"
SENTENCE_BREAKS: Final = ".!?;\n"
CLAUSE_BREAKS: Final = ","
WORD_CLASSES: Final = (
    "me",
    "my",
    "fill",
    "it",
    "of",
    "times",
    "months",
    "not_told",
    "present",
    "dated",
    "long_ago",
    "since",
    "joints",
    "thousand",
    "and_half",
    "half_of",
    "slash",
    "nearly",
    "nearly_apart",
    "last_night",
    "ask",
    "average",
    "most",
    "least",
    "trend",
    "weekly",
    "compare",
    "when",
)
"""The lists of words in a pack's file, each of which is a class of tokens."""
UNIT_PREFIX, CUE_PREFIX = "unit:", "cue:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word, number or break with what it may be."""

    text: str
    start: int
    end: int
    classes: frozenset[str]

    def is_any(self, *classes: str) -> bool:
        """Tell whether it may be one of these."""
        return not self.classes.isdisjoint(classes)

    @property
    def unit(self) -> str | None:
        """The unit that it names, if it names one."""
        return next(
            (each.removeprefix(UNIT_PREFIX) for each in self.classes if each[:5] == UNIT_PREFIX),
            None,
        )

    @property
    def cues(self) -> frozenset[str]:
        """The measures that it may mean."""
        return frozenset(
            each.removeprefix(CUE_PREFIX) for each in self.classes if each[:4] == CUE_PREFIX
        )


@dataclass(frozen=True, kw_only=True)
class MeasureLexicon:
    """The words of a language, by their first character and longest first."""

    language: str
    entries: Mapping[str, Sequence[tuple[str, frozenset[str]]]]
    numbers: Mapping[str, float]
    names: Mapping[str, str]  # of measures, as the language calls them
    unit_names: Mapping[str, str]  # as they are written behind a number
    texts: Mapping[str, str]
    has_decimal_comma: bool

    def split_tokens(self, text: str) -> list[Token]:
        """Split a text into tokens, in order."""
        return [*self._iterate(fold(text[:MAX_TEXT_CHARS]))]

    def _iterate(self, text: str) -> Iterator[Token]:
        at = 0
        while at < len(text):
            token = self._read_token(text, at)
            if token is not None:
                yield token
            at = at + 1 if token is None else token.end

    def _read_token(self, text: str, at: int) -> Token | None:
        """Return the token that begins at a place; None for what separates tokens."""
        dated = DATE.match(text, at)
        if dated is not None:
            return Token(text=dated[0], start=at, end=dated.end(), classes=frozenset({"times"}))
        clock = CLOCK.match(text, at)
        if clock is not None:
            classes = frozenset({"times", CLOCK_CLASS})
            return Token(text=clock[0], start=at, end=clock.end(), classes=classes)
        number = NUMBER.match(text, at)
        if number is not None:
            signs = {NEGATIVE_CLASS} if is_negative(text, at) else set()
            kinds = frozenset({NUMBER_CLASS, *signs})
            return Token(text=number[0], start=at, end=number.end(), classes=kinds)
        for word, classes in self.entries.get(text[at], ()):
            if text.startswith(word, at) and is_whole_word(text, at, at + len(word)):
                return Token(text=word, start=at, end=at + len(word), classes=classes)
        word_found = WORD.match(text, at)
        if word_found is not None:
            end = at + 1 if WIDE_CHARS.match(text, at) else find_word_end(word_found)
            return Token(text=text[at:end], start=at, end=end, classes=frozenset({OTHER_CLASS}))
        if text[at] in SENTENCE_BREAKS + CLAUSE_BREAKS:
            return Token(text=text[at], start=at, end=at + 1, classes=frozenset({BREAK_CLASS}))
        return None


def fold(text: str) -> str:
    """Fold a text for comparing, one character for one."""
    folded = text.translate(APOSTROPHES).translate(FULL_WIDTH)
    return "".join(low if len(low := each.lower()) == 1 else each for each in folded)


def find_word_end(found: re.Match[str]) -> int:
    """Return where a word ends: before Chinese characters, which are words of their own."""
    wide = WIDE_CHARS.search(found[0])
    return found.end() if wide is None or not wide.start() else found.start() + wide.start()


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Tell whether a place is no part of a longer word; a unit may follow a digit."""
    first, last = text[start], text[end - 1]
    is_open_before = start > 0 and is_letter(first) and is_letter(text[start - 1])
    is_open_after = end < len(text) and is_letter(last) and is_letter(text[end])
    return not (is_open_before or is_open_after)


def is_negative(text: str, at: int) -> bool:
    """Tell whether a number has a minus sign, not the dash of "5-6 km" or "weight-70 kg"."""
    if at == 0 or text[at - 1] not in MINUS_SIGNS:
        return False
    return at == 1 or not (text[at - 2].isdigit() or is_letter(text[at - 2]))


def is_letter(character: str) -> bool:
    """Tell whether a character joins its neighbors into a word."""
    return character.isalpha() and not WIDE_CHARS.match(character)


@cache
def load_lexicon(language: str) -> MeasureLexicon:
    """Load the lexicon of a language that has one. Raises KeyError for another."""
    pack = load_language_pack(language).read("measurements")
    classes: dict[str, set[str]] = {}
    for word, kind in iterate_words(pack):
        classes.setdefault(fold(word), set()).add(kind)
    entries: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for word in sorted(classes, key=len, reverse=True):
        entries.setdefault(word[0], []).append((word, frozenset(classes[word])))
    return MeasureLexicon(
        language=language,
        entries=entries,
        numbers=pack["numbers"],
        names={name: each["name"] for name, each in pack["measures"].items()},
        unit_names=pack["unit_names"],
        texts=pack["texts"],
        has_decimal_comma=pack["has_decimal_comma"],
    )


def iterate_words(pack: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each word of a pack's file with the class that it has there."""
    for kind in WORD_CLASSES:
        yield from ((word, kind) for word in pack[kind])
    for word in pack["numbers"]:
        yield word, NUMBER_CLASS
    for unit, words in pack["units"].items():
        yield from ((word, f"{UNIT_PREFIX}{unit}") for word in words)
    for name, each in pack["measures"].items():
        yield from ((word, f"{CUE_PREFIX}{name}") for word in each["words"])


@cache
def list_date_titles() -> frozenset[str]:
    """Return the titles of a column of days in all languages."""
    packs = (load_language_pack(each) for each in list_languages("measurements"))
    return frozenset(word for pack in packs for word in pack.read("measurements")["date_titles"])


def list_lexicons(first: str) -> list[MeasureLexicon]:
    """Return the lexicons of all languages, that of the likeliest first."""
    languages = list_languages("measurements")
    return [load_lexicon(each) for each in sorted(languages, key=lambda each: each != first)]


def get_lexicon(language: str) -> MeasureLexicon:
    """Return the lexicon of a language, else that of the fallback."""
    languages = list_languages("measurements")
    return load_lexicon(language if language in languages else languages[0])
