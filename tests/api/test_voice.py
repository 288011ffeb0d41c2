"""Saying something aloud to the page: heard once, kept where it is to be kept, theirs alone."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from oldfriend.api.connections import MAX_SPEECH
from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.llm.embedding import Account
from oldfriend.llm.speech import MAX_AUDIO_BYTES, Speech, SpeechSynthesizer
from tests.api.conftest import LONGEST_S, Browse, Site, events, opened_site, say, until_topic
from tests.engines import SQLITE_ONLY
from tests.fakes.speech_server import SpeechServer, listened_to, speech_server

VOICE = (Path(__file__).parents[1] / "data/sounds/voice.ogg").read_bytes()
CAT = "My cat Miso sleeps on the radiator all day long."
pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    """It hears something about a cat."""
    with speech_server() as server:
        server.hears = CAT
        yield server


@pytest.fixture
def settings(settings: Settings, server: SpeechServer) -> Settings:
    """Those of somebody who is listened to, keeps what they say, and is spoken to when they ask."""
    listened = listened_to(settings, server)
    return replace(listened, speech=replace(listened.speech, speaker="mine:tts-1"))


async def say_aloud(
    browser: httpx.AsyncClient, sound: bytes = VOICE, *, key: str = "the first recording"
) -> httpx.Response:
    """Send a recording as the page does."""
    return await browser.post(
        "/chat/recordings",
        params={"zone": "Europe/Lisbon"},
        content=sound,
        headers={"Idempotency-Key": key, "Content-Type": "audio/ogg"},
    )


async def test_voice_message_is_transcribed_once_and_stored_with_its_sound(
    browse: Browse, server: SpeechServer
) -> None:
    """Answered like any others; sent again it is said, and paid for, once; on each engine."""
    browser, omar = await browse(), await browse("Omar")
    position = (await browser.get("/chat/messages")).json()["position"]
    said = await say_aloud(browser)
    again = await say_aloud(browser)
    heard = await until_topic(events(browser, after=position), "chat.message.done")
    path = f"/chat/messages/{said.json()['id']}/recording"
    whole, others = await browser.get(path), await omar.get(path)

    assert (said.status_code, again.status_code) == (202, 200)
    assert said.json()["text"] == again.json()["text"] == CAT
    assert said.json()["is_aloud"]
    assert said.json()["has_sound"]
    assert [each.data["has_sound"] for each in heard if "has_sound" in each.data] == [True, False]
    assert len(server.heard) == 1
    assert whole.content == VOICE
    assert whole.headers["content-type"] == "audio/ogg"
    assert others.status_code == 404


@SQLITE_ONLY
@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-3", 206, VOICE[:4]),
        ("bytes=100-", 206, VOICE[100:]),
        ("bytes=-5", 206, VOICE[-5:]),
        ("bytes=999999999-", 416, None),
        ("lines=1-2", 200, VOICE),
        ("bytes=\u00b2-3", 200, VOICE),
    ],
)
async def test_sound_download_supports_byte_ranges(
    browse: Browse, wanted: str, status: int, part: bytes | None
) -> None:
    """As players ask for them."""
    browser = await browse()
    said = (await say_aloud(browser)).json()
    given = await browser.get(
        f"/chat/messages/{said['id']}/recording", headers={"Range": wanted.encode("latin-1")}
    )

    assert given.status_code == status
    assert part is None or given.content == part
    if status != 200:
        assert given.headers["content-range"].endswith(f"/{len(VOICE)}")
    if status == 416:
        assert given.headers["content-range"].startswith("bytes */")


@SQLITE_ONLY
async def test_failed_transcription_is_reported_and_nothing_is_stored(
    browse: Browse, server: SpeechServer
) -> None:
    """No words, too much, a provider that fails; and nothing without a key of its own."""
    browser = await browse()
    server.hears = " "
    silent = await say_aloud(browser, key="nothing in it")
    server.troubles = [(503, "overloaded")] * 9
    server.hears = CAT
    failing = await say_aloud(browser, VOICE + b"more", key="it fails")
    too_much = await say_aloud(browser, bytes(MAX_AUDIO_BYTES + 1), key="far too much")
    unnamed = await browser.post("/chat/recordings", content=VOICE)

    assert [silent.status_code, failing.status_code] == [422, 503]
    assert [too_much.status_code, unnamed.status_code] == [413, 422]
    assert all(each.json()["detail"] for each in (silent, failing, too_much, unnamed))
    assert (await browser.get("/chat/messages")).json()["items"] == []


@SQLITE_ONLY
async def test_voice_message_without_a_transcriber_says_how_to_connect_one(
    site: Site, browse: Browse
) -> None:
    """The page knows beforehand; who tries all the same is told."""
    browser = await browse()
    listened = (await browser.get("/state")).json()["hears"]
    site.room.app = replace(site.room.app, transcriber=None)
    told = await say_aloud(browser)

    assert listened
    assert not (await browser.get("/state")).json()["hears"]
    assert told.status_code == 409
    assert "oldfriend connect transcriber" in told.json()["detail"]


async def test_requested_spoken_reply_can_be_downloaded_by_its_person_only(
    browse: Browse, server: SpeechServer
) -> None:
    """It is told once it can be, is paid for once, and is nobody else's; on each engine."""
    browser, omar = await browse(), await browse("Omar")
    position = (await browser.get("/chat/messages")).json()["position"]
    await say(browser, "Hello there.")
    silent = (await until_topic(events(browser, after=position), "chat.message.done"))[-1].data
    position = (await browser.get("/chat/messages")).json()["position"]
    async with aclosing(events(browser, after=position)) as heard:
        await anext(heard)
        await say(browser, "Please answer with a voice message: how are you?")
        told = await until_topic(heard, "chat.message.voice_ready")
    (reply,) = [each.data for each in told if each.topic == "chat.message.done"]
    path = f"/chat/messages/{reply['id']}/recording"
    sound, others = await browser.get(path), await omar.get(path)
    kept = {
        each["id"]: each["has_sound"]
        for each in (await browser.get("/chat/messages")).json()["items"]
    }

    assert told[-1].data == {"message": reply["id"]}
    assert not reply["has_sound"]
    assert sound.content == VOICE
    assert others.status_code == 404
    assert (kept[reply["id"]], kept[silent["id"]]) == (True, False)
    assert len(server.spoken) == 1


