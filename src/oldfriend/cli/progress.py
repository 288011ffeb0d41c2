"""Progress line: one line on standard error that is overwritten in place."""

import sys
from collections.abc import Callable
from typing import Final

from oldfriend.cli.output import EscapeSequence
from oldfriend.runtime.learn_now import LearnNowProgress

CLEAR_LINE: Final = EscapeSequence("\r\x1b[K")


def format_learning_progress(progress: LearnNowProgress) -> str:
    """Format the progress of extraction."""
    return f"Reading your chats: {progress.done:,} of {progress.total:,}"


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
