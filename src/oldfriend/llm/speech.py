"""Speech protocols: transcribers, synthesizers and their results."""

from dataclasses import dataclass
from typing import Final, Protocol

from oldfriend.domain.audio_formats import detect_audio_format, find_duration_s, is_opus
from oldfriend.domain.errors import AudioTooLarge
from oldfriend.domain.i18n_messages import localizable
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import CompletionRequest, Purpose

MAX_AUDIO_BYTES: Final = 20 * 1024 * 1024
"""Limit of a recording: what platforms let bots download, and less than any provider takes."""
MAX_SPOKEN_CHARS: Final = 4096
"""Characters that providers speak in one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """Transcript of a recording."""

    text: str
    language: str | None  # such as "pt", if reported
    duration_s: float | None  # of the recording, if known


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """Spoken audio of a text."""

    audio: bytes
    mime: str  # actual type, not the one requested

    @property
    def is_opus(self) -> bool:
        """Whether platforms accept it as a voice message; otherwise it is sent as an audio file."""
        return is_opus(self.audio)

    @property
    def duration_s(self) -> float | None:
        """Duration in seconds, if it can be read from the audio."""
        return find_duration_s(self.audio)


class Transcriber(Protocol):
    """Model that transcribes recordings."""

    @property
    def model(self) -> str:
        """Name in settings and in the ledger."""

    def with_account(self, account: Account) -> "Transcriber":
        """Return this transcriber charged to another account."""

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcription:
        """Transcribe a recording; `language` is a hint.

        Raises AudioTooLarge, NoSpeechDetected, AllowanceUsedUp, ModelUnavailable (may pass),
        ModelRefusal (will not pass), BrokenOutput, ModelMisconfigured.
        """


class SpeechSynthesizer(Protocol):
    """Model that speaks texts."""

    @property
    def model(self) -> str:
        """Name in settings and in the ledger."""

    @property
    def voice(self) -> str:
        """Name of the voice."""

    def with_account(self, account: Account) -> "SpeechSynthesizer":
        """Return this synthesizer charged to another account."""

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Speak a text, as Opus if available.

        Raises AllowanceUsedUp, ModelUnavailable, ModelRefusal, BrokenOutput, ModelMisconfigured.
        """


def build_audio_request(purpose: Purpose) -> CompletionRequest:
    """Build the request for the record: it has no prompt, and the audio is stored elsewhere."""
    return CompletionRequest(purpose=purpose, prompt="", system_prompt="", turns=())


def check_audio_size(audio: bytes) -> None:
    """Raise AudioTooLarge before anything is sent."""
    if len(audio) > MAX_AUDIO_BYTES:
        raise AudioTooLarge(
            localizable(
                "recording_too_long",
                f"The recording has {len(audio) / 1024**2:.1f} MB; at most "
                f"{MAX_AUDIO_BYTES >> 20} MB "
                "can be listened to.",
                most=MAX_AUDIO_BYTES >> 20,
            )
        )


def parse_speech(audio: bytes) -> Speech | None:
    """Return audio as Speech; None if its format is not recognized."""
    kind = detect_audio_format(audio)
    return Speech(audio=audio, mime=kind.mime) if kind.extension != "bin" else None
