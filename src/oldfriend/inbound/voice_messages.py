"""Voice messages: fetches and transcribes the recordings of a turn and stores their text.

A recording has its row in the log and the inbox before anything of it is fetched: after an
interruption the next run fetches it again, and a transcript is not paid for twice.

The transcript is kept in the ledger under a hash of the recording until the words are in the log or
are forgotten there: an interrupted run does not pay again.
"""

import asyncio
import hashlib
from dataclasses import dataclass, replace
from typing import Final, Literal

from oldfriend.app.app_context import InboundContext, SpeechContext, StoreContext
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.event_log import log_warning
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    AudioTooLarge,
    BrokenOutput,
    DeliveryFailed,
    InvalidInput,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    NoSpeechDetected,
    NotFound,
    OldfriendError,
)
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.job_types import Lease
from oldfriend.domain.messages import (
    MAX_TEXT_CHARS,
    RECORDING_KEY,
    TRANSCRIBED_KEY,
    Message,
    is_untranscribed,
)
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_message,
    update_message_text,
)
from oldfriend.inbound.audio_storage import StoredAudio, attach_audio, delete_audio, save_audio
from oldfriend.llm.speech import MAX_AUDIO_BYTES, Transcriber, Transcription
from oldfriend.memory.groups import is_group, list_members
from oldfriend.memory.message_log import find_message_by_external_id, get_message
from oldfriend.memory.people import find_chat, get_chat, get_person_by_id, lock_person
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.queues.queue import lock_lease
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.usage.model_calls import CallContext, find_transcript

