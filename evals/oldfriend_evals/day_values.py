"""Day values: the days that a reply names, so that an answer counts in whatever form it is given.

A grader of its own words, apart from the product's: what both misread would never be seen. A day
without a month ("the 14th") is the same as another only where the answer allows such a form.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final

from oldfriend_evals.blind_lives import holds

MONTHS: Final = {
    "en": "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug "
    "september/sept/sep october/oct november/nov december/dec",
    "es": "enero/ene febrero/feb marzo/mar abril/abr mayo junio/jun julio/jul agosto/ago "
    "septiembre/setiembre/sept/sep octubre/oct noviembre/nov diciembre/dic",
    "de": "januar/jänner/jan februar/feb märz/maerz april/apr mai juni/jun juli/jul august/aug "
    "september/sept/sep oktober/okt november/nov dezember/dez",
    "fr": "janvier/janv février/fevrier/févr/fév mars avril/avr mai juin juillet/juil août/aout "
    "septembre/sept octobre/oct novembre/nov décembre/decembre/déc/dec",
    "it": "gennaio/gen febbraio/feb marzo/mar aprile/apr maggio/mag giugno/giu luglio/lug "
    "agosto/ago settembre/sett/set ottobre/ott novembre/nov dicembre/dic",
    "pt": "janeiro/jan fevereiro/fev março/marco/mar abril/abr maio/mai junho/jun julho/jul "
    "agosto/ago setembro/set outubro/out novembro/nov dezembro/dez",
}
WEEKDAYS: Final = {
    "en": "monday/mon tuesday/tues/tue wednesday/wed thursday/thurs/thur/thu friday/fri "
    "saturday/sat sunday/sun",
    "es": "lunes martes miércoles/miercoles jueves viernes sábado/sabado domingo",
    "de": "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "it": "lunedì/lunedi martedì/martedi mercoledì/mercoledi giovedì/giovedi venerdì/venerdi "
    "sabato domenica",
    "pt": "segunda-feira/segunda terça-feira/terça/terca quarta-feira/quarta quinta-feira/quinta "
    "sexta-feira/sexta sábado/sabado domingo",
    "zh": "一 二 三 四 五 六 日/天",
    "ja": "月 火 水 木 金 土 日",
}
FIRST: Final = {"es": "primero", "fr": "premier/1er", "it": "primo", "pt": "primeiro"}
"""The word for the first of a month, where days are else plain numbers."""
ENGLISH_UNITS: Final = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth"),
)
ENGLISH_DAYS: Final = (
    *ENGLISH_UNITS,
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"),
    *("sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"),
    *(f"twenty-{unit}" for unit in ENGLISH_UNITS),
    *("thirtieth", "thirty-first"),
)
HAN_DIGITS: Final = {digit: number for number, digit in enumerate("一二三四五六七八九", 1)}
LINKS: Final = r"(?:\s+(?:of|de|del|di|do|da|des))?"
ARTICLES: Final = r"(?:(?:on|the|am|den|dem|der|el|le|il|l['’]|o|dia|día|giorno|jour|du|al)\s+)*"
BARE_DAYS: Final = {
    "en": r"\b(?P<bare>\d{1,2})(?:st|nd|rd|th)\b",
    "de": r"\b(?:(?:am|den|dem|der|zum|vom)\s+)?(?P<bare>\d{1,2})\.(?!\d)",
    "es": r"\b(?:el|d[ií]a)\s+(?P<bare>\d{1,2})\b(?![:.,]\d|\s*[%€$h])",
    "fr": r"\b(?:le|du|au)\s+(?P<bare>\d{1,2})(?:er)?\b(?![:.,]\d|\s*[%€$h])",
    "it": r"\b(?:il|giorno|l['’])\s*(?P<bare>\d{1,2})\b(?![:.,]\d|\s*[%€$h])",
    "pt": r"\bdia\s+(?P<bare>\d{1,2})\b(?![:.,]\d)",
}
"""How a day is named without its month."""
UNSPACED: Final = frozenset({"zh", "ja"})
NEAR_DAYS: Final = 366
"""A day without a year is the last or the next of that date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDay:
    """A day as a text names it, and where."""

    day: int
    month: int | None = None
    year: int | None = None
    weekday: int | None = None  # 0: Monday
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReader:
    """How days are written where a life is lived, and when that is."""

    language: str
    today: date
    is_month_first: bool = False  # 3/14 rather than 14/3

    def list_days(self, text: str) -> list[NamedDay]:
        """Return the days that a text names, in their order."""
        folded, found = text.casefold(), list[NamedDay]()
        for pattern in compile_patterns(self.language, is_month_first=self.is_month_first):
            for match in pattern.finditer(folded):
                named = self._to_day(match)
                overlaps = (each.start < match.end() and match.start() < each.end for each in found)
                if named is not None and not any(overlaps):
                    found.append(named)
        return sorted(found, key=lambda each: each.start)

    def parse_day(self, form: str) -> NamedDay | None:
        """Return the day that a form names and nothing else; None if it does not."""
        named = self.list_days(form)
        if len(named) != 1:
            return None
        rest = form.casefold()[: named[0].start] + form.casefold()[named[0].end :]
        return None if re.sub(ARTICLES, "", f"{rest.strip(' .,')} ").strip() else named[0]

    def _to_day(self, match: re.Match[str]) -> NamedDay | None:
        """Return the day of a match; None if there is no such day."""
        parts = match.groupdict()
        day = parse_number(parts.get("day") or parts.get("bare") or "", self.language)
        month = parts.get("month")
        number = None if month is None else parse_month(month, self.language)
        year = parts.get("year")
        weekday = parts.get("weekday") or parts.get("after")
        named = NamedDay(
            day=day,
            month=number,
            year=int(year) + (2000 if len(year) == 2 else 0) if year else None,
            weekday=None if weekday is None else parse_weekday(weekday, self.language),
            start=match.start(),
            end=match.end(),
        )
        if month is None:
            return named if 1 <= day <= 31 else None
        try:
            date(named.year or 2024, number or 0, day)
        except ValueError:
            return None
        return named

    def is_same(self, named: NamedDay, wanted: NamedDay) -> bool:
        """Tell whether a text names the wanted day and says nothing wrong of it."""
        if named.day != wanted.day or not is_compatible(named.month, wanted.month):
            return False
        if named.month is None and wanted.month is not None:
            return False
        if not is_compatible(named.year, wanted.year):
            return False
        if named.weekday is None:
            return True
        if wanted.weekday is not None:
            return named.weekday == wanted.weekday
        return named.month is None or named.weekday in self._list_weekdays(named, wanted)

    def _list_weekdays(self, named: NamedDay, wanted: NamedDay) -> set[int]:
        """Return the weekdays on which a day of a month falls."""
        year = wanted.year or named.year
        years = [year] if year else [self.today.year + n for n in (-1, 0, 1)]
        days = [date(each, named.month or 1, named.day) for each in years if exists(each, named)]
        return {
            each.weekday() for each in days if year or abs((each - self.today).days) <= NEAR_DAYS
        }

    def holds_any(self, text: str, forms: Sequence[str]) -> bool:
        """Tell whether a text holds one of the forms of a value, days by the day.

        Where a form names a whole day, others count only beside the days that the text names:
        "18 August" does not hold "August" if that stands for the 17th.
        """
        wanted = {form: self.parse_day(form) for form in forms}
        days = [each for each in wanted.values() if each is not None]
        if not days:
            return any(holds(text, form) for form in forms)
        named = self.list_days(text)
        if any(
            self.is_same(one, day) for one in named for day in days if is_allowed(one, day, days)
        ):
            return True
        beside = blank_out(text, named)
        return any(holds(beside, form) for form, day in wanted.items() if day is None)


