"""Voice assistants over a real socket, with the protocol's own client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from oldfriend.app.app_context import AppContext
from oldfriend.cli.serve import build_wyoming_part
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import PRIVATE_NETWORKS
from oldfriend.domain.errors import InvalidInput, PlatformRejected
from oldfriend.llm.scripted import ScriptedReply
from oldfriend.openai_api import wyoming_server
from oldfriend.openai_api.wyoming_server import WyomingServer, may_connect, read_event
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.runtime.admin_http import listen
from tests.mcp_server.conftest import person_called
from tests.openai_api.conftest import House, Open

MISO = "My cat is called Miso."
WHICH = "What is my cat called?"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings by which voice assistants are answered, at a port that is free."""
    with listen("127.0.0.1", 0) as found:
        port = found.getsockname()[1]
    return replace(settings, serve=replace(settings.serve, wyoming_port=port))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """A voice assistant that opens a connection for each thing it hears, as Home Assistant does."""

    port: int

    def open(self) -> AsyncTcpClient:
        """A connection, to be entered."""
        return AsyncTcpClient("127.0.0.1", self.port, connect_timeout=5, read_timeout=20)

    async def ask(self, event: Event) -> Event | None:
        """The answer to an event; None if the connection is closed instead."""
        async with self.open() as client:
            await client.write_event(event)
            return await client.read_event()

    async def hear(self, text: str, language: str = "en") -> str:
        """What is said to what was heard."""
        answer = await self.ask(Transcript(text=text, language=language).event())
        assert answer is not None
        assert Handled.is_type(answer.type), answer
        return Handled.from_event(answer).text or ""

    async def send(self, raw: bytes) -> bytes:
        """What comes back for some bytes, until the connection is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(raw)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:
            return b""
        finally:
            writer.close()


Serve = Callable[[House], Awaitable[Assistant]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Serve voice assistants in a house."""
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:

        async def start(house: House) -> Assistant:
            tasks.create_task(WyomingServer(house.hub).run(house.app, stopping))
            return await reach(house.app)

        yield start
        stopping.set()


async def reach(app: AppContext) -> Assistant:
    """An assistant, once it is answered."""
    assistant = Assistant(port=app.settings.serve.wyoming_port or 0)
    async with asyncio.timeout(5):
        while True:
            try:
                await assistant.ask(Ping().event())
            except OSError:
                await asyncio.sleep(0.01)
            else:
                return assistant


