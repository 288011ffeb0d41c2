"""Record results: what the tools for a person's numbers, diary and sums share."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolDefinition
from oldfriend.measurements.measurement_questions import DayRange
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.prompt_labels import sanitize
from oldfriend.turn.tools.tool import ToolArguments, ToolContext

MAX_ECHO_CHARS: Final = 40


def get_records_prompt() -> Prompt:
    """Return what a model is told about these tools."""
    return get_prompt("own_records/2")


def define_tool(
    name: str, arguments: Mapping[str, str], *, required: tuple[str, ...] = ()
) -> ToolDefinition:
    """Define a tool whose arguments are texts or numbers, by the part that describes each."""
    prompt = get_records_prompt()
    properties: dict[str, JsonValue] = {
        argument: {
            "type": NUMBERS.get(argument, "string"),
            "description": prompt.render(part),
        }
        for argument, part in arguments.items()
    }
    return ToolDefinition(
        name=name,
        description=prompt.render(name),
        parameters={
            "type": "object",
            "properties": properties,
            "required": [*required],
            "additionalProperties": False,
        },
    )


NUMBERS: Final = {"value": "number", "limit": "integer"}


def read_text(arguments: ToolArguments, name: str) -> str:
    """Return an argument as text; empty if it is missing or null."""
    return str(arguments.get(name) or "").strip()


def read_day(arguments: ToolArguments, name: str, fallback: date) -> date:
    """Return an argument that is a day. Raises InvalidInput."""
    text = read_text(arguments, name)
    if not text:
        return fallback
    try:
        return date.fromisoformat(text[:10])
    except ValueError as error:
        raise build_refusal("bad_day", given=text) from error


def read_span(arguments: ToolArguments) -> DayRange:
    """Return the days from one argument to another. Raises InvalidInput."""
    days = DayRange(
        first=read_day(arguments, "from_date", date.min),
        last=read_day(arguments, "to_date", date.max),
    )
    if days.last < days.first:
        raise build_refusal("bad_day", given=read_text(arguments, "to_date"))
    return days


def read_limit(arguments: ToolArguments, default: int, most: int) -> int:
    """Return how many are asked for, within bounds."""
    given = arguments.get("limit")
    if isinstance(given, int | float) and math.isfinite(given) and given >= 1:
        return min(int(given), most)
    return default


def build_refusal(part: str, **given: str) -> InvalidInput:
    """Build the error that tells a model what was wrong with its arguments."""
    echoed = {name: sanitize(value[:MAX_ECHO_CHARS]) for name, value in given.items()}
    return InvalidInput(get_records_prompt().render(part, **echoed))


def get_today(context: ToolContext) -> date:
    """Return the day on which the person spoke, in their zone."""
    message = context.utterance.message
    return from_micros(message.at, message.zone).date()
