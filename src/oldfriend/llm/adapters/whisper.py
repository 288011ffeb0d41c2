"""Local Whisper: transcribes recordings on this machine with faster-whisper.

Recordings are decoded in a child process, so that this one sees samples alone. The library and
the model are loaded at the first use, from a folder that the user has filled; nothing is
downloaded. One recording at a time, because each uses all available processors.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol

from oldfriend.domain.errors import ModelMisconfigured, ModelNotSetUp, NoSpeechDetected
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.llm.adapters.audio_decoding import Samples, build_unreadable_error, decode
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import Completion, ModelCall
from oldfriend.llm.speech import Transcription, build_audio_request, check_audio_size
from oldfriend.sandbox.resource_limits import disable_telemetry

WEIGHTS_FILE: Final = "model.bin"
EXTRA_MISSING: Final = build_missing_extra_text("Hearing on this machine", "oldfriend[voice]")


class WhisperSegment(Protocol):
    """Segment of a transcript."""

    text: str


class WhisperInfo(Protocol):
    """Information about a whole recording."""

    language: str
    duration: float


class WhisperModel(Protocol):
    """The part of faster-whisper's model that is used here."""

    def transcribe(
        self, audio: Samples, *, language: str | None, vad_filter: bool
    ) -> tuple[Iterable[WhisperSegment], WhisperInfo]:
        """Transcribe lazily, segment by segment as they are iterated."""


@dataclass(slots=True)
class LazyWhisper:
    """Model that is loaded at the first use, with the lock that serializes its use."""

    folder: Path
    model: WhisperModel | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class LocalTranscriber:
    """Transcriber that runs Whisper in this process."""

    def __init__(self, whisper: LazyWhisper, account: Account) -> None:
        """Take the model; `account` only records calls, because they are free."""
        self.model = f"local:{whisper.folder}"
        self._whisper = whisper
        self._account = account

    def with_account(self, account: Account) -> "LocalTranscriber":
        """Return a transcriber with the same model that records to another account."""
        return LocalTranscriber(self._whisper, account)

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcription:
        """Transcribe a recording, detecting its format; see the protocol for errors."""
        del mime
        check_audio_size(audio)
        now = asyncio.get_running_loop().time
        async with self._whisper.lock:
            started = now()
            transcription = await asyncio.to_thread(
                transcribe_locally, self._whisper, audio, language
            )
            latency = round((now() - started) * 1_000_000)
        completion = Completion(
            model=self.model, text=transcription.text, cost=0, audio_s=transcription.duration_s
        )
        await self._account.record(
            ModelCall(
                request=build_audio_request("transcription"),
                model=self.model,
                outcome="done",
                completion=completion,
                error=None,
                latency_us=latency,
            )
        )
        if not transcription.text:
            raise NoSpeechDetected(
                localizable("nothing_heard", "There are no words in the recording.")
            )
        return transcription


def transcribe_locally(whisper: LazyWhisper, audio: bytes, language: str | None) -> Transcription:
    """Load the model if necessary, and transcribe; slow, to be called in a thread."""
    if whisper.model is None:
        whisper.model = load_whisper(whisper.folder)
    samples = decode(audio)
    if not len(samples):
        return Transcription(text="", language=None, duration_s=0.0)
    hint = language[:2].lower() if language else None
    try:
        segments, info = whisper.model.transcribe(samples, language=hint, vad_filter=True)
        words = " ".join(each.text.strip() for each in segments).strip()
    except (ValueError, OSError, EOFError, RuntimeError) as error:  # raised by the library
        raise build_unreadable_error(str(error)) from error
    return Transcription(text=words, language=info.language, duration_s=info.duration)


def load_whisper(folder: Path) -> WhisperModel:
    """Load the model in a folder. Raises ModelNotSetUp, ModelMisconfigured."""
    if (problem := find_problem(folder)) is not None:
        raise ModelNotSetUp(problem)
    try:
        model: WhisperModel = import_faster_whisper().WhisperModel(
            str(folder), device="auto", compute_type="default", local_files_only=True
        )
    except (ImportError, OSError, RuntimeError, ValueError, LookupError) as error:
        raise ModelMisconfigured(
            localizable(
                "model_not_loaded",
                f"The model in {folder} cannot be loaded: {error}",
                folder=str(folder),
                error=str(error),
            )
        ) from error
    return model


def import_faster_whisper() -> ModuleType:
    """Import the library; neither it nor what it rests on reports its use. Raises ImportError."""
    disable_telemetry()
    return import_module("faster_whisper")


def find_problem(folder: Path) -> str | None:
    """Return what is missing in a folder or installation, without loading the model."""
    missing: Sequence[str] = [
        name
        for name in (WEIGHTS_FILE, "config.json", "tokenizer.json")
        if not (folder / name).is_file()
    ]
    if missing:
        return localizable(
            "folder_without_model",
            f"{folder} holds no model for faster-whisper: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            folder=str(folder),
            missing=", ".join(missing),
        )
    try:
        import_faster_whisper()
    except ImportError:
        return EXTRA_MISSING
    return None
