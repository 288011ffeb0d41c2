"""Where somebody is written to unasked: not where a platform would hold it until they write."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, HOUR
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.reachable_chats import find_reachable_chat
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, tell

SET_AT = at("2026-11-18T15:00")
ASKED_AT = at("2026-11-26T18:00")


@pytest.fixture
async def phone(app: AppContext, chat_context: ChatContext) -> ChatContext:
    """The same person on a platform that takes messages for a day after they wrote."""
    name = chat_context.person.name
    found = await open_local_chat(app.db, app.clock, app.settings, person=name, channel="phone")
    async with app.db.begin_write() as tx:
        await tx.run("UPDATE chat SET channel = 'whatsapp' WHERE id = :id", id=found.chat.id)
    return replace(found, chat=replace(found.chat, channel="whatsapp"))


async def test_nothing_is_looked_at_behind_a_closed_window(
    app: AppContext, chat_context: ChatContext, phone: ChatContext, clock: FrozenClock
) -> None:
    """Looking each half hour would find the same; words on any chat plan the next look."""
    await tell(app, clock, phone, SET_AT, "My goal is to run twice a week.")
    async with app.db.begin_write() as tx:
        assert await plan_next_look(tx, chat_context.person.id, now=SET_AT + HOUR) == ASKED_AT
        assert await plan_next_look(tx, chat_context.person.id, now=ASKED_AT - HOUR) is None
    clock.now = ASKED_AT - HOUR
    await tell(app, clock, chat_context, clock.now, "Hello.")
    async with app.db.begin_write() as tx:
        assert await plan_next_look(tx, chat_context.person.id, now=ASKED_AT - HOUR) == ASKED_AT


async def test_open_chat_comes_before_one_behind_a_closed_window(
    app: AppContext, chat_context: ChatContext, phone: ChatContext, clock: FrozenClock
) -> None:
    """Even where it was asked for there; without another one it waits there."""
    await tell(app, clock, chat_context, SET_AT, "Hello.")
    await tell(app, clock, phone, SET_AT + HOUR, "Hello from the road.")
    async with app.db.begin_read() as tx:
        person, wanted = chat_context.person.id, phone.chat.id
        soon = await find_reachable_chat(tx, person, wanted, now=SET_AT + 2 * HOUR)
        later = await find_reachable_chat(tx, person, wanted, now=SET_AT + 3 * DAY)
    assert (soon and soon.chat.id, later and later.chat.id) == (wanted, chat_context.chat.id)


async def test_message_waits_where_no_chat_is_open(
    app: AppContext, chat_context: ChatContext, phone: ChatContext, clock: FrozenClock
) -> None:
    """Words elsewhere do not open a window."""
    await tell(app, clock, phone, SET_AT, "Hello from the road.")
    async with app.db.begin_read() as tx:
        found = await find_reachable_chat(tx, chat_context.person.id, now=SET_AT + 3 * DAY)
    assert found is not None
    assert (found.chat.id, found.window_ends_at) == (phone.chat.id, SET_AT + DAY)
