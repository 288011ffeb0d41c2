"""What was told by the clock follows the person to other clocks; a moment stays one."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import parse_timestamp
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.people import set_zone
from oldfriend.persona.profile_names import update_person
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import list_tasks, save_task
from tests.clock import FrozenClock

HERE, THERE = "Europe/Lisbon", "America/New_York"


def at(text: str, zone: str) -> int:
    """A moment by the clocks of a zone."""
    return parse_timestamp(text, zone)[0]


async def test_series_and_days_go_by_the_new_clocks(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Pills at eight stay pills at eight; a call at an hour stays the moment that it is."""
    clock.now = at("2026-11-25T09:00", HERE)
    told = {
        "pills": {"rrule": "FREQ=DAILY", "starts_at": at("2026-11-20T08:00", HERE)},
        "rent": {"is_date_only": True},
        "call": {},
        "blink": {"rrule": "FREQ=HOURLY", "starts_at": at("2026-11-26T08:00", HERE)},
    }
    async with app.db.begin_write() as tx:
        await set_zone(tx, line.person.id, HERE)
        for text, more in told.items():
            task = Task(
                id=f"{text:0<32}",
                person=line.person.id,
                text=text,
                language="en",
                kind="reminder",
                zone=HERE,
                due_at=at("2026-11-26T08:00", HERE),
                created_at=clock(),
                changed_at=clock(),
                **more,
            )
            await save_task(tx, task)
    await update_person(app, line.person.id, zone=THERE)

    async with app.db.begin_read() as tx:
        due = {each.text: each.due_at for each in await list_tasks(tx, line.person.id)}
    assert due == {
        "pills": at("2026-11-26T08:00", THERE),
        "rent": at("2026-11-26T08:00", THERE),
        "call": at("2026-11-26T08:00", HERE),
        "blink": at("2026-11-26T08:00", HERE),
    }
