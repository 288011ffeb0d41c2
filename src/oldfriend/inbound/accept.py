"""Accept: stores a message in the log and the inbox in one transaction.

Receipt may be confirmed to the sender only after that: whatever crashes from then on, the message
is answered.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.app.app_context import InboundContext
from oldfriend.app.deletion_filter import is_forgotten_delivery, lift_tombstone
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.notifications import QUEUES
from oldfriend.channels.channel import REMOTE_CHANNELS, WEB_CHANNEL
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import ChatId, MessageId, PersonId, TurnId, new_id
from oldfriend.domain.job_types import Lease
from oldfriend.domain.messages import (
    MAX_TEXT_CHARS,
    PRESSED_DETAIL,
    Chat,
    Companion,
    Message,
    Person,
    TrustClass,
    UnloggedMessage,
    sanitize_text,
)
from oldfriend.inbound.audio_storage import StoredAudio, attach_audio
from oldfriend.inbound.system_replies import STOPPED_MARKER, write_marker
from oldfriend.lang.detection import detect_language
from oldfriend.learning.learning_scheduler import enqueue_learning_for_message, reopen_for_messages
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.memory.message_log import (
    WriteTarget,
    edit_message,
    get_message,
    write_message,
)
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_identity,
    ensure_owner,
    ensure_person,
    get_companion,
    get_person_by_id,
    lock_person,
    set_zone,
)
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.queues.inbox import (
    BurstItem,
    InboxPayload,
    enqueue_inbox,
    find_joinable_turn,
    is_turn_waiting,
    withdraw_turn,
)
from oldfriend.queues.queue import claim_jobs
from oldfriend.queues.rate_limit import reserve_slot
from oldfriend.search.document_terms import encode_document_terms
from oldfriend.tasks.zone_changes import move_tasks_to_zone
from oldfriend.turn.intent import Addressee, perceive
from oldfriend.turn.message_worth import is_worth_finding

PRECOMPUTE_CHARS: Final = 5_000
"""Texts of at least so many characters take a while to be tokenized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What storing the messages of a channel needs."""

    clock: Clock
    settings: Settings
    is_remote: bool  # whoever writes may be in another time zone than this machine
    debounce_s: float  # seconds of silence before an answer
    can_transcribe: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContext:
    """A person and the chat in which they talk with the companion."""

    person: Person
    chat: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAuthor:
    """The author of a group message, as the memories of the group and its members know them."""

    name: str
    id: str  # the id of the person, if they are known here


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSubmission:
    """A message as it arrives; without a time and zone it was said here and now."""

    text: str
    at: Micros | None = None
    zone: str | None = None
    external_id: str | None = None  # the channel's id of the message, which a redelivery repeats
    number: int | None = None  # set if the channel numbers its messages
    trust: TrustClass = "person"  # "outside": passed on by the person, not said by them
    details: Mapping[str, str] = field(default_factory=dict)
    audio: StoredAudio | None = None  # the recording, if it is kept
    language: str | None = None  # in which it was heard, as far as its words do not tell
    author: MessageAuthor | None = None  # who says it in a group; None: the person

    @property
    def is_press(self) -> bool:
        """Tell whether a button said it; then it is a turn of its own."""
        return PRESSED_DETAIL in self.details


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedMessage:
    """A message that is in the log and waits for its answer; with a lease it is ours to answer."""

    message: Message
    lease: Lease | None


async def open_local_chat(
    db: Database, clock: Clock, settings: Settings, *, person: str | None, channel: str
) -> ChatContext:
    """Return the chat of a person (None: the owner) on a channel, creating both if new.

    Raises InvalidInput for a platform, which has addresses of its own.
    """
    if channel in CHANNELS:
        raise InvalidInput(f"Talk on {channel} itself: oldfriend connect {channel}")
    now, zone = clock(), settings.zone
    async with db.begin_write() as tx:
        speaker = await ensure_owner(tx, now=now, zone=zone)
        if person is not None:
            speaker = await ensure_person(tx, person, now=now, zone=zone)
        return await ensure_local_chat(tx, speaker, channel, now=now)


async def open_web_chat(db: Database, clock: Clock, person: PersonId) -> ChatContext:
    """Return the web chat of a person who is signed in, creating it if new. Raises NotFound."""
    async with db.begin_write() as tx:
        await lock_person(tx, person)  # so that nobody renames them in the meantime
        speaker = await get_person_by_id(tx, person)
        return await ensure_local_chat(tx, speaker, WEB_CHANNEL, now=clock())


async def ensure_local_chat(
    tx: Transaction, person: Person, channel: str, *, now: Micros
) -> ChatContext:
    """Return the chat of a person on a channel that knows people by name, creating it if new."""
    companion = await ensure_companion(tx, now=now)
    chat = await ensure_chat(
        tx, person, companion, channel=channel, address=person.name, title=channel, now=now
    )
    await ensure_identity(tx, person.id, channel=chat.channel, address=person.name, now=now)
    return ChatContext(person=person, chat=chat)


def build_intake(app: InboundContext, channel: str) -> Intake:
    """Build what storing messages of a channel needs."""
    return Intake(
        clock=app.clock,
        settings=app.settings,
        is_remote=channel in REMOTE_CHANNELS or channel in app.platforms,
        debounce_s=app.get_debounce_s(channel),
        can_transcribe=app.transcriber is not None,
    )


async def accept_message(
    app: InboundContext,
    chat_context: ChatContext,
    submission: MessageSubmission,
    *,
    claim_now: bool,
) -> AcceptedMessage | None:
    """Store a message and enqueue it before anything that can fail.

    With ``claim_now`` the chat's lease is taken at once if it is free. Returns None if the message
    was delivered before. Raises InvalidInput for a text that is empty or too long.
    """
    if not submission.text.strip():
        raise InvalidInput(localizable("empty_message", "The message is empty. Write something."))
    app.on_crash_point("accept")
    await precompute_terms(app.settings, chat_context, submission.text)
    intake = build_intake(app, chat_context.chat.channel)
    async with app.db.begin_write() as tx:
        message = await store_and_enqueue(tx, intake, chat_context, submission)
        lease = None
        if message is not None and claim_now:
            lease = await claim_chat(tx, app, chat_context.chat.id)
    app.on_crash_point("accepted")
    app.notifier.notify("inbox")
    return None if message is None else AcceptedMessage(message=message, lease=lease)


async def precompute_terms(settings: Settings, chat_context: ChatContext, text: str) -> None:
    """Tokenize a long text outside the event loop, so that the write finds the result cached."""
    if PRECOMPUTE_CHARS <= len(text) <= MAX_TEXT_CHARS:
        fallback = chat_context.person.language or settings.language or "en"
        text = sanitize_text(text)
        language = detect_language(text, fallback=fallback)
        await asyncio.to_thread(encode_document_terms, text, language=language)


async def store_and_enqueue(
    tx: Transaction, intake: Intake, chat_context: ChatContext, submission: MessageSubmission
) -> Message | None:
    """Write the message to the log and a job for it to the inbox; None if it is known already.

    A message that only asks or greets is stored like any other, but not indexed for search: asking
    again must not find the question in place of its answer.
    """
    now, settings = intake.clock(), intake.settings
    person = await get_person_by_id(tx, chat_context.person.id)
    turn = await find_pending_turn(tx, intake, chat_context, submission) or TurnId(new_id(now))
    is_searchable = await is_informative(tx, intake.clock, settings, person, submission)
    message = await store_message(
        tx, intake, chat_context.chat, person, submission, turn_id=turn, findable=is_searchable
    )
    if message is None:
        return None
    if is_searchable and submission.trust == "person":
        await lift_tombstone(tx, settings, person.id, message.text)
    limit = settings.limits.messages_per_minute
    earliest = await reserve_slot(tx, person.id, per_minute=limit, now=now)
    payload = InboxPayload(
        kind="said",
        message=message.id,
        version=message.version,
        turn=turn,
        chars=len(submission.text),
        number=submission.number,
        dedup_key=submission.external_id,
        speaker=None if submission.author is None else submission.author.id,
        is_alone=submission.is_press,
    )
    await enqueue_inbox(
        tx,
        chat_context.chat.id,
        person.id,
        payload,
        debounce_s=intake.debounce_s,
        now=now,
        not_before=earliest,
    )
    return message


async def find_pending_turn(
    tx: Transaction, intake: Intake, chat_context: ChatContext, submission: MessageSubmission
) -> TurnId | None:
    """Return the pending turn that this message continues, if there is one."""
    piece = BurstItem(
        sender=submission.author.id if submission.author else chat_context.person.id,
        number=submission.number,
        chars=len(submission.text),
        at=intake.clock(),
        is_alone=submission.is_press,
    )
    return await find_joinable_turn(tx, chat_context.chat.id, piece, debounce_s=intake.debounce_s)


async def is_informative(
    tx: Transaction, clock: Clock, settings: Settings, person: Person, submission: MessageSubmission
) -> bool:
    """Return whether a message says something worth finding later, and is not only a question."""
    if submission.trust == "outside":
        return True
    addressee = build_addressee(await ensure_companion(tx, now=clock()), person, settings)
    return tells_something(submission.text, addressee)


def tells_something(text: str, addressee: Addressee) -> bool:
    """Tell whether a text is more than a question, a command or a bare number."""
    return is_worth_finding(text, perceive(text, addressee))


async def store_overheard(
    tx: Transaction, intake: Intake, chat_context: ChatContext, submission: MessageSubmission
) -> Message | None:
    """Store a message said to others, to be found and learned from later; None if it is known."""
    now, settings = intake.clock(), intake.settings
    person = await get_person_by_id(tx, chat_context.person.id)
    is_searchable = await is_informative(tx, intake.clock, settings, person, submission)
    message = await store_message(
        tx, intake, chat_context.chat, person, submission, turn_id=None, findable=is_searchable
    )
    if message is None or not is_searchable:
        return message
    if submission.trust == "person":
        await lift_tombstone(tx, settings, person.id, message.text)
    await plan_embedding(tx, now=now)
    await enqueue_learning_for_message(tx, settings, person.id, message.session, now=now)
    return message


async def store_without_reply(
    app: InboundContext, chat_context: ChatContext, submission: MessageSubmission
) -> Message | None:
    """Store a message that needs no answer, such as a reaction; None if it is known."""
    intake = build_intake(app, chat_context.chat.channel)
    async with app.db.begin_write() as tx:
        return await store_without_reply_tx(tx, intake, chat_context, submission)


async def store_without_reply_tx(
    tx: Transaction, intake: Intake, chat_context: ChatContext, submission: MessageSubmission
) -> Message | None:
    """Store a message that needs no answer in the caller's transaction; None if it is known."""
    person = await get_person_by_id(tx, chat_context.person.id)
    return await store_message(
        tx, intake, chat_context.chat, person, submission, turn_id=None, findable=False
    )