def is_allowed(named: NamedDay, wanted: NamedDay, days: Sequence[NamedDay]) -> bool:
    """Tell whether a form may stand for a named day: "the 14th" not for that of another month."""
    months = {each.month for each in days if each.month is not None}
    return wanted.month is not None or named.month is None or not months or named.month in months


def is_compatible(one: int | None, other: int | None) -> bool:
    """Tell whether two parts of a date do not contradict each other."""
    return one is None or other is None or one == other


def exists(year: int, named: NamedDay) -> bool:
    """Tell whether a year has a day: not each has the 29th of February."""
    try:
        date(year, named.month or 1, named.day)
    except ValueError:
        return False
    return True


def blank_out(text: str, named: Sequence[NamedDay]) -> str:
    """Return a text without the days that it names."""
    folded = text.casefold()
    for each in named:
        folded = folded[: each.start] + " " * (each.end - each.start) + folded[each.end :]
    return folded


@cache
def compile_patterns(language: str, *, is_month_first: bool) -> tuple[re.Pattern[str], ...]:
    """Compile the patterns of days, the most precise first."""
    iso = r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b"
    sources = [iso, *iter_unspaced(language)] if language in UNSPACED else [iso]
    if language in MONTHS:
        sources += iter_spaced(language)
    first, second = ("month", "day") if is_month_first else ("day", "month")
    slashed, dotted = (
        rf"(?<![\d/.])(?P<{first}>\d{{1,2}}){mark}(?P<{second}>\d{{1,2}})" for mark in ("/", r"\.")
    )
    short = r"|\.(?!\d)" if language == "de" else ""  # elsewhere "3.5." is no day
    sources += [
        rf"{slashed}(?:/(?P<year>\d{{4}}|\d{{2}}))?(?![\d/])",
        rf"{dotted}(?:\.(?P<year>\d{{4}}|\d{{2}})(?!\d){short})",
    ]
    if language in BARE_DAYS:
        sources.append(f"{build_weekday(language)}{BARE_DAYS[language]}")
        names = list_names(WEEKDAYS[language], shortest=5)
        sources.append(rf"\b(?P<weekday>{names})\.?,?\s+{ARTICLES}(?P<bare>\d{{1,2}})\b(?![:.]\d)")
    return tuple(re.compile(source) for source in sources)


