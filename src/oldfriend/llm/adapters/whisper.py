"""How does a Whisper on this machine write down what is said? In this process, by faster-whisper.

The library and the model are loaded at the first use, from a folder that somebody has filled;
nothing is fetched. One recording at a time: each takes all the processors it can get.
"""

import asyncio
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from oldfriend.domain.errors import ModelMisconfigured, ModelNotAsked, NothingHeard, RequestRejected
from oldfriend.domain.sayings import extra_missing, saying
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import Call, Completion
from oldfriend.llm.speech import Transcript, refuse_too_large, request_for

WEIGHTS: Final = "model.bin"
NO_EXTRA: Final = extra_missing("Hearing on this machine", "oldfriend[voice]")


class Segment(Protocol):
    """A stretch of what was said."""

    text: str


class Information(Protocol):
    """What is told of a whole recording."""

    language: str
    duration: float


class Whisper(Protocol):
    """What we ask of the library's model."""

    def transcribe(
        self, audio: io.BytesIO, *, language: str | None, vad_filter: bool
    ) -> tuple[Iterable[Segment], Information]:
        """Write down, segment by segment as they are asked for."""


@dataclass(slots=True)
class Loaded:
    """The model, once it is, and who may use it."""

    folder: Path
    whisper: Whisper | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class LocalTranscriber:
    """A Whisper in this process."""

    def __init__(self, loaded: Loaded, account: Account) -> None:
        """Remember where it lies; ``account`` keeps the record, for it costs nothing."""
        self.model = f"local:{loaded.folder}"
        self._loaded = loaded
        self._account = account

    def charged_to(self, account: Account) -> "LocalTranscriber":
        """The same, kept on another's record."""
        return LocalTranscriber(self._loaded, account)

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcript:
        """Write down what is said, as the protocol has it; the kind is read off the bytes."""
        del mime
        refuse_too_large(audio)
        now = asyncio.get_running_loop().time
        async with self._loaded.turn:
            began = now()
            heard = await asyncio.to_thread(hear, self._loaded, audio, language)
            latency = round((now() - began) * 1_000_000)
        gave = Completion(model=self.model, text=heard.text, cost=0, sound_s=heard.seconds)
        await self._account.record(Call(
            request=request_for("transcription"), model=self.model, outcome="done",
            completion=gave, error=None, latency_us=latency,
        ))  # fmt: skip
        if not heard.text:
            raise NothingHeard(saying("nothing_heard", "There are no words in the recording."))
        return heard


def hear(loaded: Loaded, audio: bytes, language: str | None) -> Transcript:
    """Load the model where that was not done yet, and listen; takes long, for a thread."""
    if loaded.whisper is None:
        loaded.whisper = load(loaded.folder)
    hint = language[:2].lower() if language else None
    try:
        segments, told = loaded.whisper.transcribe(
            io.BytesIO(audio), language=hint, vad_filter=True
        )
        words = " ".join(each.text.strip() for each in segments).strip()
    except (ValueError, OSError, EOFError, RuntimeError) as error:  # what its decoder raises
        raise RequestRejected(saying(
            "recording_unreadable", f"The recording cannot be read: {error}", error=str(error),
        )) from error  # fmt: skip
    return Transcript(text=words, language=told.language, seconds=told.duration)


def load(folder: Path) -> Whisper:
    """The model in a folder. Raises ModelNotAsked, ModelMisconfigured."""
    if (why := why_not(folder)) is not None:
        raise ModelNotAsked(why)
    try:
        made: Whisper = import_module("faster_whisper").WhisperModel(
            str(folder), device="auto", compute_type="default", local_files_only=True
        )
    except (ImportError, OSError, RuntimeError, ValueError, LookupError) as error:
        raise ModelMisconfigured(saying(
            "model_not_loaded", f"The model in {folder} cannot be loaded: {error}",
            folder=str(folder), error=str(error),
        )) from error  # fmt: skip
    return made


def why_not(folder: Path) -> str | None:
    """What is missing, so that it cannot be used; without loading it."""
    missing: Sequence[str] = [
        name for name in (WEIGHTS, "config.json", "tokenizer.json") if not (folder / name).is_file()
    ]
    if missing:
        return saying(
            "folder_without_model",
            f"{folder} holds no model for faster-whisper: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            folder=str(folder), missing=", ".join(missing),
        )  # fmt: skip
    try:
        import_module("faster_whisper")
    except ImportError:
        return NO_EXTRA
    return None
