"""When spans: reads what the words that tell when to remind say, and what of them is left over.

Which words those are is known before; so a bare number among them is an hour, two weekdays are a
series, and what a reminder is about may lend its day to "that day" or "an hour before".
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.tasks.series_phrases import SHORT_STEPS
from oldfriend.tasks.time_words import TimeBook, TimeWord
from oldfriend.tasks.told_time import Told, collect, is_bare_series
from oldfriend.tasks.weekday_series import (
    HOLE,
    MAX_JOINT,
    WITHOUT,
    add_weekdays,
    is_range,
    join_ranges,
    join_weekdays,
    leave_out,
)

Span = tuple[int, int]

_WORD: Final = re.compile(r"\w")
DAILY: Final = TimeWord(start=0, end=0, kind="every", entry={"freq": "DAILY"})
_SHORT: Final = frozenset({"minute", "hour"})
_OF_EVENTS: Final = frozenset({"clock", "part", "day", "every", "amount"})
MAX_GAP: Final = 2
"""Characters between two words of one end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTime:
    """What spans tell: the time, None if they tell two; their words; whether all was read."""

    told: Told | None
    words: tuple[TimeWord, ...]
    unread: str


def read_when(
    book: TimeBook, text: str, spans: Sequence[Span], others: Sequence[Span] = ()
) -> ReadTime:
    """Read the time that spans of a text tell; the others tell when something else is."""
    masked = mask(text, spans)
    words = book.find_loosely(masked)
    words = join_ranges(book, masked, leave_out(book, masked, words))
    words = join_ends(book, masked, words)
    unread = find_unread(book, masked, words)
    said = to_simplified(mask(text, others))
    found = drop_lone_parts(book, said, book.find_events(said)) if others else []
    is_after = any(
        "after" in each.entry and book.start_lead.match(text[each.end :].lstrip()) is None
        for each in words
    )
    events = join_series(book, said, choose_hours(book, said, found, is_after=is_after))
    told = tell(book, to_simplified(masked), words, events)
    if told is not None and told.clock is not None and not (told.offset or told.amount):
        told = place_before(told, tell_event(book, said, events))
    return ReadTime(told=told, words=tuple(words), unread=unread)


def drop_lone_parts(book: TimeBook, said: str, words: Sequence[TimeWord]) -> list[TimeWord]:
    """Return words of time without parts of the day that stand beside no day or hour of theirs.

    "I come off nights. It's at four": four is none of the night.
    """
    return [
        each
        for each in words
        if each.kind != "part"
        or any(
            other.kind in {"clock", "day", "every"} and is_beside(book, said, each, other)
            for other in words
        )
    ]


def choose_hours(
    book: TimeBook, said: str, words: Sequence[TimeWord], *, is_after: bool
) -> list[TimeWord]:
    """Return words of when something is with the hour of it that a reminder rests on.

    Of "from nine to eleven" that is the first, or the last for what comes after it. Beside a day
    that has its hour, another number is none: "round 1 is on Saturday at ten".
    """
    clocks = [each for each in words if each.kind == "clock"]
    days = [each for each in words if each.kind == "day"]
    pairs = [each for each in pairwise(clocks) if is_range(book, said, *each)]
    own = [each for each in clocks if any(is_beside(book, said, each, day) for day in days)]
    own += [each for pair in pairs if any(one in own for one in pair) for each in pair]
    left_out = [one if is_after else other for one, other in pairs]
    left_out += [
        each
        for each in clocks
        if own and not any(each is hour or is_beside(book, said, each, hour) for hour in own)
    ]
    return [each for each in words if each not in left_out]


def is_beside(book: TimeBook, said: str, one: TimeWord, other: TimeWord) -> bool:
    """Whether nothing but words that join stands between two words of time."""
    start, end = min(one.end, other.end), max(one.start, other.start)
    between = said[start:end]
    return HOLE not in between and not book.drop_joints(book.drop_soft(between))


def place_before(told: Told, event: Told | None) -> Told:
    """Return an hour with the time of the event before which it is; each time of it in a series."""
    if event is None or told.every is not None:
        return told
    if event.every is None:
        return replace(told, event=event)
    if told.day is not None:
        return told
    return replace(told, every=event.every, day=event.day, days=event.days, event=event)


