"""All reminders are cancelled at the person's own yes, and only those that they were shown."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.memory.people import get_person
from oldfriend.tasks.task_store import list_tasks
from tests.chat_fixtures import Say


async def open_texts(app: AppContext) -> list[str]:
    """What is on the list."""
    async with app.db.begin_read() as tx:
        person = await get_person(tx, None)
        return [each.text for each in await list_tasks(tx, person.id, now=app.clock())]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Cancel everything!", "yes"),
        ("/cancel all", "Yes please"),
        ("/Cancel@friend everything", "/yes"),
        ("Lösche alles", "ja"),
        ("全部取消", "是"),
        ("Annule tout.", "oui"),
        ("Cancela todo", "sí"),
    ],
)
async def test_all_are_cancelled_at_a_yes(
    app: AppContext, say: Say, asked: str, answer: str
) -> None:
    """Not before; they are shown first."""
    await say("Remind me tomorrow at 9 to call Eva")
    await say("/todo buy milk")
    question = (await say(asked)).reply
    assert "call Eva" in question.text
    assert "buy milk" in question.text
    assert len(await open_texts(app)) == 2

    told = (await say(answer)).reply.text
    assert await open_texts(app) == []
    assert "2" in told


async def test_anything_else_leaves_all(app: AppContext, say: Say) -> None:
    """And so does a no."""
    await say("Remind me tomorrow at 9 to call Eva")
    for answer in ("no", "What is my cat called?"):
        await say("cancel everything")
        await say(answer)
        await say("yes")
        assert await open_texts(app) == ["call Eva"]


async def test_only_reminders_are_cancelled(app: AppContext, say: Say) -> None:
    """Where only they were named."""
    await say("Remind me tomorrow at 9 to call Eva")
    await say("/todo buy milk")
    assert "buy milk" not in (await say("delete all my reminders")).reply.text
    await say("yes")
    assert await open_texts(app) == ["buy milk"]


async def test_what_is_about_something_is_cancelled(app: AppContext, say: Say) -> None:
    """Also what is due on a day; the rest stays, and nothing is taken for forgetting."""
    await say("Remind me tomorrow at 15:00 to call the dentist")
    await say("Remind me tomorrow at 16:00 to pay the dentist")
    await say("Remind me in three days at 9:00 to call Eva")

    asked = (await say("delete all reminders about the dentist")).reply.text
    assert "call the dentist" in asked
    assert "Eva" not in asked
    await say("yes")
    assert await open_texts(app) == ["call Eva"]

    await say("Remind me tomorrow at 9:00 to buy milk")
    asked = (await say("cancel all my reminders for tomorrow")).reply.text
    assert "Shall I cancel it?" in asked
    await say("yes")
    assert await open_texts(app) == ["call Eva"]
    assert "nothing like that" in (await say("delete all reminders about the boat")).reply.text


async def test_what_was_set_meanwhile_stays(app: AppContext, say: Say) -> None:
    """On another channel, say: it was not shown."""
    await say("Remind me tomorrow at 9 to call Eva")
    await say("cancel all my reminders")
    await say("Remind me tomorrow at 10 to water the plants", channel="phone")
    await say("yes")
    assert await open_texts(app) == ["water the plants"]


async def test_nothing_to_cancel_is_said(app: AppContext, say: Say) -> None:
    """Then nothing is asked."""
    assert "nothing of that to cancel" in (await say("cancel everything")).reply.text
    assert "waiting for no answer" in (await say("/yes")).reply.text
    assert await open_texts(app) == []
