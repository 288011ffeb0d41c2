"""A model of a provider searches the memory over the wire, also where its calls are faulty."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from oldfriend.llm.adapters.model_factory import build_model
from oldfriend.llm.adapters.pydantic_ai_model import PydanticAiModel
from oldfriend.llm.model import LanguageModel
from oldfriend.llm.providers import ApiKind, build_model_config
from oldfriend.turn.pipeline import run_turn
from tests.fakes.raw_server import RawServer, raw_server, whole
from tests.llm.adapters.test_wrong_bytes import anthropic_message, chat_message
from tests.turn.conftest import Talk
from tests.turn.test_search_memory import blind, said

__all__ = ["blind"]

Json = dict[str, object]
Call = tuple[str, str, str]
"""Id, name and arguments, as they are written."""

KEY = "The spare key hangs behind the enamel bread tin."
SPARE = '{"query": "spare key"}'
CALLS: list[Call] = [
    ("c1", "search_memory", SPARE),
    ("c2", "search_memory", SPARE),
    ("c3", "search_memory", '{"query": "bread tin", "from_date": "soon"}'),
    ("c4", "fly_home", "{}"),
    ("c5", "search_memory", '{"query": '),
]
ENDINGS = ["done", "repeated", "failed", "unknown", "bad arguments"]


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here asks the database what others do not."""
    return "sqlite"


def openai_calls(*calls: Call) -> Json:
    """An answer of OpenAI's chat that makes these calls."""
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    return chat_message({"content": None, "tool_calls": made}, ends="tool_calls")


def anthropic_calls(*calls: Call) -> Json:
    """An answer of Anthropic's messages that makes these calls."""
    made = [
        {"type": "tool_use", "id": id_, "name": name, "input": json.loads(arguments)}
        for id_, name, arguments in calls
    ]
    return anthropic_message(*made, stop="tool_use")


@asynccontextmanager
async def opened(server: RawServer, kind: ApiKind) -> AsyncIterator[LanguageModel]:
    """A model of the provider."""
    name = "anthropic:claude-haiku-5-5" if kind == "anthropic" else "openai:gpt-6-luna"
    address = server.url if kind == "anthropic" else f"{server.url}/v1"
    model = build_model(build_model_config(name, kind=kind, base_url=address, key="sk-x"))
    try:
        yield model
    finally:
        assert isinstance(model, PydanticAiModel)
        await model.close()


def results_of(body: Json) -> dict[str, str]:
    """The results in a request, by the id of their call."""
    found: dict[str, str] = {}
    for message in body["messages"]:
        if message["role"] == "tool":
            found[message["tool_call_id"]] = str(message["content"])
        elif isinstance(message["content"], list):
            found |= {
                part["tool_use_id"]: str(part["content"])
                for part in message["content"]
                if part["type"] == "tool_result"
            }
    return found


async def test_parallel_tool_calls_each_get_a_result_over_openai_chat(blind: Talk) -> None:
    """OpenAI's chat: two alike, one with a bad day, an unknown tool, and arguments cut off."""
    key = await said(blind, KEY)
    answer = chat_message({"content": "Behind the enamel bread tin."})
    scripts = whole(openai_calls(*CALLS)), whole(answer)
    async with raw_server(*scripts) as server, opened(server, "openai") as model:
        outcome = await run_turn(await blind.hears("hm?"), blind.mind(model=model))

    results = results_of(server.bodies[1])
    assert [*results] == [id_ for id_, _, _ in CALLS]
    assert KEY in results["c1"]
    assert "not used again" in results["c2"]
    assert "from_date is “soon”" in results["c3"]
    assert "There is no tool with that name" in results["c4"]
    assert "no JSON object; send them again" in results["c5"]
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ENDINGS
    assert outcome.reply.text == "Behind the enamel bread tin."
    assert outcome.reply.details["cited"] == [key.id]


async def test_parallel_tool_calls_each_get_a_result_over_anthropic_messages(blind: Talk) -> None:
    """Anthropic's messages, where arguments are always objects."""
    await said(blind, KEY)
    answer = anthropic_message({"type": "text", "text": "Behind the enamel bread tin."})
    scripts = whole(anthropic_calls(*CALLS[:4])), whole(answer)
    async with raw_server(*scripts) as server, opened(server, "anthropic") as model:
        outcome = await run_turn(await blind.hears("hm?"), blind.mind(model=model))

    results = results_of(server.bodies[1])
    assert [*results] == [id_ for id_, _, _ in CALLS[:4]]
    assert KEY in results["c1"]
    assert [use["ending"] for use in outcome.reply.details["tools"]] == ENDINGS[:4]
    assert outcome.reply.text == "Behind the enamel bread tin."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_search_tool_schema_is_sent_to_the_provider_unchanged(
    blind: Talk, kind: ApiKind
) -> None:
    """All arguments are texts, none is required, and no others are allowed."""
    hello = {"type": "text", "text": "Hello."}
    answer = anthropic_message(hello) if kind == "anthropic" else chat_message({"content": "Hi."})
    async with raw_server(whole(answer)) as server, opened(server, kind) as model:
        await run_turn(await blind.hears("hello"), blind.mind(model=model))

    tools = [each.get("function", each) for each in server.bodies[0]["tools"]]
    [tool] = [each for each in tools if each["name"] == "search_memory"]
    schema = tool.get("parameters") or tool["input_schema"]
    assert {each["type"] for each in schema["properties"].values()} == {"string"}
    assert not schema.get("required")
    assert schema["additionalProperties"] is False
