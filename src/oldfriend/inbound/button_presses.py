"""Button presses: each becomes a command of the person to whom the button was shown, once.

A press by anybody else, or below a message that is forgotten, changes nothing.
"""

from oldfriend.app.app_context import InboundContext
from oldfriend.channels.channel import WEB_CHANNEL, ButtonPress, PressAnswer
from oldfriend.channels.channel_registry import has_reply_window
from oldfriend.domain.buttons import find_buttons
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import PRESS_KEY_PREFIX, PRESSED_DETAIL, Person
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_message,
)
from oldfriend.inbound.chat_resolver import resolve_chat
from oldfriend.inbound.system_replies import find_system_phrase
from oldfriend.memory.identities import find_identity
from oldfriend.memory.message_log import find_message_by_external_id, get_message
from oldfriend.memory.people import get_chat, get_person_by_id
from oldfriend.queues.outbox import find_delivered_reply, resume_held_parts


async def handle_press(app: InboundContext, press: ButtonPress) -> PressAnswer:
    """Accept what a press says, and return what the one who pressed is told. Raises StoreError."""
    channel, address = press.chat_ref.channel, press.chat_ref.address
    async with app.db.begin_read() as tx:
        person = await find_identity(tx, channel, press.sender.address)
    if person is not None and has_reply_window(channel):  # a press opens it as words do
        async with app.db.begin_write() as tx:
            await resume_held_parts(tx, channel, address, now=app.clock())
    if person is None or not press.chat_ref.is_private:
        return PressAnswer(
            text=find_system_phrase(press.sender, person, "press_foreign"), is_used=False
        )
    return await accept_press(app, press, person)


async def accept_press(app: InboundContext, press: ButtonPress, person: Person) -> PressAnswer:
    """Accept a press of a known person in their own chat; a second one below a message is none."""
    chat_context = await resolve_chat(app.db, app.clock, person, press.chat_ref)
    chat = chat_context.chat.id
    async with app.db.begin_read() as tx:
        target = await find_delivered_reply(tx, person.id, chat, press.target_external_id)
        earlier = await find_message_by_external_id(tx, person.id, chat, press.external_id)
    if target is None:
        return PressAnswer(text=find_system_phrase(press.sender, person, "press_stale"))
    accepted = None
    if earlier is None:
        submission = MessageSubmission(
            text=press.command,
            external_id=press.external_id,
            details={PRESSED_DETAIL: target},
        )
        accepted = await accept_message(app, chat_context, submission, claim_now=False)
    if accepted is None:
        return PressAnswer(text=find_system_phrase(press.sender, person, "press_used"))
    return PressAnswer()


async def accept_page_press(
    app: InboundContext, person: PersonId, message_id: MessageId, command: str, *, claim_now: bool
) -> AcceptedMessage | None:
    """Accept the press of a button on the page; None if one below the message was pressed before.

    Raises NotFound for a message that is not there, InvalidInput for a button that it has not.
    """
    async with app.db.begin_read() as tx:
        shown = await get_message(tx, person, message_id)
        chat_context = ChatContext(
            person=await get_person_by_id(tx, person), chat=await get_chat(tx, person, shown.chat)
        )
    commands = {each.command for each in find_buttons(shown.details)}
    if shown.role != "companion" or shown.channel != WEB_CHANNEL or command not in commands:
        raise InvalidInput(localizable("no_such_button", "That message has no such button."))
    submission = MessageSubmission(
        text=command,
        external_id=f"{PRESS_KEY_PREFIX}{message_id}",
        details={PRESSED_DETAIL: message_id},
    )
    return await accept_message(app, chat_context, submission, claim_now=claim_now)
