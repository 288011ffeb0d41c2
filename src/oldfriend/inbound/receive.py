"""Receive: hears a platform, identifies and authorizes the sender, and accepts what it says.

An update becomes a message like any other, stored durably in the log and the inbox. Of an unknown
sender only the fact that they have written is kept.

This is the bulkhead of the channel. What cannot be stored is not confirmed, so the platform
delivers it again; an event that meets any other error is kept as a dead letter. While the platform
is unreachable, the listener waits and retries.
"""

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import InboundContext
from oldfriend.app.concurrency import run_with_watcher
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.channels.channel import (
    ButtonPress,
    Channel,
    ChannelEvent,
    ChatAvailability,
    ChatMoved,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    MessageUndelivered,
    PressAnswer,
    Reaction,
    UnreadableUpdate,
)
from oldfriend.channels.channel_registry import CHANNELS, has_reply_window
from oldfriend.channels.message_details import UNSEEN_MEDIA
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain import messages
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import (
    InvalidInput,
    NotFound,
    PlatformUnavailable,
    StoreError,
)
from oldfriend.domain.job_types import Job
from oldfriend.domain.messages import MEDIA_DETAIL, Person, is_transcribed, is_voice_message
from oldfriend.domain.time_zones import resolve_zone, suggest_zones
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    accept_edit,
    accept_message,
    store_without_reply,
)
from oldfriend.inbound.account_linking import create_person
from oldfriend.inbound.button_presses import handle_press
from oldfriend.inbound.channel_cursors import ChannelCursors
from oldfriend.inbound.chat_resolver import (
    build_edit_details,
    build_retry,
    find_logged_message,
    find_message_id,
    find_retry_target,
    load_reply_details,
    merge_album,
    resolve_chat,
    stop_current_turn,
)
from oldfriend.inbound.failed_events import find_owner, get_channel, keep_event, load_event
from oldfriend.inbound.group_messages import (
    handle_group_message,
    record_membership,
    store_group_reaction,
)
from oldfriend.inbound.link_commands import (
    is_code_command,
    parse_code,
    redeem_code,
    show_code,
    unlink_sender,
)
from oldfriend.inbound.system_replies import (
    SystemReply,
    build_system_reply,
    build_welcome,
    build_zone_reply,
    decline_message,
    find_unread_phrase,
    send_system_reply,
)
from oldfriend.inbound.withdrawn_messages import plan_withdrawal
from oldfriend.memory.hint_progress import begin_hints
from oldfriend.memory.identities import find_identity
from oldfriend.memory.people import move_chats
from oldfriend.persona.profile_names import update_person
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.queues.outages import clear_outage, record_failure
from oldfriend.queues.outbox import (
    clear_chat_blocked,
    find_block_reason,
    mark_chat_blocked,
    resume_held_parts,
)
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.tasks.zone_changes import list_moved_tasks

ZONE_COMMAND: Final = re.compile(
    r"\A\s*+/zone(?:@\w+)?(?:\s+(?P<place>\S(?:.*\S)?))?\s*", re.IGNORECASE | re.DOTALL
)
MAX_PLACE_CHARS: Final = 60
"""Characters; anything longer is no place name."""

BLOCKED_REASON: Final = "they let us in no more"


async def handle_event(app: InboundContext, event: ChannelEvent) -> SystemReply | None:
    """Handle an event durably, and return the system reply to send at once, if any.

    Raises StoreError.
    """
    match event:
        case IncomingMessage():
            return await handle_message(app, event)
        case Reaction():
            is_private = event.chat_ref.is_private
            await (store_private_reaction if is_private else store_group_reaction)(app, event)
        case MessageDeletion() | MessageUndelivered():
            await plan_withdrawal(app.db, app.clock, event)
        case MembershipChange():
            await record_membership(app.db, app.clock, event)
        case ChatAvailability():
            await record_availability(app.db, app.clock, event)
        case ChatMoved():
            async with app.db.begin_write() as tx:
                await move_chats(
                    tx, event.channel, old_address=event.old_address, new_address=event.new_address
                )
        case UnreadableUpdate():
            log_event(
                "update-unreadable", channel=event.channel, update=event.update_id, why=event.reason
            )
    return None


async def handle_message(app: InboundContext, incoming: IncomingMessage) -> SystemReply | None:
    """Handle a message; once more if its sender has become one with somebody else meanwhile."""
    is_private = incoming.chat_ref.is_private
    handle = handle_private_message if is_private else handle_group_message
    try:
        return await handle(app, incoming)
    except NotFound:
        return await handle(app, incoming)