async def store_message(
    tx: Transaction,
    intake: Intake,
    chat: Chat,
    person: Person,
    submission: MessageSubmission,
    *,
    turn_id: TurnId | None,
    findable: bool,
) -> Message | None:
    """Write a message to the log, in the session of its time; None if it is known.

    Messages that were forgotten count as known, too: a redelivery does not bring them back. Whoever
    talks at this machine is in its time zone unless they have chosen another; for other channels
    the stored zone applies.
    """
    now, settings = intake.clock(), intake.settings
    if submission.external_id is not None and await is_forgotten_delivery(
        tx, settings, chat, submission.external_id
    ):
        return None
    zone = person.zone if intake.is_remote or person.has_chosen_zone else settings.zone
    if person.zone != zone:  # the person has travelled
        await set_zone(tx, person.id, zone)
        await move_tasks_to_zone(
            tx,
            person.id,
            earlier=person.zone,
            zone=zone,
            now=now,
            is_guessed=person.has_guessed_zone,
        )
    at = now if submission.at is None else submission.at
    target = WriteTarget(
        chat=chat,
        session=await ensure_open_session(tx, chat, at),
        turn=turn_id,
        language=await find_expected_language(tx, chat, submission)
        or person.language
        or settings.language
        or "en",
    )
    unlogged = UnloggedMessage(
        role="other" if submission.author else "person",
        speaker=submission.author.name if submission.author else person.name,
        author=submission.author.id if submission.author else None,
        text=submission.text,
        at=at,
        zone=submission.zone or zone,
        trust=submission.trust,
        external_id=submission.external_id,
        details=submission.details,
    )
    message = await write_message(tx, target, unlogged, now=now, is_searchable=findable)
    if message is not None and submission.audio is not None:
        await attach_audio(tx, submission.audio, message.id, kind="heard", now=now)
    return message


