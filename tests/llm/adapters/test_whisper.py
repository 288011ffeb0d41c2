"""A Whisper on this machine is loaded when it is asked, and what is missing is said.

The real library and a model take 280 MB and more, and are not installed for tests: a module of its
form stands in for it here, and another (``tests/fakes/voice``) in the process that decodes.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from oldfriend.domain.errors import (
    AudioTooLarge,
    ModelMisconfigured,
    ModelNotSetUp,
    NoSpeechDetected,
    RequestRejected,
)
from oldfriend.llm.adapters import whisper as decoding
from oldfriend.llm.adapters.whisper import LazyWhisper, LocalTranscriber, Samples, find_problem
from oldfriend.llm.speech import MAX_AUDIO_BYTES
from tests.llm.adapters.test_openai_speech import VOICE
from tests.llm.usage_accounts import Purse

DECODER = Path(__file__).parents[2] / "fakes" / "voice"


@dataclass(slots=True)
class Segment:
    """A stretch, as the library has it."""

    text: str


@dataclass(slots=True)
class Information:
    """What the library tells of a recording."""

    language: str = "de"
    duration: float = 2.5


@dataclass(slots=True)
class Library:
    """What stands in for faster_whisper: what it was asked, and what it gives."""

    hears: list[str] | Exception = field(default_factory=lambda: [" Guten", " Morgen. "])
    broken: Exception | None = None
    made: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    asked: list[dict[str, object]] = field(default_factory=list)

    def open(self, folder: str, **how: object) -> "Library":
        """Make a model."""
        if self.broken is not None:
            raise self.broken
        self.made.append((folder, how))
        return self

    def transcribe(self, audio: Samples, **how: object) -> tuple[Iterator[Segment], Information]:
        """Hear; like the library, only once the segments are asked for."""
        self.asked.append({"samples": len(audio), **how})
        return self.segments(), Information()

    def segments(self) -> Iterator[Segment]:
        """One after the other."""
        if isinstance(self.hears, Exception):
            raise self.hears
        yield from map(Segment, self.hears)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Installed."""
    library = Library()
    module = ModuleType("faster_whisper")
    module.WhisperModel = library.open
    monkeypatch.setitem(sys.modules, "faster_whisper", module)
    monkeypatch.syspath_prepend(str(DECODER))
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model."""
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).touch()
    return tmp_path


async def test_local_whisper_is_loaded_once_from_local_files(
    library: Library, folder: Path
) -> None:
    """At the first use; what it took is on the record, and cost nothing."""
    purse = Purse()
    transcriber = LocalTranscriber(LazyWhisper(folder), Purse())
    assert library.made == []
    for _ in range(2):
        heard = await transcriber.with_account(purse).transcribe(VOICE, mime="", language="de-AT")

    assert (heard.text, heard.language, heard.duration_s) == ("Guten Morgen.", "de", 2.5)
    ((made, how),) = library.made
    assert (made, how["local_files_only"]) == (str(folder), True)
    assert library.asked[0] == {"samples": len(VOICE), "language": "de", "vad_filter": True}
    assert [call.completion.cost for call in purse.calls if call.completion] == [0, 0]
    assert transcriber.model == f"local:{folder}"


async def test_empty_local_transcription_raises_no_speech(library: Library, folder: Path) -> None:
    """As of any other."""
    library.hears = []
    with pytest.raises(NoSpeechDetected):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            VOICE, mime="", language=None
        )


@pytest.mark.parametrize("error", [ValueError("no"), EOFError("end"), OSError("x"), RuntimeError()])
async def test_undecodable_audio_raises_request_rejected(
    library: Library, folder: Path, error: Exception
) -> None:
    """What the library raises."""
    library.hears = error
    with pytest.raises(RequestRejected):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            VOICE, mime="", language=None
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("audio", "told"),
    [
        (b"", "decoder raised: empty"),
        (b"CRASH", "its decoder failed (-11)"),
        (b"EXIT", "its decoder failed (3)"),
        (b"GREEDY", "too much memory"),
        (b"LONG", "longer than 2 hours"),
        (b"SHORT", "its decoder failed (0)"),
        (b"NONSENSE", "answered with nonsense"),
    ],
)
async def test_decoder_crash_is_isolated_from_the_next_transcription(
    library: Library, folder: Path, audio: bytes, told: str
) -> None:
    """It is refused; the next recording is heard."""
    transcriber = LocalTranscriber(LazyWhisper(folder), Purse())
    with pytest.raises(RequestRejected) as refused:
        await transcriber.transcribe(audio, mime="", language=None)
    heard = await transcriber.transcribe(VOICE, mime="", language=None)

    assert told in str(refused.value)
    assert heard.text == "Guten Morgen."


@pytest.mark.slow
async def test_endless_decoder_is_stopped_at_the_timeout(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little it does meanwhile."""
    monkeypatch.setattr(decoding, "DECODE_TIMEOUT_S", 1.0)
    with pytest.raises(RequestRejected, match="too much memory or time"):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            b"ENDLESS", mime="", language=None
        )


async def test_too_large_recording_is_rejected_without_loading_the_model(
    library: Library, folder: Path
) -> None:
    """The same limit everywhere."""
    with pytest.raises(AudioTooLarge):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            bytes(MAX_AUDIO_BYTES + 1), mime="", language=None
        )

    assert library.made == []


async def test_unloadable_model_raises_misconfigured(library: Library, folder: Path) -> None:
    """With its folder."""
    library.broken = RuntimeError("unsupported version")
    with pytest.raises(ModelMisconfigured, match="cannot be loaded: unsupported version"):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            VOICE, mime="", language=None
        )


async def test_missing_model_file_or_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files, then the extra with the command that installs it."""
    (folder / "tokenizer.json").unlink()
    assert "tokenizer.json is missing" in (find_problem(folder) or "")
    (folder / "tokenizer.json").touch()
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(ModelNotSetUp, match=r'pip install "oldfriend\[voice\]"'):
        await LocalTranscriber(LazyWhisper(folder), Purse()).transcribe(
            VOICE, mime="", language=None
        )
