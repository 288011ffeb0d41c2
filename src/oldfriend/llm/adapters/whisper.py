"""Local Whisper: transcribes recordings on this machine with faster-whisper.

Recordings are decoded in a child process, so that this one sees samples alone. The library and
the model are loaded at the first use, from a folder that the user has filled; nothing is
downloaded. One recording at a time, because each uses all available processors.
"""

import asyncio
import json
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.errors import (
    ModelMisconfigured,
    ModelNotSetUp,
    NoSpeechDetected,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import build_missing_extra_text, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.decoder_process import MAX_RECORDING_S, SAMPLE_RATE
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import Completion, ModelCall
from oldfriend.llm.speech import Transcription, build_audio_request, check_audio_size
from oldfriend.sandbox.child_process import OUT_OF_MEMORY, disable_telemetry, start_child

DECODER_MODULE: Final = "oldfriend.llm.adapters.decoder_process"
SAMPLE_BYTES: Final = 4
DECODE_TIMEOUT_S: Final = 300.0
EXIT_TIMEOUT_S: Final = 2.0
MAX_REPORT_BYTES: Final = 1 << 12

Samples = NDArray[np.float32]


def decode(audio: bytes) -> Samples:
    """Decode a recording to samples; slow, for a thread. Raises RequestRejected."""
    try:
        process = start_child(DECODER_MODULE)
    except OSError as error:
        raise build_unreadable_error(f"no process could be started for it: {error}") from error
    timer = Timer(DECODE_TIMEOUT_S, process.kill)
    timer.daemon = True
    timer.start()
    try:
        return read_samples(process, audio)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def read_samples(process: "subprocess.Popen[bytes]", audio: bytes) -> Samples:
    """Read a decoder's samples, never more than the limit. Raises RequestRejected."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError), process.stdin as stream:
        stream.write(audio)
    report = parse_report(process.stdout.readline(MAX_REPORT_BYTES))
    match report:
        case {"error": str(error)}:
            raise build_unreadable_error(error)
        case {"samples": int(count)} if 0 <= count <= MAX_RECORDING_S * SAMPLE_RATE:
            content = process.stdout.read(count * SAMPLE_BYTES)
            if len(content) == count * SAMPLE_BYTES:
                return np.frombuffer(content, dtype="<f4")
    raise build_unreadable_error(describe_exit(process))


def parse_report(line: bytes) -> JsonValue:
    """Parse the decoder's report line; None if it is not JSON."""
    try:
        report: JsonValue = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return report


def describe_exit(process: "subprocess.Popen[bytes]") -> str:
    """Describe why a decoder process gave no valid samples."""
    try:
        code = process.wait(EXIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "its decoder answered with nonsense"
    if code in {OUT_OF_MEMORY, -signal.SIGKILL}:
        return "decoding it took too much memory or time"
    if code == -signal.SIGXCPU:
        return "decoding it took too much time"
    return f"its decoder failed ({code})"


def build_unreadable_error(error: str) -> RequestRejected:
    """Build the error for a recording that cannot be decoded."""
    return RequestRejected(
        localizable("recording_unreadable", f"The recording cannot be read: {error}", error=error)
    )


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
            f"{folder} contains no model for faster-whisper: {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            folder=str(folder),
            missing=", ".join(missing),
        )
    try:
        import_faster_whisper()
    except ImportError:
        return EXTRA_MISSING
    return None
