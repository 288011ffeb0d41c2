"""How far is it? One line on the error stream, written over again and again."""

import sys
from collections.abc import Callable

from oldfriend.app.catching_up import Progress


def reading_line(progress: Progress) -> str:
    """How far the reading is."""
    return f"Reading your chats: {progress.done:,} of {progress.total:,}"


class StatusLine:
    """One line that is written over again and again; only in a terminal."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._is_shown = False
        self._write: Callable[[str], object] = sys.stderr.write

    def show(self, text: str) -> None:
        """Show a text in place of the last."""
        if sys.stderr.isatty():
            self._write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._is_shown = True

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self._is_shown:
            self._write("\r\x1b[K")
            sys.stderr.flush()