class Endless:
    """Speaks, and never comes to an end."""

    model, voice = "mine:tts-1", "alloy"

    def __init__(self) -> None:
        """It has not begun."""
        self.began = asyncio.Event()

    def with_account(self, account: Account) -> SpeechSynthesizer:
        """The same."""
        return self

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Begin, and never end."""
        self.began.set()
        await asyncio.Event().wait()
        raise AssertionError(text)


@SQLITE_ONLY
async def test_shutdown_does_not_wait_for_speech_synthesis(app: AppContext) -> None:
    """Its text is there; whoever speaks may take minutes."""
    endless = Endless()
    async with asyncio.timeout(LONGEST_S):
        async with (
            opened_site(replace(app, speaker=endless)) as site,
            site.browser() as browser,
        ):
            await say(browser, "Please answer with a voice message: how are you?")
            await endless.began.wait()
            site.stop()

    assert endless.began.is_set()


class Broken(Endless):
    """Speaks in a way of which nobody has thought."""

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Begin, and break."""
        self.began.set()
        raise ZeroDivisionError


@SQLITE_ONLY
async def test_failing_speech_synthesis_does_not_affect_other_replies(
    app: AppContext, caplog: pytest.LogCaptureFixture
) -> None:
    """The text is there; what went wrong is told to whoever looks after the house."""
    broken = Broken()
    async with (
        opened_site(replace(app, speaker=broken)) as site,
        site.browser() as browser,
        aclosing(events(browser)) as heard,
    ):
        await anext(heard)
        await say(browser, "Please answer with a voice message: how are you?")
        await until_topic(heard, "chat.message.done")
        await broken.began.wait()
        await say(browser, "Hello there.")
        await until_topic(heard, "chat.message.done")

    told = [each.getMessage() for each in caplog.records if each.name == "oldfriend.events"]
    assert "speech-failed" in told
    assert "crashed" not in told


class Slow(Endless):
    """Speaks when it may, and counts how many want it to at once."""

    def __init__(self) -> None:
        """Nobody has asked."""
        super().__init__()
        self.speaking = self.most = self.spoken = 0
        self.may = asyncio.Event()

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Wait until it may, and speak."""
        self.speaking += 1
        self.most = max(self.most, self.speaking)
        if self.speaking == MAX_SPEECH:
            self.began.set()
        await self.may.wait()
        self.speaking -= 1
        self.spoken += 1
        return Speech(audio=VOICE, mime="audio/ogg")


@SQLITE_ONLY
async def test_concurrent_speech_synthesis_is_limited(app: AppContext) -> None:
    """The others wait for their turn, and are spoken, too."""
    slow, count = Slow(), MAX_SPEECH + 2
    async with (
        opened_site(replace(app, speaker=slow)) as site,
        site.browser() as browser,
        aclosing(events(browser)) as heard,
    ):
        await anext(heard)
        for number in range(count):
            await say(browser, f"Please answer with a voice message: how is number {number}?")
            await until_topic(heard, "chat.message.done")
        await slow.began.wait()
        slow.may.set()
        for _ in range(count):
            await until_topic(heard, "chat.message.voice_ready")

    assert slow.spoken == count
    assert slow.most == MAX_SPEECH
