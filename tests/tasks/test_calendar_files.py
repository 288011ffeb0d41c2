"""Tasks as calendars, and calendars as tasks (issue 20: ``.ics`` import and export)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from oldfriend.domain.clock import from_micros, parse_timestamp
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.tasks.calendar_files import (
    MAX_ENDED_ENTRIES,
    MAX_ENTRIES,
    CalendarEntry,
    read_calendar,
    write_calendar,
)
from oldfriend.tasks.recurrence import MAX_EXCEPTIONS
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


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("RDATE:20261127T180000", "with added days"),
        ("RRULE:FREQ=WEEKLY", "with several rules"),
        (
            "UID:c\nEND:VEVENT\nBEGIN:VEVENT\nUID:c\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261127T080000",
            "of which all later times change at once",
        ),
    ],
)
def test_series_that_cannot_be_kept_is_refused_with_its_reason(more: str, reason: str) -> None:
    """It would not come as its calendar tells it."""
    lines = ("BEGIN:VEVENT", "SUMMARY:Choir", "DTSTART:20261120T080000", "RRULE:FREQ=DAILY", more)
    content = CALENDAR.format(entries="\n".join((*lines, "END:VEVENT")))
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)
    assert [each.rrule for each in found] == [None] * len(found)
    assert refused[:1] == [f"Choir: a series {reason} cannot be kept"]


@pytest.mark.parametrize(
    "exception",
    [
        "EXDATE;TZID=Europe/Madrid:20261125T080000,20261126T080000",
        "EXDATE:20261125T070000Z\nEXDATE:20261126T070000Z",
        "EXDATE;VALUE=DATE:20261125\nEXDATE;VALUE=DATE:20261126",
    ],
)
def test_series_leaves_out_the_days_that_its_calendar_excepts(exception: str) -> None:
    """And writes them, read again, as they were (RFC 5545, 3.8.5.1)."""
    start = "DTSTART;TZID=Europe/Madrid:20261120T080000"
    (found,), refused = read("SUMMARY:Choir", "UID:c", start, "RRULE:FREQ=DAILY", exception)
    times = list_times(found, count=2)
    series = task("Choir", None, rrule=found.rrule, starts_at=found.starts_at)
    written = write_calendar([replace(series, due_at=found.due_at, kind="reminder")])
    (again,), _ = read_calendar(written, zone=ZONE, now=NOW)

    assert refused == 0
    assert times == ["Fri 27 08:00", "Sat 28 08:00"]
    assert (again.rrule, again.due_at) == (found.rrule, found.due_at)


def test_series_leaves_out_more_than_a_hundred_days_and_not_without_end() -> None:
    """The nearest ones of all, too; too many are refused in words."""
    lines = ["SUMMARY:Choir", "UID:c", "DTSTART:20261125T080000", "RRULE:FREQ=DAILY"]
    days = [from_micros(NOW, ZONE) + timedelta(days=each) for each in range(1, MAX_EXCEPTIONS + 2)]
    left_out = [f"EXDATE:{each:%Y%m%d}T080000" for each in days]
    (found,), _ = read(*lines, *left_out[:150])
    content = CALENDAR.format(entries="\n".join(("BEGIN:VEVENT", *lines, *left_out, "END:VEVENT")))

    assert found.due_at == at("2027-04-24T08:00")
    assert read_calendar(content.encode(), zone=ZONE, now=NOW)[1] == [
        "Choir: a series with more than 1000 days left out cannot be kept"
    ]


def test_times_of_a_series_that_are_told_alone_are_left_out_of_it() -> None:
    """The cancelled one is gone, the moved one comes at its new time."""
    head = "BEGIN:VEVENT\nUID:c\nSUMMARY:Choir\n"
    series = f"{head}DTSTART:20261120T080000\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
    cancelled = f"{head}RECURRENCE-ID:20261125T080000\nSTATUS:CANCELLED\nEND:VEVENT\n"
    moved = f"{head}RECURRENCE-ID:20261126T080000\nDTSTART:20261126T120000\nEND:VEVENT\n"
    content = CALENDAR.format(entries=series + cancelled + moved)
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)

    assert refused == []
    assert list_times(found[0], count=2) == ["Fri 27 08:00", "Sat 28 08:00"]
    assert [each.ending for each in found] == ["", "cancelled", ""]
    assert found[2].due_at == at("2026-11-26T12:00")


@pytest.mark.parametrize("is_newest_first", [False, True])
def test_newest_edition_of_an_entry_in_a_file_counts(is_newest_first: bool) -> None:
    """By its number, wherever it stands (RFC 5545, 3.8.7.4)."""
    event = "BEGIN:VEVENT\nUID:d\nSUMMARY:Dentist\nDTSTART:20301124T190000\n{}END:VEVENT\n"
    editions = [event.format("SEQUENCE:1\n"), event.format("SEQUENCE:2\nSTATUS:CANCELLED\n")]
    ordered = editions[::-1] if is_newest_first else editions
    found, _ = read_calendar(CALENDAR.format(entries="".join(ordered)).encode(), zone=ZONE, now=NOW)
    assert [(each.ending, each.sequence) for each in found] == [("cancelled", 2)]


@pytest.mark.parametrize(
    "day",
    [
        "RECURRENCE-ID:garbage\nLAST-MODIFIED:never",
        "RECURRENCE-ID:20261125T080000\nRECURRENCE-ID:20261126T080000",
    ],
)
def test_day_of_a_series_that_cannot_be_read_is_refused_alone(day: str) -> None:
    """The series itself and everything else in the file are read."""
    head = "BEGIN:VEVENT\nUID:c\nSUMMARY:Choir\n"
    series = f"{head}DTSTART:20261120T080000\nRRULE:FREQ=DAILY\nEND:VEVENT\n"
    broken = f"{head}{day}\nDTSTART:20261126T120000\nEND:VEVENT\n"
    content = CALENDAR.format(entries=series + broken)
    found, refused = read_calendar(content.encode(), zone=ZONE, now=NOW)

    assert refused == ["Choir: it cannot be read"]
    assert list_times(found[0], count=1) == ["Wed 25 08:00"]


def test_different_events_of_one_id_are_all_read() -> None:
    """A timetable may tell each lesson by the same id, changed at another time."""
    event = (
        "BEGIN:VEVENT\nUID:t\nSUMMARY:{}\nDTSTART:2030112{}T190000\n"
        "LAST-MODIFIED:2026110{}T080000Z\nEND:VEVENT\n"
    )
    lessons = event.format("Maths", 4, 1) + event.format("Music", 5, 2) + event.format("Art", 6, 3)
    found, refused = read_calendar(CALENDAR.format(entries=lessons).encode(), zone=ZONE, now=NOW)
    assert ([each.text for each in found], refused) == (["Maths", "Music", "Art"], [])


def test_calendar_that_cancels_ends_its_entries() -> None:
    """By its method, with or without words and status (RFC 5546, 3.2.5)."""
    event = "METHOD:CANCEL\nBEGIN:VEVENT\nUID:d\nDTSTART:20301124T190000\nEND:VEVENT"
    (found,), _ = read_calendar(CALENDAR.format(entries=event).encode(), zone=ZONE, now=NOW)
    assert (found.ending, found.uid) == ("cancelled", "d")


def test_entries_that_are_over_take_no_room_and_are_not_without_end() -> None:
    """What is cancelled behind as many as are kept still ends its own."""
    event = "BEGIN:VEVENT\nUID:{}\nSUMMARY:Tea\nDTSTART:20300101T090000\n{}END:VEVENT\n"
    live = "".join(event.format(f"a{number}", "") for number in range(MAX_ENTRIES))
    over = "".join(
        event.format(f"b{number}", "STATUS:CANCELLED\n") for number in range(MAX_ENDED_ENTRIES + 1)
    )
    found, refused = read_calendar(
        CALENDAR.format(entries=live + over).encode(), zone=ZONE, now=NOW
    )
    assert sum(each.ending == "cancelled" for each in found) == MAX_ENDED_ENTRIES
    assert refused == [f"Tea: there are more than {MAX_ENDED_ENTRIES}"]


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
    entries = event.format("DTSTART:20300101T090000\n") * (MAX_ENTRIES + 1)
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
        (("DTSTART:20261205T100000", "DTEND;TZID=Mars/Olympus:20261205T110000"), (False, None)),
        (
            ("DTSTART:20261205T100000", "DTEND:20261205T110000", "DTEND:20261205T120000"),
            (False, None),
        ),
        (("DTSTART:20261205T100000", "DURATION:PTX"), (False, None)),
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
