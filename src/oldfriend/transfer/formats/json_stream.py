"""JSON stream: incremental parsing of JSON of any size, and of the values and times in exports.

Only the requested elements are built, and depth is limited, so that a hostile file cannot fill the
memory. The parser is fed line by line, so that an error can name its line.
"""

import codecs
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Protocol

import ijson

from oldfriend.domain.clock import EPOCH
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import sanitize_text
from oldfriend.transfer.formats.source import (
    SourceFile,
    find_bom_encoding,
    open_bytes,
    read_head,
    wrap_read_errors,
)

Fields = Mapping[str, object]


def parse_object(value: object, *, line: int, expected: str) -> Fields:
    """Return a value that must be an object. Raises ImportRefused."""
    if not isinstance(value, dict):
        raise ImportRefused(f"this is {describe_kind(value)}.", line=line, expected=expected)
    return value


def parse_objects(value: object, *, line: int, expected: str) -> list[Fields]:
    """Return a value that must be a list of objects. Raises ImportRefused."""
    if not isinstance(value, list):
        raise ImportRefused(f"this is {describe_kind(value)}.", line=line, expected=expected)
    return [parse_object(item, line=line, expected=expected) for item in value]


def list_objects(value: object) -> list[Fields]:
    """Return the objects in a list; empty if it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def to_object(value: object) -> Fields:
    """Return an object; an empty one if the value is not an object."""
    return value if isinstance(value, dict) else {}


def to_text(value: object) -> str:
    """Return a text or number as text; empty if the value is neither."""
    if isinstance(value, bool):
        return ""
    return str(value) if isinstance(value, str | int | float) else ""


def describe_kind(value: object) -> str:
    """Describe the type of a JSON value for people."""
    match value:
        case None:
            return "empty (null)"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


MAX_UTC_OFFSET = timedelta(hours=15)
ISO_TIME_EXAMPLE = "an ISO 8601 time such as 2024-05-03T18:30:00+02:00"


def parse_epoch(value: object, *, line: int, what: str) -> datetime:
    """Parse seconds since 1970, given as a number or as digits. Raises ImportRefused."""
    try:
        return EPOCH + timedelta(seconds=float(to_text(value)))
    except (ValueError, OverflowError) as error:
        raise build_time_error(
            value, line=line, what=what, expected="seconds since 1970"
        ) from error


def parse_iso(value: object, *, line: int, what: str) -> datetime:
    """Parse an ISO 8601 time, with its offset if it has one. Raises ImportRefused."""
    try:
        return datetime.fromisoformat(to_text(value).strip())
    except ValueError as error:
        raise build_time_error(value, line=line, what=what, expected=ISO_TIME_EXAMPLE) from error


def build_time_error(value: object, *, line: int, what: str, expected: str) -> ImportRefused:
    """Build the error for a value that is not a time."""
    text = localizable(
        "import_time_unreadable",
        f"{what} is {format_value(value)}.",
        what=what,
        value=format_value(value),
    )
    return ImportRefused(text, line=line, expected=expected)


def format_value(value: object) -> str:
    """Format a value for an error message."""
    return "missing" if value is None else repr(str(value)[:40])


def with_local_offset(moment: datetime, local_time: datetime) -> datetime:
    """Return a time with the offset of the local time given for it, where that is plausible."""
    offset = local_time.replace(tzinfo=UTC) - moment
    minutes = timedelta(minutes=round(offset.total_seconds() / 60))
    if abs(minutes) > MAX_UTC_OFFSET or local_time.tzinfo is not None:
        return moment
    try:
        return moment.astimezone(timezone(minutes))
    except OverflowError:
        return moment


MAX_DEPTH = 500
MAX_VALUE_BYTES = 16 << 20
"""Maximum size of one value.

