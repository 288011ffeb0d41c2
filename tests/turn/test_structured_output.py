"""A model's text becomes a value, or the model is told why not."""

import time

import pytest

from oldfriend.domain.errors import BrokenOutput
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.turn.structured_output import complete_structured, extract_json
from tests.llm.request_fixtures import saying

REQUEST = saying("How old is she?", output={"type": "object"})


def age(value) -> int:
    match value:
        case {"age": int(years)}:
            return years
    raise ValueError("age must be a whole number")


@pytest.mark.parametrize(
    "text",
    [
        '{"age": 7}',
        '```json\n{"age": 7}\n```',
        'Here you are:\n```\n{"age": 7}\n```\nAnything else?',
        'I think [1] that it is {"age": 7}, as {he} said.',
    ],
)
async def test_json_is_extracted_from_surrounding_text(text):
    """Small models cannot help themselves."""
    assert await complete_structured(ScriptedModel([text]), REQUEST, age) == 7


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "{",
        '{"a": NaN}',
        '{"a": }',
        '{"a": 1e999}',
        '{"a": -1e999}',
        f'{{"a": {"7" * 10_000}}}',
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000,
        "[1," * 900 + "1," * 100_000,
    ],
    ids=lambda text: text[:9],
)
def test_invalid_json_raises_value_error(text):
    """As a ValueError, like every other thing that is wrong with it."""
    with pytest.raises(ValueError):
        extract_json(text)


async def test_invalid_output_is_retried_once_with_the_error():
    """The model sees its answer and the reason; the wish is the house's."""
    model = ScriptedModel(['{"age": "seven"}', '{"age": 7}'])

    assert await complete_structured(model, REQUEST, age) == 7

    *_, answer, wish = model.requests[1].turns
    assert answer.text == '{"age": "seven"}'
    assert wish.role == "instruction"
    assert "age must be a whole number" in wish.text
    assert [request.prompt for request in model.requests] == ["reply/1", "reply/1+mend/1"]


async def test_second_invalid_output_raises_broken_output():
    """It would cost more than it helps."""
    model = ScriptedModel(["nonsense"])

    with pytest.raises(BrokenOutput, match="reply/1"):
        await complete_structured(model, REQUEST, age)
    assert len(model.requests) == 2


@pytest.mark.parametrize("unit", ["[", '{"a":', "[a](", "[1,", "```\n", '["a",', "[[1],"])
def test_unterminated_json_fails_in_bounded_time(unit: str) -> None:
    """Nested without end, or begun again and again."""
    began = time.thread_time()
    with pytest.raises(ValueError, match="JSON|nested"):
        extract_json("Well: " + unit * (100_000 // len(unit)))

    assert time.thread_time() - began < 2
