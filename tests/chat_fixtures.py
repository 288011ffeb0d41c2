"""Lines to talk on."""

from collections.abc import Awaitable, Callable

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import StoredReply, answer_message
from tests.clock import FrozenClock

Say = Callable[..., Awaitable[StoredReply]]


@pytest.fixture
async def chat_context(app: AppContext) -> ChatContext:
    """The owner's line on the terminal."""
    return await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")


@pytest.fixture
def say(app: AppContext, clock: FrozenClock) -> Say:
    """Say something, a minute after what came before."""

    async def say(
        text: str, *, person: str | None = None, channel: str = "terminal"
    ) -> StoredReply:
        clock.tick(minutes=1)
        return await answer_message(
            app,
            await open_local_chat(app.db, app.clock, app.settings, person=person, channel=channel),
            MessageSubmission(text=text),
        )

    return say


async def log_of(app: AppContext, chat_context: ChatContext) -> list[tuple[str, str]]:
    """Who said what on all of a person's lines."""
    async with app.db.begin_read() as tx:
        return [(m.role, m.text) for m in await list_messages(tx, chat_context.person.id)]
