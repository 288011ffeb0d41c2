"""Tasks as calendars, and calendars as tasks (issue 20: ``.ics`` import and export)."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import from_micros, parse_timestamp
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.tasks.calendar_files import MAX_ENTRIES, CalendarEntry, read_calendar, write_calendar
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import advance
from oldfriend.tasks.task_wording import TaskWording

ZONE = "Europe/Madrid"
NOW = parse_timestamp("2026-11-24T14:00", ZONE)[0]
CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody//EN
{entries}
END:VCALENDAR
"""


def at(text: str) -> int:
    """A moment in Madrid."""
    return parse_timestamp(text, ZONE)[0]


def task(text: str, due: str | None, **more: object) -> Task:
    """A task of somebody's."""
    values = {
        "id": f"{len(text):032x}",
        "person": PersonId("p"),
        "text": text,
        "language": "en",
        "kind": "todo" if due is None else "reminder",
        "zone": ZONE,
        "due_at": None if due is None else at(due),
        "created_at": NOW,
        "changed_at": NOW,
    }
    return Task(**{**values, **more})


def read(*lines: str) -> tuple[list[CalendarEntry], int]:
    """What a calendar with one event asks for."""
    entry = "\n".join(("BEGIN:VEVENT", *lines, "END:VEVENT"))
    found, refused = read_calendar(CALENDAR.format(entries=entry).encode(), zone=ZONE, now=NOW)
    return found, len(refused)


def test_what_is_written_is_read_again() -> None:
    """A reminder, a series, a whole day and a to-do."""
    tasks = [
        task("Call mum; ask, too", "2026-11-25T10:00"),
        task("Water", "2026-11-27T09:00", rrule="FREQ=WEEKLY;BYDAY=FR", starts_at=NOW),
        task("Pay the rent", "2026-11-30T09:00", is_date_only=True),
        task("Fix the bike", None),
    ]
    written = write_calendar(tasks)
    found, unusable = read_calendar(written, zone=ZONE, now=NOW)

    assert [(each.text, each.due_at, each.rrule) for each in found] == [
        (each.text, each.due_at, each.rrule) for each in tasks
    ]
    assert unusable == []
    assert b"TZID=Europe/Madrid" in written


def test_series_of_the_past_comes_next_time_and_what_is_over_is_left_out() -> None:
    """In the zone that the calendar names."""
    weekly = read("SUMMARY:Choir", "DTSTART:20200107T180000Z", "RRULE:FREQ=WEEKLY")
    once = read("SUMMARY:Choir", "DTSTART:20200107T180000Z")

    assert weekly[0][0].due_at == at("2026-11-24T19:00")
    assert once == ([], 1)


@pytest.mark.parametrize(
    "lines",
    [
        ("SUMMARY:Often", "DTSTART:20300107T180000Z", "RRULE:FREQ=SECONDLY"),
        ("SUMMARY:", "DTSTART:20300107T180000Z"),
        ("SUMMARY:Gone", "DTSTART:20300107T180000Z", "STATUS:CANCELLED"),
        ("SUMMARY:No time",),
        ("SUMMARY:Far", "DTSTART:99990107T180000Z"),
        ("SUMMARY:Far", "DTSTART;VALUE=DATE:99990107"),
        ("SUMMARY:Far", "DTSTART:99990107T180000Z", "RRULE:FREQ=YEARLY"),
    ],
)
def test_entry_that_cannot_be_used_is_counted(lines: tuple[str, ...]) -> None:
    """It does not end the import."""
    assert read(*lines) == ([], 1)


def test_what_is_no_calendar_is_refused() -> None:
    """With a reason."""
    with pytest.raises(InvalidInput):
        read_calendar(b"Dear diary", zone=ZONE, now=NOW)


