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
        ("en", "my call ends {at 5pm}, tell me [half an hour after that]", "11-24 17:30"),
        ("es", "el bingo acaba {a las 19:30}, dime [un cuarto de hora despues]", "11-24 19:45"),
        ("fr", "mon cours finit {a 17h}, dis moi [20 min apres]", "11-24 17:20"),
        ("de", "die probe endet {um 18:30}, sag mir [eine stunde danach] bescheid", "11-24 19:30"),
        ("en", "ring me [an hour after lunch]", "?when"),
        ("en", "class {every monday at 9 am}, [two days after]", "?several"),
        ("en", "inlaws come {a week today}, tidy up [that morning]", "12-01 09:00"),
        ("fr", "ma déclaration {le 25 mai}, [le matin de ce jour-là]", "05-25 09:00"),
        ("es", "{el 15 del mes que viene} la vacuna, [la vispera]", "12-14"),
        ("es", "{el 27 de este mes} la vacuna, [la vispera]", "11-26"),
        (
            "fr",
            "[deuxieme jeudi du mois, tous les mois, 18h30]",
            "12-10 18:30 FREQ=MONTHLY;BYDAY=2TH",
        ),
        ("fr", "[toutes les 4h a partir de 20h ce soir]", "11-24 20:00 FREQ=HOURLY;INTERVAL=4"),
        ("de", "[5 uhr 40 morgen]", "?half"),
        ("de", "[am letzten tag im november um 17h]", "11-30 17:00"),
        ("en", "[the last day of february at 5pm]", "02-28 17:00"),
        ("zh", "[1.5h后]看打包", "11-24 15:30"),
        ("fr", "[a 17h ts les lundis et vendredis]", "11-27 17:00 FREQ=WEEKLY;BYDAY=MO,FR"),
        (
            "es",
            "[cada 6 horas] el jarabe, [la primera a las 14:30]",
            "11-24 14:30 FREQ=HOURLY;INTERVAL=6",
        ),
        ("es", "[cuando sean las 4 y cuarto]", "11-24 16:15"),
        ("de", "[tgl. um 7 uhr morgens]", "11-25 07:00 FREQ=DAILY"),
        ("zh", "[隔周六下午2点]", "11-28 14:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=SA"),
        ("en", "rent is due [on the 3rd of each month] so call [at 9am on the 1st]", "?several"),
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
        (
            "en",
            "we fly {Monday at six in the morning}, alarm [that day at ten past two]",
            "11-30 02:10",
        ),
        ("en", "doctor {tomorrow at 9:45 am}, [by 8 sharp]", "11-25 08:00"),
        (
            "en",
            "off {nights} now, booster {on thursday at quarter past four}, [an hour before]",
            "11-26 15:15",
        ),
        ("en", "dentist {in two weeks at 9:30 am}, remind me [at 8]", "12-08 08:00"),
        ("zh", "{十天后}体检，[提前两天]", "12-02"),
        ("en", "dinner {tomorrow at 8pm}, ring me [at 9]", "?several"),
        ("en", "match {tomorrow at 7pm}, call me [at 4 and at 4:30]", "?several"),
        ("en", "practice {from 5:30 pm to 7 tomorrow}, [at 5]", "11-25 17:00"),
        (
            "en",
            "pottery {every Tuesday at 7pm}, [an hour before]",
            "11-24 18:00 FREQ=WEEKLY;BYDAY=TU",
        ),
        (
            "en",
            "rent {on the 1st of every month}, [the day before at 6pm]",
            "11-30 18:00 FREQ=MONTHLY;BYMONTHDAY=-1",
        ),
        (
            "en",
            "she comes {every Monday at 7:45 am}, open up [at half past seven]",
            "11-30 07:30 FREQ=WEEKLY;BYDAY=MO",
        ),
        (
            "en",
            "[every 2 hours from 3 to 9 today]",
            "11-24 15:00 FREQ=HOURLY;INTERVAL=2;UNTIL=20261124T210000",
        ),
        (
            "en",
            "[every day except Wednesday at 8am]",
            "11-26 08:00 FREQ=WEEKLY;BYDAY=MO,TU,TH,FR,SA,SU",
        ),
        (
            "en",
            "[weekdays at 8am except Mondays and Fridays]",
            "11-25 08:00 FREQ=WEEKLY;BYDAY=TU,WE,TH",
        ),
        ("en", "[the day after christmas at 10am]", "12-26 10:00"),
        ("en", "[the day after tomorrow at 10am]", "11-26 10:00"),
        ("de", "[am Tag nach Silvester um 10 uhr]", "01-01 10:00"),
        (
            "de",
            "[jeden Tag außer Sonntag um 8 uhr morgens]",
            "11-25 08:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
        ),
        (
            "de",
            "[alle zwei stunden ab 23 uhr bis 5 uhr]",
            "11-24 23:00 FREQ=HOURLY;INTERVAL=2;UNTIL=20261125T050000",
        ),
        (
            "es",
            "[todos los días menos el domingo a las 9 de la noche]",
            "11-24 21:00 FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA",
        ),
        (
            "fr",
            "[tous les deux jours à 21h à partir de demain]",
            "11-25 21:00 FREQ=DAILY;INTERVAL=2",
        ),
        (
            "fr",
            "[chaque soir jusqu'au 30 à 20h30]",
            "11-24 20:30 FREQ=DAILY;UNTIL=20261130T235959",
        ),
        (
            "fr",
            "[toutes les 3h de 8h à 20h demain]",
            "11-25 08:00 FREQ=HOURLY;INTERVAL=3;UNTIL=20261125T200000",
        ),
        ("fr", "[demain midi cinq]", "?several"),
        ("en", "[every hour from 9 to 17]", "11-24 15:00 FREQ=HOURLY;UNTIL=20261124T170000"),
        ("en", "[every hour from 9 to 1]", "11-25 09:00 FREQ=HOURLY;UNTIL=20261125T130000"),
        (
            "en",
            "[tomorrow every 2 hours from 8 to 18]",
            "11-25 08:00 FREQ=HOURLY;INTERVAL=2;UNTIL=20261125T180000",
        ),
        ("en", "[every hour from 8 to 10]", "11-24 20:00 FREQ=HOURLY;UNTIL=20261124T220000"),
        ("de", "[stündlich von 8 bis 18 Uhr]", "11-24 15:00 FREQ=HOURLY;UNTIL=20261124T180000"),
        ("es", "[cada hora de 9 a 17]", "11-24 15:00 FREQ=HOURLY;UNTIL=20261124T170000"),
        ("en", "[every day, every hour from 9am to 5pm]", "?several"),
        ("en", "class {every other monday and thursday at 9 am}, [the day before]", "?several"),
        (
            "en",
            "class {every other tuesday and thursday at 9 am}, [the day before]",
            "11-25 FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE",
        ),
        ("en", "[every weekday, every hour from 9am to 5pm]", "?several"),
        ("zh", "{明天早上九点四十}跟房东点交，你[九点]叫我", "11-25 09:00"),
        (
            "zh",
            "{每周三晚上八点}羽毛球，[提前一个小时]",
            "11-25 19:00 FREQ=WEEKLY;BYDAY=WE",
        ),
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
