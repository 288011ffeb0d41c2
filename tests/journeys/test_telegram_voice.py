"""People speak to it on Telegram and hear it, through `oldfriend serve`; nothing said is lost."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.speech_server import SpeechServer, file_of, speech_server
from tests.fakes.telegram import Fault, World, running_telegram
from tests.journeys.telegram_server import Home, home_on, listening
from tests.processes import Program, running, until

ANA, BEN, FAMILY = 7, 8, -100
SOUNDS = Path(__file__).parents[1] / "data/sounds"
VOICE = (SOUNDS / "voice.ogg").read_bytes()
TONE = (SOUNDS / "tone.mp3").read_bytes()
KEPT = "kept it"


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
def speech() -> Iterator[SpeechServer]:
    """It hears something about a cat."""
    with speech_server() as server:
        server.hears = "My cat is called Miso."
        yield server


@pytest.fixture
def home(oldfriend: Program, world: World, speech: SpeechServer) -> Home:
    """The program, which knows who listens and who speaks."""
    oldfriend.data.mkdir()
    (oldfriend.data / "oldfriend.toml").write_text(choices(speech))
    return home_on(oldfriend, world, OLDFRIEND_TELEGRAM_ALLOWED=str(ANA))


def choices(speech: SpeechServer) -> str:
    """Settings for somebody who is listened to, and keeps what they say."""
    return f"""[speech]