async def handle_private_message(
    app: InboundContext, incoming: IncomingMessage
) -> SystemReply | None:
    """Handle a message of a known sender, or of one who sends a link code."""
    known = await identify_sender(app.db, app.clock, app.settings, incoming)
    pairs_by_code = is_paired_by_code(incoming.chat_ref.channel)
    takes_codes = pairs_by_code or known is not None
    if takes_codes and (code := parse_code(incoming)) is not None:
        reply = await redeem_code(app, incoming, known, code)
        if reply is not None or known is None or code.is_command:
            return reply
    if takes_codes and incoming.is_edit and is_code_command(incoming.text):
        return None
    if known is None:
        return (
            await decline_message(app.db, app.clock, incoming, "stranger")
            if pairs_by_code
            else None
        )
    if (place := parse_zone_command(incoming)) is not None:
        return await apply_zone_command(app, incoming, known, place)
    return await handle_command(app, incoming, known)


async def handle_command(
    app: InboundContext, incoming: IncomingMessage, known: Person
) -> SystemReply | None:
    """Do at once what only a channel can; accept everything else to be answered."""
    name = incoming.text.strip().partition("@")[0].lower()
    if name in {"/link", "/unlink"} and incoming.is_own_words and not incoming.is_edit:
        return await (show_code if name == "/link" else unlink_sender)(app, incoming, known)
    chat_context = await resolve_chat(app.db, app.clock, known, incoming.chat_ref)
    match name:
        case "/start":
            async with app.db.begin_write() as tx:
                await begin_hints(tx, known.id, now=app.clock())
            return build_welcome(app.clock, incoming, known, "greeting")
        case "/stop":
            await stop_current_turn(app, chat_context)
            return build_system_reply(incoming, chat_context.person, "stopped")
    return await accept_chat_message(app, chat_context, incoming)


def is_paired_by_code(channel: str) -> bool:
    """Return whether a stranger may send a code on a channel, and is told so."""
    spec = CHANNELS.get(channel)
    return spec is None or spec.pairs_by_code


async def accept_chat_message(
    app: InboundContext, chat_context: ChatContext, incoming: IncomingMessage
) -> SystemReply | None:
    """Accept a message to be answered; an unreadable one is stored, and the sender is told."""
    async with app.db.begin_read() as tx:
        incoming = await merge_album(tx, chat_context, incoming)
        logged = await find_logged_message(tx, chat_context, incoming)
        details = {**incoming.details, **await load_reply_details(tx, chat_context, incoming)}
        retry_target = await find_retry_target(
            tx, chat_context, incoming, details, author=chat_context.person.id
        )
    if incoming.is_edit:
        await apply_private_edit(app, chat_context, incoming, logged)
    elif logged is None and retry_target is not None:
        retry = build_retry(build_private_message(incoming, details), retry_target)
        await accept_message(app, chat_context, retry, claim_now=False)
    elif (
        logged is None
        and not incoming.is_readable
        and not (is_voice_message(details) and app.transcriber)
    ):
        await store_without_reply(app, chat_context, build_private_message(incoming, details))
        return build_system_reply(incoming, chat_context.person, find_unread_phrase(details))
    elif logged is None:
        await accept_message(
            app, chat_context, build_private_message(incoming, details), claim_now=False
        )
        if incoming.is_own_words and details.get(MEDIA_DETAIL) in UNSEEN_MEDIA:
            return build_system_reply(incoming, chat_context.person, "caption_only")
    return None


def build_private_message(incoming: IncomingMessage, details: dict[str, str]) -> MessageSubmission:
    """Build the submission of a private message."""
    return MessageSubmission(
        text=incoming.text,
        at=incoming.at,
        external_id=incoming.external_id,
        number=incoming.number,
        trust="person"
        if incoming.is_own_words and (incoming.is_readable or is_voice_message(details))
        else "outside",
        details=details,
    )


async def apply_private_edit(
    app: InboundContext,
    chat_context: ChatContext,
    incoming: IncomingMessage,
    previous: messages.Message | None,
) -> None:
    """Apply an edit to a logged message; nothing happens if that is unknown or forgotten."""
    if (
        previous is None
        or previous.text == messages.sanitize_text(incoming.text)
        or is_transcribed(previous.details)
    ):
        return
    if previous.turn is not None:
        await accept_edit(app, chat_context, previous.id, incoming.text)
    else:  # there was nothing to answer before, and there is now
        submission = replace(
            build_private_message(incoming, build_edit_details(previous)),
            external_id=incoming.edit_id,
        )
        await accept_message(app, chat_context, submission, claim_now=False)