def tell_event(book: TimeBook, said: str, events: Sequence[TimeWord]) -> Told | None:
    """Return when something else is, if its hour is told and is one."""
    words = [each for each in events if each.kind in _OF_EVENTS]
    told = tell(book, said, words, ())
    if told is None or told.clock is None:
        return None
    return replace(told, clocks=())


def mask(text: str, spans: Sequence[Span]) -> str:
    """Return a text in which only the spans are left, each where it was."""
    kept = [HOLE] * len(text)
    for start, end in spans:
        kept[start:end] = text[start:end]
    return "".join(kept)


def find_unread(book: TimeBook, masked: str, words: Sequence[TimeWord]) -> str:
    """Return what of the spans is no time, and is no word that changes none."""
    kept = list(masked)
    for each in words:
        kept[each.start : each.end] = " " * (each.end - each.start)
    if are_several_days(words):
        for start, end in book.find_those_days(masked):
            kept[start:end] = " " * (end - start)
    parts = (book.drop_soft(each).strip() for each in "".join(kept).split(HOLE))
    left = [each for each in parts if _WORD.search(each) and book.drop_joints(each)]
    return " ".join(" ".join(left).split())


def join_ends(book: TimeBook, masked: str, words: Sequence[TimeWord]) -> list[TimeWord]:
    """Return words of which those after "until" are the end of a series."""
    joined = list(words)
    is_series = any(each.kind == "every" for each in words)
    for start, end in book.find_until(masked):
        if any(each.start <= start < each.end for each in joined):
            continue
        last = [each for each in joined if start <= each.start and each.kind in {"day", "clock"}]
        near = [each for each in last if each.end > end and each.start <= end + MAX_JOINT]
        ending = near[0] if near and is_series else None
        if ending is None or HOLE in masked[start : ending.start]:
            continue
        ends = [ending]
        for each in joined[joined.index(ending) + 1 :]:
            is_next = each.start - ends[-1].end <= MAX_GAP
            if not is_next or each.kind not in {"clock", "part", "day"}:
                break
            if each.kind not in {other.kind for other in ends}:
                ends.append(each)
        ends = leave_hour(book, joined, ends)
        joined = [each for each in joined if each not in ends]
        entry = {"ends": tuple(ends)}
        joined.append(TimeWord(start=start, end=ends[-1].end, kind="until", entry=entry))
    return sorted(joined, key=lambda each: each.start)


def leave_hour(
    book: TimeBook, words: Sequence[TimeWord], ends: Sequence[TimeWord]
) -> list[TimeWord]:
    """Return the words of an end without its hour, if that is the only one a series of days has.

    "Every evening until the 24th at 8" comes at eight.
    """
    is_day = any(each.kind == "day" for each in ends)
    is_told = any(each.kind == "clock" for each in words if each not in ends)
    is_hourly = any(is_short_series(book, each) for each in words)
    if not is_day or is_told or is_hourly:
        return [*ends]
    return [each for each in ends if each.kind == "day"]


def is_short_series(book: TimeBook, word: TimeWord) -> bool:
    """Whether words of a series name hours or minutes as its step."""
    if word.kind != "every":
        return False
    if "freq" in word.entry:
        return word.entry["freq"] in SHORT_STEPS
    return "unit" in word.groups and book.read_unit(word.groups["unit"]) in _SHORT


def join_window(book: TimeBook, words: list[TimeWord]) -> list[TimeWord]:
    """Return words in which two hours of a series of hours are its beginning and its end."""
    clocks = [each for each in words if each.kind == "clock"]
    is_hourly = any(is_short_series(book, each) for each in words)
    if not is_hourly or len(clocks) != 2 or any(each.kind == "until" for each in words):
        return words
    last = clocks[1]
    parts = [each for each in words if each.kind == "part" and each.start >= clocks[0].end]
    ends = [last, *(each for each in parts if find_nearest(clocks, each) is last)]
    end = TimeWord(start=last.start, end=last.end, kind="until", entry={"ends": tuple(ends)})
    return [*(each for each in words if each not in ends), end]


