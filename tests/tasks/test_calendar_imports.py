"""What imports of calendars changed is set back as things stand by now."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.messages import Person
from oldfriend.memory.people import ensure_owner
from oldfriend.tasks.calendar_files import read_calendar
from oldfriend.tasks.calendar_imports import import_calendar
from oldfriend.tasks.task_store import list_tasks
from oldfriend.transfer.import_run import undo_import_batch
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