async def store_private_reaction(app: InboundContext, reaction: Reaction) -> None:
    """Store a reaction of a known person; it is not answered."""
    async with app.db.begin_read() as tx:
        known = await find_identity(tx, reaction.chat_ref.channel, reaction.sender.address)
    if known is None or not reaction.emoji:
        return
    chat_context = await resolve_chat(app.db, app.clock, known, reaction.chat_ref)
    async with app.db.begin_read() as tx:
        target_id = await find_message_id(
            tx, known.id, chat_context.chat.id, reaction.target_external_id
        )
    details = {} if target_id is None else {"reacts_to": target_id}
    submission = MessageSubmission(
        text=f"[{reaction.emoji}]",
        at=reaction.at,
        external_id=reaction.external_id,
        details=details,
    )
    await store_without_reply(app, chat_context, submission)


async def record_availability(db: Database, clock: Clock, availability: ChatAvailability) -> None:
    """Record whether we can still send to a chat."""
    async with db.begin_write() as tx:
        if availability.is_available:
            await clear_chat_blocked(
                tx, availability.chat_ref.channel, availability.chat_ref.address
            )
        else:
            now = clock()
            await mark_chat_blocked(
                tx,
                availability.chat_ref.channel,
                availability.chat_ref.address,
                BLOCKED_REASON,
                now=now,
            )


async def identify_sender(
    db: Database, clock: Clock, settings: Settings, incoming: IncomingMessage
) -> Person | None:
    """Return the sender; creates a person if the owner has allowed their address."""
    channel, address = incoming.chat_ref.channel, incoming.sender.address
    async with db.begin_read() as tx:
        known = await find_identity(tx, channel, address)
        is_closed = await find_block_reason(tx, channel, incoming.chat_ref.address) is not None
    if is_closed or has_reply_window(channel):
        async with db.begin_write() as tx:
            await clear_chat_blocked(tx, channel, incoming.chat_ref.address)
            await resume_held_parts(tx, channel, incoming.chat_ref.address, now=clock())
    if known is None and address in settings.get_allowed_addresses(channel):
        return await create_person(db, clock, settings, channel, incoming.sender)
    return known


def parse_zone_command(incoming: IncomingMessage) -> str | None:
    """Return the place given with the command, perhaps empty; None if it is another message."""
    found = (
        ZONE_COMMAND.fullmatch(incoming.text)
        if incoming.is_own_words and not incoming.is_edit
        else None
    )
    return None if found is None else found["place"] or ""


async def apply_zone_command(
    app: InboundContext, incoming: IncomingMessage, person: Person, place: str
) -> SystemReply:
    """Set the time zone of a place, and reply with the zone or with suggestions."""
    if not place:
        return build_zone_reply(app.clock, incoming, person, "zone_is")
    try:
        zone = await asyncio.to_thread(resolve_zone, place)  # the list of zones is read from disk
    except InvalidInput:
        name = place[:MAX_PLACE_CHARS]
        near = await asyncio.to_thread(suggest_zones, name)
        phrase = "zone_near" if near else "zone_unknown"
        return build_system_reply(incoming, person, phrase, place=name, near=", ".join(near))
    async with app.db.begin_read() as tx:
        tasks = await list_moved_tasks(
            tx,
            person.id,
            earlier=person.zone,
            zone=zone,
            now=app.clock(),
            is_guessed=person.has_guessed_zone,
        )
    updated = await update_person(app, person.id, zone=zone)
    reply = build_zone_reply(app.clock, incoming, updated, "zone_now")
    if not tasks:
        return reply
    language = choose_language(person.language, incoming.sender.language)
    wording = TaskWording(language, zone=zone, now=app.clock())
    moved = wording.say("moved_guessed_zone" if person.has_guessed_zone else "moved_zone")
    return replace(reply, text=f"{reply.text} {moved}")


MAX_BACKOFF_S: Final = 30.0
MAX_SYSTEM_REPLIES: Final = 16
"""Capacity of the queue of system replies; more of them are dropped."""


class StopRequested(Exception):
    """The process is about to end."""