def tell(
    book: TimeBook, masked: str, words: Sequence[TimeWord], events: Sequence[TimeWord]
) -> Told | None:
    """Return the time of some words; None if they tell two."""
    words = [each for each in words if each.entry is not WITHOUT]
    words = borrow(book, masked, join_series(book, masked, words), events)
    series = [each for each in words if each.kind == "every"]
    if len({is_short_series(book, each) for each in series}) > 1:
        return None  # a series of hours on each day of another one
    every = next(iter(series), None)
    days = [each for each in words if each.kind == "day"]
    if every is not None and days:
        days, words = add_weekdays(book, every, days, words)
    told = collect([each for each in words if each.kind not in {"clock", "part", "day"}])
    if told is None:
        return None
    if days:
        days.sort(key=rank_day)
        told = replace(told, day=days[0], days=tuple(days[1:]))
    return add_clocks(
        book, told, masked, [each for each in words if each.kind in {"clock", "part"}]
    )


def join_series(book: TimeBook, masked: str, words: list[TimeWord]) -> list[TimeWord]:
    """Return words with the series and the ends of one that some of them are together."""
    series = [each for each in words if each.kind == "every"]
    is_series = bool(series)
    if all(is_every_week(book, each) for each in series):
        rest = [each for each in words if each not in series]
        named = join_weekdays(book, masked, rest)
        words = words if named is rest else named
    if any(each.kind in {"clock", "amount"} for each in words):
        words = [each for each in words if each.kind != "vague"]
    words = join_window(book, words)
    is_ended = any(is_end_of_days(book, each) for each in words)
    if is_series or is_ended:
        words = [end_series(each) if is_length(each) else each for each in words]
    if is_ended and not any(each.kind == "every" for each in words):
        words = [*words, DAILY]
    return words


def is_every_week(book: TimeBook, word: TimeWord) -> bool:
    """Whether words of a series only say that it comes each week."""
    if not is_bare_series(word):
        return False
    unit = word.groups.get("unit")
    is_week = unit is not None and book.read_unit(unit) == "week"
    return is_week or word.entry.get("freq") == "WEEKLY"


def add_clocks(book: TimeBook, told: Told, masked: str, words: Sequence[TimeWord]) -> Told | None:
    """Return a time with its hours; None if they are told apart."""
    pairs = pair_parts(words)
    named = drop_repeated([(clock, part) for clock, part in pairs if clock is not None])
    if not named:
        return replace(told, part=pairs[0][1]) if pairs else told
    told = replace(told, clock=named[0][0], part=named[0][1])
    if len(named) < 2:
        return told
    is_apart = any(
        not are_listed(book, masked, one[0], other[0], words) for one, other in pairwise(named)
    )
    return (
        None
        if is_apart or told.offset is not None
        else replace(told, clocks=tuple(place_part(*each) for each in named))
    )


def are_several_days(words: Sequence[TimeWord]) -> bool:
    """Whether words of time tell a series, or more days than one."""
    is_series = any(each.kind == "every" for each in words)
    return is_series or sum(each.kind == "day" for each in words) > 1


def are_listed(
    book: TimeBook, masked: str, one: TimeWord, other: TimeWord, words: Sequence[TimeWord]
) -> bool:
    """Whether nothing but a mark or a word that joins stands between two hours, and one does."""
    between = masked[one.end : other.start]
    for each in words:
        if one.end <= each.start and each.end <= other.start:
            place = each.start - one.end
            between = (
                between[:place]
                + " " * (each.end - each.start)
                + between[place:][each.end - each.start :]
            )
    is_joined = bool(between.strip()) or not book.is_spaced
    return HOLE not in between and is_joined and not book.drop_joints(book.drop_soft(between))


def drop_repeated(
    clocks: Sequence[tuple[TimeWord, TimeWord | None]],
) -> list[tuple[TimeWord, TimeWord | None]]:
    """Return the hours without those that are told twice in the same way."""
    known: dict[tuple[str, str, str], tuple[TimeWord, TimeWord | None]] = {}
    for clock, part in clocks:
        minutes = {name: value for name, value in clock.entry.items() if name != "said"}
        key = (str(clock.groups), str(minutes), str(part and part.entry))
        known.setdefault(key, (clock, part))
    return list(known.values())


def rank_day(day: TimeWord) -> int:
    """Rank days: the one that names a date alone comes first, "next week" last."""
    if "ask" in day.entry:
        return 3
    dated = {"holiday", "ahead", "follows"} & set(day.entry)
    if {"month", "mo"} & set(day.groups) or dated:
        return 0
    return 1 if {"d", "ord"} & set(day.groups) else 2


