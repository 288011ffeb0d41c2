"""Word sorts: finds the weekdays, numbers and names of a text."""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.learning.rule_extraction.entity_mentions import is_name
from oldfriend.learning.rule_extraction.rule_loader import RuleBook

Place = tuple[int, int, str]
"""Where in a text a word stands, and which."""
Sort: TypeAlias = Callable[[str, RuleBook], Iterator[Place]]
"""Finds the words of one sort in a text."""

_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"\d+|[^\W\d]+")
"""Figures, or a word that may be a number."""


def days_in(text: str, book: RuleBook) -> Iterator[Place]:
    """Yield the weekdays of a text."""
    for day in book.weekdays:
        for found in day.finditer(text):
            yield bare_day(found, day)


def numbers_in(text: str, book: RuleBook) -> Iterator[Place]:
    """Yield the numbers of a text, in figures or words."""
    for found in _NUMBER.finditer(text):
        if found[0].isdecimal() or book.counts.get(found[0].lower(), 0) > 1:
            yield found.start(), found.end(), found[0]


def names_in(text: str, book: RuleBook) -> Iterator[Place]:
    """Yield the words that can be names, but for the first of several."""
    for found in _WORD.finditer(text):
        is_first = not text[: found.start()].strip() and len(text) > len(found[0])
        if found[0][:1].isupper() and not is_first and is_name(found[0], book):
            yield found.start(), found.end(), found[0]


SORTS: Final[tuple[Sort, ...]] = (
    days_in,
    numbers_in,
    names_in,
)
"""The sorts of words of which one may have been meant for another."""


def bare_day(found: re.Match[str], day: LazyPattern) -> Place:
    """Return the name of a weekday without the small words before and behind it."""
    for word in _WORD.finditer(found[0]):
        if day.fullmatch(word[0]):
            return found.start() + word.start(), found.start() + word.end(), word[0]
    return found.start(), found.end(), found[0]
