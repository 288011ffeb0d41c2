"""Weekday series: joins the weekdays that words name to a series, and leaves others out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from oldfriend.tasks.series_phrases import DAY_NAMES
from oldfriend.tasks.time_words import TimeBook, TimeWord

HOLE: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
WITHOUT: Final[Mapping[str, Any]] = {"without": True}
"""Of words that only say on which days a series does not come."""
RANGE_MARKS: Final = frozenset("-–~")
MAX_JOINT: Final = 12
"""Characters between a word that leads to an end, or to what is left out, and that."""


def leave_out(book: TimeBook, masked: str, words: Sequence[TimeWord]) -> list[TimeWord]:
    """Return words in which a series of days is one without the weekdays after "except"."""
    series = [each for each in words if is_of_days(each)]
    for start, end in book.find_except(masked):
        named = [
            each
            for each in words
            if each.start >= end and is_named(each) and HOLE not in masked[start : each.start]
        ]
        left_out: list[TimeWord] = []
        for each in named:
            before = left_out[-1].end if left_out else end
            if each.start - before > MAX_JOINT or book.drop_joints(masked[before : each.start]):
                break
            left_out.append(each)
        kept = [each for each in series if each not in left_out]
        if not left_out or len(kept) != 1:
            continue
        less = {day for each in left_out for day in list_weekdays(book, each)}
        days = set(list_weekdays(book, kept[0])) - less
        if not days:
            continue
        rest = [each for each in words if each not in [*left_out, kept[0]]]
        part = {"part": kept[0].entry["part"]} if "part" in kept[0].entry else {}
        every = make_weekly([kept[0]], days)
        mark = TimeWord(start=start, end=left_out[-1].end, kind="every", entry=WITHOUT)
        joined = replace(every, entry={**every.entry, **part})
        return sorted([*rest, joined, mark], key=lambda each: each.start)
    return [*words]


def is_of_days(word: TimeWord) -> bool:
    """Whether words of a series mean all days, or weekdays that they name."""
    if word.kind != "every" or "interval" in word.entry or "n" in word.groups:
        return False
    is_weekly = word.entry.get("freq", "WEEKLY") == "WEEKLY"
    return word.entry.get("freq") == "DAILY" or (
        is_weekly and bool("byday" in word.entry or "days" in word.groups)
    )


def is_named(word: TimeWord) -> bool:
    """Whether words name weekdays, of a series or not."""
    is_weekend = word.kind in {"day", "every"} and "byday" in word.entry and "ask" in word.entry
    return is_weekday(word) or is_weekend or (word.kind == "every" and "days" in word.groups)


def list_weekdays(book: TimeBook, word: TimeWord) -> list[int]:
    """List the weekdays that words mean; all of them for a series of days."""
    if "day" in word.groups:
        return [book.read_weekday(word.groups["day"])]
    if "days" in word.groups:
        return book.read_weekdays(word.groups["days"])
    named = word.entry.get("byday", ",".join(DAY_NAMES))
    return [DAY_NAMES.index(each) for each in named.split(",")]


def join_weekdays(book: TimeBook, masked: str, words: list[TimeWord]) -> list[TimeWord]:
    """Return words in which two weekdays or more are a series."""
    named = [each for each in words if is_weekday(each)]
    days = {book.read_weekday(each.groups["day"]) for each in named}
    for first, last in pairwise(named):
        if is_range(book, masked, first, last):
            start, end = (book.read_weekday(each.groups["day"]) for each in (first, last))
            days |= list_range(start, end)
    if len(days) < 2 or any(each.kind == "offset" for each in words):
        return words
    if HOLE in masked[named[0].start : named[-1].end]:
        return words  # two days of which one may be meant
    return [each for each in words if each not in named] + [make_weekly(named, days)]


def join_ranges(book: TimeBook, masked: str, words: Sequence[TimeWord]) -> list[TimeWord]:
    """Return words in which a series goes on to another weekday: "every Monday to Thursday"."""
    joined = list(words)
    for one, other in pairwise(words):
        is_plain = "days" in one.groups and not set(one.entry) - {"said", "han"}
        if not (is_plain and is_weekday(other) and is_range(book, masked, one, other)):
            continue
        named = book.read_weekdays(one.groups["days"])
        if len(named) == 1:
            days = list_range(named[0], book.read_weekday(other.groups["day"]))
            joined[joined.index(one)] = make_weekly([one, other], days)
            joined.remove(other)
    return joined


def is_range(book: TimeBook, said: str, one: TimeWord, other: TimeWord) -> bool:
    """Whether one time goes on to another: "9-11", "from nine to eleven"."""
    if said[one.end : other.start].strip() in RANGE_MARKS:
        return True
    return any(
        one.end <= start <= other.start
        and not said[one.end : start].strip()
        and not said[end : other.start].strip()
        for start, end in book.find_until(said)
    )


def list_range(start: int, end: int) -> set[int]:
    """Return the weekdays from one to another."""
    return {(start + each) % 7 for each in range((end - start) % 7 + 1)}


def make_weekly(named: Sequence[TimeWord], days: set[int]) -> TimeWord:
    """Return the words of a series on some weekdays."""
    entry: dict[str, Any] = {"byday": ",".join(DAY_NAMES[each] for each in sorted(days))}
    return TimeWord(start=named[0].start, end=named[-1].end, kind="every", entry=entry)


def add_weekdays(
    book: TimeBook, every: TimeWord, days: list[TimeWord], words: list[TimeWord]
) -> tuple[list[TimeWord], list[TimeWord]]:
    """Add the weekdays that are told beside a series of weekdays to it: "every Tuesday and Sat"."""
    named = [each for each in days if is_weekday(each)]
    said = every.groups.get("days")
    if not named or said is None or set(every.entry) - {"said"}:
        return days, words
    known = {*book.read_weekdays(said), *(book.read_weekday(each.groups["day"]) for each in named)}
    joined = make_weekly([every, *named], known)
    return (
        [each for each in days if each not in named],
        [joined if each is every else each for each in words],
    )


def is_weekday(word: TimeWord) -> bool:
    """Whether a word is the name of a weekday and nothing more."""
    return word.kind == "day" and "day" in word.groups and not set(word.entry) - {"said", "alone"}
