"""Event log: structured process events, one line each, without user content.

An event has a name and some facts: counts, ids, durations. Of an error only its type and location
are logged, since its text may quote a user; only database errors are logged with their text. For
records of libraries only the fact that they logged something is kept.
"""

import logging
import traceback
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from oldfriend.domain.clock import SECOND, from_micros
from oldfriend.domain.errors import StoreError

Fact: TypeAlias = str | int | float | None

EVENT_LOGGER: Final = logging.getLogger("oldfriend.events")
EVENT_LOGGER.addHandler(logging.NullHandler())  # a command without event logging shows none of them
FACTS: Final = "facts"
PLAIN_CHARS: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+@"
)


def log_event(event: str, **facts: Fact) -> None:
    """Log an event that is as it should be."""
    EVENT_LOGGER.info(event, extra={FACTS: facts})


def log_warning(event: str, error: BaseException | None = None, **facts: Fact) -> None:
    """Log an event that somebody should look at."""
    EVENT_LOGGER.warning(event, extra={FACTS: {**facts, **build_error_facts(error)}})


def configure_logging(stream: TextIO, *, only_warnings: bool = False) -> None:
    """Send events and the warnings of libraries to a stream, for the whole process."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(format_record)
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.WARNING)
    EVENT_LOGGER.setLevel(logging.WARNING if only_warnings else logging.INFO)


def format_record(record: logging.LogRecord) -> bool:
    """Turn a record into a line of ``name=value``, leaving out the message of a library."""
    moment = from_micros(round(record.created * SECOND))
    facts: dict[str, Fact] = {
        "at": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
    }
    if record.name == EVENT_LOGGER.name:
        facts |= {"event": record.getMessage(), **getattr(record, FACTS, {})}
    else:
        error = record.exc_info[1] if record.exc_info else None
        facts |= {"event": "logged", "by": record.name, **build_error_facts(error)}
    record.msg = " ".join(f"{name}={format_value(value)}" for name, value in facts.items())
    record.args = record.exc_info = record.exc_text = record.stack_info = None
    return True


def build_error_facts(error: BaseException | None) -> dict[str, Fact]:
    """Return the facts about an error that may be logged."""
    if error is None:
        return {}
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    facts: dict[str, Fact] = {"error": type(error).__name__, "where": format_location(error)}
    if isinstance(error, StoreError):
        facts["says"] = str(error)
    return facts


def format_location(error: BaseException) -> str:
    """Return where an error was raised, as file:line:function."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "?"
    last = frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}:{last.name}"


def format_value(value: Fact) -> str:
    """Format a value on one line, quoted if it would not be read as one value otherwise."""
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    if text and PLAIN_CHARS.issuperset(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in quoted) + '"'
