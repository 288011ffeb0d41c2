"""The talk in a browser, aloud: recorded, written down, heard again; and spoken to."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import Running, on_any_port, served
from tests.fakes.speech_server import SpeechServer, speech_server
from tests.journeys.browsers import NEEDS_CHROMIUM, opened_browser, say
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
SAY = "Say something …"
HEARD = "(which) => document.querySelector(which).currentTime > 0.1"
SETTINGS = """[speech]
transcriber = "ear:whisper-1"
speaker = "ear:tts-1"
keep_audio = true
[providers.ear]
base_url = "{}"
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all of these, with a microphone that beeps."""
    with opened_browser(*MICROPHONE) as opened:
        yield opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A process that serves, and who listens and speaks there."""

    program: Program
    running: Running
    speech: SpeechServer


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One process for all of these."""
    with speech_server() as speech:
        program = on_any_port(Program(data=tmp_path_factory.mktemp("voice")))
        (program.data / "oldfriend.toml").write_text(SETTINGS.format(speech.url))
        with served(program) as running:
            yield Home(program=program, running=running, speech=speech)


def test_recorded_voice_message_is_transcribed_and_can_be_played(
    browser: Browser, home: Home
) -> None:
    """From the microphone to the words, and back through a route that knows who asks."""
    home.speech.hears = "My boat is called Dora."
    with opened(browser, new_link(home.program), permissions=["microphone"]) as (page, complaints):
        page.get_by_role("button", name="Say it aloud").click()
        expect(page.locator(".speaking time")).to_have_text("0:01")
        page.get_by_role("button", name="Send the recording").click()
        mine = page.locator(".mine", has_text="My boat is called Dora.")
        expect(mine).to_contain_text("said aloud")
        sound = mine.locator("audio")
        sound.evaluate("e => e.play()")
        page.wait_for_function(HEARD, arg=".mine audio")
        source = sound.get_attribute("src")
        own = page.request.get(f"http://localhost:{home.running.port}{source}")
        part = page.request.get(
            f"http://localhost:{home.running.port}{source}", headers={"Range": "bytes=0-3"}
        )
        first_bytes = (part.status, part.body(), own.body()[:4])
        kind = own.headers["content-type"]
        page.get_by_role("button", name="Say it aloud").click()
        page.get_by_role("button", name="Discard").click()
        expect(page.get_by_label(SAY)).to_be_visible()
    with opened(browser, f"http://localhost:{home.running.port}/") as (stranger, _):
        refused = stranger.request.get(f"http://localhost:{home.running.port}{source}").status

    assert kind == "audio/webm"
    assert first_bytes[:2] == (206, first_bytes[2])
    assert refused == 401
    assert complaints == []


def test_requested_spoken_reply_can_be_played_on_every_open_page(
    browser: Browser, home: Home
) -> None:
    """On every page that is open its text is there at once, then its sound; after loading, too."""
    link = new_link(home.program)
    with (
        opened(browser, link) as (page, complaints),
        opened(browser, new_link(home.program)) as (other, others),
    ):
        say(page, "Remember that the tea is in the tin.")
        say(page, "Please answer with a voice message: where is the tea?")
        for each in (page, other):
            reply = each.locator(".theirs").last
            expect(reply).to_contain_text("tin")
            expect(reply.get_by_label("Listen to the reply")).to_be_visible()
        page.locator(".theirs audio").evaluate("e => e.play()")
        page.wait_for_function(HEARD, arg=".theirs audio")
        page.reload()
        expect(page.get_by_label("Listen to the reply")).to_have_count(1)

    assert len(home.speech.spoken) == 1
    assert complaints == others == []
