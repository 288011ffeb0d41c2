"""Who keeps a diary is asked in the evening for what is not written yet (ACCEPTANCE L18)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.diary.diary_store import DiaryEntry, save_entries
from oldfriend.inbound.accept import ChatContext
from oldfriend.proactive.look_planner import plan_next_look
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, choose, list_decided, list_unasked, live_until, tell


async def keep_diary(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *days: int
) -> None:
    """Write an entry in the afternoon of some days of November."""
    for day in days:
        await tell(
            app, clock, chat_context, at(f"2026-11-{day}T15:00"), f"/journal Entry {day}, at home."
        )


async def list_evenings(app: AppContext, chat_context: ChatContext) -> list[int]:
    """When diary entries were asked for."""
    said = {
        each.message
        for each in await list_decided(app, chat_context)
        if each.impulse.kind == "diary"
    }
    return [each.at for each in await list_unasked(app, chat_context) if each.id in said]


async def test_evening_of_which_nothing_is_written_is_asked_for(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Not those of which something is."""
    await tell(app, clock, chat_context, at("2026-11-16T14:00"), "Hello.")
    await choose(app, chat_context, level="normal")
    await keep_diary(app, chat_context, clock, 16, 17, 18, 20)
    await live_until(app, clock, at("2026-11-20T23:00"))

    assert await list_evenings(app, chat_context) == [at("2026-11-19T20:30")]


@pytest.mark.parametrize(("level", "days"), [("shy", (16, 17, 18)), ("normal", (16, 17))])
async def test_others_are_not_asked(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    level: str,
    days: tuple[int, ...],
) -> None:
    """Whoever wants to hear little, or writes rarely."""
    await tell(app, clock, chat_context, at("2026-11-16T14:00"), "Hello.")
    await choose(app, chat_context, level=level)
    await keep_diary(app, chat_context, clock, *days)
    await live_until(app, clock, at("2026-11-22T23:00"))

    assert await list_evenings(app, chat_context) == []


async def test_entry_of_this_day_in_an_earlier_year_is_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The newest, whoever wrote it down here or brought it along (ACCEPTANCE L18)."""
    await tell(app, clock, chat_context, at("2026-11-17T14:00"), "Hello.")
    await choose(app, chat_context, level="normal")
    entries = [
        DiaryEntry(
            id=f"{year}".zfill(32),
            person=chat_context.person.id,
            text=f"Walked on the beach in {year}.",
            written_at=at(f"{year}-11-18T15:00"),
            zone=chat_context.person.zone,
            created_at=clock(),
            modified_at=clock(),
        )
        for year in (2023, 2024)
    ]
    async with app.db.begin_write() as tx:
        await save_entries(tx, chat_context.person.id, entries)
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), "Good morning.")
    async with app.db.begin_write() as tx:
        await plan_next_look(tx, chat_context.person.id, now=clock())
    await live_until(app, clock, at("2026-11-18T15:00"))

    (said,) = await list_unasked(app, chat_context)
    assert said.at == at("2026-11-18T12:00")
    assert said.text == "On this day, 18 November 2024: “Walked on the beach in 2024.”"


@pytest.mark.parametrize(
    "text",
    [
        "My grandmother died this morning.",
        "Oma ist heute gestorben.",
        "I am so worried and anxious about the results.",
        "今天外婆去世了。",
    ],
)
async def test_sad_entry_is_not_brought_up_on_its_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str
) -> None:
    """Also where nothing was learned from it."""
    await tell(app, clock, chat_context, at("2026-11-17T14:00"), "Hello.")
    await choose(app, chat_context, level="normal")
    entry = DiaryEntry(
        id="2024".zfill(32),
        person=chat_context.person.id,
        text=text,
        written_at=at("2024-11-18T15:00"),
        zone=chat_context.person.zone,
        created_at=clock(),
        modified_at=clock(),
    )
    async with app.db.begin_write() as tx:
        await save_entries(tx, chat_context.person.id, [entry])
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), "Good morning.")
    async with app.db.begin_write() as tx:
        await plan_next_look(tx, chat_context.person.id, now=clock())
    await live_until(app, clock, at("2026-11-18T15:00"))

    assert await list_unasked(app, chat_context) == []
