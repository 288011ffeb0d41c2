"""Transcription: turns recordings into text at the speaker's expense, paid for once.

The transcript is kept in the ledger under a hash of the recording until the words are in the log or
are forgotten there: an interrupted run does not pay again.
"""

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.usage_accounting import UsageAccount
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    AudioTooLarge,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    NoSpeechDetected,
)
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.audio_storage import StoredAudio, save_audio
from oldfriend.llm.speech import Transcriber, Transcription
from oldfriend.memory.people import get_person_by_id
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
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
    app: AppContext, person: PersonId, audio: bytes, *, mime: str
) -> TranscribedAudio | TranscriptionFailure:
    """Transcribe a recording of a person. Raises StoreError."""
    if app.transcriber is None:
        return TranscriptionFailure(
            reason="off", why="Nobody listens: oldfriend connect transcriber"
        )
    try:
        transcript = await load_or_transcribe(app, app.transcriber, person, audio, mime=mime)
    except (ModelError, AllowanceUsedUp) as error:
        if not isinstance(error, NoSpeechDetected | AudioTooLarge | AllowanceUsedUp):
            log_warning("not-heard", error, model=app.transcriber.model)
        return build_transcription_failure(error)
    keeps_audio = app.settings.speech.keep_audio
    return TranscribedAudio(
        text=transcript.text,
        language=transcript.language,
        seconds=transcript.duration_s,
        audio=await save_audio(app.clock, app.settings, person, audio, mime=mime)
        if keeps_audio
        else None,
    )


async def load_or_transcribe(
    app: AppContext, transcriber: Transcriber, person: PersonId, audio: bytes, *, mime: str
) -> Transcription:
    """Return the transcript of a recording, from the ledger if it was transcribed before."""
    audio_hash = hashlib.sha256(audio).hexdigest()
    async with app.db.begin_read() as tx:
        language = (await get_person_by_id(tx, person)).language
        recorded = await find_transcript(tx, person, audio_hash)
    if recorded is not None and recorded.text:
        return Transcription(text=recorded.text, language=None, duration_s=None)
    account = UsageAccount(
        db=app.db,
        settings=app.settings,
        clock=app.clock,
        asker=CallContext(person=person),
        request_hash=audio_hash,
        spool=app.spool,
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