def iter_spaced(language: str) -> Iterator[str]:
    """Yield the patterns of a day with the name of its month."""
    months, names = list_names(MONTHS[language]), list_names(WEEKDAYS[language])
    words = [*ENGLISH_DAYS] if language == "en" else FIRST.get(language, "").split("/")
    spelled = "".join(f"|{re.escape(word)}" for word in sorted(filter(None, words), key=len)[::-1])
    number = rf"(?P<day>\d{{1,2}}(?=\D){spelled})(?:st|nd|rd|th|er|º|°|ª|\.)?"
    year = r"(?:\.?,?\s+(?:(?:of|de|del)\s+)?(?P<year>\d{4})\b)?"
    after = rf"(?:\s*[,(]\s*(?:an?|ein|un|uma?|es)?\s*(?P<after>{names})\b)?"
    before = build_weekday(language)
    yield rf"{before}\b{number}{LINKS}\s+(?P<month>{months})\b{year}{after}"
    if language == "en":
        day = number.replace(r"(?=\D)", r"(?![\d:]|\s*(?:am|pm)\b)")
        yield rf"{before}\b(?P<month>{months})\b\.?\s+(?:the\s+)?{day}(?!\w){year}{after}"


def build_weekday(language: str) -> str:
    """Return the pattern of a weekday that may stand before a day."""
    names = list_names(WEEKDAYS[language])
    return rf"(?:\b(?P<weekday>{names})\b\.?,?\s+{ARTICLES})?"


def iter_unspaced(language: str) -> Iterator[str]:
    """Yield the patterns of days in Chinese and Japanese."""
    number = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
    name = "[" + "".join(WEEKDAYS[language].replace("/", "").split()) + "]"
    weekday = rf"(?:(?:周|星期|礼拜){name}|{name}曜日?|(?<=[(（]){name}(?=[)）]))"
    after = rf"(?:\s*[,，(（、]?\s*(?P<after>{weekday}))?"
    yield (
        rf"(?:(?P<year>\d{{4}})\s*年\s*)?(?P<month>{number})\s*月\s*(?P<day>{number})"
        rf"(?:\s*[日号號]|(?![\d一二三四五六七八九十个個ヶ]))(?!间|間|游)"
        rf"{after}"
    )
    yield rf"(?<![\d月一二三四五六七八九十])(?P<bare>{number})\s*[日号號](?!间|間|游|楼|线){after}"


def list_names(names: str, *, shortest: int = 1) -> str:
    """Return alternatives of names of at least so many letters, the longest first."""
    parts = [name for each in names.split() for name in each.split("/") if len(name) >= shortest]
    return "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))


def find_place(word: str, names: str) -> int:
    """Return the place of a name in a list, from 0."""
    places = (place for place, each in enumerate(names.split()) if word in each.split("/"))
    return next(places)


def parse_month(word: str, language: str) -> int:
    """Return the number of a month; 0 if it is none."""
    if language in UNSPACED or word.isdecimal():
        return parse_number(word, language)
    return find_place(word, MONTHS[language]) + 1


def parse_weekday(word: str, language: str) -> int:
    """Return the number of a weekday, 0 for Monday."""
    if language not in UNSPACED:
        return find_place(word, WEEKDAYS[language])
    known = [c for c in word.removesuffix("曜日").removesuffix("曜") if c not in "周星期礼拜"]
    return find_place(known[-1], WEEKDAYS[language])


def parse_number(word: str, language: str) -> int:
    """Return a number from 1 to 31 in digits or words; 0 if it is none."""
    if word.isdecimal():
        return int(word)
    if word in ENGLISH_DAYS:
        return ENGLISH_DAYS.index(word) + 1
    if word in FIRST.get(language, "").split("/"):
        return 1
    tens, ten, ones = word.rpartition("十")
    return (HAN_DIGITS.get(tens, 1) * 10 if ten else 0) + HAN_DIGITS.get(ones, 0)
