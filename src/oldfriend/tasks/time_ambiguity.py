"""Time ambiguity: what in the words for a reminder's time must be asked about."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from oldfriend.tasks.reminder_text import MIN_CLEAR, WHAT
from oldfriend.tasks.request_tagger import MIN_SURELY_WHEN, WHEN, TaggedMessage
from oldfriend.tasks.time_words import TimeBook, TimeWord
from oldfriend.tasks.told_time import Told
from oldfriend.tasks.weekday_series import HOLE
from oldfriend.tasks.when_spans import Span, are_several_days, is_inside, is_short, mask

MIN_MAYBE_HOUR: Final = 0.02
"""A number that is less likely to tell when to remind is that of a room or a bus."""
MIN_DIGITS: Final = 3
"""Of an hour with its minutes, written as one number."""
_CHOSEN: Final = frozenset({"clock", "day", "part"})
_OFTEN: Final = frozenset({"DAILY", "WEEKLY"})
_LAST_WORD: Final = re.compile(r"\w{1,40}\W{0,9}$")


def has_unread_hour(tagged: TaggedMessage, told: Told, spans: Sequence[Span]) -> bool:
    """Whether a number beside what asks may be the reminder's hour: "say 8ish", "at 845".

    Where an hour is told, only one of at least three digits in the clause that asks may be.
    """
    is_told = bool(told.clock or told.amount or told.offset)
    sentences = {each.sentence for each in tagged.tokens if each.cue}
    clauses = {each.clause for each in tagged.tokens if each.cue}
    return any(
        token.word.isdecimal()
        and token.sentence in sentences
        and (not is_told or (len(token.word) >= MIN_DIGITS and token.clause in clauses))
        and label[WHAT] < MIN_CLEAR
        and label[WHEN] >= MIN_MAYBE_HOUR
        and token.time in {"", "vague"}
        and not is_inside(token.start, spans)
        for token, label in zip(tagged.tokens, tagged.labels, strict=True)
    )


def has_choice(book: TimeBook, text: str, times: Sequence[TimeWord]) -> bool:
    """Whether nothing but an "or" stands between two days or hours."""
    return any(
        one.kind == other.kind
        and one.kind in _CHOSEN
        and book.is_either(text[one.end : other.start])
        for one, other in pairwise(times)
    )


def is_unread(book: TimeBook, text: str, tagged: TaggedMessage, spans: Sequence[Span]) -> bool:
    """Whether words that surely tell when to remind stand beside what is read of them."""
    left = [
        (each.start, each.end)
        for each, label in zip(tagged.tokens, tagged.labels, strict=True)
        if label[WHEN] >= MIN_SURELY_WHEN and not is_inside(each.start, spans)
    ]
    those_days = book.find_those_days(text)
    if are_several_days(tagged.times):
        left = [each for each in left if not is_inside(each[0], those_days)]
    elif any(is_next_to(book, text, each, span) for each in those_days for span in spans):
        return True
    said = book.drop_soft(mask(text, left).replace(HOLE, " "))
    return any(each[0].isalnum() and book.drop_joints(each) for each in said.split())


def is_next_to(book: TimeBook, text: str, one: Span, other: Span) -> bool:
    """Whether nothing but words that join stands between two places of a text."""
    between = text[min(one[1], other[1]) : max(one[0], other[0])]
    return not book.drop_joints(book.drop_soft(between))


def is_stray_day(book: TimeBook, text: str, told: Told, spans: Sequence[Span]) -> bool:
    """Whether words before a date behind a series were not read: it may be its first or last."""
    day, every = told.day, told.every
    if day is None or every is None or not every.start < day.start or "ahead" in day.entry:
        return False
    if every.entry.get("freq", "WEEKLY") not in _OFTEN or book.is_start(text, day.start, day.end):
        return False
    before = _LAST_WORD.search(text, 0, day.start)
    is_read = before is None or is_inside(before.start(), spans)
    return not is_read and bool(book.drop_soft(before[0] if before else "").strip())


def lacks_part(told: Told, others: Sequence[TimeWord]) -> bool:
    """Whether the words that are left tell what the time of a reminder lacks."""
    if told.event is not None:
        return False
    kinds = {each.kind for each in others if each.entry.get("ahead") != 0}
    if "every" in kinds and told.every is None:
        return True
    if told.every is not None:
        is_hourless = told.clock is None and told.part is None and told.offset is None
        is_dayless = told.day is None and told.until is None
        return (is_dayless and "day" in kinds) or (is_hourless and "clock" in kinds)
    length = told.offset or told.amount
    if told.offset is not None and "part" in told.offset.entry:
        return False  # "the evening before" tells its hour
    if length is not None:
        return told.clock is None and not is_short(length) and "clock" in kinds
    if told.day is not None and told.clock is None and told.part is None:
        return "clock" in kinds
    return told.clock is not None and told.day is None and "day" in kinds
