"""What does the offline companion understand and say, in each of its languages?

Reads the phrase books beside it into values. Knows nothing of memory.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Self

SPOKEN = ("en", "es", "de", "fr", "zh")
"""The languages that the offline companion speaks; the first is the last resort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """How to recognise what is meant: whole messages, and expressions to search with."""

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
    roasting: re.Pattern[str]
    your_view: re.Pattern[str]
    aloud: re.Pattern[str]
    again: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """How a date, a month, a year and a moment are written."""

    date: str
    month: str
    year: str
    moment: str
    months: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrasebook:
    """One language of the offline companion."""

    language: str
    understand: Understanding
    say: Mapping[str, str]
    say_aside: Mapping[str, str]  # instead, while nothing can be written
    time: Dates

    def while_nothing_is_kept(self) -> Self:
        """The same without a word that something was."""
        return replace(self, say={**self.say, **self.say_aside})


def spoken_language(*wishes: str | None) -> str:
    """The first of these languages that the companion speaks; English if it speaks none."""
    return next((wish for wish in wishes if wish in SPOKEN), SPOKEN[0])


@cache
def phrasebook(language: str) -> Phrasebook:
    """The phrase book of one of the spoken languages."""
    file = resources.files("oldfriend.prompts") / "offline" / f"{language}.toml"
    book = tomllib.loads(file.read_text("utf-8"))
    understand = book["understand"]
    return Phrasebook(
        language=language,
        understand=Understanding(
            greeting=frozenset(understand["greeting"]),
            thanks=frozenset(understand["thanks"]),
            farewell=frozenset(understand["farewell"]),
            assent=frozenset(understand["assent"]),
            remember=expressions(understand["remember"]),
            remember_asked=expressions(understand["remember_asked"]),
            about_me=any_of(understand["about_me"]),
            about_you=any_of(understand["about_you"]),
            program=any_of(understand["program"]),
            program_beside=any_of(understand["program_beside"]),
            program_around=any_of(understand["program_around"]),
            forget=any_of(understand["forget"]),
            wrong=any_of(understand["wrong"]),
            correct=any_of(understand["correct"]),
            promises=any_of(understand["promises"]),
            why_so=any_of(understand["why_so"]),
            believed_then=any_of(understand["believed_then"]),
            who_is=any_of(understand["who_is"]),
            how_tied=any_of(understand["how_tied"]),
            how_are_you=any_of(understand["how_are_you"]),
            asking_unmarked=any_of(understand["asking_unmarked"]),
            asking=any_of(understand["asking"]),
            stressed=any_of(understand["stressed"]),
            roasting=any_of(understand["roasting"]),
            your_view=any_of(understand["your_view"]),
            aloud=any_of(understand["aloud"]),
            again=any_of(understand["again"]),
        ),
        say=book["say"],
        say_aside=book["say_aside"],
        time=Dates(
            date=book["time"]["date"],
            month=book["time"]["month"],
            year=book["time"]["year"],
            moment=book["time"]["moment"],
            months=tuple(book["time"]["months"]),
        ),
    )


def expressions(sources: list[str]) -> tuple[re.Pattern[str], ...]:
    """Compiled, for any letter case and across lines."""
    return tuple(re.compile(source, re.IGNORECASE | re.DOTALL) for source in sources)


def any_of(sources: list[str]) -> re.Pattern[str]:
    """The same as one expression: what they have in common is looked for once."""
    (expression,) = expressions(["|".join(sources)])
    return expression
