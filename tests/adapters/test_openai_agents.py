"""The Agents SDK keeps its sessions here: its own runner, with a model that answers by script."""

from typing import Any

from agents import Agent, Runner, function_tool
from agents.items import ModelResponse
from agents.memory import Session
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from oldfriend import Memory
from oldfriend.adapters.openai_agents import OldfriendSession


def answer(text: str) -> ResponseOutputMessage:
    """An answer in words."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[part]
    )


class ScriptedModel(Model):
    """Answers by a script, and keeps what it was asked."""

    def __init__(self, *outputs: Any) -> None:
        """Keep the script."""
        self.outputs = [*outputs]
        self.asked: list[Any] = []

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        """Return the next output; the second argument is what is asked."""
        self.asked.append(named["input"] if "input" in named else given[1])
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        """Never asked for."""
        raise NotImplementedError


@function_tool
def weather(town: str) -> str:
    """Tell the weather of a town."""
    return f"It rains in {town}."


async def test_a_runner_continues_a_session_and_the_memory_learns_from_it(memory: Memory) -> None:
    """Calls and their results come back as they were, and only the person's words are evidence."""
    call = ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="weather", arguments='{"town": "Lisbon"}'
    )
    model = ScriptedModel(call, answer("I live in Berlin. It rains."), answer("In Porto."))
    agent = Agent(name="Friend", model=model, tools=[weather])
    session = OldfriendSession(memory, "chat-1")
    assert isinstance(session, Session)

    await Runner.run(agent, "I live in Porto. How is Lisbon?", session=session)
    result = await Runner.run(agent, "Where do I live?", session=session)

    assert result.final_output == "In Porto."
    kinds = [each.get("type") or each.get("role") for each in model.asked[-1]]
    assert kinds == ["user", "function_call", "function_call_output", "message", "user"]
    assert {each.value for each in await memory.facts()} == {"Porto"}
    assert "Porto" in (await memory.recall("Where do I live?"))[0].text


async def test_items_are_listed_popped_and_cleared_by_session(memory: Memory) -> None:
    """What is popped or cleared is forgotten for good, and may be said again."""
    one, other = OldfriendSession(memory, "one"), OldfriendSession(memory, "other")
    items: list[Any] = [{"role": "user", "content": f"Line {n}."} for n in range(4)]
    await one.add_items(items)
    await other.add_items(items[:1])

    assert await one.get_items() == items
    assert await one.get_items(2) == items[2:]
    assert await one.pop_item() == items[3]
    await one.add_items(items[3:])
    assert await one.get_items() == items
    await one.clear_session()
    assert await one.get_items() == []
    assert await one.pop_item() is None
    assert await other.get_items() == items[:1]