async def listen_on_channel(name: str, app: InboundContext, stopping: asyncio.Event) -> None:
    """Receive from a platform until told to stop; if it is not connected, only wait for the stop.

    Raises PlatformRejected.
    """
    channel = app.channels.get(name)
    if channel is None:
        await stopping.wait()
        return
    log_event("listening", channel=name)
    listener = ChannelListener(app, name, channel)
    with suppress(StopRequested):
        await run_with_watcher(
            raise_on_stop(stopping),
            run_with_watcher(listener.send_system_replies(), listener.listen()),
        )


async def raise_on_stop(stopping: asyncio.Event) -> None:
    """Raise StopRequested when it is time to stop."""
    await stopping.wait()
    raise StopRequested


class ChannelListener:
    """Receives the events of one platform."""

    def __init__(self, app: InboundContext, name: str, channel: Channel) -> None:
        """Start without any failures."""
        self._app = app
        self._channel = channel
        self._cursors = ChannelCursors(app, name)
        self._name = name
        self._system_replies: asyncio.Queue[SystemReply] = asyncio.Queue(MAX_SYSTEM_REPLIES)
        self._failures = 0
        self._may_be_away = True  # as another process may have left it

    async def listen(self) -> None:
        """Listen forever, backing off while the platform or the database is unavailable."""
        while True:
            try:
                await self._channel.listen(self._handle, self._cursors)
            except (PlatformUnavailable, StoreError) as error:
                self._failures += 1
                if isinstance(error, PlatformUnavailable):
                    await self._record_failure()
                log_warning("channel-failed", error, channel=self._name, times=self._failures)
                await asyncio.sleep(compute_backoff_s(error, self._failures))

    async def _handle(self, event: ChannelEvent) -> PressAnswer | None:
        """Handle one event, or keep it after an error about it. Raises StoreError."""
        answer = reply = None
        try:
            if isinstance(event, ButtonPress):
                answer = await handle_press(self._app, event)
            else:
                reply = await handle_event(self._app, event)
        except StoreError:
            raise
        except Exception as error:
            log_warning("event-failed", error, what=type(event).__name__)
            await self._keep(event, error)
            return None
        self._failures = 0
        if reply is not None and not self._system_replies.full():
            self._system_replies.put_nowait(reply)
        await self._clear_outage()
        return answer

    async def _record_failure(self) -> None:
        """Record that the platform was not reached, where the database is."""
        self._may_be_away = True
        with suppress(StoreError):
            async with self._app.db.begin_write() as tx:
                await record_failure(tx, self._name, now=self._app.clock())

    async def _clear_outage(self) -> None:
        """Record that the platform is reached again, if it was not and the database is there."""
        if self._may_be_away:
            with suppress(StoreError):
                async with self._app.db.begin_write() as tx:
                    await clear_outage(tx, self._name)
                self._may_be_away = False

    async def _keep(self, event: ChannelEvent, error: Exception) -> None:
        """Keep an event that was not handled, if we know whose it is. Raises StoreError."""
        app = self._app
        try:
            owner = await find_owner(app.db, event)
            if owner is None and isinstance(event, IncomingMessage) and event.chat_ref.is_private:
                sender = await identify_sender(app.db, app.clock, app.settings, event)
                owner = None if sender is None else sender.id
            is_kept = owner is not None and await keep_event(
                app.db, app.clock, event, error, owner=owner
            )
        except StoreError:
            raise
        except Exception as unexpected:
            log_warning("event-lost", unexpected, what=type(event).__name__)
            return
        if not is_kept:
            log_warning("event-lost", error, what=type(event).__name__)

    async def send_system_replies(self) -> None:
        """Send queued system replies; one that cannot be sent at once is dropped."""
        while True:
            await send_system_reply(self._channel, await self._system_replies.get())


async def retry_event(app: InboundContext, job: Job) -> None:
    """Handle an event that could not be handled when it came; not an edit that is outdated."""
    event = await load_event(app.db, job)
    if event is None:
        return
    if isinstance(event, ButtonPress):
        await handle_press(app, event)  # whoever pressed is told nothing any more
        return
    reply = await handle_event(app, event)
    channel = app.channels.get(get_channel(event))
    if reply is not None and channel is not None:
        await send_system_reply(channel, reply)


def compute_backoff_s(error: PlatformUnavailable | StoreError, failures: int) -> float:
    """Return how many seconds to wait before listening again."""
    asked_s = error.retry_after_s if isinstance(error, PlatformUnavailable) else None
    return max(asked_s or 0.0, min(MAX_BACKOFF_S, 2.0 ** (failures - 2)))
