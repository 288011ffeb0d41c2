"""What imports of calendars change, keep and set back as things stand by now."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.api.day_plans import load_plans
from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, SECOND, Micros, from_micros, parse_timestamp
from oldfriend.domain.messages import Person
from oldfriend.memory.people import ensure_owner
from oldfriend.tasks.calendar_files import read_calendar
from oldfriend.tasks.calendar_imports import (
    CalendarImport,
    import_calendar,
    list_imported,
    save_imported,
)
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_edits import open_desk, store
from oldfriend.tasks.task_store import advance, list_tasks, save_task
from oldfriend.transfer.import_run import undo_import_batch
from oldfriend.turn.request_handlers.agenda_requests import list_times
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


async def bring(app: AppContext, person: Person, at: Micros, rule: str = "") -> int:
    """Bring in a calendar of one appointment at a time; returns the import's number."""
    content = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\nUID:d-1\n"
        f"SUMMARY:Dentist\nDTSTART:{from_micros(at, person.zone):%Y%m%dT%H%M%S}\n{rule}"
        "END:VEVENT\nEND:VCALENDAR\n"
    ).encode()
    entries, _ = read_calendar(content, zone=person.zone, now=app.clock())
    async with app.db.begin_write() as tx:
        done = await import_calendar(tx, person, entries, content, file="d.ics", now=app.clock())
    assert done.number is not None
    return done.number


