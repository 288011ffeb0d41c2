"""The overview of a day or week: all that is on, in its order, and what was left undone."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, HOUR, Micros
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.people import get_person_by_id
from oldfriend.proactive.impulse_store import list_impulses
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.replies.proactive_messages import review_impulses
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_edits import add_task, edit_task
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.proactive.lived_time import at, choose, list_unasked, live_until, tell

engine = both_engines
TOLD_AT = at("2026-11-18T15:00")


async def add(app: AppContext, chat_context: ChatContext, text: str, due_at: Micros) -> Task:
    """Put a reminder on the list without a message, as the page does."""
    async with app.db.begin_write() as tx:
        person = await get_person_by_id(tx, chat_context.person.id)
        decision = await add_task(tx, person, text, now=app.clock(), due_at=due_at)
        await plan_next_look(tx, person.id, now=app.clock())
    return decision.saved[0][0]


async def end(app: AppContext, chat_context: ChatContext, task: Task) -> None:
    """Tick a task off."""
    async with app.db.begin_write() as tx:
        person = await get_person_by_id(tx, chat_context.person.id)
        await edit_task(tx, person, task.id, "done", now=app.clock())


async def find_said(app: AppContext, chat_context: ChatContext, when: str) -> Message:
    """Return what was said unasked at a moment."""
    (said,) = [each for each in await list_unasked(app, chat_context) if each.at == at(when)]
    return said


async def start(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, **settings: object
) -> None:
    """Have somebody talk who wants overviews."""
    clock.now = TOLD_AT
    await tell(app, clock, chat_context, TOLD_AT, "Hello!")
    await choose(app, chat_context, **settings)


async def test_day_opens_also_with_tasks_that_no_message_asked_for(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """From the page, another program or a calendar; by the hour (ACCEPTANCE L12)."""
    await start(app, chat_context, clock, level="normal")
    await add(app, chat_context, "call the dentist", at("2026-11-19T15:00"))
    await add(app, chat_context, "feed the cat", at("2026-11-19T10:30"))
    await live_until(app, clock, at("2026-11-19T09:00"))

    said = await find_said(app, chat_context, "2026-11-19T08:00")
    assert said.text.splitlines()[1:] == ["• 10:30: “feed the cat”", "• 15:00: “call the dentist”"]


async def test_entries_that_do_not_fit_are_counted(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A weekly digest has room for more, names the days, and counts the rest (ACCEPTANCE L19)."""
    await start(app, chat_context, clock, level="off", digest="weekly")
    for index in range(28):
        await add(
            app,
            chat_context,
            f"thing {index}",
            at("2026-11-23T09:00") + index % 7 * DAY + index * HOUR // 4,
        )
    await live_until(app, clock, at("2026-11-23T08:30"))

    said = await find_said(app, chat_context, "2026-11-23T08:00")
    lines = said.text.splitlines()
    assert len(lines) == 27
    assert "23 November 2026" in lines[1] and "thing 0" in lines[1]
    assert lines[-1] == "• and 3 more"


async def test_what_is_done_meanwhile_does_not_drop_the_overview(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """An overview that waits says what is on when it is said, also what was added."""
    await start(app, chat_context, clock, level="normal")
    first = await add(app, chat_context, "call the dentist", at("2026-11-19T15:00"))
    await add(app, chat_context, "feed the cat", at("2026-11-19T10:30"))
    clock.now = at("2026-11-19T08:00")
    async with app.db.begin_write() as tx:
        assert await review_impulses(tx, chat_context.person.id, now=clock()) is not None
    await end(app, chat_context, first)
    await add(app, chat_context, "water the plants", at("2026-11-19T12:00"))
    async with app.db.begin_read() as tx:
        assert [
            each.status for each in await list_impulses(tx, chat_context.person.id, limit=9)
        ] == ["waiting"]
    await live_until(app, clock, at("2026-11-19T09:00"))

    (said,) = await list_unasked(app, chat_context)
    assert "feed the cat" in said.text
    assert "water the plants" in said.text
    assert "dentist" not in said.text


async def test_reminder_that_came_and_was_not_done_is_named_for_two_mornings(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Only where the day is opened anyway, and not once it is done."""
    await start(app, chat_context, clock, level="normal")
    await add(app, chat_context, "call the dentist", at("2026-11-19T15:00"))
    done = await add(app, chat_context, "pay the rent", at("2026-11-19T16:00"))
    for day in ("20", "21", "22"):
        await add(app, chat_context, f"swim {day}", at(f"2026-11-{day}T10:00"))
    await live_until(app, clock, at("2026-11-19T18:00"))
    await end(app, chat_context, done)
    said: list[str] = []
    for day in ("20", "21", "22"):
        await tell(app, clock, chat_context, at(f"2026-11-{day}T07:00"), "Hello!")
        await live_until(app, clock, at(f"2026-11-{day}T09:00"))
        said.append((await find_said(app, chat_context, f"2026-11-{day}T08:00")).text)

    assert ["• Still open: “call the dentist”" in each for each in said] == [True, True, False]
    assert not any("rent" in each for each in said)