async def find_expected_language(
    tx: Transaction, chat: Chat, submission: MessageSubmission
) -> str | None:
    """Return the language that is to be expected: of a press, that of what the button is below;
    else the one in which it was heard, or that is usual in the chat.
    """
    pressed = submission.details.get(PRESSED_DETAIL)
    if pressed is not None:
        return (await get_message(tx, chat.person, MessageId(pressed))).language
    return submission.language or await find_chat_language(tx, chat.person, chat.id)


async def accept_edit(
    app: InboundContext, chat_context: ChatContext, message_id: MessageId, text: str
) -> Message:
    """Store a new version of a message and notify the turn that answers it.

    Raises NotFound, InvalidInput.
    """
    await precompute_terms(app.settings, chat_context, text)
    intake = build_intake(app, chat_context.chat.channel)
    async with app.db.begin_write() as tx:
        edited = await update_message_text(
            tx, app.clock, app.settings, chat_context.person.id, message_id, text
        )
        await enqueue_notice(tx, intake, chat_context.chat, edited, kind="edited")
    app.notifier.notify()
    return edited


async def update_message_text(
    tx: Transaction,
    clock: Clock,
    settings: Settings,
    person_id: PersonId,
    message_id: MessageId,
    text: str,
    *,
    details: Mapping[str, str] | None = None,
) -> Message:
    """Replace the text of a message, and have what was learned from it learned again.

    Raises NotFound, InvalidInput.
    """
    person = await get_person_by_id(tx, person_id)
    addressee = build_addressee(await get_companion(tx), person, settings)
    is_searchable = tells_something(text, addressee)
    reworded = await edit_message(
        tx, person.id, message_id, text, now=clock(), is_searchable=is_searchable, details=details
    )
    await reopen_for_messages(tx, settings, person.id, [message_id], now=clock())
    return reworded


