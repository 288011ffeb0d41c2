"""Rules of series that a hostile calendar would have searched for ever."""

import time
from datetime import datetime

import pytest

from oldfriend.domain.clock import parse_timestamp
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.tasks.calendar_files import read_calendar
from oldfriend.tasks.recurrence import find_next, parse_rule, validate_rule
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_edits import with_series

ZONE = "Europe/Madrid"
NOW = parse_timestamp("2026-11-24T14:00", ZONE)[0]


@pytest.mark.parametrize(
    ("rule", "start", "found"),
    [
        (
            "FREQ=MINUTELY;INTERVAL=5",
            datetime.fromisoformat("1970-01-03T00:00"),
            "2026-11-24T14:05",
        ),
        ("FREQ=HOURLY;INTERVAL=7;COUNT=99", datetime.fromisoformat("2020-01-03T00:00"), None),
        ("FREQ=MINUTELY;INTERVAL=5", datetime.fromisoformat("0002-01-03T00:00"), None),
        ("FREQ=DAILY", datetime.fromisoformat("0002-01-03T09:00"), "2026-11-25T09:00"),
        ("FREQ=WEEKLY;BYDAY=FR", datetime.fromisoformat("0002-01-03T09:00"), "2026-11-27T09:00"),
        ("FREQ=DAILY;COUNT=10000", datetime.fromisoformat("2020-01-03T09:00"), "2026-11-25T09:00"),
        ("FREQ=DAILY;INTERVAL=7;BYDAY=TU", datetime.fromisoformat("2026-11-30T09:00"), None),
        ("FREQ=YEARLY;BYMONTHDAY=1;BYSETPOS=13", datetime.fromisoformat("2026-11-30T09:00"), None),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", datetime.fromisoformat("2026-11-30T09:00"), None),
        ("FREQ=MONTHLY;INTERVAL=12;BYMONTH=2", datetime.fromisoformat("2026-11-30T09:00"), None),
    ],
)
def test_next_time_is_found_at_once(rule: str, start: datetime, found: str | None) -> None:
    """However long ago the series began, and if it never comes."""
    began = time.process_time()
    at = find_next(rule, start, ZONE, after=NOW)

    assert time.process_time() - began < 0.5
    if start.year != 2 or found is not None:
        assert at == (None if found is None else parse_timestamp(found, ZONE)[0])


@pytest.mark.parametrize(
    "rule", ["FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=DAILY;INTERVAL=\uff11\uff12"]
)
def test_rule_that_never_comes_or_is_not_ascii_is_refused(rule: str) -> None:
    """Soon."""
    began = time.process_time()
    with pytest.raises(InvalidInput):
        validate_rule(rule, datetime.fromisoformat("2026-11-30T09:00"))
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("freq", ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
@pytest.mark.parametrize(
    "more", ["", ";BYDAY=MO,FR", ";INTERVAL=3;BYDAY=TU;BYHOUR=8,20", ";COUNT=40"]
)
def test_moved_start_finds_what_the_whole_walk_finds(freq: str, more: str) -> None:
    """The rule itself says so, from its first time on."""
    rule, start = f"FREQ={freq}{more}", datetime.fromisoformat("2019-02-28T09:30")
    for day in (1, 9, 17, 28):
        moment = datetime.fromisoformat(f"2021-03-{day:02}T12:00")
        expected = parse_rule(rule, start).after(moment)
        found = find_next(rule, start, "UTC", after=parse_timestamp(f"{moment:%FT%T}", "UTC")[0])
        known = expected and parse_timestamp(f"{expected:%FT%T}", "UTC")[0]
        assert found == known


def test_fraction_of_a_second_does_not_skip_the_first_time() -> None:
    """Rules know whole seconds only."""
    due = NOW + 3_600_000_000 + 250_000
    task = Task(
        id="0" * 32,
        person=PersonId("p"),
        text="Tea",
        language="en",
        kind="reminder",
        zone=ZONE,
        due_at=due,
        created_at=NOW,
        changed_at=NOW,
    )
    series = with_series(task, "FREQ=DAILY")

    assert series.due_at == series.starts_at == due - 250_000


@pytest.mark.parametrize("odd", ["PERIOD:20300101T090000/PT1H", "DURATION:PT1H"])
def test_odd_entry_of_a_calendar_costs_only_itself(odd: str) -> None:
    """It is named, and the others are read."""
    event = "BEGIN:VEVENT\nSUMMARY:{}\nDTSTART{}\nEND:VEVENT\n"
    entries = event.format("Odd", f";VALUE={odd}") + event.format("Good", ":20300101T090000")
    content = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{entries}END:VCALENDAR\n"
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)

    assert [each.text for each in found] == ["Good"]
    assert [each.partition(":")[0] for each in refused] == ["Odd"]