transcriber = "mine:whisper-1"
speaker = "mine:tts-1"
keep_audio = true
[providers.mine]
base_url = "{speech.url}"
"""


def test_telegram_voice_audio_and_video_notes_are_transcribed_and_answered(
    home: Home, world: World, speech: SpeechServer
) -> None:
    """Voice notes, audio and video notes; in order with what is typed; kept, and accounted for."""
    with listening(home):
        world.sends_file(ANA, "voice", VOICE)
        world.says(ANA, "And she is three.")
        home.sees(ANA, KEPT)
        world.says(ANA, "What is my cat's name?")
        assert "Miso" in home.sees(ANA, "you said:")
        speech.hears = "My boat is called Dora."
        world.sends_file(ANA, "video_note", VOICE + b"2", mime="video/mp4")
        until(lambda: "My boat is called Dora." in texts(home))
        speech.hears = "My car is red."
        world.sends_file(ANA, "audio", TONE, mime="audio/mpeg", caption="about the car")
        until(lambda: "about the car\nMy car is red." in texts(home))
    said = texts(home)

    assert said[0].startswith("My cat")
    assert said[1].startswith("And she")
    assert names(speech) == [".ogg", ".ogg", ".mp3"]
    assert home.rows("SELECT count(*) FROM attachment WHERE kind = 'heard'") == [(3,)]
    assert home.rows("SELECT count(*) FROM model_call WHERE purpose = 'transcription'") == [(3,)]
    assert home.rows("SELECT DISTINCT trust FROM message WHERE role = 'person'") == [("person",)]


def texts(home: Home) -> list[str]:
    """What the person has said, as it reads now."""
    found = home.rows(
        """SELECT text FROM message WHERE role = 'person' AND replaced_at IS NULL
           ORDER BY said_at, id"""
    )
    return [row[0] for row in found]


def names(speech: SpeechServer) -> list[str]:
    """As what the recordings were sent to who listens."""
    return [Path(file_of(asked)[0]).suffix for asked in speech.heard]


def test_failed_transcription_is_reported_and_retried_on_request(
    home: Home, world: World, speech: SpeechServer
) -> None:
    """Nothing in it, too large, an outage; "again" has it listened to once more."""
    speech.hears = ""
    with listening(home):
        world.sends_file(ANA, "voice", VOICE)
        home.sees(ANA, "couldn't hear any words")
        large = {
            "file_id": "large",
            "file_unique_id": "large",
            "file_size": 21 << 20,
            "duration": 9,
        }
        world.says(ANA, voice=large)
        home.sees(ANA, "too large")
        speech.troubles.extend([(503, "busy")] * 20)
        number = world.sends_file(ANA, "voice", VOICE + b"later")
        home.sees(ANA, "just now")
        world.says(ANA, "I like tea.")
        home.sees(ANA, KEPT)
        speech.troubles.clear()
        speech.hears = "My cat is called Miso."
        world.says(ANA, "Again!", reply_to_message=told_of(number))
        until(lambda: "My cat is called Miso." in texts(home))

    assert len([text for text in world.texts(ANA) if "couldn't listen" in text]) == 1


def test_group_voice_message_addressed_to_companion_is_transcribed_for_all(
    home: Home, world: World, speech: SpeechServer
) -> None:
    """As the word of who said it; only what is said to it is listened to, and paid for."""
    world.group(FAMILY, "Family")
    world.has_privacy = False
    with listening(home):
        home.pair(ANA)
        home.pair(BEN, "--person", "Ben", "--new-person")
        world.says(ANA, "/allow", chat=FAMILY)
        home.sees(FAMILY, "From now on I keep")
        told = world.shown[-1].id
        world.says(BEN, "I am here, too.", chat=FAMILY)
        world.sends_file(BEN, "voice", VOICE, chat=FAMILY)
        world.sends_file(ANA, "voice", VOICE, chat=FAMILY, reply_to=told)
        until(lambda: len(read_by(home, "My cat is called Miso.")) == 3)
        speech.hears = ""
        world.sends_file(ANA, "voice", VOICE + b"2", chat=FAMILY, reply_to=told)
        home.sees(FAMILY, "couldn't hear any words")
        speech.hears = "My boat is called Dora."
        world.says(BEN, "nobody can do that", chat=FAMILY)
        world.says(ANA, "@oldfriend_bot again!", chat=FAMILY)
        until(lambda: len(read_by(home, "My boat is called Dora.")) == 3)
    recalled = home.program.done("recall", "--person", "Ben", "cat").stdout

    assert "Miso" in recalled
    assert read_by(home, "My cat is called Miso.") == [
        ("Ben", "other"),
        ("Family (group)", "other"),
        ("owner", "person"),
    ]
    assert [name for name, _ in read_by(home, "My boat is called Dora.")] == [
        "Ben",
        "Family (group)",
        "owner",
    ]
    assert len(speech.heard) == 3


def test_overhears_setting_transcribes_group_voice_messages_without_reply(
    home: Home, world: World, speech: SpeechServer
) -> None:
    """Remembered as theirs, never answered; after an outage, too; what has no words stays."""
    world.group(FAMILY, "Family")
    world.has_privacy = False
    with listening(choosing(home, OLDFRIEND_SPEECH_OVERHEARS="true")):
        home.pair(ANA)
        home.pair(BEN, "--person", "Ben", "--new-person")
        world.says(ANA, "/allow", chat=FAMILY)
        home.sees(FAMILY, "From now on I keep")
        world.says(BEN, "I am here, too.", chat=FAMILY)
        speech.troubles.append((503, "busy"))
        world.sends_file(BEN, "voice", VOICE, chat=FAMILY)
        until(lambda: len(read_by(home, "My cat is called Miso.")) == 3)
        speech.hears = ""
        world.sends_file(BEN, "voice", VOICE + b"2", chat=FAMILY)
        until(lambda: len(speech.heard) == 2 and not home.rows(LISTENING))
    recalled = home.program.done("recall", "--person", "owner", "cat").stdout

    assert "Miso" in recalled
    assert read_by(home, "My cat is called Miso.") == [
        ("Ben", "person"),
        ("Family (group)", "other"),
        ("owner", "other"),
    ]
    assert len(read_by(home, "[voice message, 0:03]")) == 3
    assert len(world.texts(FAMILY)) == 1


LISTENING = "SELECT 1 FROM job WHERE queue = 'agenda' AND partition LIKE 'listen:%'"


def choosing(home: Home, **variables: str) -> Home:
    """The same, where something else was chosen."""
    program = home.program
    return replace(home, program=replace(program, environment={**program.environment, **variables}))


def read_by(home: Home, text: str) -> list[tuple[str, str]]:
    """Whose memories say this by now, and as whose word."""
    found = home.rows(
        f"""SELECT p.name, m.trust FROM message m JOIN person p ON p.id = m.person
           WHERE m.replaced_at IS NULL AND m.text = '{text}' ORDER BY p.name"""
    )
    return [(row[0], row[1]) for row in found]


def told_of(number: int) -> dict[str, object]:
    """A message as a reply to it shows it."""
    return {
        "message_id": number,
        "date": 1,
        "chat": {"id": ANA, "type": "private"},
        "from": {"id": ANA, "is_bot": False, "first_name": "Ana"},
    }


def test_requested_spoken_reply_is_sent_once_as_voice_note_or_audio_file(
    home: Home, world: World, speech: SpeechServer
) -> None:
    """As a voice note, once; as a file where it is no Opus; where nobody speaks, as words alone."""
    asked = "What is my cat's name? Please answer with a voice message"
    with listening(home):
        world.says(ANA, "My cat is called Miso.")
        home.sees(ANA, KEPT)
        world.scripted["sendVoice"].append(Fault(status=502, description="Bad Gateway"))
        world.says(ANA, asked)
        until(lambda: kinds(world)[-2:] == ["text", "voice"])
        speech.formats = {**speech.formats, "opus": "tone.mp3"}
        world.says(ANA, asked + " once more")
        until(lambda: kinds(world)[-2:] == ["text", "audio"])
        speech.troubles.extend([(500, "broken")] * 9)
        before = len(kinds(world))
        world.says(ANA, asked + " please")
        until(lambda: len(kinds(world)) == before + 1)
        until(lambda: not home.rows("SELECT 1 FROM job WHERE queue = 'outbox'"))

    assert kinds(world)[-1] == "text"
    assert [shown.file for shown in world.shown if shown.kind == "voice"] == [VOICE]


def kinds(world: World) -> list[str]:
    """As what the bot has shown what it said."""
    return [each.kind for each in world.shown]


@pytest.mark.parametrize("step", ["accepted", "fetched", "heard"])
def test_crash_during_transcription_is_recovered_and_paid_for_once(
    tmp_path: Path, world: World, speech: SpeechServer, step: str
) -> None:
    """Also between the download and the transcript; what was written down is paid for once."""
    (tmp_path / "oldfriend.toml").write_text(choices(speech))
    command = [
        sys.executable,
        "-m",
        "tests.killable_server",
        f"sqlite:///{tmp_path}/oldfriend.db",
        str(tmp_path),
    ]
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "OLDFRIEND_TELEGRAM_TOKEN": world.token,
        "OLDFRIEND_TELEGRAM_BASE_URL": world.url,
        "OLDFRIEND_TELEGRAM_QUIET_S": "0",
        "OLDFRIEND_TELEGRAM_ALLOWED": str(ANA),
        "OLDFRIEND_LIMITS_LEASE_S": "1",
        "OLDFRIEND_LIMITS_HEARTBEAT_S": "0.2",
    }
    world.sends_file(ANA, "voice", VOICE)
    world.says(ANA, "remember that she is three")
    with running([*command, step], environment) as first:
        assert first.wait(60) == -signal.SIGKILL
    with running(command, environment):
        until(lambda: len(world.texts(ANA)) == 2, within_s=60)

    assert len(speech.heard) == 1
    assert "she is three" in world.texts(ANA)[1]