def list_times(entry: CalendarEntry, *, count: int) -> list[str]:
    """The times of an entry in Madrid."""
    assert entry.due_at is not None
    found = task("t", None, due_at=entry.due_at, rrule=entry.rrule, zone=entry.zone or ZONE)
    found = replace(found, starts_at=entry.starts_at, kind="reminder")
    times: list[str] = []
    while found.status == "open" and len(times) < count:
        assert found.due_at is not None
        times.append(f"{from_micros(found.due_at, ZONE):%a %d %H:%M}")
        found = advance(found, now=found.due_at)
    return times


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        (  # Monday morning in Tokyo is Monday night, or Sunday, in Madrid
            (
                "DTSTART;TZID=Asia/Tokyo:20261130T070000",
                "RRULE:FREQ=WEEKLY;BYDAY=MO",
            ),
            ["Sun 29 23:00", "Sun 06 23:00"],
        ),
        (  # five of ten are over
            ("DTSTART:20261120T080000", "RRULE:FREQ=DAILY;COUNT=6"),
            ["Wed 25 08:00"],
        ),
        (
            ("DTSTART:20261113T080000", "RRULE:FREQ=WEEKLY;INTERVAL=2"),
            ["Fri 27 08:00", "Fri 11 08:00"],
        ),
        (
            ("DTSTART:20261120T080000", "RRULE:FREQ=DAILY;UNTIL=20261126"),
            ["Wed 25 08:00", "Thu 26 08:00"],
        ),
    ],
)
def test_series_comes_when_its_calendar_says(lines: tuple[str, ...], times: list[str]) -> None:
    """In its own zone, and counted from its first time."""
    (found,), refused = read("SUMMARY:Standup", *lines)
    assert refused == 0
    assert list_times(found, count=2) == times


@pytest.mark.parametrize("more", ["EXDATE:20261127T080000", "RDATE:20261127T180000"])
def test_series_with_exceptions_is_refused_with_a_reason(more: str) -> None:
    """It would come on days on which it is called off."""
    lines = ("BEGIN:VEVENT", "SUMMARY:Choir", "DTSTART:20261120T080000", "RRULE:FREQ=DAILY", more)
    content = CALENDAR.format(entries="\n".join((*lines, "END:VEVENT")))
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)
    assert found == []
    assert refused == ["Choir: a series with exceptions or added days cannot be kept"]


def test_zones_that_are_named_are_told() -> None:
    """A calendar that does not know them would show other hours (RFC 5545, 3.6.5)."""
    written = write_calendar([task("Call mum", "2026-11-25T10:00")])
    assert b"BEGIN:VTIMEZONE" in written
    assert b"TZID:Europe/Madrid" in written


@pytest.mark.parametrize(
    ("is_date_only", "end"),
    [(False, b"UNTIL=20270101T225959Z"), (True, b"UNTIL=20270101\r\n")],
)
def test_end_of_a_series_is_of_the_kind_of_its_start(is_date_only: bool, end: bytes) -> None:
    """In UTC for a start with a zone, a day for one that is a day (RFC 5545, 3.3.10)."""
    rule = "FREQ=WEEKLY;BYDAY=FR;UNTIL=20270101T235959"
    series = task("Water", "2026-11-27T09:00", rrule=rule, starts_at=NOW, is_date_only=is_date_only)
    written = write_calendar([series])
    assert end in written.replace(b"UNTIL=20270101;", b"UNTIL=20270101\r\n")
    ((entry,), refused) = read_calendar(written, zone=ZONE, now=NOW)
    assert (entry.rrule or "").endswith("UNTIL=20270101T235959")
    assert refused == []


def test_file_of_many_entries_is_read_up_to_as_many_as_are_kept() -> None:
    """What comes after them is counted, and not read."""
    event = "BEGIN:VEVENT\nSUMMARY:Tea\n{}END:VEVENT\n"
    entries = event.format("DTSTART:20300101T090000\n") * MAX_ENTRIES + event.format("")
    found, refused = read_calendar(CALENDAR.format(entries=entries).encode(), zone=ZONE, now=NOW)
    assert len(found) == MAX_ENTRIES
    assert refused == [f"Tea: there are more than {MAX_ENTRIES}"]


