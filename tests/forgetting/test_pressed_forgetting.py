"""What was agreed to with a button is forgotten as thoroughly as what was agreed to in words."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import MessageId
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_web_chat
from oldfriend.inbound.button_presses import accept_page_press
from oldfriend.memory.deletion.audit_log import list_audit_entries
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import StoredReply, answer_message, process_chat
from oldfriend.runtime.maintenance import maintain
from oldfriend.turn.request_handlers.forget_requests import FORGET
from oldfriend.usage.tool_log import list_tool_uses
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.memory.deletion.life import rows_of

engine = both_engines

pytestmark = pytest.mark.usefixtures("settings_folder")


class Page:
    """The page of the owner, who writes there and presses buttons."""

    def __init__(self, app: AppContext, chat: ChatContext, clock: FrozenClock) -> None:
        """Nothing was said yet."""
        self.app, self.chat, self.clock = app, chat, clock

    async def says(self, text: str) -> StoredReply:
        """Say something, and have it answered."""
        self.clock.tick(minutes=1)
        return await answer_message(self.app, self.chat, MessageSubmission(text=text))

    async def presses(self, shown: MessageId, command: str) -> None:
        """Press a button, and have it answered and all that follows done."""
        self.clock.tick(minutes=1)
        person = self.chat.person.id
        accepted = await accept_page_press(self.app, person, shown, command, claim_now=True)
        assert accepted is not None
        assert accepted.lease is not None
        await process_chat(self.app, accepted.lease)
        await maintain(self.app, person, within_s=60, overdue_s=15.0)


@pytest.fixture
async def page(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> Page:
    """The owner's page."""
    chat = await open_web_chat(app.db, app.clock, chat_context.person.id)
    return Page(app, chat, clock)


async def test_forgetting_confirmed_with_a_button_is_proved(page: Page) -> None:
    """The press names the question no more, which went with the rest, and is a press still."""
    await page.says("My niece Dora collects coins.")
    question = (await page.says("/forget Dora")).reply
    await page.presses(question.id, "/yes")

    person = page.chat.person.id
    async with page.app.db.begin_read() as tx:
        (entry,) = await list_audit_entries(tx, person)
        said = await list_messages(tx, person)
        keys = await tx.rows("SELECT key FROM job_key")
    held = repr((await rows_of(page.app.db, person), keys))
    assert entry.proved_at is not None
    assert [each.details["pressed"] for each in said if each.text == "/yes"] == [""]
    assert question.id not in held


async def test_words_of_the_request_are_not_left_in_the_log_of_tools(page: Page) -> None:
    """Also if they are nobody's name, and the request itself is what said them."""
    await page.says("Dear diary, Zorblatt came to dinner.")
    question = (await page.says("/forget Zorblatt")).reply
    await page.presses(question.id, "/yes")

    person = page.chat.person.id
    async with page.app.db.begin_read() as tx:
        uses = await list_tool_uses(tx, person, limit=10)
    assert [dict(each.arguments) for each in uses if each.name == FORGET] == [{}]
    assert "Zorblatt" not in repr(await rows_of(page.app.db, person))
