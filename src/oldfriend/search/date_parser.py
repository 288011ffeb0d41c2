"""Date parser: finds the spans of days that a question names, in several languages.

Reads "7 May 2023", "in July", "last March", "yesterday", "5月7日", "hace dos semanas". Relative
dates are resolved against the time of the query; a date without a year matches any year. Weekdays,
weekends and parts of days are read by the words of `named_days`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from oldfriend.lang.named_days import Granularity, NamedDay, find_named_days


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """Days from `first` up to but not including `end`; `is_any_year` if no year was named."""

    first: date
    end: date
    granularity: Granularity
    is_any_year: bool = False
    is_weekday: bool = False  # named by its weekday alone: today, or the last one before


_MONTH_WORDS: Final = (
    "january jan enero ene janvier januar januari janeiro gennaio января январь январе",
    "february feb febrero février fevrier februar februari fevereiro febbraio "
    "февраля февраль феврале",
    "march mar marzo mars märz maerz maart março marco марта март марте",
    "april apr abril avril aprile апреля апрель апреле",
    "may mayo mai mei maio maggio мая май мае",
    "june jun junio juin juni junho giugno июня июнь июне",
    "july jul julio juillet juli julho luglio июля июль июле",
    "august aug agosto août aout augustus августа август августе",
    "september sep sept septiembre septembre setembro settembre сентября сентябрь сентябре",
    "october oct octubre octobre oktober outubro ottobre октября октябрь октябре",
    "november nov noviembre novembre novembro ноября ноябрь ноябре",
    "december dec diciembre décembre decembre dezember dezembro dicembre декабря декабрь декабре",
)
_MONTHS: Final = {
    word: month for month, words in enumerate(_MONTH_WORDS, 1) for word in words.split()
}
# Words that are months only next to a number or after a preposition.
_AMBIGUOUS_MONTHS: Final = frozenset(
    {"may", "march", "mar", "mai", "mars", "jan", "mei", "dec", "sep"}
)
# English and German write their months with a capital; in other languages that may be a name.
_CAPITAL_MONTH_WORDS: Final = (
    "january jan januar february feb februar march mar märz maerz april apr may mai june jun juni "
    "july jul juli august aug september sep sept october oct oktober november nov december dec "
    "dezember"
)
_CAPITAL_MONTHS: Final = frozenset(_CAPITAL_MONTH_WORDS.split())
# Before what may be a name, which is a month only behind these words or beside a number.
_NAME_PREFIXES: Final = frozenset({"in", "im", "en", "em", "desde", "depuis"})
_MONTH_PREFIXES: Final = frozenset(
    {"in", "of", "de", "en", "im", "last", "on", "since", "by", "during", "this", "le", "am"}
    | {"depuis", "seit"}
)
_SEASON_WORDS: Final = {
    12: "winter invierno hiver inverno зимой 冬天 冬",
    3: "spring primavera printemps frühling frühjahr lente весной 春天 春",
    6: "summer verano été sommer verão estate zomer летом 夏天 夏",
    9: "autumn fall otoño automne herbst outono autunno herfst осенью 秋天 秋",
}
_SEASONS: Final = {word: month for month, words in _SEASON_WORDS.items() for word in words.split()}
_DAY_WORDS: Final = {
    "today": 0,
    "tonight": 0,
    "hoy": 0,
    "heute": 0,
    "今天": 0,
    "今日": 0,
    "hoje": 0,
    "oggi": 0,
    "yesterday": 1,
    "ayer": 1,
    "anoche": 1,
    "hier": 1,
    "gestern": 1,
    "昨天": 1,
    "昨日": 1,
    "昨晚": 1,
    "ontem": 1,
    "ieri": 1,
    "вчера": 1,
    "anteayer": 2,
    "vorgestern": 2,
    "前天": 2,
    "一昨日": 2,
}
_UNIT_WORDS: Final[dict[Granularity, str]] = {
    "day": "day days día días dia dias jour jours tag tage tagen",
    "week": "week weeks weekend semana semanas semaine semaines woche wochen wochenende",
    "month": "month months mes meses mois monat monate monaten",
    "year": "year years año años an ans année jahr jahre jahren",
}
_UNITS: Final = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
_LAST_WORDS: Final = frozenset(
    {
        "last",
        "past",
        "previous",
        "pasado",
        "pasada",
        "pasados",
        "dernier",
        "dernière",
        "derniers",
        "letzte",
        "letzten",
        "letzter",
        "letztes",
        "vergangene",
        "vergangenen",
        "vorige",
        "vorigen",
    }
)
_THIS_WORDS: Final = frozenset(
    {
        "this",
        "current",
        "este",
        "esta",
        "ce",
        "cette",
        "dieser",
        "diese",
        "dieses",
        "diesen",
        "diesem",
    }
)
_AGO_WORDS: Final = frozenset({"ago", "hace", "vor", "atrás"})
_IL_Y_A: Final = ["y", "a"]  # French: "il y a deux ans"
_NUMBER_WORDS: Final = {
    word: number
    for number, words in enumerate(
        (
            "a an one un una uno une ein eine einem einer",
            "two dos deux zwei couple",
            "three tres trois drei few",
            "four cuatro quatre vier",
            "five cinco cinq fünf",
            "six seis sechs",
            "seven siete sept sieben",
            "eight ocho huit acht",
            "nine nueve neuf neun",
            "ten diez dix zehn",
        ),
        1,
    )
    for word in words.split()
}

_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d{1,2})-(\d{1,2})\b")
_NUMERIC = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)\b")
_HAN_DATE = re.compile(
    r"(?:((?:19|20)\d\d)年)?(?:(\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:(\d{1,2})[日号])?)?"
)
_HAN_WORD = re.compile(
    r"今天|今日|昨天|昨日|昨晚|前天|一昨日|上周|上星期|先週|上个月|上個月|先月|去年|前年|今年|今月|这个月|本月"
)
_HAN_AGO = re.compile(r"([一二两三四五六七八九十]|\d{1,2})个?(年|月|周|星期|天)(?:以|之)?前")
_HAN_UNITS: Final[dict[str, Granularity]] = {
    "年": "year",
    "月": "month",
    "周": "week",
    "星期": "week",
    "天": "day",
}
_HAN_NUMBERS: Final = {han: number for number, han in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2,
    "十一": 11,
    "十二": 12,
}
_HAN_RELATIVE: Final[dict[str, tuple[Granularity, int]]] = {
    "上周": ("week", 1),
    "上星期": ("week", 1),
    "先週": ("week", 1),
    "上个月": ("month", 1),
    "上個月": ("month", 1),
    "先月": ("month", 1),
    "去年": ("year", 1),
    "前年": ("year", 2),
    "今年": ("year", 0),
    "今月": ("month", 0),
    "这个月": ("month", 0),
    "本月": ("month", 0),
}


def parse_date_spans(
    text: str, *, asked_at: int | None, zone_offset_s: int, is_past: bool = False
) -> tuple[DateSpan, ...]:
    """Return the spans of days that a text names, in order of appearance.

    A bare "on Friday" or "at the weekend" names the last one, but only where `is_past`.
    """
    today = None
    if asked_at is not None:
        asked = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=asked_at)
        today = (asked + timedelta(seconds=zone_offset_s)).date()
    head = text[:1000].lower()
    numeric = tuple(_parse_numeric_spans(head))
    if numeric:
        return numeric
    named = find_named_days(head) if today is not None else ()
    for each in named:
        head = f"{head[: each.start]}{' ' * (each.end - each.start)}{head[each.end :]}"
    han = tuple(_parse_han_spans(head, today)) if not head.isascii() else ()
    capitals = frozenset(word.lower() for word in _TOKEN.findall(text[:1000]) if word[:1].isupper())
    names = capitals - _CAPITAL_MONTHS | {"marco"}  # "março" without its cedilla
    dated = han or tuple(_parse_word_spans(_TOKEN.findall(head), today, names))
    if today is None or not named:
        return dated
    if any(each.weekday is not None for each in named):  # "Friday last week" is no week
        rest = tuple(span for span in dated if span.granularity != "week")
    else:
        rest = dated
    return (*_resolve_named_days(named, dated, today, is_past=is_past), *rest)


def _resolve_named_days(
    named: tuple[NamedDay, ...], dated: tuple[DateSpan, ...], today: date, *, is_past: bool
) -> Iterator[DateSpan]:
    """Yield the spans of weekdays and the like that stand beside other dates."""
    weeks = [span for span in dated if span.granularity == "week"]
    is_dated = len(weeks) < len(dated)  # "on a Monday in May" is not the last Monday
    for each in named:
        if each.weekday is not None:
            if weeks:  # "Friday last week"
                yield _to_day_span(weeks[0].first + timedelta(days=each.weekday))
            elif not is_dated and (each.is_last or is_past):
                ago = (today.weekday() - each.weekday) % 7
                days = 7 if each.is_last and not ago else ago
                yield _to_day_span(today - timedelta(days=days), is_weekday=not each.is_last)
        elif each.unit == "weekend":
            if not is_dated and (each.is_last or is_past):
                yield _build_weekend_span(today, is_last=each.is_last)
        elif each.unit is not None:
            yield _build_relative_span(today, each.unit, each.ago)


def _build_weekend_span(today: date, *, is_last: bool) -> DateSpan:
    """Return the weekend that was; on a Sunday the one that lasts, unless `is_last`."""
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    if today == saturday or (is_last and today == saturday + timedelta(days=1)):
        saturday -= timedelta(days=7)
    return DateSpan(first=saturday, end=saturday + timedelta(days=2), granularity="week")


def _parse_numeric_spans(text: str) -> Iterator[DateSpan]:
    for year, month, day in _ISO.findall(text):
        yield from _build_day_span(int(year), int(month), int(day))
    for first, second, year in _NUMERIC.findall(text):
        day, month = (first, second) if int(second) <= 12 else (second, first)
        yield from _build_day_span(int(year), int(month), int(day))


def _parse_han_spans(text: str, today: date | None) -> Iterator[DateSpan]:
    for word in _HAN_WORD.findall(text):
        if today is None:
            continue
        if word in _DAY_WORDS:
            yield _to_day_span(today - timedelta(days=_DAY_WORDS[word]))
        else:
            yield _build_relative_span(today, *_HAN_RELATIVE[word])
    for count, unit in _HAN_AGO.findall(text):
        if today is not None:
            yield _build_relative_span(
                today, _HAN_UNITS[unit], _HAN_NUMBERS.get(count) or int(count)
            )
    for year, month, day in _HAN_DATE.findall(_HAN_AGO.sub("", text)):
        if not year and not month:
            continue
        number = _HAN_NUMBERS.get(month) or (int(month) if month else 0)
        yield from _build_spans(
            int(year) if year else None, number, int(day) if day else None, today
        )


def _parse_word_spans(
    tokens: list[str], today: date | None, names: frozenset[str]
) -> Iterator[DateSpan]:
    for at, token in enumerate(tokens):
        if token in _MONTHS and (token not in names or _is_dated_name(tokens, at)):
            yield from _parse_month_span(tokens, at, today)
        elif token in _SEASONS:
            yield from _parse_season_span(tokens, at, today)
        elif today and token in _DAY_WORDS:
            yield _to_day_span(today - timedelta(days=_DAY_WORDS[token]))
        elif today and token in _UNITS:
            yield from _parse_counted_span(tokens, at, today)
        elif _parse_year(token) and not _has_month_before(tokens, at):
            yield from _build_spans(_parse_year(token), 0, None, today)


def _parse_counted_span(tokens: list[str], at: int, today: date) -> Iterator[DateSpan]:
    unit = _UNITS[tokens[at]]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if before in _LAST_WORDS or after in _LAST_WORDS:
        yield _build_relative_span(today, unit, 1)
    elif before in _THIS_WORDS:
        yield _build_relative_span(today, unit, 0)
    elif (
        _AGO_WORDS & set(tokens[max(0, at - 3) : at + 2])
        or tokens[max(0, at - 3) : at - 1] == _IL_Y_A
    ):
        yield _build_relative_span(
            today, unit, _NUMBER_WORDS.get(before) or _parse_small_number(before) or 1
        )


def _is_dated_name(tokens: list[str], at: int) -> bool:
    """Tell whether a word that may be a name is a month: "em Março", "5 de Julio", not "Julio"."""
    before = tokens[max(0, at - 2) : at]
    after = tokens[at + 1 : at + 3]
    return bool(_NAME_PREFIXES & set(before[-1:])) or any(
        _parse_small_number(word) or _parse_year(word) for word in (*before, *after)
    )


def _parse_month_span(tokens: list[str], at: int, today: date | None) -> Iterator[DateSpan]:
    near = tokens[max(0, at - 3) : at + 4]
    numbers = [number for word in near if (number := _parse_small_number(word)) and number <= 31]
    years = [year for word in near if (year := _parse_year(word))]
    before = tokens[at - 1] if at else ""
    has_prefix = before in _MONTH_PREFIXES
    if tokens[at] in _AMBIGUOUS_MONTHS and not (numbers or years or has_prefix):
        return
    year = years[0] if years else None
    if year is None and today is not None and before in _LAST_WORDS | _THIS_WORDS:
        month = _MONTHS[tokens[at]]
        year = today.year if month < today.month or before in _THIS_WORDS else today.year - 1
    yield from _build_spans(year, _MONTHS[tokens[at]], numbers[0] if numbers else None, today)


def _parse_season_span(tokens: list[str], at: int, today: date | None) -> Iterator[DateSpan]:
    years = [year for word in tokens[at : at + 4] if (year := _parse_year(word))]
    month = _SEASONS[tokens[at]]
    before = tokens[max(0, at - 2) : at + 2]
    if tokens[at] in {"fall", "lente", "estate", "été"} and not (
        years or {"in", "last", "the"} & set(before)
    ):
        return
    year = years[0] if years else (today.year if today else 2000)
    if not years and today and date(year, month, 1) > today:
        year -= 1
    first = date(year, month, 1)
    end = first + timedelta(days=92)
    # "This winter", said in summer, may be the next one.
    is_running = bool(_THIS_WORDS & set(before)) and (today is None or today < end)
    is_named = bool(years or _LAST_WORDS & set(before) or is_running)
    yield DateSpan(first=first, end=end, granularity="season", is_any_year=not is_named)


def _build_spans(
    year: int | None, month: int, day: int | None, today: date | None
) -> Iterator[DateSpan]:
    shown_year = year or (today.year if today else 2000)
    if not 1 <= shown_year < 9999 or not 0 <= month <= 12:
        return
    if not month:
        yield DateSpan(
            first=date(shown_year, 1, 1), end=date(shown_year + 1, 1, 1), granularity="year"
        )
    elif day:
        yield from _build_day_span(shown_year, month, day, is_any_year=year is None)
    else:
        end = date(shown_year + month // 12, month % 12 + 1, 1)
        first = date(shown_year, month, 1)
        yield DateSpan(first=first, end=end, granularity="month", is_any_year=year is None)


def _build_day_span(
    year: int, month: int, day: int, *, is_any_year: bool = False
) -> Iterator[DateSpan]:
    try:
        first = date(year, month, day)
    except ValueError:  # such as the 31st of a short month
        return
    yield _to_day_span(first, is_any_year=is_any_year)


def _to_day_span(day: date, *, is_any_year: bool = False, is_weekday: bool = False) -> DateSpan:
    end = day + timedelta(days=1) if day < date.max else day
    return DateSpan(
        first=day, end=end, granularity="day", is_any_year=is_any_year, is_weekday=is_weekday
    )


def _build_relative_span(today: date, unit: Granularity, count: int) -> DateSpan:
    count = min(count, 1000)
    if unit == "day":
        return _to_day_span(today - timedelta(days=count))
    if unit == "year":
        year = max(today.year - count, 1)
        return DateSpan(first=date(year, 1, 1), end=date(year + 1, 1, 1), granularity="year")
    if unit == "month":
        months = max(today.year * 12 + today.month - 1 - count, 12)
        first = date(months // 12, months % 12 + 1, 1)
        return DateSpan(first=first, end=first + timedelta(days=31), granularity="month")
    monday = today - timedelta(days=today.weekday() + 7 * count)
    return DateSpan(first=monday, end=monday + timedelta(days=7), granularity="week")


def _parse_small_number(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) <= 2 else None


def _parse_year(word: str) -> int | None:
    is_year = word.isdecimal() and len(word) == 4 and word[:2] in {"19", "20"}
    return int(word) if is_year else None


def _has_month_before(tokens: list[str], at: int) -> bool:
    return any(word in _MONTHS or word in _SEASONS for word in tokens[max(0, at - 3) : at])