For each further chunk the parser scans a string from its start again, so one of a gigabyte would
take hours.
"""
PROBE_EVENTS = 20_000
ARRAY_STEP = "[]"
PARSE_ERRORS = (ijson.JSONError, ValueError, ArithmeticError)
"""Raised where a file is not valid JSON."""

JsonPath = tuple[str, ...]
ParseEvent = tuple[str, object]
Container = list[object] | dict[str, object]


class LineReader(Protocol):
    """A byte stream that can be read line by line."""

    def readline(self, size: int, /) -> bytes:
        """Return the rest of a line, or as much of it as fits."""
        ...


class LineCountingStream:
    """A byte stream read line by line, with the number of the line last read."""

    def __init__(self, stream: LineReader) -> None:
        """Start before the first line."""
        self._stream = stream
        self._is_line_complete = True
        self._is_blank = False
        self._value_bytes = 0
        self.line = 0

    def reset_value_size(self) -> None:
        """Restart the size count, because the parser has produced an event."""
        self._value_bytes = 0

    def read(self, size: int) -> bytes:
        """Return the rest of a line, or as much of it as fits. Raises ValueError."""
        if size == 0:
            return b""
        if self._value_bytes > MAX_VALUE_BYTES:
            raise ValueError(f"one value is longer than {MAX_VALUE_BYTES >> 20} MB")
        chunk = self._stream.readline(size)
        self._is_blank = (self._is_line_complete or self._is_blank) and not chunk.strip()
        if not self._is_blank:  # not before the first word: no string spans lines
            self._value_bytes += len(chunk)
        self.line += self._is_line_complete and bool(chunk)
        self._is_line_complete = chunk.endswith(b"\n")
        return chunk


@contextmanager
def open_lines(source: SourceFile) -> Iterator[LineCountingStream]:
    """Open a source as lines of UTF-8 without a byte order mark."""
    encoding = find_bom_encoding(read_head(source))
    with open_bytes(source) as stream:
        if encoding == "utf-8-sig":
            stream.read(len(codecs.BOM_UTF8))
        if encoding == "utf-16":
            yield LineCountingStream(codecs.EncodedFile(stream, "utf-8", encoding))
        else:
            yield LineCountingStream(stream)


def parse_events(lines: LineCountingStream) -> Iterator[ParseEvent]:
    """Yield the parser's events. Raises ijson.JSONError for a number that is too large.

    Without ``use_float`` the parser of ijson 3.6 continues with an exception set where an integer
    has more than 4,300 digits, and crashes the process at some 70,000.
    """
    for event in ijson.basic_parse(lines, use_float=True):
        lines.reset_value_size()
        yield event


def stream_values(
    source: SourceFile, paths: frozenset[JsonPath]
) -> Iterator[tuple[int, JsonPath, object]]:
    """Yield each value at one of the paths, with its last line and its path.

    A path consists of keys from the top; ``[]`` stands for any list index. Raises ImportRefused
    where the file is not JSON.
    """
    with wrap_read_errors(source.path), open_lines(source) as lines:
        try:
            for path, value in walk_values(parse_events(lines), paths):
                yield lines.line, path, value
        except PARSE_ERRORS as error:
            raise build_json_error(error, lines) from error


def build_json_error(error: Exception, lines: LineCountingStream) -> ImportRefused:
    """Build the error for JSON that cannot be read further."""
    reason = format_parser_error(error)
    text = localizable(
        "import_json_broken",
        f"the JSON breaks off or is damaged here ({reason}).",
        reason=reason,
    )
    return ImportRefused(text, line=max(lines.line, 1), expected="whole JSON, as it was exported")


def format_parser_error(error: Exception) -> str:
    """Return a parser's error message without its drawing of the position."""
    message = error.args[0] if error.args else ""
    if isinstance(message, bytes):
        message = message.decode("utf-8", "replace")
    return str(message).partition("\n")[0].rstrip(".")


def walk_values(
    events: Iterator[ParseEvent], paths: frozenset[JsonPath]
) -> Iterator[tuple[JsonPath, object]]:
    """Walk the document and build the values at the paths."""
    path: list[str] = []
    for event, value in events:
        if event == "map_key":
            path[-1] = str(value)
        elif event.startswith("end"):
            path.pop()
        else:
            current_path = tuple(path)
            if current_path in paths:
                yield current_path, build_value(event, value, events)
            elif event.startswith("start"):
                check_depth(len(path))
                path.append(ARRAY_STEP if event == "start_array" else "")


def build_value(event: str, value: object, events: Iterator[ParseEvent]) -> object:
    """Build the whole value that begins with an event."""
    root = new_value(event, value)
    inside: list[tuple[Container, str]] = []
    if isinstance(root, list | dict):
        inside.append((root, ""))
    while inside:
        event, value = next(events)
        if event == "map_key":
            inside[-1] = (inside[-1][0], str(value))
        elif event.startswith("end"):
            inside.pop()
        else:
            new = new_value(event, value)
            add_value(new, *inside[-1])
            if isinstance(new, list | dict):
                check_depth(len(inside))
                inside.append((new, ""))
    return root


def new_value(event: str, value: object) -> object:
    """Return an empty container, or a plain value that can be stored."""
    if event == "start_map":
        return dict[str, object]()
    if event == "start_array":
        return list[object]()
    return sanitize_text(value) if isinstance(value, str) else value


def add_value(value: object, container: Container, key: str) -> None:
    """Add a value to a list, or to an object under its key."""
    if isinstance(container, list):
        container.append(value)
    else:
        container[key] = value


def check_depth(depth: int) -> None:
    """Raise ValueError where something is nested more deeply than in any export."""
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")


def probe_keys(source: SourceFile) -> tuple[frozenset[str], ImportRefused | None]:
    """Return the keys of the top object, and those one level down with a dot before them.

    Also returns why the JSON cannot be read further, if so; the keys before that point are kept.
    """
    keys: set[str] = set()
    depth = 0
    with wrap_read_errors(source.path), open_lines(source) as lines:
        try:
            for _, (event, value) in zip(range(PROBE_EVENTS), parse_events(lines), strict=False):
                depth += event.startswith("start") - event.startswith("end")
                check_depth(depth)
                if event == "map_key" and depth <= 2:
                    keys.add("." * (depth - 1) + str(value))
        except PARSE_ERRORS as error:
            return frozenset(keys), build_json_error(error, lines)
    return frozenset(keys), None
