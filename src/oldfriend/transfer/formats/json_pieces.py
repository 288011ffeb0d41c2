"""How is JSON of any size read piece by piece?

Only the pieces asked for are built; depth is bounded, so that a hostile file cannot fill the
memory. The stream is fed line by line, which is how an error can name its line.
"""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import ijson

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.source import (
    Source,
    encoding_by_mark,
    head_of,
    open_bytes,
    refusing_unreadable,
)

MOST_DEPTH = 500
MOST_OF_ONE = 16 << 20
"""Bytes of one value: the parser begins anew with a string at each further piece of it, so that one
of a gigabyte would keep it busy for hours."""
GLIMPSED_EVENTS = 20_000
ARRAY = "[]"

Path = tuple[str, ...]
Event = tuple[str, object]
Container = list[object] | dict[str, object]


class Lines(Protocol):
    """What bytes are read from, a line at a time."""

    def readline(self, size: int, /) -> bytes:
        """The rest of a line, or as much of it as fits."""
        ...


class CountedLines:
    """A byte stream handed out line by line, and the number of the line last handed out."""

    def __init__(self, stream: Lines) -> None:
        """Begin before the first line."""
        self._stream = stream
        self._ended = True
        self._is_white = False
        self._of_one = 0
        self.line = 0

    def begin_another(self) -> None:
        """Something was made of what was handed out: what comes is of another value."""
        self._of_one = 0

    def read(self, size: int) -> bytes:
        """The rest of a line, or as much of it as fits. Raises ValueError."""
        if size == 0:
            return b""
        if self._of_one > MOST_OF_ONE:
            raise ValueError(f"one value is longer than {MOST_OF_ONE >> 20} MB")
        chunk = self._stream.readline(size)
        self._is_white = (self._ended or self._is_white) and not chunk.strip()
        if not self._is_white:  # before a line's first word: no string goes on over a line's end
            self._of_one += len(chunk)
        self.line += self._ended and bool(chunk)
        self._ended = chunk.endswith(b"\n")
        return chunk


@contextmanager
def open_lines(source: Source) -> Iterator[CountedLines]:
    """The lines of a source in plain UTF-8."""
    encoding = encoding_by_mark(head_of(source))
    with open_bytes(source) as stream:
        if encoding == "utf-8-sig":
            stream.read(len(codecs.BOM_UTF8))
        if encoding == "utf-16":
            yield CountedLines(codecs.EncodedFile(stream, "utf-8", encoding))
        else:
            yield CountedLines(stream)


def events_in(lines: CountedLines, *, use_float: bool = False) -> Iterator[Event]:
    """What a parser makes of them, one after the other."""
    for event in ijson.basic_parse(lines, use_float=use_float):
        lines.begin_another()
        yield event


def pieces(source: Source, at: frozenset[Path]) -> Iterator[tuple[int, Path, object]]:
    """Each value that stands at one of the paths: its last line, its path, the value.

    A path names keys from the top; ``[]`` stands for any place in a list.
    Raises ImportRefused where the file is not JSON.
    """
    with refusing_unreadable(source.path), open_lines(source) as lines:
        try:
            for path, value in walk(events_in(lines, use_float=True), at):
                yield lines.line, path, value
        except (ijson.JSONError, ValueError, ArithmeticError) as error:
            raise ImportRefused(
                saying(
                    "import_json_broken",
                    f"the JSON breaks off or is damaged here ({first_line_of(error)}).",
                    reason=first_line_of(error),
                ),
                line=max(lines.line, 1),
                expected="whole JSON, as it was exported",
            ) from error


def first_line_of(error: Exception) -> str:
    """What a parser has to say, without its drawing."""
    told = error.args[0] if error.args else ""
    if isinstance(told, bytes):
        told = told.decode("utf-8", "replace")
    return str(told).partition("\n")[0].rstrip(".")


def walk(events: Iterator[Event], at: frozenset[Path]) -> Iterator[tuple[Path, object]]:
    """Go down the document and build what stands at the paths."""
    path: list[str] = []
    for event, value in events:
        if event == "map_key":
            path[-1] = str(value)
        elif event.startswith("end"):
            path.pop()
        else:
            here = tuple(path)
            if here in at:
                yield here, build(event, value, events)
            elif event.startswith("start"):
                check_depth(len(path))
                path.append(ARRAY if event == "start_array" else "")


def build(event: str, value: object, events: Iterator[Event]) -> object:
    """The value that begins with an event, whole."""
    whole = new_value(event, value)
    inside: list[tuple[Container, str]] = []
    if isinstance(whole, list | dict):
        inside.append((whole, ""))
    while inside:
        event, value = next(events)
        if event == "map_key":
            inside[-1] = (inside[-1][0], str(value))
        elif event.startswith("end"):
            inside.pop()
        else:
            new = new_value(event, value)
            put(new, *inside[-1])
            if isinstance(new, list | dict):
                check_depth(len(inside))
                inside.append((new, ""))
    return whole


def new_value(event: str, value: object) -> object:
    """An empty container, or a plain value that can be stored."""
    if event == "start_map":
        return dict[str, object]()
    if event == "start_array":
        return list[object]()
    return storable(value) if isinstance(value, str) else value


def put(value: object, container: Container, key: str) -> None:
    """Add a value to a list, or to an object under its key."""
    if isinstance(container, list):
        container.append(value)
    else:
        container[key] = value


def check_depth(depth: int) -> None:
    """Raise ValueError where something is nested deeper than any export."""
    if depth >= MOST_DEPTH:
        raise ValueError(f"nested more than {MOST_DEPTH} deep")


def keys_at_front(source: Source) -> frozenset[str]:
    """The keys of the top object, and with a dot before them those one level down.

    What is no JSON has none; what breaks off has those that came before.
    """
    keys: set[str] = set()
    depth = 0
    with refusing_unreadable(source.path), open_lines(source) as lines:
        try:
            for _, (event, value) in zip(range(GLIMPSED_EVENTS), events_in(lines), strict=False):
                depth += event.startswith("start") - event.startswith("end")
                check_depth(depth)
                if event == "map_key" and depth <= 2:
                    keys.add("." * (depth - 1) + str(value))
        except (ijson.JSONError, ValueError, ArithmeticError):
            return frozenset(keys)
    return frozenset(keys)
