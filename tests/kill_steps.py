"""A command that is killed at a chosen step: before the n-th statement or file operation.

python -m tests.kill_steps FOLDER STEP DELAY COMMAND... Counting begins with the first transaction
that writes. With a delay, SIGKILL comes so many seconds after that step has begun, from a thread:
in the middle of a commit, a checkpoint or a VACUUM. STEP 0 only counts: it prints how many there
are, and which of them is the first commit.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import apsw

from oldfriend.cli.main import main

FILE_OPERATIONS = {"open", "os.remove", "os.rename", "os.truncate", "os.mkdir", "os.rmdir"}


class Countdown:
    """Counts the steps of this process, and ends it at the chosen one."""

    def __init__(self, folder: Path, *, step: int, delay_s: float) -> None:
        """Count nothing until something is about to be written."""
        self.folder, self.step, self.delay_s = str(folder), step, delay_s
        self.counted = 0
        self.committed_at = 0
        self.has_begun = False

    def watch(self) -> None:
        """Have every statement and every file operation in the folder counted."""
        apsw.connection_hooks.append(
            lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_STMT, self.see_statement)
        )
        sys.addaudithook(self.see_event)

    def see_statement(self, event: dict[str, Any]) -> None:
        """A statement is about to run."""
        self.has_begun = self.has_begun or event["sql"].startswith("BEGIN IMMEDIATE")
        self.count()
        if event["sql"] == "COMMIT" and not self.committed_at:
            self.committed_at = self.counted

    def see_event(self, name: str, arguments: tuple[Any, ...]) -> None:
        """A file is about to be opened, made, renamed, cut or removed."""
        if name in FILE_OPERATIONS and str(arguments[0]).startswith(self.folder):
            self.count()

    def count(self) -> None:
        """One step further."""
        if not self.has_begun:
            return
        self.counted += 1
        if self.counted == self.step:
            if self.delay_s:
                threading.Timer(self.delay_s, die).start()
            else:
                die()


def die() -> None:
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, step, delay_s, *command = sys.argv[1:]
    countdown = Countdown(Path(folder), step=int(step), delay_s=float(delay_s))
    countdown.watch()
    try:
        code = main(command)
    except SystemExit as ended:
        code = int(ended.code or 0)
    if countdown.step == 0:
        sys.stdout.write(f"steps {countdown.counted} {countdown.committed_at}\n")
    sys.exit(code)