NoTranscriptReason = Literal[
    "off", "nothing", "too large", "later", "spent", "never", "misconfigured"
]
"""Why there is no transcript: no transcriber is configured; no words in it; too many bytes; a
temporary failure; today's limit is reached; this recording can never be transcribed; the
transcriber is misconfigured.
"""
RETRYABLE: Final = frozenset[NoTranscriptReason]({"later", "spent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscribedAudio:
    """A transcript of a recording."""

    text: str
    language: str | None
    seconds: float | None
    # the recording, if it is kept: for ``attach_audio``, with the message
    audio: StoredAudio | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionFailure:
    """The reason why there is no transcript."""

    reason: NoTranscriptReason
    why: str  # for the operator
    retry_after_s: float | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether an automatic retry is worthwhile."""
        return self.reason in RETRYABLE

    def to_text(self, *languages: str | None) -> str:
        """Return the reason as a text for the person, in the first supported language."""
        phrases = load_phrases(choose_language(*languages)).phrases
        return phrases[f"unheard_{self.reason.replace(' ', '_')}"]


async def transcribe_audio(
    context: SpeechContext, person: PersonId, audio: bytes, *, mime: str
) -> TranscribedAudio | TranscriptionFailure:
    """Transcribe a recording of a person. Raises StoreError."""
    if context.transcriber is None:
        return TranscriptionFailure(
            reason="off",
            why="No transcriber is connected, so recordings cannot be heard. To connect one: "
            "oldfriend connect transcriber",
        )
    try:
        transcript = await load_or_transcribe(
            context, context.transcriber, person, audio, mime=mime
        )
    except (ModelError, AllowanceUsedUp) as error:
        if not isinstance(error, NoSpeechDetected | AudioTooLarge | AllowanceUsedUp):
            log_warning("transcription-failed", error, model=context.transcriber.model)
        return build_transcription_failure(error)
    keeps_audio = context.settings.speech.keep_audio
    return TranscribedAudio(
        text=transcript.text,
        language=transcript.language,
        seconds=transcript.duration_s,
        audio=await save_audio(context.clock, context.settings, person, audio, mime=mime)
        if keeps_audio
        else None,
    )


async def load_or_transcribe(
    context: StoreContext, transcriber: Transcriber, person: PersonId, audio: bytes, *, mime: str
) -> Transcription:
    """Return the transcript of a recording, from the ledger if it was transcribed before."""
    audio_hash = hashlib.sha256(audio).hexdigest()
    async with context.db.begin_read() as tx:
        language = (await get_person_by_id(tx, person)).language
        recorded = await find_transcript(tx, person, audio_hash)
    if recorded is not None and recorded.text:
        return Transcription(text=recorded.text, language=None, duration_s=None)
    account = UsageAccount(
        db=context.db,
        settings=context.settings,
        clock=context.clock,
        asker=CallContext(person=person),
        request_hash=audio_hash,
        spool=context.spool,
    )
    return await transcriber.with_account(account).transcribe(audio, mime=mime, language=language)


def build_transcription_failure(error: ModelError | AllowanceUsedUp) -> TranscriptionFailure:
    """Build the failure that an error means for the speaker."""
    retry_after_s = error.retry_after_s if isinstance(error, ModelUnavailable) else None
    return TranscriptionFailure(
        reason=classify_transcription_failure(error), why=str(error), retry_after_s=retry_after_s
    )


def classify_transcription_failure(error: ModelError | AllowanceUsedUp) -> NoTranscriptReason:
    """Classify an error as the reason for a missing transcript."""
    match error:
        case NoSpeechDetected():
            return "nothing"
        case AudioTooLarge():
            return "too large"
        case AllowanceUsedUp():
            return "spent"
        case ModelUnavailable() | BrokenOutput():
            return "later"
        case ModelMisconfigured():
            return "misconfigured"
        case _:
            return "never"


CAPTION_KEY: Final = "caption"
"""In a message's details: the message has a caption, which stays."""
TRANSCRIBE_JOB: Final = "listen"
"""The job that transcribes recordings said to others."""
RETRY_PAUSES_S: Final = (1.0, 3.0)
"""Pauses before each retry; after the last it is up to the person."""
FETCH_TIMEOUT_S: Final = 60.0


async def transcribe_turn(
    context: SpeechContext, lease: Lease, utterance: Utterance
) -> tuple[Utterance, TranscriptionFailure | None]:
    """Return the utterance with its recordings transcribed, and why one of them is not.

    Raises NotFound for a message that was forgotten in the meantime, LeaseLost, StoreError.
    """
    messages: list[Message] = []
    failure: TranscriptionFailure | None = None
    for each in utterance.messages:
        transcription = (
            await transcribe_message(context, each) if is_untranscribed(each.details) else None
        )
        if isinstance(transcription, TranscribedAudio):
            messages.append(await write_transcript(context, each, transcription, lease=lease))
        else:
            messages.append(each)
            failure = failure if transcription is None else transcription
    return replace(utterance, message=messages[-1], earlier=tuple(messages[:-1])), failure


async def plan_transcription(
    tx: Transaction, clock: Clock, settings: Settings, message: Message
) -> None:
    """Schedule the transcription of a recording that is not to be answered, if that is enabled."""
    if settings.speech.overhears and is_untranscribed(message.details):
        job = JobSpec(name=TRANSCRIBE_JOB, arguments={"message": message.id})
        partition = f"{TRANSCRIBE_JOB}:{message.person}"
        await schedule_job(tx, partition, job, person=message.person, now=clock())


async def transcribe_group_audio(
    context: SpeechContext, person: PersonId, job_spec: JobSpec
) -> None:
    """Transcribe a group recording; one without words, or forgotten by now, stays as it is.

    Raises DeliveryFailed for a temporary failure, AllowanceUsedUp.
    """
    try:
        async with context.db.begin_read() as tx:
            message = await get_message(tx, person, get_job_message_id(job_spec))
        transcription = (
            await fetch_and_transcribe(context, message)
            if is_untranscribed(message.details)
            else None
        )
        if isinstance(transcription, TranscribedAudio):
            await write_transcript(context, message, transcription)
    except NotFound:
        return
    if isinstance(transcription, TranscriptionFailure) and transcription.reason == "spent":
        raise AllowanceUsedUp(transcription.why)
    if isinstance(transcription, TranscriptionFailure) and transcription.is_retryable:
        raise DeliveryFailed(transcription.why, retry_after_s=transcription.retry_after_s)


def get_job_message_id(job_spec: JobSpec) -> MessageId:
    """Return the id of the message that a job is to transcribe. Raises InvalidInput."""
    match job_spec.arguments:
        case {"message": str(message)}:
            return MessageId(message)
    raise InvalidInput(
        f"A job to listen to something that is no message: {dict(job_spec.arguments)}"
    )


async def transcribe_message(
    context: SpeechContext, message: Message
) -> TranscribedAudio | TranscriptionFailure:
    """Fetch and transcribe the recording of a message, with short retries of temporary failures."""
    transcription = await fetch_and_transcribe(context, message)
    for pause_s in RETRY_PAUSES_S:
        if not isinstance(transcription, TranscriptionFailure) or transcription.reason != "later":
            break
        await asyncio.sleep(max(pause_s, min(transcription.retry_after_s or 0.0, 10 * pause_s)))
        transcription = await fetch_and_transcribe(context, message)
    return transcription


async def fetch_and_transcribe(
    context: SpeechContext, message: Message
) -> TranscribedAudio | TranscriptionFailure:
    """Fetch and transcribe the recording of a message once, without retries."""
    if int(message.details.get("bytes", "0")) > MAX_AUDIO_BYTES:
        return TranscriptionFailure(reason="too large", why="The platform says so.")
    channel = context.channels.get(message.channel)
    if channel is None:
        return TranscriptionFailure(
            reason="later", why=f"This process does not reach {message.channel}."
        )
    try:
        async with asyncio.timeout(FETCH_TIMEOUT_S):
            audio = await channel.download_audio(message.details[RECORDING_KEY])
    except NotFound as error:
        return TranscriptionFailure(reason="never", why=str(error))
    except DeliveryFailed as error:
        return TranscriptionFailure(
            reason="later", why=str(error), retry_after_s=error.retry_after_s
        )
    except TimeoutError:
        return TranscriptionFailure(reason="later", why="The platform did not give it out in time.")
    context.on_crash_point("fetched")
    return await transcribe_audio(
        context, message.person, audio, mime=message.details.get("mime", "")
    )


async def write_transcript(
    context: StoreContext,
    message: Message,
    transcription: TranscribedAudio,
    *,
    lease: Lease | None = None,
) -> Message:
    """Store the transcript as the text of a message, next to its caption, with the audio if kept.

    The copies in the memories of other members get the same text. Raises NotFound, and LeaseLost if
    a lease is given.
    """
    context.on_crash_point("heard")
    try:
        async with context.db.begin_write() as tx:
            copies = await list_member_copies(tx, message)
            for each in copies:
                await set_transcript_text(tx, context.clock, context.settings, each, transcription)
            if copies or lease is None:
                await plan_embedding(tx, now=context.clock())  # no turn of theirs does it
            transcribed = await set_transcript_text(
                tx, context.clock, context.settings, message, transcription
            )
            if transcription.audio is not None:
                await attach_audio(
                    tx, transcription.audio, message.id, kind="heard", now=context.clock()
                )
            if lease is not None:
                await lock_lease(tx, lease)
    except NotFound:
        if transcription.audio is not None:
            await delete_audio(context.settings, [transcription.audio])
        raise
    return transcribed


async def list_member_copies(tx: Transaction, message: Message) -> list[Message]:
    """Return the untranscribed copies of a message in the memories of group members, all locked."""
    if message.external_id is None or not await is_group(tx, message.person):
        return []
    chat = await get_chat(tx, message.person, message.chat)
    members = await list_members(tx, chat.channel, chat.address.partition("/")[0])
    for person in sorted([message.person, *(each.id for each in members)]):
        await lock_person(tx, person)
    found = []
    for each in members:
        member_chat = await find_chat(
            tx, each.id, chat.companion, channel=chat.channel, address=chat.address
        )
        if member_chat is not None:
            found.append(
                await find_message_by_external_id(tx, each.id, member_chat.id, message.external_id)
            )
    return [each for each in found if each is not None and is_untranscribed(each.details)]


async def set_transcript_text(
    tx: Transaction,
    clock: Clock,
    settings: Settings,
    message: Message,
    transcription: TranscribedAudio,
) -> Message:
    """Set the text of a message to its caption and transcript. Raises NotFound."""
    words = (
        f"{message.text}\n{transcription.text}"
        if CAPTION_KEY in message.details
        else transcription.text
    )
    return await update_message_text(
        tx,
        clock,
        settings,
        message.person,
        message.id,
        words[:MAX_TEXT_CHARS],
        details={**message.details, TRANSCRIBED_KEY: "yes"},
    )


NO_PLATFORM: Final = "here"
"""In a message's details: the recording cannot be fetched from any platform."""


async def accept_voice_message(
    app: InboundContext,
    chat_context: ChatContext,
    audio: bytes,
    *,
    mime: str,
    zone: str | None,
    key: str,
    claim_now: bool,
) -> AcceptedMessage | TranscriptionFailure | None:
    """Transcribe a recording and accept its text, with the recording if those are kept.

    Returns None if it was accepted before. Raises StoreError.
    """
    transcription = await transcribe_audio(app, chat_context.person.id, audio, mime=mime)
    if isinstance(transcription, TranscriptionFailure):
        return transcription
    submission = MessageSubmission(
        text=transcription.text[:MAX_TEXT_CHARS],
        zone=zone,
        external_id=key,
        audio=transcription.audio,
        details={RECORDING_KEY: NO_PLATFORM, TRANSCRIBED_KEY: "yes"},
    )
    try:
        accepted = await accept_message(app, chat_context, submission, claim_now=claim_now)
    except OldfriendError:
        await delete_orphan_audio(app.settings, transcription)
        raise
    if accepted is None:
        await delete_orphan_audio(app.settings, transcription)
    return accepted


async def delete_orphan_audio(settings: Settings, transcription: TranscribedAudio) -> None:
    """Delete a recording that belongs to no message."""
    if transcription.audio is not None:
        await delete_audio(settings, [transcription.audio])
