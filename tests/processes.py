"""Oldfriend as its users meet it: a process that is started, spoken to, and sometimes killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

LONGEST_S = 1800.0
"""For one command; pytest's own limit on a test is mostly shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a process left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.stdout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The command line, on one folder of data, in a small and known environment."""

    data: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str | bytes | Path, stdin: str | bytes = "") -> Finished:
        """Run one command to its end."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        ended = subprocess.run(
            self.command(*arguments),
            input=given,
            capture_output=True,
            timeout=LONGEST_S,
            env=self.variables,
            check=False,
        )
        return Finished(
            code=ended.returncode,
            stdout=ended.stdout.decode(errors="replace"),
            stderr=ended.stderr.decode(errors="replace"),
        )

    def done(self, *arguments: str | bytes | Path, stdin: str | bytes = "") -> Finished:
        """Run one command that must succeed."""
        ended = self(*arguments, stdin=stdin)
        assert ended.code == 0, f"{arguments} ended with {ended.code}:\n{ended.stderr}"
        return ended

    @contextmanager
    def started(self, *arguments: str | bytes | Path) -> Iterator["subprocess.Popen[bytes]"]:
        """Start one command, and see that it is gone afterwards."""
        with running(self.command(*arguments), self.variables) as process:
            yield process

    def command(self, *arguments: str | bytes | Path) -> list[str | bytes | Path]:
        """How the command is called."""
        return [sys.executable, "-m", "oldfriend", *arguments]

    @property
    def variables(self) -> dict[str, str]:
        """The whole environment of the process."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.data.parent),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "OMP_NUM_THREADS": "1",
            "TERM": "xterm",
            "OLDFRIEND_DATA": str(self.data),
            **self.environment,
        }


@contextmanager
def running(
    command: list[Any],
    environment: Mapping[str, str] | None = None,
    *,
    stderr: int | IO[bytes] = subprocess.PIPE,
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process with pipes, which is killed if it has not ended by itself."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environment,
    )
    with process:
        try:
            yield process
        finally:
            kill(process)


@contextmanager
def python(script: str, *arguments: object) -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that runs a few lines of Python."""
    with running([sys.executable, "-c", script, *map(str, arguments)]) as process:
        yield process


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End a process as a power cut would: it gets no chance to tidy up."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait(LONGEST_S)


def line_of(pipe: IO[bytes] | None) -> str:
    """The next line that a process prints; empty when it has ended."""
    assert pipe is not None
    return pipe.readline().decode().rstrip("\n")


def until(is_so: Callable[[], bool], *, within_s: float = 20.0) -> float:
    """Wait until something is so; how many seconds it took. Fails after too long."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < within_s, f"not so after {within_s} s"
        time.sleep(0.01)
    return time.monotonic() - began