async def wait_until(house: House, is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so in a house."""
    owner = await person_called(house.app, None)
    with house.hub.connect(owner.id) as connection:
        async with asyncio.timeout(10):
            while not await is_so():
                await connection.wait(0.1)


async def test_an_assistant_finds_what_it_can_ask(open_house: Open, serve: Serve) -> None:
    """Home Assistant offers what is described so as a conversation agent."""
    assistant = await serve(await open_house())

    answer = await assistant.ask(Describe().event())

    assert answer is not None
    (program,) = Info.from_event(answer).handle
    assert program.installed
    assert {"en", "de", "zh"} <= {*program.models[0].languages}


async def test_what_is_heard_is_answered_from_memory(open_house: Open, serve: Serve) -> None:
    """By the same turn as elsewhere, into the same log, without markup."""
    house = await open_house()
    assistant = await serve(house)

    await assistant.hear(MISO)
    named = await assistant.hear(WHICH)

    assert "Miso" in named
    assert "*" not in named
    assert [(each.channel, each.role) for each in await house.log()] == [
        ("voice", "person"),
        ("voice", "companion"),
    ] * 2


async def test_the_context_comes_back_and_the_language_counts(
    open_house: Open, serve: Serve
) -> None:
    """What two words are said in, the assistant knows better than they tell."""
    house = await open_house()
    assistant = await serve(house)

    heard = Transcript(text="Miso!", language="de-DE", context={"conversation_id": "c1"})
    answer = await assistant.ask(heard.event())
    vast = Transcript(text="Miso?", language="xx", context={"a": "b" * 9_000})
    other = await assistant.ask(vast.event())

    assert answer is not None
    assert Handled.from_event(answer).context == {"conversation_id": "c1"}
    assert other is not None
    assert Handled.from_event(other).context is None
    assert [each.language for each in await house.log() if each.role == "person"] == ["de", "de"]


async def test_nothing_heard_is_not_handled(open_house: Open, serve: Serve) -> None:
    """It asks to be told again, in the language of the assistant; too much is not taken in."""
    house = await open_house()
    assistant = await serve(house)
    phrases = load_phrases("de").phrases

    for text in ("", " \n ", None, 7, ["Hello."], "la " * 2_000):
        event = Event(type="transcript", data={"text": text, "language": "de"})
        answer = await assistant.ask(event)
        assert answer is not None
        assert NotHandled.is_type(answer.type)
        name = "not_taken_in" if isinstance(text, str) and len(text) > 10 else "unheard_nothing"
        assert NotHandled.from_event(answer).text == phrases[name]
    assert await house.log() == []


async def test_one_person_is_heard(
    settings: Settings, app: AppContext, open_house: Open, serve: Serve
) -> None:
    """The one in the settings; a name that nobody has makes nobody."""
    house = await open_house()
    await person_called(app, "Nora")
    nora = replace(settings, serve=replace(settings.serve, wyoming_person="Nora"))
    assistant = await serve(house)

    house.hub.app = app.with_settings(app, nora)
    await assistant.hear("I like figs.")
    nobody = replace(settings, serve=replace(settings.serve, wyoming_person="Norra"))
    house.hub.app = app.with_settings(app, nobody)
    answer = await assistant.ask(Transcript(text="I like plums.").event())

    assert await house.said("Nora") == ["I like figs."]
    assert await house.said() == []
    assert answer is not None
    assert NotHandled.is_type(answer.type)


async def test_everything_is_not_forgotten_by_voice(open_house: Open, serve: Serve) -> None:
    """Whoever is in the room could say so, and so could a television."""
    assistant = await serve(await open_house())
    await assistant.hear(MISO)

    assert "oldfriend forget --everything" in await assistant.hear("/purge")


async def test_a_model_that_breaks_is_told_of(open_house: Open, serve: Serve) -> None:
    """What was said is kept, and the assistant is not left waiting."""
    house = await open_house(lambda _: 1 / 0)
    assistant = await serve(house)

    answer = await assistant.ask(Transcript(text="I like plums.", language="fr").event())

    assert answer is not None
    assert NotHandled.is_type(answer.type)
    assert NotHandled.from_event(answer).text == load_phrases("fr").phrases["not_answered"]
    assert await house.said() == ["I like plums."]


async def test_nobody_waits_when_the_assistant_is_gone(open_house: Open, serve: Serve) -> None:
    """The turn is stopped; what was said is kept, and others are answered."""
    house = await open_house(
        lambda _: ScriptedReply(text="word " * 200, chunk_size=5, chunk_delay_s=0.05)
    )
    assistant = await serve(house)
    async with assistant.open() as client:
        await client.write_event(Transcript(text="Tell me a long story.").event())

        async def has_begun() -> bool:
            return bool(house.model and house.model.requests)

        await wait_until(house, has_begun)

    async def has_ended() -> bool:
        return len(await house.log()) == 2

    await wait_until(house, has_ended)
    assert [each.role for each in await house.log()] == ["person", "marker"]
    assert house.model is not None
    house.model.answers = ["A short one."]
    assert await assistant.hear("And now?") == "A short one."


async def test_several_are_answered_on_one_connection(open_house: Open, serve: Serve) -> None:
    """Also what is sent before the last answer is there; what is not known is passed over."""
    house = await open_house(lambda _: ScriptedReply(text="Well.", delay_s=0.2))
    assistant = await serve(house)
    events = [
        Event(type="select-program", data={"name": "oldfriend"}),
        Transcript(text="One.").event(),
        Event(type="audio-chunk", data={"rate": 16_000}, payload=b"\0" * 9_000),
        Transcript(text="Two.").event(),
        Ping(text="three").event(),
    ]
    async with assistant.open() as client:
        for each in events:
            await client.write_event(each)
        answers = [await client.read_event() for _ in range(3)]

    assert [each.type for each in answers if each] == ["handled", "handled", "pong"]
    assert answers[2] is not None
    assert Pong.from_event(answers[2]).text == "three"
    assert await house.said() == ["One.", "Two."]


def line(**head: object) -> bytes:
    """The line of an event."""
    return json.dumps(head).encode() + b"\n"


GARBAGE = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /transcript HTTP/1.1\r\n\r\n" + line(type="transcript", data={"text": "Hello."}),
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
    b"\n",
    b"null\n",
    b"[]\n",
    b"{}\n",
    b"\xff\xfe\n",
    b"[" * 9_000 + b"\n",
    b"a" * 100_000,
    line(type="transcript", data=["text"]),
    line(type="transcript", data_length=-1),
    line(type="transcript", data_length="12"),
    line(type="transcript", data_length=1 << 40),
    line(type="transcript", data_length=1e300),
    line(type="audio-chunk", payload_length=1 << 40),
    line(type="transcript", data_length=4) + b"nope",
    line(type="transcript", data_length=2) + b"[]",
    line(type="ping", data={"text": "\ud800"}),
]


async def test_what_is_no_event_ends_its_connection(
    open_house: Open, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is heard, also of what a page in a browser sends; others are served on."""
    house = await open_house()
    assistant = await serve(house)
    monkeypatch.setattr(wyoming_server, "EVENT_TIMEOUT_S", 0.5)

    for raw in GARBAGE:
        assert await assistant.send(raw) == b"", raw[:80]
    assert await house.log() == []
    assert await assistant.hear("I like plums.")


@given(st.binary(max_size=60) | st.sampled_from(GARBAGE))
def test_any_bytes_are_an_event_or_the_end(raw: bytes) -> None:
    """Whatever comes, reading ends."""

    async def read() -> Event | None:
        reader = asyncio.StreamReader(limit=wyoming_server.MAX_LINE_BYTES)
        reader.feed_data(raw)
        reader.feed_eof()
        return await read_event(reader)

    found = asyncio.run(read())
    assert found is None or isinstance(found.data, dict)


async def test_half_a_line_is_not_waited_for(
    open_house: Open, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what a line has announced; a connection without a word is closed in the end, too."""
    assistant = await serve(await open_house())
    monkeypatch.setattr(wyoming_server, "EVENT_TIMEOUT_S", 0.1)
    monkeypatch.setattr(wyoming_server, "IDLE_TIMEOUT_S", 0.3)

    assert await assistant.send(b'{"type": "trans') == b""
    assert await assistant.send(line(type="transcript", data_length=100)) == b""
    assert await assistant.send(b"") == b""


async def test_only_some_networks_may_connect(
    settings: Settings, app: AppContext, open_house: Open, serve: Serve
) -> None:
    """There is no secret in the protocol, so the address has to do."""
    house = await open_house()
    chosen = replace(settings.serve, wyoming_clients=("10.0.0.0/8",))
    elsewhere = replace(house, app=app.with_settings(app, replace(settings, serve=chosen)))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(serve(elsewhere), 1)


@pytest.mark.parametrize(
    ("address", "is_private"),
    [
        ("127.0.0.1", True),
        ("192.168.1.20", True),
        ("10.1.2.3", True),
        ("172.17.0.1", True),
        ("::1", True),
        ("fe80::1%eth0", True),
        ("fd00::5", True),
        ("::ffff:192.168.1.20", True),
        ("::ffff:8.8.8.8", False),
        ("8.8.8.8", False),
        ("172.32.0.1", False),
        ("2001:db8::1", False),
        ("2002:c0a8:101::1", False),  # 6to4: comes from the internet
        ("", False),
        ("a name", False),
    ],
)
def test_private_addresses_may_connect(address: str, is_private: bool) -> None:
    """Unless other networks are chosen."""
    assert may_connect(address, PRIVATE_NETWORKS) is is_private
    assert may_connect(address, ["8.8.8.8/24"]) is (address.endswith("8.8.8.8"))


async def test_too_many_are_refused(
    open_house: Open, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is room again once some have ended."""
    assistant = await serve(await open_house(["Well."]))
    monkeypatch.setattr(wyoming_server, "MAX_CONNECTIONS", 1)
    async with assistant.open() as first:
        await first.write_event(Ping().event())
        assert await first.read_event() is not None
        assert await assistant.send(b"") == b""
    async with asyncio.timeout(10):
        while (answer := await assistant.ask(Ping().event())) is None:
            pass  # until the server has noticed
    assert Pong.is_type(answer.type)
    assert await assistant.hear("And now?") == "Well."


async def test_a_reload_and_a_stop_finish_what_was_begun(open_house: Open) -> None:
    """Idle connections are closed at once."""
    house = await open_house(lambda _: ScriptedReply(text="Well.", delay_s=0.5))
    server, first, second = WyomingServer(house.hub), asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.run(house.app, first))
        assistant = await reach(house.app)
        async with assistant.open() as idle, assistant.open() as busy:
            await busy.write_event(Transcript(text="One.").event())

            async def has_begun() -> bool:
                return bool(house.model and house.model.requests)

            await wait_until(house, has_begun)
            tasks.create_task(server.run(house.app, second))
            first.set()
            assert await idle.read_event() is None
            answer = await busy.read_event()
            assert answer is not None
            assert answer.type == "handled"
            assert await busy.read_event() is None
        assert await assistant.hear("Two.") == "Well."
        second.set()


async def test_a_taken_port_is_told_of(settings: Settings, open_house: Open) -> None:
    """With the settings that choose another; the supervisor shows it."""
    house = await open_house()
    with (
        listen("127.0.0.1", settings.serve.wyoming_port or 0),
        pytest.raises(ExceptionGroup) as failed,
    ):
        await WyomingServer(house.hub).run(house.app, asyncio.Event())
    assert failed.group_contains(PlatformRejected, match=r"serve\.wyoming_port")


def test_the_extra_is_loaded_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """And named where it is missing."""
    code = "import sys, oldfriend.cli.serve; sys.exit('wyoming' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    monkeypatch.delitem(sys.modules, "oldfriend.openai_api.wyoming_server")
    monkeypatch.setitem(sys.modules, "wyoming.asr", None)
    with pytest.raises(InvalidInput, match=r"oldfriend\[wyoming\]"):
        build_wyoming_part(None)  # type: ignore[arg-type]


async def test_home_assistant_is_answered_as_it_asks(open_house: Open, serve: Serve) -> None:
    """It looks for an installed program that handles, in a second, and names no language."""
    house = await open_house()
    assistant = await serve(house)
    async with asyncio.timeout(1):
        described = await assistant.ask(Describe().event())
    assert described is not None
    info = Info.from_event(described)
    program = next(each for each in info.handle if each.installed)
    languages = {
        language for each in program.models if each.installed for language in each.languages
    }
    spoken = []
    for text in (MISO, WHICH):
        answer = await assistant.ask(Transcript(text, context={"conversation_id": "01J9"}).event())
        assert answer is not None
        spoken.append(Handled.from_event(answer).text)

    assert not any(each.installed for each in (*info.intent, *info.asr, *info.tts, *info.wake))
    assert {"en", "de", "es", "fr", "zh"} <= languages
    assert program.name
    assert "Miso" in str(spoken[1])
    assert await house.said() == [MISO, WHICH]
