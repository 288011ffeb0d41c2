"""Who keeps a diary is asked in the evening for what is not written yet (ACCEPTANCE L18)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, choose, list_decided, list_unasked, live_until, tell


async def keep_diary(app: AppContext, line: ChatContext, clock: FrozenClock, *days: int) -> None:
    """Write an entry in the afternoon of some days of November."""
    for day in days:
        await tell(app, clock, line, at(f"2026-11-{day}T15:00"), f"/journal Entry {day}, at home.")


async def list_evenings(app: AppContext, line: ChatContext) -> list[int]:
    """When diary entries were asked for."""
    said = {each.message for each in await list_decided(app, line) if each.impulse.kind == "diary"}
    return [each.at for each in await list_unasked(app, line) if each.id in said]


async def test_evening_of_which_nothing_is_written_is_asked_for(
    app: AppContext, line: ChatContext, clock: FrozenClock
) -> None:
    """Not those of which something is."""
    await tell(app, clock, line, at("2026-11-16T14:00"), "Hello.")
    await choose(app, line, level="normal")
    await keep_diary(app, line, clock, 16, 17, 18, 20)
    await live_until(app, clock, at("2026-11-20T23:00"))

    assert await list_evenings(app, line) == [at("2026-11-19T20:30")]


@pytest.mark.parametrize(("level", "days"), [("shy", (16, 17, 18)), ("normal", (16, 17))])
async def test_others_are_not_asked(
    app: AppContext, line: ChatContext, clock: FrozenClock, level: str, days: tuple[int, ...]
) -> None:
    """Whoever wants to hear little, or writes rarely."""
    await tell(app, clock, line, at("2026-11-16T14:00"), "Hello.")
    await choose(app, line, level=level)
    await keep_diary(app, line, clock, *days)
    await live_until(app, clock, at("2026-11-22T23:00"))

    assert await list_evenings(app, line) == []
