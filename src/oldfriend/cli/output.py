"""Output: tables and streams on which untrusted text cannot control the terminal."""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Final, TextIO, cast


def format_table(rows: Sequence[Sequence[str]], *, align_right: bool = True) -> str:
    """Format rows as columns: the first aligned left, the others right if ``align_right``."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if align_right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


CONTROL_CHARS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f]")
"""Control characters except newline and tab, and bidirectional overrides and isolates.

Joiners, variation selectors and right-to-left marks are allowed.
"""
CONTROL_PICTURES: Final = 0x2400  # symbols for the control characters below 32, in order
DELETE_CHAR: Final = "\x7f"


class EscapeSequence(str):
    """A trusted terminal escape sequence."""

    __slots__ = ()


class SanitizedStream:
    """A stream that sanitizes text but writes an ``EscapeSequence`` as it is.

    Characters are checked one by one, so a sequence split over several writes is caught, too. This
    also applies when the output is not a terminal: piped output is often shown in one.
    """

    def __init__(self, stream: TextIO) -> None:
        """Wrap a stream."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write sanitized text, or an escape sequence as it is; return the characters given."""
        self._stream.write(text if isinstance(text, EscapeSequence) else escape_control_chars(text))
        return len(text)

    def __getattr__(self, name: str) -> object:
        """Return any other attribute of the stream."""
        return getattr(self._stream, name)


def escape_control_chars(text: str) -> str:
    """Replace control characters with visible symbols and remove bidirectional controls."""
    return CONTROL_CHARS.sub(lambda found: replace_control_char(found[0]), text)


def replace_control_char(character: str) -> str:
    """Return what to show in place of a control character."""
    if character == "\r" or character > "\x9f":
        return ""
    if character > DELETE_CHAR:
        return "\ufffd"
    return "\u2421" if character == DELETE_CHAR else chr(CONTROL_PICTURES + ord(character))


def sanitize_output() -> None:
    """Make standard output and standard error sanitized UTF-8 streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):  # escape lone surrogates instead of failing
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        if stream is not None and not isinstance(stream, SanitizedStream):
            setattr(sys, name, cast(TextIO, SanitizedStream(stream)))


def ask(question: str) -> str:
    """Ask at the terminal and return the answer. Raises EOFError at end of input.

    The question is sanitized here because ``input`` bypasses ``sys.stdout``.
    """
    return input(escape_control_chars(question))


def dumps(value: object, *, indent: int | None = None) -> str:
    """Serialize to JSON, exactly, with control characters escaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))


def escape_json(text: str) -> str:
    """Escape control characters in JSON, where they can only occur in strings."""
    return CONTROL_CHARS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


GREY: Final = EscapeSequence("\x1b[90m")
RESET: Final = EscapeSequence("\x1b[0m")


def print_notice(text: str) -> None:
    """Print a line on standard error, in grey if it is a terminal."""
    write_notice(sys.stderr, text, is_grey=sys.stderr.isatty())


def write_notice(stream: TextIO, text: str, *, is_grey: bool) -> None:
    """Write a line to a sanitized stream."""
    for each in (GREY, text, RESET, "\n") if is_grey else (text, "\n"):
        stream.write(each)
    stream.flush()


CLEAR_LINE: Final = EscapeSequence("\r\x1b[K")


class StatusLine:
    """A line on standard error that is overwritten in place; silent without a terminal."""

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._is_shown = False
        self._write: Callable[[str], object] = sys.stderr.write

    def show(self, text: str) -> None:
        """Replace the line's text."""
        if sys.stderr.isatty():
            self._write(CLEAR_LINE)
            self._write(text)
            sys.stderr.flush()
            self._is_shown = True

    def clear(self) -> None:
        """Clear the line, if one is shown."""
        if self._is_shown:
            self._write(CLEAR_LINE)
            sys.stderr.flush()


def discard_output() -> None:
    """Redirect standard output to the null device: its disk is full or its reader is gone."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
    os.close(null_device)
