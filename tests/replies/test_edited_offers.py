"""A time that is being asked about follows an edit of the message that told it."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.edited_requests import edit_answered
from oldfriend.tasks.task_store import list_tasks
from tests.chat_fixtures import Say

TRAIN = "wake me up in time for the 7am train tomorrow"


async def edit_first(app: AppContext, chat_context: ChatContext, text: str) -> str:
    """Edit the first message of the person; return what is said of it."""
    async with app.db.begin_read() as tx:
        said = await list_messages(tx, chat_context.person.id)
    message = next(each for each in said if each.role == "person")
    return (await edit_answered(app, message, text))[1]


async def list_set(app: AppContext, chat_context: ChatContext) -> list[tuple[str, str]]:
    """The state and the question of each task."""
    async with app.db.begin_read() as tx:
        tasks = await list_tasks(tx, chat_context.person.id)
    return [(each.status, (each.question or "").partition(" ")[0]) for each in tasks]


async def test_another_time_is_offered_anew(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """And a yes is one to the new time."""
    asked = await say(TRAIN)
    told = await edit_first(app, chat_context, TRAIN.replace("7am", "8am"))
    accepted = await say("yes")

    assert "07:00" in asked.reply.text
    assert "08:00" in told
    assert "08:00" in accepted.reply.text
    assert await list_set(app, chat_context) == [("open", "")]


@pytest.mark.parametrize("edited", ["I took the 7am train yesterday", "I like trains."])
async def test_offer_is_dropped_when_nothing_is_asked_any_more(
    app: AppContext, chat_context: ChatContext, say: Say, edited: str
) -> None:
    """A yes that comes later sets nothing."""
    await say(TRAIN)
    told = await edit_first(app, chat_context, edited)
    assert await list_set(app, chat_context) == []
    assert "?" not in told
    await say("yes")
    assert await list_set(app, chat_context) == []
