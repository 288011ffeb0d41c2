"""A process that serves, and what it says about itself."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from oldfriend.app.pid_lock import ServerInfo, find_server
from tests.processes import Program, until

STARTS_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An ``oldfriend serve`` that is ready."""

    process: "subprocess.Popen[bytes]"
    port: int
    program: Program

    def get(self, path: str) -> tuple[int, str]:
        """Ask it something; status and text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        response = connection.getresponse()
        status, text = response.status, response.read().decode()
        connection.close()
        return status, text

    @property
    def is_ready(self) -> bool:
        """Whether it says so."""
        with suppress(OSError, http.client.HTTPException):
            return self.get("/ready")[0] == 200
        return False

    def number(self, name: str) -> float:
        """One of its metrics."""
        lines = self.get("/metrics")[1].splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


def on_any_port(program: Program, **variables: str) -> Program:
    """The same program, whose door is at whatever port is free."""
    return replace(
        program, environment={**program.environment, "OLDFRIEND_SERVE_PORT": "0", **variables}
    )


def serving(program: Program) -> ServerInfo | None:
    """Who serves the program's folder, once it can be asked."""
    found = find_server(program.data)
    return found if found is not None and found.port is not None else None


@contextmanager
def served(program: Program) -> Iterator[Running]:
    """Start to serve, and wait until it is ready; it is gone afterwards."""
    with program.started("serve") as process:
        until(lambda: serving(program) is not None or has_ended(process), within_s=STARTS_S)
        found = serving(program)
        assert found is not None
        assert found.port is not None
        running = Running(process=process, port=found.port, program=program)
        until(lambda: running.is_ready or has_ended(process), within_s=STARTS_S)
        yield running


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Fail with what it said when a process has ended; else False."""
    if process.poll() is None:
        return False
    assert process.stderr is not None
    raise AssertionError(f"it ended with {process.returncode}: {process.stderr.read().decode()}")


def status_of(program: Program) -> Any:
    """What ``oldfriend status`` says, as JSON."""
    return json.loads(program.done("status", "--json").stdout)
