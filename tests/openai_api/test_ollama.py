"""Ollama's own client, and what Home Assistant asks for."""

from collections.abc import AsyncIterator

import httpx
import ollama
import pytest

from oldfriend.llm.model import ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedReply
from tests.chat_fixtures import Say
from tests.openai_api.conftest import House, Open
from tests.openai_api.test_chat_completions import MISO, WHICH

TOOL = {
    "type": "function",
    "function": {
        "name": "turn_on",
        "description": "Turn on a light.",
        "parameters": {"type": "object", "properties": {"room": {"type": "string"}}},
    },
}


async def connect(house: House, *, in_address: bool = False) -> ollama.AsyncClient:
    """Ollama's client with a token, in its header or in the address."""
    token = await house.token()
    if in_address:
        client = ollama.AsyncClient(host=f"{house.origin}/ollama/{token}", trust_env=False)
    else:
        headers = {"Authorization": f"Bearer {token}"}
        client = ollama.AsyncClient(host=house.origin, headers=headers, trust_env=False)
    house.clients.push_async_callback(client.close)
    return client


@pytest.mark.parametrize("in_address", [False, True])
async def test_ollamas_client_talks_with_the_memory(
    open_house: Open, say: Say, in_address: bool
) -> None:
    """Whole and piece by piece; the whole conversation is sent each time."""
    house = await open_house()
    await say(MISO)
    client = await connect(house, in_address=in_address)
    said = [{"role": "user", "content": WHICH}]

    listed = await client.list()
    shown = await client.show("oldfriend")
    reply = await client.chat(model="oldfriend:latest", messages=said)
    said += [dict(reply.message), {"role": "user", "content": "She is three years old."}]
    pieces = [
        each async for each in await client.chat(model="oldfriend", messages=said, stream=True)
    ]

    assert [each.model for each in listed.models] == ["oldfriend:latest"]
    assert shown.capabilities == ["completion"]
    assert "Miso" in reply.message.content
    assert reply.done_reason == "stop"
    assert pieces[-1].done
    assert pieces[-1].eval_count > 0
    assert "".join(each.message.content for each in pieces)
    assert await house.said() == [MISO, WHICH, "She is three years old."]


async def test_a_text_is_generated(open_house: Open) -> None:
    """By Ollama's other route."""
    house = await open_house(["Noted."])
    client = await connect(house)

    reply = await client.generate(model="oldfriend", prompt="I like figs.")
    loaded = await client.generate(model="oldfriend", prompt="")

    assert reply.response == "Noted."
    assert loaded.done_reason == "load"
    assert await house.said() == ["I like figs."]


async def test_home_assistant_runs_its_own_tools(open_house: Open) -> None:
    """Its calls have no ids; results come in their order."""
    calls = tuple(
        ToolCall(id=f"c{number}", name="turn_on", arguments={"room": room})
        for number, room in enumerate(("hall", "attic"))
    )
    house = await open_house([ScriptedReply(calls=calls), "Both are on."])
    client = await connect(house)
    said = [
        {"role": "system", "content": "You control lights."},
        {"role": "user", "content": "Light everywhere."},
    ]

    first = await client.chat(model="oldfriend", messages=said, tools=[TOOL])
    said += [
        first.message.model_dump(exclude_none=True),
        {"role": "tool", "tool_name": "turn_on", "content": "hall: on"},
        {"role": "tool", "tool_name": "turn_on", "content": "attic: on"},
    ]
    stream = await client.chat(model="oldfriend", messages=said, tools=[TOOL], stream=True)
    text = "".join([each.message.content async for each in stream])

    assert [call.function.arguments["room"] for call in first.message.tool_calls] == [
        "hall",
        "attic",
    ]
    assert text == "Both are on."
    results = [each for each in house.model.requests[-1].turns if isinstance(each, ToolResult)]
    assert [each.text for each in results] == ["hall: on", "attic: on"]
    assert len({each.id for each in results}) == 2
    assert await house.said() == ["Light everywhere."]


@pytest.fixture
async def bare(open_house: Open) -> AsyncIterator[httpx.AsyncClient]:
    """A program without a token."""
    house = await open_house()
    async with httpx.AsyncClient(base_url=house.origin, trust_env=False) as http:
        yield http


@pytest.mark.parametrize("prefix", ["", "/ollama/nonsense"])
@pytest.mark.parametrize("path", ["/api/version", "/api/tags", "/api/chat", "/api/show"])
async def test_nobody_is_served_without_a_token(
    bare: httpx.AsyncClient, prefix: str, path: str
) -> None:
    """In Ollama's format of errors."""
    method = "GET" if path in {"/api/version", "/api/tags"} else "POST"
    response = await bare.request(method, f"{prefix}{path}", json={"model": "oldfriend"})

    assert response.status_code == 401
    assert "token new" in response.json()["error"]
