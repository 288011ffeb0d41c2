"""Measurement questions: what somebody asks about the numbers that they keep, read by rules.

A question is only read if all its words are known, so that one about somebody else or about more
than numbers goes to the memory instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal

from oldfriend.measurements.lexicon import BREAK_CLASS, NUMBER_CLASS, MeasureLexicon, Token
from oldfriend.measurements.measurement_reader import (
    CALENDAR_UNITS,
    Moment,
    find_date_spans,
    last_year,
)
from oldfriend.measurements.measures import MEASURES
from oldfriend.search.date_parser import DateSpan

Action = Literal["latest", "range", "weekly", "trend", "compare", "correlate", "list"]
KNOWN: Final = (
    "ask",
    "average",
    "most",
    "least",
    "trend",
    "weekly",
    "compare",
    "when",
    "me",
    "my",
    "times",
    "months",
    "last_night",
    "since",
    "fill",
    "of",
    "joints",
    BREAK_CLASS,
)
TREND_DAYS: Final = 90
"""Days over which a trend is told if no time is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange:
    """Days from the first to the last, both included."""

    first: date
    last: date


MAX_QUESTION_CHARS: Final = 500
"""What is longer is no single question."""
EVER: Final = DayRange(first=date.min, last=date.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementQuestion:
    """A question about numbers that the person keeps."""

    action: Action
    name: str
    days: DayRange = EVER
    other: str = ""  # the measure that it is set against
    other_days: DayRange | None = None  # the days that these are compared with


def read_question(
    text: str,
    moment: Moment,
    lexicon: MeasureLexicon,
    *,
    own_names: Sequence[str] = (),
    is_surely_asked: bool = False,
) -> MeasurementQuestion | None:
    """Read a question about numbers in one language; None for any other text.

    ``is_surely_asked``: that it asks for numbers is known, whatever other words it has.
    """
    if len(text) > MAX_QUESTION_CHARS:
        return None
    tokens = lexicon.split_tokens(text)
    named = find_own_name(text, own_names)
    names = list_names(tokens) or named
    if not names or not (is_surely_asked or is_question(tokens, names, named)):
        return None
    spans = find_date_spans(text, tokens, moment)
    if is_surely_asked and not spans and any(each.is_any("months") for each in tokens):
        return None  # of a time that is not read
    ranges = [to_range(each, moment.today) for each in spans]
    return choose_action(tokens, names, ranges, spans, moment.today)


def is_question(tokens: Sequence[Token], names: Sequence[str], own_names: Sequence[str]) -> bool:
    """Tell whether a text asks, and has no word that may ask for something else."""
    places = range(len(tokens))
    is_asked = any(each.text == "?" for each in tokens) or begins_as_question(tokens)
    is_all_known = is_asked and all(is_known(tokens, at, names, own_names) for at in places)
    return is_all_known and not any(tells_number(tokens, at) for at in places)


def begins_as_question(tokens: Sequence[Token]) -> bool:
    """Tell whether a text without a question mark asks; what begins with "I" mostly tells."""
    if not tokens or not tokens[0].is_any("ask", "average", "most", "least", "compare"):
        return False
    has_question_word = any(each.is_any("ask") and each.is_any("not_told") for each in tokens)
    return has_question_word or not tokens[0].is_any("me")


def tells_number(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether there is a number that is none of a date or a time back."""
    if not tokens[at].is_any(NUMBER_CLASS):
        return False
    unit = tokens[at + 1].unit if at + 1 < len(tokens) else None
    return not is_dated(tokens, at) or (unit is not None and unit not in CALENDAR_UNITS)


def find_own_name(text: str, own_names: Sequence[str]) -> list[str]:
    """Return the names of the person's own measures that stand in a text."""
    words = f" {' '.join(text.lower().translate(PUNCTUATION).split())} "
    return [each for each in own_names if f" {each} " in words]


PUNCTUATION: Final = str.maketrans(dict.fromkeys("?!.,:;¿¡。？", " "))


def find_names(text: str, lexicon: MeasureLexicon, own_names: Sequence[str]) -> list[str]:
    """Return the measures that a text names, in order: known ones, else the person's own."""
    return list_names(lexicon.split_tokens(text)) or find_own_name(text, own_names)


def list_names(tokens: Sequence[Token]) -> list[str]:
    """Return the measures that are named, in order; of two that a word may mean, the first."""
    names: dict[str, None] = {}
    for token in tokens:
        if token.cues:
            names.setdefault(next(each for each in MEASURES if each in token.cues), None)
    return [*names]


def is_known(
    tokens: Sequence[Token], at: int, names: Sequence[str], own_names: Sequence[str]
) -> bool:
    """Tell whether a word of a question belongs to it."""
    token = tokens[at]
    if token.is_any(*KNOWN) or token.text == "?" or not token.cues.isdisjoint(names):
        return True
    if token.is_any(NUMBER_CLASS):
        return True
    return any(token.text in each.split() for each in own_names) or token.unit is not None


def is_dated(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a number in a question is one of a date or a time back."""
    near = tokens[max(0, at - 2) : at + 3]
    is_year = len(tokens[at].text) == len("2024")
    return is_year or any(each.is_any("months", "times") for each in near)


def choose_action(
    tokens: Sequence[Token],
    names: Sequence[str],
    ranges: Sequence[DayRange],
    spans: Sequence[DateSpan],
    today: date,
) -> MeasurementQuestion:
    """Choose what a question asks for by its words and times."""

    kinds = {kind for each in tokens for kind in each.classes}
    if ranges and "since" in kinds:
        ranges = [DayRange(first=ranges[0].first, last=today)]
    if "last_night" in kinds and names[0] == "sleep":
        ranges = [DayRange(first=today, last=today)]  # the day on which the night ended
    question = MeasurementQuestion(
        action="range" if ranges else "latest", name=names[0], days=ranges[0] if ranges else EVER
    )
    if len(names) > 1:
        return set_against(question, names[1])
    if len(ranges) > 1:
        return replace(question, action="compare", other_days=ranges[1])
    if ranges and "compare" in kinds:
        days = build_counterpart(spans[0], ranges[0], today)
        return replace(question, action="compare", days=days, other_days=ranges[0])
    if not kinds.isdisjoint({"weekly", "trend", "compare"}):
        action: Action = "weekly" if "weekly" in kinds else "trend"
        return replace(question, action=action, days=ranges[0] if ranges else recent(today))
    is_of_all = not kinds.isdisjoint({"average", "most", "least"})
    return replace(question, action="range") if is_of_all else question


def set_against(question: MeasurementQuestion, other: str) -> MeasurementQuestion:
    """Return a question of how two measures go together."""
    name = question.name
    if MEASURES[name].second_unit and not MEASURES[other].second_unit:
        name, other = other, name  # what a run does to the night, not the night to the run
    return replace(question, action="correlate", name=name, other=other)


def recent(today: date) -> DayRange:
    """Return the days over which a trend is told."""
    return DayRange(first=today - timedelta(days=TREND_DAYS - 1), last=today)


def to_range(span: DateSpan, today: date) -> DayRange:
    """Return the days of a span; the last such ones if no year was named."""
    first, end = span.first, span.end
    if span.granularity == "month":
        end = get_next_month(first)
    if span.is_any_year and first > today:
        first, end = last_year(first), last_year(end)
    return DayRange(first=first, last=min(end - timedelta(days=1), max(today, first)))


def get_next_month(first: date) -> date:
    """Return the first day of the month after."""
    return (first.replace(day=1) + timedelta(days=32)).replace(day=1)


def build_counterpart(span: DateSpan, days: DayRange, today: date) -> DayRange:
    """Return the days that are meant to be compared with a time: the same unit, running now."""
    if days.last >= today:  # "than this week": with the one before
        length = (days.last - days.first).days + 1
        return DayRange(
            first=days.first - timedelta(days=length), last=days.first - timedelta(days=1)
        )
    if span.granularity == "day":
        return DayRange(first=today, last=today)
    if span.granularity == "week":
        return DayRange(first=today - timedelta(days=today.weekday()), last=today)
    if span.granularity == "month":
        return DayRange(first=today.replace(day=1), last=today)
    if span.granularity == "year":
        return DayRange(first=today.replace(month=1, day=1), last=today)
    return DayRange(first=today - timedelta(days=TREND_DAYS - 1), last=today)
