"""Notices on standard error, where programs do not take them for the reply."""

import sys
from typing import Final, TextIO

from oldfriend.cli.output import EscapeSequence

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
