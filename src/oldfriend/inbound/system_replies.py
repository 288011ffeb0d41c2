"""System replies: single lines sent at once on a platform, outside of any chat and not stored."""

from dataclasses import dataclass

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel_events import IncomingMessage, Sender
from oldfriend.domain.people import Person
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.queues.delivery_log import record_stranger_message


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReply:
    """A line to send at once that is part of no conversation; best effort, and not stored."""

    address: str
    text: str


async def decline_message(
    app: AppContext, incoming: IncomingMessage, phrase: str, *, limit_address: str | None = None
) -> SystemReply | None:
    """Count a message without storing it, and reply politely once a day per address."""
    address = incoming.chat_ref.address if limit_address is None else limit_address
    async with app.db.begin_write() as tx:
        is_first = await record_stranger_message(
            tx, incoming.chat_ref.channel, address, now=app.clock()
        )
    return build_system_reply(incoming, None, phrase) if is_first else None


def build_system_reply(
    incoming: IncomingMessage, person: Person | None, phrase: str, **values: str
) -> SystemReply:
    """Build a system reply in the language that suits the reader, with ``values`` filled in."""
    language = choose_language(
        person.language if person else None, find_sender_language(incoming.sender)
    )
    text = load_phrases(language).phrases[phrase]
    return SystemReply(
        address=incoming.chat_ref.address, text=text.format(**values) if values else text
    )


def find_sender_language(sender: Sender) -> str | None:
    """Return the language that the platform reports for a sender."""
    return sender.language
