"""A real server and the real clients: a fresh machine, a conversation, a restart."""

import asyncio
import signal
from dataclasses import replace

import ollama
import pytest
from openai import OpenAI
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.handle import Handled

from oldfriend.runtime.admin_http import listen
from tests.cli.serving import on_any_port, served
from tests.processes import Program

pytestmark = pytest.mark.slow

MISO = "My cat is called Miso."
WHICH = "What is my cat called?"
STARTS_S = 30.0


def open_client(port: int, secret: str) -> OpenAI:
    """OpenAI's client as its users open it."""
    return OpenAI(api_key=secret, base_url=f"http://127.0.0.1:{port}/v1", max_retries=2)


def ask(client: OpenAI, *texts: str, stream: bool = False) -> str:
    """The reply to a conversation in which both sides speak in turn."""
    roles = ["user", "assistant"] * len(texts)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    reply = client.chat.completions.create(model="oldfriend", messages=messages, stream=stream)
    if not stream:
        return reply.choices[0].message.content
    return "".join(each.choices[0].delta.content or "" for each in reply if each.choices)


def test_a_front_end_is_connected_and_talks(oldfriend: Program) -> None:
    """Nobody has talked here before; what is said elsewhere meanwhile is known at once."""
    with served(on_any_port(oldfriend)) as running:
        made = oldfriend.done("token", "new", "Open WebUI", "--scope", "write").stdout
        secret = made.split()[0]
        with open_client(running.port, secret) as client:
            first = ask(client, "I moved to Lisbon in May.")
            oldfriend.done("say", MISO)
            named = ask(client, "I moved to Lisbon in May.", first, WHICH)
            said = ["I moved to Lisbon in May.", first, WHICH, named]
            where = ask(client, *said, "Where do I live?", stream=True)
        with ollama.Client(host=f"http://127.0.0.1:{running.port}/ollama/{secret}") as here:
            again = here.chat(model="oldfriend", messages=[{"role": "user", "content": WHICH}])
        receipt = oldfriend.done("why").stdout
    exported = oldfriend.done("export").stdout

    assert "Miso" in named
    assert "Lisbon" in where
    assert "Miso" in again.message.content
    assert "Miso" in receipt
    assert "openai" in exported


def test_a_code_introduces_a_user(oldfriend: Program) -> None:
    """With the commands that the guide names."""
    with served(on_any_port(oldfriend)) as running:
        made = oldfriend.done("token", "new", "Open WebUI", "--scope", "frontend").stdout
        code = "".join(oldfriend.done("token", "code", "--person", "Nora").stdout.split()[:2])
        with open_client(running.port, made.split()[0]) as client:
            nora = client.with_options(default_headers={"X-OpenWebUI-User-Id": "7"})
            stranger = ask(nora, "Hello?")
            welcome = ask(nora, code)
            ask(nora, "I like figs.")
    said = oldfriend.done("recall", "figs", "--person", "Nora").stdout

    assert "six digits" in stranger
    assert "Now I know" in welcome
    assert "I like figs." in said


def test_a_voice_assistant_is_answered(oldfriend: Program) -> None:
    """With the settings that the guide names."""
    oldfriend.done("say", MISO)
    with listen("127.0.0.1", 0) as found:
        port = found.getsockname()[1]

    async def ask() -> str:
        async with AsyncTcpClient("127.0.0.1", port, read_timeout=30) as assistant:
            await assistant.write_event(Transcript(text=WHICH, language="en").event())
            answer = await assistant.read_event()
            assert answer is not None
            return Handled.from_event(answer).text or ""

    with served(on_any_port(oldfriend, OLDFRIEND_SERVE_WYOMING_PORT=str(port))) as running:
        named = asyncio.run(ask())
        is_ready = running.is_ready

    assert "Miso" in named
    assert is_ready


def test_a_restart_goes_unnoticed(oldfriend: Program) -> None:
    """A request sent again after the server was killed is answered, and said once."""
    oldfriend.done("say", "Hello.")
    secret = oldfriend.done("token", "new", "desk", "--scope", "write").stdout.split()[0]
    with served(on_any_port(oldfriend)) as running:
        port = running.port
        with open_client(port, secret) as client:
            first = ask(client, MISO)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(STARTS_S)
    again = replace(
        oldfriend, environment={**oldfriend.environment, "OLDFRIEND_SERVE_PORT": str(port)}
    )
    with served(again), open_client(port, secret) as client:
        second = ask(client, MISO)
        named = ask(client, MISO, second, WHICH)
    found = oldfriend.done("recall", "cat", "--json").json

    assert first == second
    assert "Miso" in named
    assert len([each for each in found if each["text"] == MISO]) == 1
