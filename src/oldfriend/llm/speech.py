"""What do we ask of who writes down what is said, and of who speaks? Values and two protocols.

It does not know which provider does it, whose voice is heard, or where a sound is kept.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from oldfriend.domain.errors import AudioTooLarge
from oldfriend.domain.sayings import saying
from oldfriend.domain.sounds import is_opus, kind_of, seconds_of
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import Purpose, Request

MOST_BYTES: Final = 20 * 1024 * 1024
"""Of a recording; what platforms let bots download, and less than any provider takes."""
LONGEST_SPOKEN: Final = 4096
"""Characters that providers speak at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said, in writing."""

    text: str
    language: str | None  # such as "pt", where it was told
    seconds: float | None  # how long the recording is, where that is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """A text as it was spoken."""

    audio: bytes
    mime: str  # what it is, not what was asked for

    @property
    def is_opus(self) -> bool:
        """Whether platforms take it as a voice message; else it is sent as audio."""
        return is_opus(self.audio)

    @property
    def seconds(self) -> float | None:
        """How long it lasts, where that can be read off."""
        return seconds_of(self.audio)


class Transcriber(Protocol):
    """Writes down what is said in a recording."""

    @property
    def model(self) -> str:
        """As it is written in settings and in the ledger."""

    def charged_to(self, account: Account) -> "Transcriber":
        """The same, at another's expense."""

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcript:
        """Write down what is said; ``language`` is a hint.

        Raises AudioTooLarge, NothingHeard, AllowanceUsedUp, ModelUnavailable (may pass),
        ModelRefused (will not pass), BrokenOutput, ModelMisconfigured.
        """


class Speaker(Protocol):
    """Speaks."""

    @property
    def model(self) -> str:
        """As it is written in settings and in the ledger."""

    @property
    def voice(self) -> str:
        """In whose voice."""

    def charged_to(self, account: Account) -> "Speaker":
        """The same, at another's expense."""

    async def speak(self, text: str, *, language: str | None) -> Speech:
        """Speak a text; Opus where that can be had.

        Raises AllowanceUsedUp, ModelUnavailable, ModelRefused, BrokenOutput, ModelMisconfigured.
        """


def request_for(purpose: Purpose) -> Request:
    """What the record says of a request: no words go along, and the sound is kept elsewhere."""
    return Request(purpose=purpose, prompt="", stable="", turns=())


def refuse_too_large(audio: bytes) -> None:
    """Raise AudioTooLarge before anything is sent."""
    if len(audio) > MOST_BYTES:
        raise AudioTooLarge(saying(
            "recording_too_long",
            f"The recording has {len(audio) / 1024**2:.1f} MB; at most {MOST_BYTES >> 20} MB "
            "can be listened to.",
            most=MOST_BYTES >> 20,
        ))  # fmt: skip


def speech_of(audio: bytes) -> Speech | None:
    """What somebody gave as speech; None: it is no sound at all."""
    kind = kind_of(audio)
    return Speech(audio=audio, mime=kind.mime) if kind.extension != "bin" else None
