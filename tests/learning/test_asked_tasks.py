"""What somebody asked to be reminded of is on their list once, and no promise beside it."""

import pytest

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import MemoryKind
from oldfriend.learning.asked_tasks import drop_asked
from oldfriend.learning.extraction import Claim, Extraction, Quote
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.message_log import list_messages
from oldfriend.runtime.learn_now import learn_now
from tests.engines import both_engines
from tests.tasks.test_reminders import Desk, at, desk

engine = both_engines
__all__ = ["desk", "engine"]


async def read(desk: Desk, kind: MemoryKind, quote: str, *, due_at: Micros | None = None) -> bool:
    """Whether what a reader finds in the message that holds some words is kept."""
    async with desk.app.db.begin_read() as tx:
        messages = await list_messages(tx, desk.chat_context.person.id)
    (message,) = [each for each in messages if each.role == "person" and quote in each.text]
    claim = Claim(
        kind=kind, text=quote, quotes=(Quote(message=message.id, text=quote),), due_at=due_at
    )
    kept = await drop_asked(desk.app.db, messages, Extraction(author="extract/1", claims=(claim,)))
    return bool(kept.claims)


@pytest.mark.parametrize("change", ["", "cancel the dentist reminder", "move it to Friday at 4pm"])
async def test_reminder_is_no_promise_beside(desk: Desk, change: str) -> None:
    """As it was asked for, moved or cancelled (one event, one record)."""
    await desk.say("Remind me on Thursday at 3pm to go to the dentist")
    if change:
        await desk.say(change, minutes=5)

    assert not await read(desk, "commitment", "go to the dentist")
    assert not await read(desk, "expectation", "go to the dentist", due_at=at("2026-11-26T15:00"))


async def test_what_is_told_beside_a_reminder_is_kept(desk: Desk) -> None:
    """An event of another time, what others do, and what is no plan."""
    await desk.say("I have the dentist on Thursday at 3pm, remind me an hour before")
    await desk.say("My sister Ana is a nurse. Remind me on Friday at 5pm to buy flowers for her.")

    told = "I have the dentist on Thursday at 3pm"
    assert await read(desk, "expectation", told, due_at=at("2026-11-26T15:00"))
    assert await read(desk, "quoted_fact", "My sister Ana is a nurse")
    assert await read(desk, "commitment", "My sister Ana is a nurse")


async def test_rules_note_no_request_for_a_reminder(desk: Desk) -> None:
    """Which begins like an order to keep something in mind."""
    await desk.say("Don't forget to remind me about my exam on Friday at 9am")
    await learn_now(desk.app, desk.chat_context.person.id, cut_reason="asked")

    async with desk.app.db.begin_read() as tx:
        assert await list_memories(tx, desk.chat_context.person.id) == []
    assert [each.text for each in await desk.tasks()] == ["my exam"]
