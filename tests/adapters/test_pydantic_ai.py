"""A Pydantic AI agent has this memory: its own agent, with its own function model."""

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from oldfriend import Memory
from oldfriend.adapters.pydantic_ai import OldfriendMemory


async def test_an_agent_knows_searches_and_learns(memory: Memory) -> None:
    """It is told what is known, may search, and what was said is kept as who said it."""
    await memory.add([{"text": "My cat is called Miso."}, {"text": "I have a boat."}])
    asked: list[tuple[str, list[str]]] = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        request = messages[-1]
        assert isinstance(request, ModelRequest)
        returned = [str(each.content) for each in request.parts if isinstance(each, ToolReturnPart)]
        asked.append((info.instructions or "", returned))
        if not returned:
            return ModelResponse(parts=[ToolCallPart("recall", {"query": "boat"})])
        return ModelResponse(parts=[TextPart("I live in Berlin, and Miso is your cat.")])

    agent = Agent(FunctionModel(respond), capabilities=[OldfriendMemory(memory, session="s1")])
    result = await agent.run("I live in Porto. What is my cat called?")

    assert result.output.endswith("your cat.")
    assert "My cat is called Miso." in asked[0][0]
    assert "I have a boat." in asked[1][1][0]
    said = [each for each in await memory.messages() if each.session == "s1"]
    assert [each.role for each in said] == ["person", "companion"]
    assert "Porto" in {each.value for each in await memory.facts()}
    assert "Berlin" not in {each.value for each in await memory.facts()}
