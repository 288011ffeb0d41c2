"""Which days does a question ask about? Spans of time named in its words, in several languages.

"7 May 2023", "in July", "last March", "yesterday", "5月7日", "hace dos semanas". Relative words
are read against the moment of asking; what is named without a year may mean any year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

Grain = Literal["day", "week", "month", "season", "year"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Days from `first` up to and without `end`; `any_year` when no year was named."""

    first: date
    end: date
    grain: Grain
    any_year: bool = False


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
# Words that are months only beside a number or a preposition.
_DOUBTFUL_MONTHS: Final = frozenset(
    {"may", "march", "mar", "mai", "mars", "jan", "mei", "dec", "sep"}
)
_MONTH_FOLLOWS: Final = frozenset(
    {"in", "of", "de", "en", "im", "last", "on", "since", "by", "during", "this", "le", "am"}
)
_SEASON_WORDS: Final = {
    12: "winter invierno hiver inverno зимой 冬天 冬",
    3: "spring primavera printemps frühling frühjahr lente весной 春天 春",
    6: "summer verano été sommer verão estate zomer летом 夏天 夏",
    9: "autumn fall otoño automne herbst outono autunno herfst осенью 秋天 秋",
}
_SEASONS: Final = {word: month for month, words in _SEASON_WORDS.items() for word in words.split()}
_DAY_WORDS: Final = {
    "today": 0, "tonight": 0, "hoy": 0, "heute": 0, "今天": 0, "今日": 0, "hoje": 0, "oggi": 0,
    "yesterday": 1, "ayer": 1, "anoche": 1, "hier": 1, "gestern": 1, "昨天": 1, "昨日": 1,
    "昨晚": 1, "ontem": 1, "ieri": 1, "вчера": 1, "anteayer": 2, "vorgestern": 2, "前天": 2,
    "一昨日": 2,
}  # fmt: skip
_UNIT_WORDS: Final[dict[Grain, str]] = {
    "day": "day days día días dia dias jour jours tag tage tagen",
    "week": "week weeks weekend semana semanas semaine semaines woche wochen wochenende",
    "month": "month months mes meses mois monat monate monaten",
    "year": "year years año años an ans année jahr jahre jahren",
}
_UNITS: Final = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
_LAST: Final = frozenset({
    "last", "past", "previous", "pasado", "pasada", "pasados", "dernier", "dernière", "derniers",
    "letzte", "letzten", "letzter", "letztes", "vergangene", "vergangenen", "vorige", "vorigen",
})  # fmt: skip
_THIS: Final = frozenset({
    "this", "current", "este", "esta", "ce", "cette", "dieser", "diese", "dieses", "diesen",
    "diesem",
})  # fmt: skip
_AGO: Final = frozenset({"ago", "hace", "vor", "atrás"})
_THERE_IS: Final = ["y", "a"]  # French: "il y a deux ans"
_COUNTS: Final = {
    word: number
    for number, words in enumerate(
        ("a an one un una uno une ein eine einem einer", "two dos deux zwei couple",
         "three tres trois drei few", "four cuatro quatre vier", "five cinco cinq fünf",
         "six seis sechs", "seven siete sept sieben", "eight ocho huit acht",
         "nine nueve neuf neun", "ten diez dix zehn"), 1)
    for word in words.split()
}  # fmt: skip

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
_HAN_UNITS: Final[dict[str, Grain]] = {
    "年": "year", "月": "month", "周": "week", "星期": "week", "天": "day",
}  # fmt: skip
_HAN_NUMBERS: Final = {han: number for number, han in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2,
    "十一": 11,
    "十二": 12,
}
_HAN_RELATIVE: Final[dict[str, tuple[Grain, int]]] = {
    "上周": ("week", 1), "上星期": ("week", 1), "先週": ("week", 1), "上个月": ("month", 1),
    "上個月": ("month", 1), "先月": ("month", 1), "去年": ("year", 1), "前年": ("year", 2),
    "今年": ("year", 0), "今月": ("month", 0), "这个月": ("month", 0), "本月": ("month", 0),
}  # fmt: skip


def spans_in(text: str, *, asked_at: int | None, zone_offset_s: int) -> tuple[Span, ...]:
    """The spans of days a text names, in the order they stand there."""
    today = None
    if asked_at is not None:
        moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=asked_at)
        today = (moment + timedelta(seconds=zone_offset_s)).date()
    head = text[:1000].lower()
    numeric = tuple(_numeric_spans(head))
    if numeric:
        return numeric
    han = tuple(_han_spans(head, today)) if not head.isascii() else ()
    return han or tuple(_worded_spans(_TOKEN.findall(head), today))


def _numeric_spans(text: str) -> Iterator[Span]:
    for year, month, day in _ISO.findall(text):
        yield from _day(int(year), int(month), int(day))
    for first, second, year in _NUMERIC.findall(text):
        day, month = (first, second) if int(second) <= 12 else (second, first)
        yield from _day(int(year), int(month), int(day))


