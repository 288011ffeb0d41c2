"""Left-over times: words of time that nothing read, and those that ask for nothing.

The text of a reminder may still hold some; "Monday again." only sighs.
"""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.sentence_words import remove_words
from oldfriend.tasks.time_words import TimeBook, TimeWord
from oldfriend.tasks.told_time import Told

MAX_GAP: Final = 4
"""Characters between a day and its hour."""
_CLOCK_LIKE: Final = re.compile(
    r"(?<![\w.,:/-])(?:2[0-3]|[01]?\d)(?:[.:][0-5]\d|[hH])(?![\w.,:/%€$-])"
)
"""An hour with minutes, however it is written."""
_YEAR_LIKE: Final = re.compile(r"\d{4,5}(?![\w.,:/%€$-])")
"""A year that is none of a reminder, right behind its date: "31 December 9999"."""


def has_left_over(book: TimeBook, what: str, told: Told) -> bool:
    """Tell whether a reminder's text holds a part of the time that was told, so that one must ask.

    The date or hour of what a reminder is about may stand in its text, beside the reminder's own.
    """
    day = {} if told.day is None else told.day.groups
    is_without_year = not {"month", "mo"}.isdisjoint(day) and "y" not in day
    if is_without_year and _YEAR_LIKE.match(what):
        return True
    words = book.find(what)
    kinds = {"clock" if "h" in each.groups else each.kind for each in words}
    is_series = told.every is not None
    if "every" in kinds or (not is_series and book.recurring.search(what)):
        return True
    if not re.search(r"\w", book.drop_joints(remove_words(what, words))):
        return True
    is_other_day = any(each.kind == "day" and each.entry.get("ahead") != 0 for each in words)
    if is_series and (is_other_day or "until" in kinds):
        return True
    is_hour_told = bool(told.clock or told.amount or told.offset) or has_whole(words, told)
    if not is_hour_told and ("clock" in kinds or _CLOCK_LIKE.search(what)):
        return True
    return not is_hour_told and bool(book.loose_hour.search(what))


def has_whole(words: Sequence[TimeWord], told: Told) -> bool:
    """Tell whether all hours among words stand beside a day, another one than the reminder's."""
    days = [each for each in words if each.kind == "day"]
    clocks = [each for each in words if each.kind == "clock" or "h" in each.groups]
    return (
        len(days) == 1
        and bool(clocks)
        and all(
            any(
                told.day is not None
                and is_other(day, told.day)
                and 0 <= clock.start - day.end <= MAX_GAP
                for day in days
            )
            for clock in clocks
        )
    )


def is_other(day: TimeWord, than: TimeWord) -> bool:
    """Tell whether words name a day otherwise than those of another one do."""
    names = ("day", "d", "ord", "dw", "month", "mo")
    if {"ahead", "holiday"} & {*day.entry, *than.entry}:
        return day.entry != than.entry or day.groups != than.groups
    return any(day.groups.get(each) != than.groups.get(each) for each in names)


def is_apart(told: Told) -> bool:
    """Whether a reminder has a day of its own, another one than that of the event told beside."""
    day = None if told.event is None else told.event.day
    return day is not None and told.day is not None and is_other(day, told.day)


def is_sigh(text: str, asked: AskedTask, again: re.Pattern[str], *, is_question: bool) -> bool:
    """Tell whether a sentence only says that a time comes again, as in "Monday again.".

    To put something off, a weekday needs a verb or an hour beside it.
    """
    if asked.action != "snooze" or asked.told is None or not asked.time_words:
        return False
    rest = text.replace(asked.time_words, " ", 1).strip(" ,.!?\u3001\uff0c\u3002\uff1f")
    if not again.fullmatch(rest):
        return False
    is_weekday = asked.told.day is not None and "day" in asked.told.day.groups
    return is_question or (is_weekday and len(asked.told.words) == 1)


def is_when(past: re.Match[str], asked: AskedTask) -> bool:
    """Whether words for a day that is over tell when to remind, and not of which day a thing is."""
    day = None if asked.told is None else asked.told.day
    if day is not None:
        return past.start() <= day.start and day.end <= past.end()
    what = to_simplified(asked.what)
    at = what.find(past[0])
    if at < 0:
        return asked.told is not None and any(past.end() == each.start for each in asked.told.words)
    return at == 0 or at + len(past[0]) == len(what)
