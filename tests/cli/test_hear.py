"""Who listens and who speaks is chosen by asking, tried, kept, and used."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.llm.speech import MAX_AUDIO_BYTES
from tests.cli.conftest import Call
from tests.fakes.speech_server import SpeechServer, speech_server

SOUNDS = Path(__file__).parents[1] / "data/sounds"


pytestmark = pytest.mark.usefixtures("bare_machine")


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    """A server on this machine."""
    with speech_server() as server:
        yield server


def connect(call: Call, server: SpeechServer, what: str, *more: str):
    """Choose the server for something."""
    return call("connect", what, "--provider", "mine", "--base-url", server.url, "--yes", *more)


def test_connected_transcriber_is_tested_stored_and_used_by_hear(
    call: Call, data: Path, server: SpeechServer
) -> None:
    """Nothing that anybody has said is sent for the test."""
    call("say", "My boat is called Dora")
    server.hears = ""
    ended = connect(call, server, "transcriber", "--name", "whisper-1")
    assert ended.code == 0, ended.stderr
    assert "nothing leaves it" in ended.stdout
    assert load_settings({}, data=str(data)).speech.transcriber == "mine:whisper-1"

    server.hears = "Miso sleeps."
    heard = call("hear", str(SOUNDS / "tone.m4a"))
    assert (heard.code, heard.stdout) == (0, "Miso sleeps.\n")
    assert server.heard[-1]["file"][0] == "voice.m4a"
    assert "mine:whisper-1 is connected" in call("doctor").stdout
    assert "transcription" in call("cost").stdout


def test_hear_reports_why_there_is_no_transcript(
    call: Call, server: SpeechServer, tmp_path: Path
) -> None:
    """With a code that scripts understand."""
    call("say", "My boat is called Dora")
    file = str(SOUNDS / "voice.ogg")
    nobody = call("hear", file)
    connect(call, server, "transcriber", "--name", "whisper-1")
    server.hears = ""
    nothing = call("hear", file)
    missing = call("hear", str(tmp_path / "nowhere.ogg"))
    large = tmp_path / "large.ogg"
    with large.open("wb") as stream:
        stream.truncate(MAX_AUDIO_BYTES + 1)
    refused = call("hear", str(large))

    assert (nobody.code, nothing.code, missing.code, refused.code) == (1, 1, 2, 2)
    assert "oldfriend connect transcriber" in nobody.stderr
    assert "found no words" in nothing.stderr
    assert "cannot be read" in missing.stderr
    assert "at most 20 MB" in refused.stderr


def test_connected_speaker_is_tested_and_stored_with_its_voice(
    call: Call, data: Path, server: SpeechServer
) -> None:
    """It is said what came back, where that is no voice message."""
    ended = connect(call, server, "speaker", "--name", "tts-1", "--voice", "nova")
    server.formats = {"mp3": "tone.mp3"}
    other = connect(call, server, "speaker", "--name", "tts-1")
    speech = load_settings({}, data=str(data)).speech

    assert ended.code == 0, ended.stderr
    assert "speaks: audio/ogg\n" in ended.stdout
    assert "speaks: audio/mpeg, not as Opus" in other.stdout
    assert (speech.speaker, speech.voice) == ("mine:tts-1", "nova")


def test_failing_speech_provider_is_not_stored(
    call: Call, data: Path, server: SpeechServer
) -> None:
    """Neither a voice that is not there, nor a provider that has none."""
    ended = connect(call, server, "speaker", "--name", "tts-1", "--voice", "nobody")
    deaf = connect(call, server, "transcriber", "--kind", "anthropic", "--name", "x")

    assert (ended.code, deaf.code) == (1, 1)
    assert "voice must be one of" in ended.stderr
    assert "can neither transcribe nor speak" in deaf.stderr
    assert not (data / "oldfriend.toml").exists()


def test_local_transcriber_folder_is_validated_and_kept_when_offline(
    call: Call, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is named; going offline leaves it there."""
    folder = str(tmp_path / "whisper small")
    missing = call("connect", "transcriber", "--provider", "local", "--name", folder)
    assert missing.code == 1
    assert "model.bin, config.json, tokenizer.json are missing" in missing.stderr

    Path(folder).mkdir()
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (Path(folder) / name).touch()
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    without = call("connect", "transcriber", "--provider", "local", "--name", folder)
    assert "oldfriend[voice]" in without.stderr
    kept = call("connect", "transcriber", "--provider", "local", "--name", folder, "--no-test")
    assert kept.code == 0, kept.stderr
    call("connect", "none")
    assert load_settings({}, data=str(data)).speech.transcriber == f"local:{folder}"


def test_connect_none_disconnects_transcriber_and_speaker(
    call: Call, data: Path, server: SpeechServer
) -> None:
    """Nothing is sent any more."""
    connect(call, server, "transcriber", "--name", "whisper-1")
    connect(call, server, "speaker", "--name", "tts-1")
    call("connect", "none")
    speech = load_settings({}, data=str(data)).speech

    assert (speech.transcriber, speech.speaker) == (None, None)