def pair_parts(words: Sequence[TimeWord]) -> list[tuple[TimeWord | None, TimeWord | None]]:
    """Return the hours, each with the part of the day that is told beside it, if any."""
    parts = [each for each in words if each.kind == "part"]
    clocks = [each for each in words if each.kind == "clock"]
    if len(clocks) < 2:
        part = next(iter(parts), None)
        return [(next(iter(clocks), None), part)] if words else []
    pairs: list[tuple[TimeWord | None, TimeWord | None]] = []
    for clock in clocks:
        near = [each for each in parts if clock is find_nearest(clocks, each)]
        pairs.append((clock, near[0] if near else None))
    return pairs


def find_nearest(clocks: Sequence[TimeWord], part: TimeWord) -> TimeWord:
    """Return the hour that stands nearest to a part of the day."""
    return min(clocks, key=lambda clock: max(clock.start - part.end, part.start - clock.end))


def place_part(clock_time: TimeWord, part: TimeWord | None) -> TimeWord:
    """Return an hour that carries its part of the day."""
    return (
        clock_time
        if part is None
        else replace(clock_time, entry={**clock_time.entry, **part.entry})
    )


def is_length(word: TimeWord) -> bool:
    """Whether words tell how long a series goes on, "for ten days"."""
    return word.kind == "amount" and not is_short(word)


def is_short(word: TimeWord) -> bool:
    """Whether an amount of time is one of minutes or hours."""
    return bool(set(word.units) & _SHORT)


def end_series(word: TimeWord) -> TimeWord:
    """Return the end of a series for its length."""
    return replace(word, kind="until", entry={"length": dict(word.units)})


def is_end_of_days(book: TimeBook, word: TimeWord) -> bool:
    """Whether words tell for how many days something is to come, and so that it is a series."""
    if "unit" in word.groups and book.read_unit(word.groups["unit"]) in _SHORT:
        return False
    return word.kind == "until" and ("n" in word.groups or bool(word.entry.get("open")))


def borrow(
    book: TimeBook, masked: str, words: list[TimeWord], events: Sequence[TimeWord]
) -> list[TimeWord]:
    """Return words with what "that day" and "an hour before" stand for."""
    offset = next((each for each in words if each.kind == "offset"), None)
    kinds = {each.kind for each in words}
    if offset is None:
        every = next((each for each in words if each.kind == "every"), None)
        is_open = every is None and bool(book.refers.search(masked))
        is_dayless = every is not None and names_no_day(every)
        is_lent = "day" not in kinds and (is_open or is_dayless)
        return [*words, *take(events, {"day"})] if is_lent else words
    if "part" in offset.entry and "clock" in kinds:
        part = replace(offset, kind="part", entry={"part": offset.entry["part"]})
        words = [replace(each, entry={}) if each is offset else each for each in words] + [part]
    wanted = set[str]()
    if is_short(offset) and "clock" not in kinds and "amount" not in kinds:
        wanted |= {"clock", "part"}
    if not {"day", "amount", "every"} & kinds:
        wanted |= {"day", "every", "amount"}
    return [*words, *take(events, wanted)]


def names_no_day(every: TimeWord) -> bool:
    """Whether a series of weeks, months or years does not say on which day."""
    if {"day", "days", "d", "ord"} & set(every.groups):
        return False
    if {"byday", "month_end", "part"} & set(every.entry):
        return False
    return every.entry.get("freq", "") in {"WEEKLY", "MONTHLY", "YEARLY"} or (
        "unit" in every.groups and "freq" not in every.entry
    )


def take(events: Sequence[TimeWord], kinds: set[str]) -> list[TimeWord]:
    """Return all days, and the first word of each other kind, that tell when something else is."""
    taken: dict[str, TimeWord] = {}
    for each in events:
        if each.kind in kinds and "ask" not in each.entry:
            taken.setdefault(f"day {each.start}" if each.kind == "day" else each.kind, each)
    return list(taken.values())


def is_inside(place: int, spans: Iterable[Span]) -> bool:
    """Whether a place lies in one of some spans."""
    return any(start <= place < end for start, end in spans)