async def test_undo_of_a_move_goes_back_to_no_time_that_has_passed(
    app: AppContext, clock: FrozenClock
) -> None:
    """A reminder of such a time would stand on the list and never come; a series comes next."""
    for rule, expected in (("", ("delivered", -1)), ("RRULE:FREQ=WEEKLY\n", ("open", 6))):
        async with app.db.begin_write() as tx:
            person = await ensure_owner(tx, now=clock(), zone="UTC")
        start = clock() - clock() % DAY
        numbers = [await bring(app, person, start + days * DAY, rule) for days in (2, 20)]
        clock.tick(minutes=3 * 24 * 60)
        await undo_import_batch(app.db, person, numbers[1], now=clock())
        async with app.db.begin_read() as tx:
            (task,) = await list_tasks(tx, person.id)
        await undo_import_batch(app.db, person, numbers[0], now=clock())

        today = clock() - clock() % DAY
        assert task.due_at is not None
        assert (task.status, (task.due_at - today) // DAY) == expected


async def start(app: AppContext, clock: FrozenClock, day: str) -> Person:
    """Somebody in UTC at a time."""
    clock.now = at(day)
    async with app.db.begin_write() as tx:
        return await ensure_owner(tx, now=clock(), zone="UTC")


def at(text: str) -> Micros:
    """A time in UTC."""
    return parse_timestamp(text, "UTC")[0]


async def bring_lines(app: AppContext, person: Person, *lines: str) -> CalendarImport:
    """Bring in a calendar of one conference."""
    content = "\n".join(
        (
            *("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Somebody//EN", "BEGIN:VEVENT"),
            *("UID:c-1", "SUMMARY:Conference", *lines),
            *("END:VEVENT", "END:VCALENDAR", ""),
        )
    ).encode()
    entries, _ = read_calendar(content, zone=person.zone, now=app.clock())
    async with app.db.begin_write() as tx:
        return await import_calendar(tx, person, entries, content, file="c.ics", now=app.clock())


async def list_all(app: AppContext, person: Person) -> Sequence[Task]:
    """What is on the list."""
    async with app.db.begin_read() as tx:
        return await list_tasks(tx, person.id, now=app.clock())


async def list_planned(app: AppContext, person: Person, since: str, until: str) -> list[str]:
    """The days of a span on which something is planned."""
    async with app.db.begin_read() as tx:
        plans = await load_plans(tx, person)
    return [f"{day:%d}" for day in sorted(plans.group_by_day(at(since), at(until)))]


async def deliver(app: AppContext, task: Task) -> None:
    """Say a reminder."""
    async with app.db.begin_write() as tx:
        await save_task(tx, advance(task, now=app.clock()))


FIVE_DAYS = ("DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20261210")
SIX_DAYS = ("DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20261211")
DECEMBER = ("2026-12-01", "2027-01-01")


async def test_what_is_on_is_not_over(app: AppContext, clock: FrozenClock) -> None:
    """A conference that is made longer while it is on stays; one that has begun comes in."""
    person = await start(app, clock, "2026-12-01T12:00")
    await bring_lines(app, person, *FIVE_DAYS)
    clock.now = at("2026-12-05T09:00")
    await deliver(app, (await list_all(app, person))[0])
    clock.now = at("2026-12-07T12:00")
    await bring_lines(app, person, *SIX_DAYS)
    (longer,) = await list_all(app, person)
    days = await list_planned(app, person, *DECEMBER)
    clock.now = at("2026-12-11T00:00")
    over = await bring_lines(app, person, *FIVE_DAYS)

    assert (longer.status, longer.duration_s) == ("delivered", 6 * DAY // SECOND)
    assert longer.delivered_at == at("2026-12-05T09:00")
    assert days == ["05", "06", "07", "08", "09", "10"]
    assert (over.number, len(over.unused)) == (None, 1)


@pytest.mark.parametrize(
    ("lines", "days"),
    [
        (FIVE_DAYS, ["05", "06", "07", "08", "09"]),
        (("DTSTART;VALUE=DATE:20261207",), ["07"]),
        (("DTSTART:20261207T113000Z", "DTEND:20261207T130000Z"), ["07"]),
        (("DTSTART:20261207T103000Z", "DTEND:20261207T120000Z"), []),
        (("DTSTART:20261207T103000Z",), []),
    ],
)
async def test_what_has_begun_comes_in_without_a_reminder(
    app: AppContext, clock: FrozenClock, lines: tuple[str, ...], days: list[str]
) -> None:
    """Until it is over."""
    person = await start(app, clock, "2026-12-07T12:00")
    await bring_lines(app, person, *lines)

    assert [each.status for each in await list_all(app, person)] == ["delivered"] * bool(days)
    assert await list_planned(app, person, *DECEMBER) == days


async def test_series_of_several_days_is_there_on_its_second_day(
    app: AppContext, clock: FrozenClock
) -> None:
    """It comes next in a week by then; a time that was skipped is not shown."""
    person = await start(app, clock, "2026-12-01T12:00")
    weekly = ("DTSTART;VALUE=DATE:20261205", "DTEND;VALUE=DATE:20261208", "RRULE:FREQ=WEEKLY")
    await bring_lines(app, person, *weekly)
    clock.now = at("2026-12-05T09:00")
    await deliver(app, (await list_all(app, person))[0])
    clock.now = at("2026-12-06T12:00")
    (task,) = await list_all(app, person)
    span = at("2026-12-06"), at("2026-12-07")

    assert await list_planned(app, person, *("2026-12-06", "2026-12-13")) == ["06", "07", "12"]
    assert list_times(task, *span) == [at("2026-12-05T09:00")]
    skipped = replace(task, due_at=at("2026-12-19T09:00"))
    assert list_times(skipped, at("2026-12-13"), at("2026-12-14")) == []


async def keep_as_before(app: AppContext, person: Person, **more: int) -> None:
    """Make what a calendar told one of before it was kept how long things last."""
    async with app.db.begin_write() as tx:
        for each in await list_imported(tx, person.id):
            levels = [replace(level, told=level.told[:3]) for level in each.levels]
            task = replace(each.task, duration_s=None, **more)
            await save_task(tx, task)
            await save_imported(tx, person.id, replace(each, levels=(*levels,)))


TALK = ("DTSTART:20261207T100000Z", "DTEND:20261207T113000Z")


async def test_file_of_before_lengths_were_kept_changes_only_lengths(
    app: AppContext, clock: FrozenClock
) -> None:
    """Nothing that is past or that the person moved."""
    person = await start(app, clock, "2026-12-01T12:00")
    for lines in (FIVE_DAYS, TALK, (*TALK, "RRULE:FREQ=WEEKLY")):
        await bring_lines(app, person, *lines)
        await keep_as_before(app, person)
        before = await list_all(app, person)
        first = await bring_lines(app, person, *lines)
        again = await bring_lines(app, person, *lines)
        (after,) = await list_all(app, person)

        assert after.duration_s is not None
        assert [replace(after, duration_s=None)] == [
            replace(each, is_date_only=after.is_date_only) for each in before
        ]
        assert first.number is not None
        assert again.number is None

    await bring_lines(app, person, *TALK)
    moved = at("2026-12-20T10:00")
    await keep_as_before(app, person, due_at=moved)
    assert (await bring_lines(app, person, *TALK)).number is None
    assert [each.due_at for each in await list_all(app, person)] == [moved]

    await keep_as_before(app, person, due_at=at("2026-12-07T10:00"))
    clock.now = at("2026-12-08T10:00")
    await deliver(app, (await list_all(app, person))[0])
    assert (await bring_lines(app, person, *TALK)).number is None
    assert [each.status for each in await list_all(app, person)] == ["delivered"]


async def test_put_off_entry_follows_its_calendar(app: AppContext, clock: FrozenClock) -> None:
    """It stays on its days in the calendar, and its reminder comes when it was put off to."""
    person = await start(app, clock, "2026-12-01T12:00")
    await bring_lines(app, person, *FIVE_DAYS)
    clock.now = at("2026-12-05T09:00")
    await deliver(app, (await list_all(app, person))[0])
    async with app.db.begin_write() as tx:
        desk = await open_desk(tx, person, now=clock())
        decision = desk.put_off(desk.tasks[0], "tomorrow")
        await store(tx, decision, now=clock())
    days = await list_planned(app, person, *DECEMBER)
    same = await bring_lines(app, person, *FIVE_DAYS)
    await bring_lines(app, person, *SIX_DAYS)
    (longer,) = await list_all(app, person)

    assert days == ["05", "06", "07", "08", "09"]
    assert same.number is None
    assert (longer.status, longer.due_at) == ("open", at("2026-12-06T09:00"))
    assert await list_planned(app, person, *DECEMBER) == [*days, "10"]
