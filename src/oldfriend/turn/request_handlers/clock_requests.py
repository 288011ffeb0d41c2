"""Clock requests: the time here or in a city, the day, and how many days to or since one."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any, Final

from dateutil.easter import easter

from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import NO_ZONE
from oldfriend.domain.time_zones import load_zones_by_place, normalize_place, resolve_zone
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.language_pack import (
    choose_language_with,
    list_languages,
    load_language_pack,
)
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.search.date_parser import parse_date_spans
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import load_time_book
from oldfriend.tasks.told_time import collect
from oldfriend.turn.quotes import format_date
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.measurement_texts import load_measurement_texts
from oldfriend.turn.request_handlers.request_kinds import find_request

NAME: Final = "clock"
CLUES: Final = ("elsewhere", "counts", "past")
ASKED: Final = ("time", "day", "until", "since")
EDGES: Final = " \t\n.,;:!?¡¿。，；：！？…"
SURELY_NOW: Final = 0.66
"""How likely a text that names no day and no place must be to ask what time it is."""
MAX_CHARS: Final = 120
MAX_PLACE_WORDS: Final = 3
WORD: Final = re.compile(r"[^\W\d_][\w.'-]*")
HAN: Final = re.compile(r"[\u2e80-\U0003ffff]")


async def handle_clock(context: HandlerContext) -> HandledRequest | None:
    """Tell the time or the day that a message asks for."""
    spoken = context.text.replace("\u2019", "'").replace(",", " ")
    plain = to_simplified(" ".join(spoken.split())).strip(EDGES)
    if not plain or len(plain) > MAX_CHARS:
        return None
    own, languages = context.perception.language, list_languages("agenda")
    for language in sorted(languages, key=lambda each: each != own):
        for asked, pattern in load_patterns(language):
            match = pattern.fullmatch(plain)
            found = None if match is None else await answer(context, language, asked, match)
            if found is not None:
                return found
    return await answer_likely(context)


async def answer_likely(context: HandlerContext) -> HandledRequest | None:
    """Answer what a message most likely asks of the clock or the calendar, whatever its words."""
    language = choose_language_with("agenda", context.perception.language)
    found = find_request(context.text, language, "clock")
    if found is None:
        return None
    said = to_simplified(" ".join(found.said.replace("\u2019", "'").split()))
    place = await asyncio.to_thread(find_place, said, language)
    answered = None
    if place is not None:
        answered = await tell(context, language, "time", place)
    elif days := list_meant_days(context, language, said):
        answered = tell_days(context, language, days)
    elif found.share >= SURELY_NOW and is_of_now(context, language, said):
        answered = await tell(context, language, "time", None)
    if answered is None:
        return None
    return replace(answered, is_whole_message=not found.rest, rest=found.rest)


def find_place(text: str, language: str) -> str | None:
    """Return the words behind "in" or "at" after which a zone is named, the longest there."""
    if HAN.search(text):
        named = [each for each in load_zones_by_place() if HAN.search(each) and each in text]
        return max(named, key=len, default=None)
    for found in load_clues(language)["elsewhere"].finditer(text):
        words = WORD.findall(text[found.start("place") :])[:MAX_PLACE_WORDS]
        for size in range(len(words), 0, -1):
            place = " ".join(words[:size])
            is_known = normalize_place(place) in load_zones_by_place()
            if is_known and not is_stop_word(place.lower(), language):
                return place
    return None


def is_of_now(context: HandlerContext, language: str, said: str) -> bool:
    """Whether a text asks for the time here and now: of no place, no other day and no length."""
    clues, resolver = load_clues(language), build_resolver(context, language)
    words = load_time_book(language).find(said)
    timed = [(each.start, each.end) for each in words]
    is_other = any(each.kind in {"amount", "offset"} for each in words)
    if any(each.kind == "day" for each in words):
        is_other = is_other or list_named_days(said, language, resolver) != [resolver.today]
    if is_other or clues["counts"].search(said) or clues["past"].search(said):
        return False
    return not any(
        not is_stop_word(found["place"].lower(), language)
        and not any(start <= found.start("place") < end for start, end in timed)
        for found in clues["elsewhere"].finditer(said)
    )


def build_resolver(context: HandlerContext, language: str) -> TimeResolver:
    """Return what resolves the times of a message."""
    zone = context.utterance.message.zone
    return TimeResolver(load_time_book(language), context.clock(), zone)


def list_meant_days(context: HandlerContext, language: str, said: str) -> list[date]:
    """Return the day that words name, or those that they may mean; none if only today is named."""
    resolver = build_resolver(context, language)
    today = resolver.today
    if load_clues(language)["past"].search(said):
        dated = find_dated(said, context, today, is_ahead=False)
        return [dated] if dated is not None and dated < today else []
    holiday = find_holiday(said, language, today, is_ahead=True, is_whole=False)
    days = [holiday] if holiday else list_named_days(said, language, resolver)
    dated = None if days else find_dated(said, context, today, is_ahead=True)
    return [each for each in (*days, *([dated] if dated else ())) if each != today]


def tell_days(context: HandlerContext, language: str, days: Sequence[date]) -> HandledRequest:
    """Tell which days those are, and how far off."""
    today = build_resolver(context, language).today
    lines = [word_distance(context, language, each, today) for each in days]
    return HandledRequest(name=NAME, text="\n".join(lines), is_fallback=True)


def word_distance(context: HandlerContext, language: str, day: date, today: date) -> str:
    """Word which day it is, and how many days it is from today."""
    spoken = choose_language_with("agenda", context.perception.fixed_language or language)
    texts = load_measurement_texts(context.perception.fixed_language or language)
    told = load_clock_words(spoken)["say"]["that_day"].format(day=word_day(spoken, day))
    count = texts.say(
        "days_until" if day > today else "days_since",
        count=texts.number(abs((day - today).days)),
        day=texts.day(day),
    )
    return f"{told} {count}"


def list_named_days(said: str, language: str, resolver: TimeResolver) -> list[date]:
    """Return the day that the words of time of a text name, or those that they may mean."""
    words = [each for each in load_time_book(language).find(said) if each.kind == "day"]
    told = collect(words)
    if told is None or told.day is None:
        return []
    try:
        day = resolver.resolve_day(told)
        if isinstance(day, date):
            return [day]
        return [date.fromisoformat(each) for each in day.options]
    except (ValueError, OverflowError):
        return []


async def answer(
    context: HandlerContext, language: str, asked: str, match: re.Match[str]
) -> HandledRequest | None:
    """Answer one of the questions; None for a place or a day that is not known."""
    named = {name: value.strip(EDGES) for name, value in match.groupdict().items() if value}
    if asked in {"until", "since"}:
        return count_days(context, language, named["day"], is_ahead=asked == "until")
    return await tell(context, language, asked, named.get("place"))


def count_days(
    context: HandlerContext, language: str, words: str, *, is_ahead: bool
) -> HandledRequest | None:
    """Tell how many days it is to or since the day that words name, if they name one."""
    now, zone = context.clock(), context.utterance.message.zone
    today = from_micros(now, zone).date()
    day = find_holiday(words, language, today, is_ahead=is_ahead)
    if day is None and is_ahead:
        day = find_day_to_come(words, language, TimeResolver(load_time_book(language), now, zone))
    if day is None:
        day = find_dated(words, context, today, is_ahead=is_ahead)
    if day is None or (day < today if is_ahead else day > today):
        return None
    texts = load_measurement_texts(context.perception.fixed_language or language)
    text = texts.say(
        "days_until" if is_ahead else "days_since",
        count=texts.number(abs((day - today).days)),
        day=texts.day(day),
    )
    return HandledRequest(name=NAME, text=text, is_fallback=True)


def find_holiday(
    words: str, language: str, today: date, *, is_ahead: bool, is_whole: bool = True
) -> date | None:
    """Return the next or the last day of a holiday; None if words name none.

    ``is_whole``: only if the holiday is all that they name.
    """
    holidays: Mapping[str, str] = load_clock_words(language)["holidays"]
    find = re.fullmatch if is_whole else re.search
    known = {day: find(said, words, re.IGNORECASE) for day, said in holidays.items()}
    named = {day: len(each[0]) for day, each in known.items() if each is not None}
    found = max(named, key=lambda each: named[each], default=None)
    if found is None:
        return None
    years = (today.year, today.year + 1) if is_ahead else (today.year, today.year - 1)
    days = (
        easter(year) if found == "easter" else date.fromisoformat(f"{year}-{found}")
        for year in years
    )
    return next((each for each in days if (each >= today if is_ahead else each <= today)), None)


def find_day_to_come(words: str, language: str, resolver: TimeResolver) -> date | None:
    """Return the day to come that words name, and nothing beside it."""
    phrases = load_task_phrases(language)
    told = phrases.read_time(words)
    if told is None or told.day is None or not phrases.is_only_time(words):
        return None
    if {each.kind for each in told.words} != {"day"}:
        return None
    try:
        day = resolver.resolve_day(told)
    except (ValueError, OverflowError):
        return None
    return day if isinstance(day, date) else None


def find_dated(words: str, context: HandlerContext, today: date, *, is_ahead: bool) -> date | None:
    """Return the single day that a date names; without a year, the next or the last one."""
    message = context.utterance.message
    offset = from_micros(message.at, message.zone).utcoffset()
    spans = parse_date_spans(
        words.lower(),
        asked_at=message.at,
        zone_offset_s=int(offset.total_seconds()) if offset else 0,
    )
    if len(spans) != 1 or spans[0].granularity != "day":
        return None
    day = spans[0].first
    if spans[0].is_any_year and (day < today) == is_ahead and day != today:
        try:
            day = day.replace(year=day.year + (1 if is_ahead else -1))
        except ValueError:
            return None
    return day


async def tell(
    context: HandlerContext, language: str, asked: str, place: str | None
) -> HandledRequest | None:
    """Tell the time or the day; None for the time of a place that has no known zone."""
    language = choose_language_with("agenda", context.perception.fixed_language or language)
    clock = load_clock_words(language)
    zone, say = context.utterance.message.zone, clock["say"]
    if place:
        try:  # the zone list is read from disk
            zone = await asyncio.to_thread(resolve_zone, place)
        except InvalidInput:
            return None
    now = from_micros(context.clock(), zone)
    day = word_day(language, now)
    name = "place" if place else asked
    lines = [say[name].format(time=f"{now:%H:%M}", day=day, place=place)]
    guess = "" if place else tell_guessed_zone(context, language)
    return HandledRequest(
        name=NAME, text="\n".join([*lines, *filter(None, [guess])]), is_fallback=True
    )


def word_day(language: str, day: date) -> str:
    """Word a day with its weekday."""
    clock = load_clock_words(language)
    date_words = format_date(load_phrases(language), day)
    worded: str = clock["date"].format(weekday=clock["weekdays"][day.weekday()], date=date_words)
    return worded


def tell_guessed_zone(context: HandlerContext, language: str) -> str:
    """Tell whose clocks times are told by, if nobody ever said so; else empty."""
    zone = context.utterance.message.zone
    if zone != NO_ZONE or context.utterance.person.has_chosen_zone:
        return ""
    spoken = context.perception.fixed_language or language
    words = load_clock_words(choose_language_with("agenda", spoken))
    return str(words["say"]["zone_guess"]).format(zone=zone)


@cache
def load_zone_asks(language: str) -> Sequence[re.Pattern[str]]:
    """Compile how somebody says in a language in which zone they are."""
    return [re.compile(each, re.IGNORECASE) for each in load_clock_words(language)["zone"]]


@cache
def load_clues(language: str) -> Mapping[str, re.Pattern[str]]:
    """Compile the words of a language that tell of another place, of the past or of a length."""
    words = load_clock_words(language)
    return {each: re.compile(words[each], re.IGNORECASE) for each in CLUES}


@cache
def load_clock_words(language: str) -> Mapping[str, Any]:
    """Load how the time and the day are asked for and told in a language."""
    words: Mapping[str, Any] = load_language_pack(language).read("agenda")["clock"]
    return words


@cache
def load_patterns(language: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Compile how the time and the day are asked for in a language."""
    words = load_clock_words(language)
    return [(asked, re.compile(each, re.IGNORECASE)) for asked in ASKED for each in words[asked]]


CLOCK: Final = RequestHandler(name=NAME, handle=handle_clock, reads_questions=True)
