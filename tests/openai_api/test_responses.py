"""Programs that speak OpenAI's second format."""

import pytest

from oldfriend.llm.model import ToolCall
from oldfriend.llm.scripted import ScriptedReply
from tests.openai_api.conftest import Open

TOOL = {
    "type": "function",
    "name": "turn_on",
    "parameters": {"type": "object", "properties": {"room": {"type": "string"}}},
    "strict": False,
}


async def test_a_response_goes_on_with_the_one_before(open_house: Open) -> None:
    """Only new words are sent; said again after another response they are said again."""
    house = await open_house(["One.", "Two.", "Three."])
    client = await house.client()

    first = await client.responses.create(model="oldfriend", input="I like figs.")
    second = await client.responses.create(
        model="oldfriend", input="Yes.", previous_response_id=first.id
    )
    third = await client.responses.create(
        model="oldfriend",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "Yes."}]}],
        previous_response_id=second.id,
    )

    assert [each.output_text for each in (first, second, third)] == ["One.", "Two.", "Three."]
    assert third.status == "completed"
    assert third.usage.total_tokens > 0
    assert await house.said() == ["I like figs.", "Yes.", "Yes."]


async def test_a_response_is_streamed(open_house: Open) -> None:
    """In the events that OpenAI's client puts together."""
    house = await open_house([ScriptedReply(text="A long and winding reply.", chunk_delay_s=0.02)])
    client = await house.client()

    async with client.responses.stream(model="oldfriend", input="Tell me.") as stream:
        events = [each async for each in stream]
        final = await stream.get_final_response()

    assert final.output_text == "A long and winding reply."
    kinds = [each.type for each in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds.count("response.output_text.delta") > 1
    assert kinds[-1] == "response.completed"
    numbers = [each.sequence_number for each in events if hasattr(each, "sequence_number")]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_the_programs_tools_are_items(open_house: Open, is_streamed: bool) -> None:
    """And so are their results."""
    call = ToolCall(id="c1", name="turn_on", arguments={"room": "hall"})
    house = await open_house([ScriptedReply(calls=(call,)), "It is on."])
    client = await house.client()
    asked = {"role": "user", "content": "Light in the hall."}
    options = {"model": "oldfriend", "instructions": "You control lights.", "tools": [TOOL]}

    if is_streamed:
        async with client.responses.stream(input=[asked], **options) as stream:
            first = await stream.get_final_response()
    else:
        first = await client.responses.create(input=[asked], **options)
    (item,) = [each for each in first.output if each.type == "function_call"]
    result = {"type": "function_call_output", "call_id": item.call_id, "output": "on"}
    given = {
        "type": "function_call",
        "call_id": item.call_id,
        "name": item.name,
        "arguments": item.arguments,
    }
    last = await client.responses.create(input=[asked, given, result], **options)

    assert (item.name, item.arguments) == ("turn_on", '{"room": "hall"}')
    assert last.output_text == "It is on."
    assert await house.said() == ["Light in the hall."]
