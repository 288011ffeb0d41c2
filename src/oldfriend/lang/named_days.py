"""Named days: finds weekdays, weekends and times such as "this morning" by the packs' words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Literal

from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import list_languages, load_language_pack

Granularity = Literal["day", "week", "month", "season", "year"]
NamedUnit = Literal["day", "week", "month", "year", "weekend"]

CACHE_SIZE: Final = 256
MAX_AGO: Final = 1000
"""Units that somebody counts back; more is not meant as a date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDay:
    """Words from `start` to `end` that name a weekday, a weekend or a time so long ago.

    Neither weekday nor unit: the words name a day that does not lie in the past ("next Friday").
    """

    start: int
    end: int
    weekday: int | None = None  # Monday is 0
    unit: NamedUnit | None = None
    ago: int = 0
    is_last: bool = False  # the one before today, whatever the question is about


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPatterns:
    """The phrases of a language that ask what happened, or what was said."""

    happened: re.Pattern[str]
    said: re.Pattern[str]  # rather than what happened
    past: re.Pattern[str] | None  # a question about the past otherwise

    def is_about_past(self, text: str) -> bool:
        """Tell whether a question is about the past by its form."""
        return bool(self.happened.search(text) or (self.past and self.past.search(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDayPattern:
    """One way to name a day, and what it names."""

    said: re.Pattern[str]
    weekday: int | None = None
    unit: NamedUnit | None = None
    ago: int | None = 0  # None: counted by the words
    is_last: bool = False


class NamedDayBook:
    """The ways of one language to name a day; compiled when a text first needs them."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        """Take the words of a pack's `dates.toml`."""
        self._words = words
        self._any_weekday = f"(?:{'|'.join(words['weekdays'])})"
        self.numbers: Mapping[str, int] = words.get("numbers", {})

    def list_patterns(self, text: str) -> tuple[NamedDayPattern, ...]:
        """Return the patterns that may find something in a text."""
        if not (self.any_word.may_match(text) and self.any_word.search(text)):
            return ()
        return (*(self.weekdays if self.any_weekday.search(text) else ()), *self.times)

    @cached_property
    def any_word(self) -> LazyPattern:
        """Pattern of any of the words; few texts need it compiled."""
        words = self._words
        times = [
            words["weekend"],
            words["last_weekend"],
            *(each["said"] for each in words["times"]),
        ]
        source = "|".join([self._any_weekday, *times]).replace("(?P<count>", "(?:")
        return LazyPattern(source, str, fold=str)

    @cached_property
    def any_weekday(self) -> re.Pattern[str]:
        """Pattern of a weekday's name."""
        return re.compile(self._any_weekday)

    @cached_property
    def weekdays(self) -> tuple[NamedDayPattern, ...]:
        """Patterns of weekdays; of two that match the same words the first counts."""
        return (
            *(
                NamedDayPattern(said=re.compile(template.replace("{day}", self._any_weekday)))
                for template in self._words["other"]
            ),
            *(
                NamedDayPattern(
                    said=re.compile(template.replace("{day}", day)),
                    weekday=weekday,
                    is_last=is_last,
                )
                for weekday, day in enumerate(self._words["weekdays"])
                for is_last, templates in ((False, ["{day}"]), (True, self._words["last"]))
                for template in templates
            ),
        )

    @cached_property
    def times(self) -> tuple[NamedDayPattern, ...]:
        """Patterns of weekends and of days, weeks, months or years back."""
        words = self._words
        return (
            NamedDayPattern(said=re.compile(words["weekend"]), unit="weekend"),
            NamedDayPattern(said=re.compile(words["last_weekend"]), unit="weekend", is_last=True),
            *(
                NamedDayPattern(
                    said=re.compile(each["said"]), unit=each["unit"], ago=each.get("ago")
                )
                for each in words["times"]
            ),
        )


@text_lru_cache(CACHE_SIZE)
def find_named_days(text: str) -> tuple[NamedDay, ...]:
    """Return the days that a lower-case text names, in order; the longest words of each place."""
    found = [
        named
        for book in load_named_day_books()
        for pattern in book.list_patterns(text)
        for match in pattern.said.finditer(text)
        if (named := read_named_day(pattern, match, book.numbers)) is not None
    ]
    chosen: list[NamedDay] = []
    for each in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if all(each.end <= other.start or other.end <= each.start for other in chosen):
            chosen.append(each)
    return tuple(sorted(chosen, key=lambda each: each.start))


def read_named_day(
    pattern: NamedDayPattern, match: re.Match[str], numbers: Mapping[str, int]
) -> NamedDay | None:
    """Return the day that words name; None if they count with what is no number."""
    ago = pattern.ago
    if ago is None:
        count = match["count"]
        ago = int(count) if count.isdecimal() else numbers.get(count)
        if ago is None or ago > MAX_AGO:
            return None
    return NamedDay(
        start=match.start(),
        end=match.end(),
        weekday=pattern.weekday,
        unit=pattern.unit,
        ago=ago,
        is_last=pattern.is_last,
    )


@cache
def load_event_patterns(language: str) -> EventPatterns | None:
    """Load the phrases that ask what happened, if the language has any."""
    words = load_language_pack(language).read("dates")
    if not words:
        return None
    return EventPatterns(
        happened=re.compile(words["happened"], re.IGNORECASE),
        said=re.compile(words["said"], re.IGNORECASE),
        past=re.compile(words["past"], re.IGNORECASE) if "past" in words else None,
    )


@cache
def load_named_day_books() -> tuple[NamedDayBook, ...]:
    """Load the ways of all languages to name a day."""
    return tuple(
        NamedDayBook(load_language_pack(language).read("dates"))
        for language in list_languages("dates")
    )