def _han_spans(text: str, today: date | None) -> Iterator[Span]:
    for word in _HAN_WORD.findall(text):
        if today is None:
            continue
        if word in _DAY_WORDS:
            yield _around(today - timedelta(days=_DAY_WORDS[word]))
        else:
            yield _relative(today, *_HAN_RELATIVE[word])
    for count, unit in _HAN_AGO.findall(text):
        if today is not None:
            yield _relative(today, _HAN_UNITS[unit], _HAN_NUMBERS.get(count) or int(count))
    for year, month, day in _HAN_DATE.findall(_HAN_AGO.sub("", text)):
        if not year and not month:
            continue
        number = _HAN_NUMBERS.get(month) or (int(month) if month else 0)
        yield from _named(int(year) if year else None, number, int(day) if day else None, today)


def _worded_spans(tokens: list[str], today: date | None) -> Iterator[Span]:
    for at, token in enumerate(tokens):
        if token in _MONTHS:
            yield from _month_span(tokens, at, today)
        elif token in _SEASONS:
            yield from _season_span(tokens, at, today)
        elif today and token in _DAY_WORDS:
            yield _around(today - timedelta(days=_DAY_WORDS[token]))
        elif today and token in _UNITS:
            yield from _counted_span(tokens, at, today)
        elif _year(token) and not _is_dated(tokens, at):
            yield from _named(_year(token), 0, None, today)


def _counted_span(tokens: list[str], at: int, today: date) -> Iterator[Span]:
    unit = _UNITS[tokens[at]]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if before in _LAST or after in _LAST:
        yield _relative(today, unit, 1)
    elif before in _THIS:
        yield _relative(today, unit, 0)
    elif (
        _AGO & set(tokens[max(0, at - 3) : at + 2]) or tokens[max(0, at - 3) : at - 1] == _THERE_IS
    ):
        yield _relative(today, unit, _COUNTS.get(before) or _small(before) or 1)


def _month_span(tokens: list[str], at: int, today: date | None) -> Iterator[Span]:
    near = tokens[max(0, at - 3) : at + 4]
    numbers = [number for word in near if (number := _small(word)) and number <= 31]
    years = [year for word in near if (year := _year(word))]
    before = tokens[at - 1] if at else ""
    led = before in _MONTH_FOLLOWS
    if tokens[at] in _DOUBTFUL_MONTHS and not (numbers or years or led):
        return
    year = years[0] if years else None
    if year is None and today is not None and before in _LAST | _THIS:
        month = _MONTHS[tokens[at]]
        year = today.year if month < today.month or before in _THIS else today.year - 1
    yield from _named(year, _MONTHS[tokens[at]], numbers[0] if numbers else None, today)


def _season_span(tokens: list[str], at: int, today: date | None) -> Iterator[Span]:
    years = [year for word in tokens[at : at + 4] if (year := _year(word))]
    month = _SEASONS[tokens[at]]
    before = tokens[max(0, at - 2) : at + 2]
    if tokens[at] in {"fall", "lente", "estate", "été"} and not (
        years or {"in", "last", "the"} & set(before)
    ):
        return
    any_year = not years and not (_LAST | _THIS) & set(before)
    year = years[0] if years else (today.year if today else 2000)
    if not years and today and date(year, month, 1) > today:
        year -= 1
    first = date(year, month, 1)
    yield Span(first=first, end=first + timedelta(days=92), grain="season", any_year=any_year)


def _named(year: int | None, month: int, day: int | None, today: date | None) -> Iterator[Span]:
    shown = year or (today.year if today else 2000)
    if not 1 <= shown < 9999 or not 0 <= month <= 12:
        return
    if not month:
        yield Span(first=date(shown, 1, 1), end=date(shown + 1, 1, 1), grain="year")
    elif day:
        yield from _day(shown, month, day, any_year=year is None)
    else:
        end = date(shown + month // 12, month % 12 + 1, 1)
        first = date(shown, month, 1)
        yield Span(first=first, end=end, grain="month", any_year=year is None)


def _day(year: int, month: int, day: int, *, any_year: bool = False) -> Iterator[Span]:
    try:
        first = date(year, month, day)
    except ValueError:  # the 31st of a short month: not a day
        return
    yield _around(first, any_year=any_year)


def _around(day: date, *, any_year: bool = False) -> Span:
    end = day + timedelta(days=1) if day < date.max else day
    return Span(first=day, end=end, grain="day", any_year=any_year)


def _relative(today: date, unit: Grain, back: int) -> Span:
    back = min(back, 1000)
    if unit == "day":
        return _around(today - timedelta(days=back))
    if unit == "year":
        year = max(today.year - back, 1)
        return Span(first=date(year, 1, 1), end=date(year + 1, 1, 1), grain="year")
    if unit == "month":
        months = max(today.year * 12 + today.month - 1 - back, 12)
        first = date(months // 12, months % 12 + 1, 1)
        return Span(first=first, end=first + timedelta(days=31), grain="month")
    monday = today - timedelta(days=today.weekday() + 7 * back)
    return Span(first=monday, end=monday + timedelta(days=7), grain="week")


def _small(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) <= 2 else None


def _year(word: str) -> int | None:
    is_year = word.isdecimal() and len(word) == 4 and word[:2] in {"19", "20"}
    return int(word) if is_year else None


def _is_dated(tokens: list[str], at: int) -> bool:
    return any(word in _MONTHS or word in _SEASONS for word in tokens[max(0, at - 3) : at])
