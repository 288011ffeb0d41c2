"""Told time: the parts of a time that words tell, what they mean, or what must be asked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from oldfriend.domain.clock import Micros, from_micros, to_micros
from oldfriend.tasks.recurrence import to_utc
from oldfriend.tasks.time_words import TimeWord

Question = Literal[
    "when",  # no time was told
    "half",  # morning or evening?
    "day",  # which day of that week, weekend, month?
    "week",  # which of two weekdays?
    "order",  # the third of December or the twelfth of March?
    "past",  # that has passed
    "several",  # which of the times?
    "no_such_day",
    "no_such_hour",  # 25:00
    "guess",  # is this what was understood?
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A time that was told without doubt."""

    due_at: Micros
    is_date_only: bool = False  # only a day was told
    rrule: str | None = None  # without its start, which is `due_at`


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """What must be asked before a time is known."""

    question: Question
    options: tuple[str, ...] = ()  # what fills the question: hours, ISO days, or one guess


@dataclass(frozen=True, slots=True)
class ToldZone:
    """The time zone that words name beside an hour."""

    name: str
    is_sure: bool  # else it may be where something is, or one of several zones


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The parts of a time that words tell."""

    amount: TimeWord | None = None
    clock: TimeWord | None = None
    part: TimeWord | None = None
    day: TimeWord | None = None
    every: TimeWord | None = None
    until: TimeWord | None = None
    vague: TimeWord | None = None
    offset: TimeWord | None = None  # how long before that
    wakes_from: int | None = None  # the first hour that an alarm means in the morning
    days: tuple[TimeWord, ...] = ()  # that name the same day otherwise
    clocks: tuple[TimeWord, ...] = ()  # all hours, if there are several
    refused: Question | None = None  # words name what no reminder can be set for
    event: "Told | None" = None  # when what a reminder is about is, which it is due before
    doubt: Question | None = None  # words may say it otherwise: one asks, though they tell a time
    zone: ToldZone | None = None  # by whose clock the hour is, if not by the person's

    @property
    def words(self) -> tuple[TimeWord, ...]:
        """The words, in order."""
        each = (
            self.amount,
            self.clock,
            self.part,
            self.day,
            self.every,
            self.until,
            self.vague,
            self.offset,
        )
        return tuple(sorted((word for word in each if word), key=lambda word: word.start))

    def updated(self, other: "Told") -> "Told":
        """Return these parts with those that an answer tells anew."""
        names = ("amount", "clock", "part", "day", "every", "until", "vague", "offset")
        changed = {name: value for name in names if (value := getattr(other, name)) is not None}
        merged = replace(self, **{**changed, "vague": other.vague})
        merged = replace(merged, doubt=other.doubt, refused=other.refused)
        if other.clock or other.amount:
            merged = replace(merged, event=None, zone=other.zone)
        if other.clock:
            merged = replace(merged, part=other.part, clocks=other.clocks)
        if other.day:
            merged = replace(merged, days=other.days)
        if other.amount:
            merged = replace(merged, clock=other.clock, part=other.part, day=other.day)
        if other.day and not other.amount:
            merged = replace(merged, amount=None, day=place_day(other.day, self.day))
        return merged


def place_day(day: TimeWord, asked: TimeWord | None) -> TimeWord:
    """Return the day of an answer within the week or month that was asked about."""
    if asked is None:
        return day
    is_plain = "day" in day.groups and "mode" not in day.entry
    if "weeks" in asked.entry and "ask" in asked.entry and is_plain:
        return replace(day, entry={"mode": "week", "weeks": asked.entry["weeks"]})
    if "months" in asked.entry and "dom" in day.entry:
        return replace(day, entry={"shift": asked.entry["months"]})
    return day


def collect(words: Sequence[TimeWord]) -> Told | None:
    """Return the parts that words tell; None if two of one kind say different things."""
    told = Told()
    for word in words:
        earlier: TimeWord | None = getattr(told, word.kind)
        if earlier is not None:
            is_same = earlier.entry is word.entry and earlier.groups == word.groups
            if word.kind == "part" or is_same or is_bare_series(word):
                continue
            if not is_bare_series(earlier):
                return None
        part: dict[str, Any] = {word.kind: word}
        told = replace(told, **part)
    return told


def is_bare_series(word: TimeWord) -> bool:
    """Whether words of a series name only its step, such as "every month"."""
    is_step = "unit" in word.groups and "n" not in word.groups and "interval" not in word.entry
    is_named = not word.groups and not set(word.entry) - {"said", "freq"}
    return word.kind == "every" and (is_step or is_named) and "days" not in word.groups


def encode_guess(found: Resolved, zone: str) -> str:
    """Return a time that was understood, in doubt, as it is stored: ISO, and its rule if any."""
    local = from_micros(found.due_at, zone)
    is_day = found.is_date_only and found.rrule is None
    moment = f"{local:%Y-%m-%d}" if is_day else f"{local:%Y-%m-%dT%H:%M}"
    return moment if found.rrule is None else f"{moment}/{found.rrule}"


def decode_guess(option: str, zone: str, hour: int) -> Resolved:
    """Return the time of a guess; a day alone is due at an hour."""
    moment, _, rule = option.partition("/")
    is_date_only = "T" not in moment
    local = datetime.fromisoformat(moment)
    local = local.replace(hour=hour) if is_date_only else local
    due_at = to_micros(to_utc(local, zone))
    return Resolved(due_at=due_at, is_date_only=is_date_only, rrule=rule or None)


def choose_option(
    name: str, options: Sequence[str], known: str | None, said: str = ""
) -> Told | None:
    """Return the time that an answer chooses of the two that a question offered.

    A button says an option as it is stored.
    """
    if len(options) != 2:
        return None
    if name in {"half", "week"} and said in options:
        return tell_option(said)
    if name == "half" and known in {"morning", "evening", "first", "second"}:
        return tell_option(options[known in {"evening", "second"}])
    if name == "week" and known in {"first", "second"}:
        return tell_option(options[known == "second"])
    return None


def tell_option(option: str) -> Told:
    """Return the time of an option that was offered: "22:00" or an ISO day."""
    hour, is_clock, minute = option.partition(":")
    if is_clock:
        fixed = {"fixed": 60 * int(hour) + int(minute)}
        return Told(clock=TimeWord(start=0, end=0, kind="clock", entry=fixed))
    year, month, day = option.split("-")
    groups = {"y": year, "mo": month, "d": day}
    return Told(day=TimeWord(start=0, end=0, kind="day", entry={}, groups=groups))
