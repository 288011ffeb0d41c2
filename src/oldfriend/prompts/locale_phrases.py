"""Locale phrases: what the offline companion understands and says in each of its languages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from oldfriend.lang.language_pack import list_languages, load_language_pack

OFFLINE_LANGUAGES = list_languages("phrases")
"""The languages of the offline companion; the first one is the fallback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasePatterns:
    """Patterns that recognize the intent of a message: whole messages, and regular expressions."""

    greeting: frozenset[str]
    thanks: frozenset[str]
    farewell: frozenset[str]
    assent: frozenset[str]
    remember: tuple[re.Pattern[str], ...]
    remember_asked: tuple[re.Pattern[str], ...]
    about_me: re.Pattern[str]
    about_you: re.Pattern[str]
    program: re.Pattern[str]
    program_beside: re.Pattern[str]
    program_around: re.Pattern[str]
    forget: re.Pattern[str]
    wrong: re.Pattern[str]
    correct: re.Pattern[str]
    promises: re.Pattern[str]
    why_so: re.Pattern[str]
    believed_then: re.Pattern[str]
    who_is: re.Pattern[str]
    how_tied: re.Pattern[str]
    how_are_you: re.Pattern[str]
    asking_unmarked: re.Pattern[str]
    asking: re.Pattern[str]
    stressed: re.Pattern[str]
    loss: re.Pattern[str]
    good_news: re.Pattern[str]
    imagined: re.Pattern[str]  # neither lost nor good news
    roasting: re.Pattern[str]
    your_view: re.Pattern[str]
    aloud: re.Pattern[str]
    again: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateFormats:
    """The formats of a date, a month, a year and a date with time."""

    date: str
    month: str
    year: str
    moment: str
    months: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalePhrases:
    """The patterns, phrases and formats of one language."""

    language: str
    patterns: PhrasePatterns
    phrases: Mapping[str, str]
    read_only_phrases: Mapping[str, str]  # replacements while nothing can be written
    date_formats: DateFormats
    channel: str = ""  # where the reply goes, if known

    def with_read_only_phrases(self) -> Self:
        """Return a copy with the read-only phrases, which do not say that anything was saved."""
        return replace(self, phrases={**self.phrases, **self.read_only_phrases})


def choose_language(*preferences: str | None) -> str:
    """Return the first preference that is an offline language, else English."""
    return next(
        (language for language in preferences if language in OFFLINE_LANGUAGES),
        OFFLINE_LANGUAGES[0],
    )


@cache
def load_phrases(language: str) -> LocalePhrases:
    """Load the phrases of an offline language."""
    book = load_language_pack(language).read("phrases")
    understand = book["understand"]
    kin = sorted(load_language_pack(language).read("roles"), key=len, reverse=True)
    return LocalePhrases(
        language=language,
        patterns=PhrasePatterns(
            greeting=frozenset(understand["greeting"]),
            thanks=frozenset(understand["thanks"]),
            farewell=frozenset(understand["farewell"]),
            assent=frozenset(understand["assent"]),
            remember=compile_patterns(understand["remember"]),
            remember_asked=compile_patterns(understand["remember_asked"]),
            about_me=compile_any(understand["about_me"]),
            about_you=compile_any(understand["about_you"]),
            program=compile_any(understand["program"]),
            program_beside=compile_any(understand["program_beside"]),
            program_around=compile_any(understand["program_around"]),
            forget=compile_any(understand["forget"]),
            wrong=compile_any(understand["wrong"]),
            correct=compile_any(understand["correct"]),
            promises=compile_any(understand["promises"]),
            why_so=compile_any(understand["why_so"]),
            believed_then=compile_any(understand["believed_then"]),
            who_is=compile_any(understand["who_is"]),
            how_tied=compile_any(understand["how_tied"]),
            how_are_you=compile_any(understand["how_are_you"]),
            asking_unmarked=compile_any(understand["asking_unmarked"]),
            asking=compile_any(understand["asking"]),
            stressed=compile_any(insert_kin(understand["stressed"], kin)),
            loss=compile_any(insert_kin(understand["loss"], kin)),
            good_news=compile_any(insert_kin(understand["good_news"], kin)),
            imagined=compile_any(understand["imagined"]),
            roasting=compile_any(understand["roasting"]),
            your_view=compile_any(understand["your_view"]),
            aloud=compile_any(understand["aloud"]),
            again=compile_any(understand["again"]),
        ),
        phrases=book["say"],
        read_only_phrases=book["say_aside"],
        date_formats=DateFormats(
            date=book["time"]["date"],
            month=book["time"]["month"],
            year=book["time"]["year"],
            moment=book["time"]["moment"],
            months=tuple(book["time"]["months"]),
        ),
    )


def insert_kin(sources: Sequence[str], kin: Sequence[str]) -> list[str]:
    """Return expressions with the words for relatives, friends and pets instead of {kin}."""
    words = f"(?:{'|'.join(map(re.escape, kin))})"
    return [source.replace("{kin}", words) for source in sources]


def compile_patterns(sources: list[str]) -> tuple[re.Pattern[str], ...]:
    """Compile expressions, for any letter case and across lines."""
    return tuple(re.compile(source, re.IGNORECASE | re.DOTALL) for source in sources)


def compile_any(sources: list[str]) -> re.Pattern[str]:
    """Compile expressions as one alternation, so that common work is done once."""
    (expression,) = compile_patterns(["|".join(sources)])
    return expression