async def stop_turn(app: InboundContext, chat_context: ChatContext, message_id: MessageId) -> None:
    """Stop or withdraw the turn of a message; does nothing if it is over.

    Raises NotFound.
    """
    intake = build_intake(app, chat_context.chat.channel)
    async with app.db.begin_write() as tx:
        await lock_person(tx, chat_context.person.id)
        stopped = await get_message(tx, chat_context.person.id, message_id)
        assert stopped.turn is not None  # imported messages are not answered
        if await withdraw_turn(tx, chat_context.chat.id, stopped.turn, now=app.clock()):
            await write_marker(tx, chat_context.chat, stopped, STOPPED_MARKER, now=app.clock())
            await plan_embedding(tx, now=app.clock())  # otherwise the turn would have done it
        elif await is_turn_waiting(tx, "inbox", chat_context.chat.id, stopped.turn):
            await enqueue_notice(tx, intake, chat_context.chat, stopped, kind="stop")
    app.notifier.notify(*QUEUES, "stop")


async def enqueue_notice(
    tx: Transaction,
    intake: Intake,
    chat: Chat,
    message: Message,
    *,
    kind: Literal["edited", "stop"],
) -> None:
    """Enqueue a notice that a message in the log was edited or its turn stopped."""
    assert message.turn is not None  # imported messages are not answered
    payload = InboxPayload(
        kind=kind,
        message=message.id,
        version=message.version,
        turn=message.turn,
        chars=len(message.text),
    )
    await enqueue_inbox(
        tx, chat.id, chat.person, payload, debounce_s=intake.debounce_s, now=intake.clock()
    )


async def claim_chat(tx: Transaction, app: InboundContext, chat_id: ChatId) -> Lease | None:
    """Claim the lease of a chat if something is due and nobody else holds it."""
    lease_s = app.settings.limits.lease_s
    return await claim_jobs(
        tx,
        "inbox",
        owner=app.register_process(),
        now=app.clock(),
        lease_s=lease_s,
        partition=chat_id,
    )


def build_addressee(
    companion: Companion, person: Person, settings: Settings, *, chat_language: str | None = None
) -> Addressee:
    """Build the addressee of a person's messages, with languages in order, the chat's first."""
    languages = (chat_language, person.language, settings.language)
    return Addressee(name=companion.name, languages=languages)
