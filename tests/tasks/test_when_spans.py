"""Times in spans that are known to tell when to remind: read by what only there is a time.

``[…]`` marks what tells when to remind, ``{…}`` when something else is. Told on Tuesday 24 November
2026 at two in Madrid.
"""

import re
from datetime import date

import pytest

from oldfriend.domain.clock import from_micros, parse_timestamp
from oldfriend.tasks.holidays import find_holiday
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import load_time_book
from oldfriend.tasks.told_time import Resolved
from oldfriend.tasks.when_spans import read_when

ZONE = "Europe/Madrid"
NOW = parse_timestamp("2026-11-24T14:00", ZONE)[0]
MARK = re.compile(r"[\[\]{}]")


def read(language: str, marked: str) -> str:
    """The time that marked spans tell, what is asked, or what was not read."""
    spans: dict[str, list[tuple[int, int]]] = {"[": [], "{": []}
    begun: list[tuple[str, int]] = []
    for number, match in enumerate(MARK.finditer(marked)):
        place = match.start() - number
        if match[0] in spans:
            begun.append((match[0], place))
        else:
            mark, start = begun.pop()
            spans[mark].append((start, place))
    book = load_time_book(language)
    found = read_when(book, MARK.sub("", marked), spans["["], spans["{"])
    if found.unread:
        return f"unread {found.unread}"
    time = TimeResolver(book, NOW, ZONE).resolve(found.told)
    if not isinstance(time, Resolved):
        return f"?{time.question}"
    local = from_micros(time.due_at, ZONE)
    return (
        f"{local:%m-%d}{'' if time.is_date_only else f' {local:%H:%M}'} {time.rrule or ''}".strip()
    )


@pytest.mark.parametrize(
    ("language", "marked", "when"),
    [
        ("en", "[20 minutes]: the eggs", "11-24 14:20"),
        ("en", "[3/4 of an hour] then the windows", "11-24 14:45"),
        ("en", "{Thursday at 9am} the plumber, [an hour before]", "11-26 08:00"),
        ("en", "dentist is {the 4th at 3:15}, nudge me [that day at 2]", "12-04 14:00"),
        ("en", "party on {12 December}, [the saturday before that at 4pm]", "12-05 16:00"),
        ("en", "[christmas eve at 5pm]", "12-24 17:00"),
        ("en", "candy, [halloween morning, 10ish]", "10-31 10:00"),
        (
            "en",
            "[every 30 min from 3pm to 6pm]",
            "11-24 15:00 FREQ=MINUTELY;INTERVAL=30;UNTIL=20261124T180000",
        ),
        ("en", "pills [9pm every day for a week]", "11-24 21:00 FREQ=DAILY;COUNT=7"),
        ("en", "[tues and thurs at 5pm]", "11-24 17:00 FREQ=WEEKLY;BYDAY=TU,TH"),
        ("en", "[daily at 8am, 12pm and 4pm]", "11-24 16:00 FREQ=DAILY;BYHOUR=8,12,16;BYMINUTE=0"),
        ("en", "[for the next ten evenings at 9pm]", "11-24 21:00 FREQ=DAILY;COUNT=10"),
        ("en", "[every dang night 9pm]", "11-24 21:00 FREQ=DAILY"),
        ("en", "[Friday 27th at 9am]", "11-27 09:00"),
        ("en", "[Friday 28th at 9am]", "?several"),
        (
            "en",
            "her birthday is {january 19}, [each year on that day]",
            "01-19 FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=19",
        ),
        ("en", "[tomorrow at 9am unless it rains]", "unread rains"),
        ("de", "[Silvester um 23 uhr]", "12-31 23:00"),
        ("de", "[heiligabend um 15 uhr]", "12-24 15:00"),
        ("de", "[Karfreitag um neun morgens]", "03-26 09:00"),
        ("de", "[um viertel acht abends]", "11-24 19:15"),
        ("de", "{morgen um 17 uhr} Zahnarzt, [ne stunde vorher]", "11-25 16:00"),
        (
            "de",
            "[jeden Abend um 18 Uhr, ab heute bis Ende Dezember]",
            "11-24 18:00 FREQ=DAILY;UNTIL=20261231T235959",
        ),
        ("de", "{am 11.12.} Umzug, [an dem Tag um 16 uhr]", "12-11 16:00"),
        ("es", "[Nochebuena a las 8 de la tarde]", "12-24 20:00"),
        ("es", "cena {el 12 de diciembre}, [ese día a las 10 de la mañana]", "12-12 10:00"),
        ("es", "[en 3/4 de hora]", "11-24 14:45"),
        ("es", "[dentro de tres horas y cuarto]", "11-24 17:15"),
        (
            "es",
            "[cada día 5 del mes a las 10 de la mañana]",
            "12-05 10:00 FREQ=MONTHLY;BYMONTHDAY=5",
        ),
        ("es", "[el once de diciembre a las 9 de la noche]", "12-11 21:00"),
        ("es", "[mañana miércoles a las 10 de la mañana]", "11-25 10:00"),
        ("fr", "[dans quinze jours à 10h]", "12-08 10:00"),
        ("fr", "{le 9 décembre à 8h}, [ce jour-là à 6h45]", "12-09 06:45"),
        ("fr", "[le soir du réveillon de nouvel an à 18h]", "12-31 18:00"),
        ("fr", "[tous les soirs à 20h pendant une semaine]", "11-24 20:00 FREQ=DAILY;COUNT=7"),
        ("zh", "[除夕那天晚上六点]", "02-05 18:00"),
        ("zh", "[3分钟]泡面", "11-24 14:03"),
        ("zh", "{后天十点半}到站，[头天晚上九点]", "11-25 21:00"),
        ("zh", "[每天晚上八点，连续七天]", "11-24 20:00 FREQ=DAILY;COUNT=7"),
    ],
)
def test_span_is_read_or_asked_about(language: str, marked: str, when: str) -> None:
    """ACCEPTANCE L1, L2: also what is a time only because it is known to tell one."""
    assert read(language, marked) == when


@pytest.mark.parametrize(
    ("rule", "after", "day"),
    [
        ("12-24", "2026-12-24", "2026-12-24"),
        ("12-24", "2026-12-25", "2027-12-24"),
        ("11-TH4", "2026-11-01", "2026-11-26"),
        ("05-MO-1", "2026-11-01", "2027-05-31"),
        ("easter-2", "2026-11-01", "2027-03-26"),
        ("2026-02-17 2027-02-06", "2026-11-01", "2027-02-06"),
    ],
)
def test_holiday_is_the_next_one(rule: str, after: str, day: str) -> None:
    """Today counts."""
    assert find_holiday(rule, date.fromisoformat(after)) == date.fromisoformat(day)
