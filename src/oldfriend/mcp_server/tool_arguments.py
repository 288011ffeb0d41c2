"""Tool arguments: checks what a program's model passes, forgiving its habits but not its mistakes.

Null is the same as leaving an argument out, and a number may come as text. An argument that no tool
has is refused: what is silently dropped would look as if it had been obeyed.
"""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from oldfriend.domain.clock import MAX_YEAR, Micros, get_zone, parse_period, to_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.mcp_server.tool_definitions import ToolShape

MAX_ECHO_CHARS: Final = 60
"""Characters of a faulty argument that are repeated."""
MAX_NUMBER_DIGITS: Final = 6
Arguments = Mapping[str, JsonValue]


def check_names(shape: ToolShape, arguments: Arguments) -> dict[str, JsonValue]:
    """Return the arguments without nulls. Raises InvalidInput for unknown or missing ones."""
    known = ", ".join(shape.arguments)
    given: dict[str, JsonValue] = {
        name: value for name, value in arguments.items() if value is not None
    }
    for name in given:
        if name not in shape.arguments:
            raise InvalidInput(
                f"{shape.name} has no argument “{echo(name)}”, so nothing was done. It takes: "
                f"{known}."
            )
    for name in shape.required:
        if name not in given:
            raise InvalidInput(f"{shape.name} needs the argument “{name}”. Call it again with it.")
    return given


def take_verbatim(arguments: Arguments, name: str) -> str:
    """Return a text as it is; empty if it is missing. Raises InvalidInput."""
    value = arguments.get(name, "")
    if not isinstance(value, str):
        raise InvalidInput(f"“{name}” must be a text.")
    return sanitize_text(value)


def take_text(arguments: Arguments, name: str) -> str:
    """Return a text, trimmed; empty if it is missing. Raises InvalidInput."""
    return take_verbatim(arguments, name).strip()


def take_count(arguments: Arguments, name: str, *, default: int, most: int) -> int:
    """Return a number from 1 to ``most``; a larger one asks for the most. Raises InvalidInput."""
    value = arguments.get(name, default)
    if isinstance(value, str) and is_ascii_number(value) and len(value) <= MAX_NUMBER_DIGITS:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"“{name}” must be a whole number from 1 to {most}.")
    return min(value, most)


def take_texts(arguments: Arguments, name: str) -> tuple[str, ...]:
    """Return a list of texts, also where a single one was given. Raises InvalidInput."""
    value = arguments.get(name, [])
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list):
        raise InvalidInput(f"“{name}” must be a list of texts.")
    texts = [each for each in given if isinstance(each, str)]
    if len(texts) < len(given):
        raise InvalidInput(f"“{name}” must hold texts only.")
    return tuple(sanitize_text(each).strip() for each in texts if each.strip())


def take_span(arguments: Arguments, zone: str) -> tuple[Micros | None, Micros | None]:
    """Return the first µs of ``since`` and the first after ``until``. Raises InvalidInput."""
    since, _ = parse_day(arguments, "since", zone)
    _, until = parse_day(arguments, "until", zone)
    if since is not None and until is not None and until <= since:
        raise InvalidInput("“since” is later than “until”. Exchange them.")
    return since, until


def parse_day(
    arguments: Arguments, name: str, zone: str
) -> tuple[Micros, Micros] | tuple[None, None]:
    """Return the first µs of a day, month or year and the first after it. Raises InvalidInput."""
    text = take_text(arguments, name)
    if not text:
        return None, None
    period = parse_period(text, zone)
    if period is not None:
        return period[0], period[1] + 1
    try:
        first = datetime.fromisoformat(text).date()
        first = min(first, date(MAX_YEAR, 12, 31))  # 9999-12-31 stands for an open end
        return start_of(first, zone), start_of(first + timedelta(days=1), zone)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"“{name}” is “{echo(text)}”, which is no day. Write 2026, 2026-03 or 2026-03-14."
        ) from error


def start_of(day: date, zone: str) -> Micros:
    """Return the first µs of a day in a zone."""
    return to_micros(datetime.combine(day, time(), get_zone(zone)))


def echo(text: str) -> str:
    """Return the beginning of a text on one line, to be repeated in an error."""
    return " ".join(text.split())[:MAX_ECHO_CHARS]