def test_series_in_vain_are_not_tried_without_end() -> None:
    """Each of them takes long; a file has room for thousands."""
    event = "BEGIN:VEVENT\nSUMMARY:Tea\nDTSTART:20300101T090000\nRRULE:FREQ=SECONDLY\nEND:VEVENT\n"
    content = CALENDAR.format(entries=event * (MAX_ENTRIES + 1)).encode()
    _, refused = read_calendar(content, zone=ZONE, now=NOW)
    assert len(refused) == MAX_ENTRIES + 1
    assert refused[-1] == f"Tea: there are more than {MAX_ENTRIES}"


@pytest.mark.parametrize("freq", ["MONTHLY;BYDAY=FR;BYMONTHDAY=13", "YEARLY"])
def test_series_that_began_long_ago_is_refused(freq: str) -> None:
    """Each month of two thousand years would be looked at; a birthday of 1931 is not long ago."""
    rule = f"RRULE:FREQ={freq}"
    assert read("SUMMARY:Old", "DTSTART:00010101T100000", rule) == ([], 1)
    found, _ = read("SUMMARY:Old", "DTSTART:19310213T100000", rule)
    assert len(found) == 1


@pytest.mark.parametrize("more", ["", "RRULE:FREQ=DAILY\n"])
def test_time_in_a_zone_that_nobody_knows_is_refused(more: str) -> None:
    """It is not taken as one by the person's own clocks."""
    lines = f"SUMMARY:Tea\nDTSTART;TZID=Mars/Olympus:20270105T090000\n{more}"
    content = CALENDAR.format(entries=f"BEGIN:VEVENT\n{lines}END:VEVENT")
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)
    assert (found, refused) == ([], ["Tea: its time zone is not known"])


@pytest.mark.parametrize(
    ("lines", "lasts"),
    [
        (("DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20261206"), (True, 86_400)),
        (("DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20261210"), (True, 5 * 86_400)),
        (("DTSTART;VALUE=DATE:20261205",), (True, 86_400)),
        (("DTSTART:20261205T100000", "DTEND:20261205T113000"), (False, 5_400)),
        (("DTSTART:20261205T100000Z", "DURATION:PT45M"), (False, 2_700)),
        (("DTSTART:20261205T100000",), (False, None)),
        (("DTSTART:20261205T100000", "DTEND:20261205T090000"), (False, None)),
    ],
)
def test_end_of_an_entry_is_read_and_written(
    lines: tuple[str, ...], lasts: tuple[bool, int | None]
) -> None:
    """Whole days as days, an hour with its end; and it comes back as it went."""
    ((entry,), _) = read("SUMMARY:Conference", *lines)
    assert (entry.is_date_only, entry.duration_s) == lasts
    kept = task(
        "Conference",
        None,
        kind="reminder",
        due_at=entry.due_at,
        is_date_only=entry.is_date_only,
        duration_s=entry.duration_s,
    )
    written = write_calendar([kept])
    ((again,), _) = read_calendar(written, zone=ZONE, now=NOW)

    assert (again.due_at, again.is_date_only, again.duration_s) == (entry.due_at, *lasts)
    assert (b"DTSTART;VALUE=DATE:20261205" in written) is lasts[0]


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ["Sat 5 December, all day", "Sat 5 December to Wed 9 December"]),
        ("de", ["Sa, 5. Dezember, ganztägig", "Sa, 5. Dezember bis Mi, 9. Dezember"]),
        ("zh", ["12月5日周六全天", "12月5日周六至12月9日周三"]),
    ],
)
def test_whole_days_are_told_as_days(language: str, told: list[str]) -> None:
    """In lists, in each language; an hour is told with its end."""
    wording = TaskWording(language, zone=ZONE, now=NOW)
    found = [
        wording.format_task_time(
            task("Conference", "2026-12-05T09:00", is_date_only=True, duration_s=days * 86_400)
        )
        for days in (1, 5)
    ]
    timed = wording.format_task_time(task("Talk", "2026-12-05T10:00", duration_s=5_400))

    assert found == told
    assert timed.endswith("10:00–11:30")
