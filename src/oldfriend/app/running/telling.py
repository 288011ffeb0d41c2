"""What does a process tell about itself while it runs? One line for each event, nobody's words.

An event has a name and some facts: counts, ids, lengths of time. Of an error it tells the kind and
the place, not the text, which may quote what somebody said; only what the database says about
itself is told whole. Of what libraries log only that they did. It does not know who reads it.
"""

import logging
import traceback
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from oldfriend.domain.clock import SECOND, from_micros
from oldfriend.domain.errors import StoreError

Fact: TypeAlias = str | int | float | None

EVENTS: Final = logging.getLogger("oldfriend.events")
EVENTS.addHandler(logging.NullHandler())  # a command that does not tell shows none of them
FACTS: Final = "facts"
PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+@")


def tell(event: str, **facts: Fact) -> None:
    """Something has happened as it should."""
    EVENTS.info(event, extra={FACTS: facts})


def tell_trouble(event: str, error: BaseException | None = None, **facts: Fact) -> None:
    """Something has happened that somebody should look at."""
    EVENTS.warning(event, extra={FACTS: {**facts, **facts_of(error)}})


def begin_telling(stream: TextIO, *, only_troubles: bool = False) -> None:
    """From now on events, and that libraries complain, go to a stream. For a whole process."""
    handler = logging.StreamHandler(stream)
    handler.addFilter(made_plain)
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.WARNING)
    EVENTS.setLevel(logging.WARNING if only_troubles else logging.INFO)


def made_plain(record: logging.LogRecord) -> bool:
    """Turn a record into a line of ``name=value``; what a library wants to say is not in it."""
    moment = from_micros(round(record.created * SECOND))
    facts: dict[str, Fact] = {
        "at": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
    }
    if record.name == EVENTS.name:
        facts |= {"event": record.getMessage(), **getattr(record, FACTS, {})}
    else:
        error = record.exc_info[1] if record.exc_info else None
        facts |= {"event": "logged", "by": record.name, **facts_of(error)}
    record.msg = " ".join(f"{name}={shown(value)}" for name, value in facts.items())
    record.args = record.exc_info = record.exc_text = record.stack_info = None
    return True


def facts_of(error: BaseException | None) -> dict[str, Fact]:
    """What may be told of an error."""
    if error is None:
        return {}
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    facts: dict[str, Fact] = {"error": type(error).__name__, "where": place_of(error)}
    if isinstance(error, StoreError):
        facts["says"] = str(error)
    return facts


def place_of(error: BaseException) -> str:
    """Where an error was raised, as file:line:function."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "?"
    last = frames[-1]
    return f"{Path(last.filename).name}:{last.lineno}:{last.name}"


def shown(value: Fact) -> str:
    """A value on one line, in quotes where it would not be read as one otherwise."""
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    if text and PLAIN.issuperset(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in quoted) + '"'
