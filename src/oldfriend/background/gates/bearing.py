"""Does a thought notice something, or does it judge, compare, foretell, reproach, lay claim to?

A thought passes in a closed form only: it says what was told or done, or marks itself as a maybe,
and nothing in it has the grammar of a judgement. In doubt it is refused: one that is missing costs
nothing. The words of each language stand beside this (``bearings``; ``en.toml`` says what each list
is for). Labels, advice and machinery are not known here (``tone.py``).
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal

from oldfriend.background.gates.telltales import folded
from oldfriend.background.ideas import IdeaKind
from oldfriend.prompts.phrasebook import spoken_language

BearingFault = Literal[
    "judgement",
    "comparison",
    "prophecy",
    "reproach",
    "own feelings",
    "spoken to",
    "nothing noticed",
]
AS_WRITTEN: Final = {"character", "future"}
"""The lists in which a capital letter counts: it tells a name."""

UNMARKED: Final[frozenset[IdeaKind]] = frozenset({"expectation", "pattern"})
"""What notices something by its kind: a maybe is asked of the first, two patterns of the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearing:
    """The words of one language."""

    noticing: re.Pattern[str]
    judging: re.Pattern[str]
    character: re.Pattern[str]
    weighing: re.Pattern[str]
    reproaching: re.Pattern[str]
    doom: re.Pattern[str]
    future: re.Pattern[str]
    hedged: re.Pattern[str]
    own: re.Pattern[str]
    listening: re.Pattern[str]
    supposing: re.Pattern[str]
    hearer: re.Pattern[str]
    asking: re.Pattern[str]


def bearing_fault(text: str, *, language: str, kind: IdeaKind) -> BearingFault | None:
    """Why a friend would not think so; None: one might. What is suggested may say how to be."""
    if kind == "suggestion":
        return None
    bearing = bearing_of(spoken_language(language))
    plain = folded(text)
    return (
        fault_of_manner(plain, bearing)
        or fault_of_time(plain, bearing, kind)
        or fault_of_self(plain, bearing, kind)
        or fault_of_form(plain, bearing, kind)
    )


def passes_judgement(text: str, *, language: str) -> BearingFault | None:
    """Why a description says more than what is so; None: it does not."""
    bearing = bearing_of(spoken_language(language))
    plain = folded(text)
    if bearing.judging.search(plain):
        return "judgement"
    return "prophecy" if bearing.doom.search(plain) else None


def says_what_somebody_is(text: str, *, language: str) -> bool:
    """Whether it says what somebody is like, or worth."""
    bearing, plain = bearing_of(spoken_language(language)), folded(text)
    return bool(bearing.judging.search(plain) or bearing.character.search(plain))


def fault_of_manner(plain: str, bearing: Bearing) -> BearingFault | None:
    """Says what somebody is worth, weighs people against each other, or lays blame."""
    if bearing.judging.search(plain) or bearing.character.search(plain):
        return "judgement"
    if bearing.weighing.search(plain):
        return "comparison"
    return "reproach" if bearing.reproaching.search(plain) else None


def fault_of_time(plain: str, bearing: Bearing, kind: IdeaKind) -> BearingFault | None:
    """Foretells: anything bad, and in an expectation what is not marked as a maybe."""
    if bearing.doom.search(plain):
        return "prophecy"
    if kind == "question" or is_maybe(plain, bearing):
        return None
    return "prophecy" if kind == "expectation" or bearing.future.search(plain) else None


def fault_of_self(plain: str, bearing: Bearing, kind: IdeaKind) -> BearingFault | None:
    """Speaks of itself but for how it has listened and what it supposes, or to somebody."""
    if bearing.own.search(bearing.supposing.sub(" ", bearing.listening.sub(" ", plain))):
        return "own feelings"
    return "spoken to" if kind != "question" and bearing.hearer.search(plain) else None


def fault_of_form(plain: str, bearing: Bearing, kind: IdeaKind) -> BearingFault | None:
    """Not in the form of its kind: a question asks, a thought notices."""
    if kind == "question":
        return None if "?" in plain and bearing.asking.search(plain) else "nothing noticed"
    is_noticed = kind in UNMARKED or bearing.noticing.search(plain)
    is_own = bearing.listening.search(plain) or bearing.supposing.search(plain)
    return None if is_noticed or is_own else "nothing noticed"


def is_maybe(plain: str, bearing: Bearing) -> bool:
    """Whether a folded text marks itself as what may be."""
    return bool(bearing.hedged.search(plain) or bearing.supposing.search(plain))


@cache
def bearing_of(language: str) -> Bearing:
    """The words of a language that is spoken here."""
    lists = lists_of(language)
    return Bearing(**{name: compiled(name, lists[name]) for name in Bearing.__slots__})


@cache
def words_of(name: Literal["plain", "because"], language: str) -> frozenset[str]:
    """The words that only tie together what was told, or soften it; those that give a reason."""
    return frozenset(lists_of(spoken_language(language))[name][0].split())


@cache
def words_alike_of(language: str) -> tuple[frozenset[str], ...]:
    """The forms of a word, and the words for one thing, together."""
    return tuple(frozenset(each.split()) for each in lists_of(spoken_language(language))["alike"])


@cache
def lists_of(language: str) -> Mapping[str, list[str]]:
    """All lists of a language."""
    file = resources.files("oldfriend.background.gates") / "bearings" / f"{language}.toml"
    lists: Mapping[str, list[str]] = tomllib.loads(file.read_text("utf-8"))
    return lists


def compiled(name: str, patterns: list[str]) -> re.Pattern[str]:
    """One pattern that finds any of these."""
    return re.compile("|".join(patterns), re.NOFLAG if name in AS_WRITTEN else re.IGNORECASE)
