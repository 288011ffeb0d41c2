"""Oldfriend as its users meet it at a real terminal: keys go in, a screen comes out."""

import errno
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.processes import Program, kill


@dataclass(slots=True)
class Terminal:
    """A chat in a terminal of its own."""

    screen: int
    process: "subprocess.Popen[bytes]"
    shown: str = ""

    def types(self, line: str) -> None:
        """Type a line."""
        os.write(self.screen, f"{line}\r".encode("utf-8", "surrogateescape"))

    def shows(self, text: str, *, within_s: float = 30.0) -> float:
        """Wait until a text is on the screen; how many seconds it took."""
        began = time.monotonic()
        while text not in self.shown:
            assert time.monotonic() - began < within_s, f"{text!r} is not in {self.shown!r}"
            self._look()
        took = time.monotonic() - began
        self.shown = self.shown[self.shown.index(text) + len(text) :]
        return took

    def ends(self, *, within_s: float = 30.0) -> int:
        """Wait until the program has ended; its exit code."""
        began = time.monotonic()
        while self.process.poll() is None:
            assert time.monotonic() - began < within_s, f"still runs: {self.shown!r}"
            self._look()
        while self._look():
            pass
        return self.process.returncode

    def _look(self) -> bool:
        """Read what is new on the screen; whether anything was."""
        if not select.select([self.screen], [], [], 0.1)[0]:
            return False
        try:
            piece = os.read(self.screen, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the program has ended
                raise
            return False
        self.shown += piece.decode(errors="replace")
        for _ in range(piece.count(b"\x1b[6n")):  # "where is the cursor?"
            os.write(self.screen, b"\x1b[1;1R")
        return bool(piece)


@contextmanager
def terminals(program: Program) -> Iterator[Callable[..., Terminal]]:
    """A way to open chats, each in a terminal of its own; they are gone afterwards."""
    opened: list[Terminal] = []

    def open_chat(*options: str) -> Terminal:
        screen, keyboard = pty.openpty()
        termios.tcsetwinsize(keyboard, (50, 200))
        process = subprocess.Popen(
            program.command("chat", *options),
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            env=program.variables,
            start_new_session=True,
        )
        os.close(keyboard)
        opened.append(Terminal(screen, process))
        return opened[-1]

    try:
        yield open_chat
    finally:
        for terminal in opened:
            kill(terminal.process)
            os.close(terminal.screen)
