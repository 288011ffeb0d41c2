"""Voice input: accepts recordings from the web page, transcribed before they are accepted.

Unlike on a platform, the speaker is still looking: a failed transcription is reported at once, and
nothing of the recording is kept.
"""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.inbound.accept import AcceptedMessage, ChatContext, MessageSubmission, accept_message
from oldfriend.inbound.audio_storage import delete_audio
from oldfriend.inbound.transcription import TranscribedAudio, TranscriptionFailure, transcribe_audio
from oldfriend.inbound.voice_messages import RECORDING_KEY, TRANSCRIBED_KEY

NO_PLATFORM: Final = "here"
"""In a message's details: the recording cannot be fetched from any platform."""


async def accept_voice_message(
    app: AppContext,
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
        key=key,
        audio=transcription.audio,
        details={RECORDING_KEY: NO_PLATFORM, TRANSCRIBED_KEY: "yes"},
    )
    try:
        accepted = await accept_message(app, chat_context, submission, claim_now=claim_now)
    except OldfriendError:
        await delete_orphan_audio(app, transcription)
        raise
    if accepted is None:
        await delete_orphan_audio(app, transcription)
    return accepted


async def delete_orphan_audio(app: AppContext, transcription: TranscribedAudio) -> None:
    """Delete a recording that belongs to no message."""
    if transcription.audio is not None:
        await delete_audio(app.settings, [transcription.audio])
