"""A third party's fake of the model providers (npm's aimock), as a process of its own.

It is installed once from the lock file beside it, and listens on this machine only.
"""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

from tests.packages import installed

HERE = Path(__file__).parent / "aimock"
START_S = 20
LISTENING = "listening on "

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Answers as OpenAI (chat and responses) and as Anthropic do, whatever it is told to."""

    url: str
    process: subprocess.Popen[str] = field(repr=False)

    def answers(self, *fixtures: Json) -> None:
        """Forget everything, and answer by these: ``match`` and ``response`` of aimock's."""
        self._ask("POST", "/reset", {})
        self._ask("POST", "/fixtures", {"fixtures": list(fixtures)})

    def requests(self) -> list[Json]:
        """The bodies of what was asked since, oldest first; the providers' forms made one."""
        return [entry["body"] for entry in self._ask("GET", "/journal")]

    def headers(self) -> list[Json]:
        """The headers of what was asked since, oldest first."""
        return [entry["headers"] for entry in self._ask("GET", "/journal")]

    def _ask(self, method: str, path: str, body: Json | None = None):
        request = Request(
            f"{self.url}/__aimock{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with build_opener(ProxyHandler({})).open(request, timeout=5) as response:
            return json.load(response)


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Start it, and stop it on leaving."""
    program = installed("@copilotkit/aimock", of=HERE) / "dist/cli.js"
    command = [
        "node",
        str(program),
        "--port",
        "0",
        "--fixtures",
        str(HERE / "nothing.json"),
        "--latency",
        "2",
    ]
    process = subprocess.Popen(
        command, cwd=HERE, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield ModelServer(_address(process), process)
    finally:
        process.terminate()
        process.wait(timeout=10)
        assert process.stdout is not None
        process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    """Where it listens, as it says itself; what it says later is read and thrown away."""
    assert process.stdout is not None
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        line = process.stdout.readline()
        if LISTENING in line:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return line.split(LISTENING)[1].strip()
        if not line and process.poll() is not None:
            break
    raise RuntimeError("aimock did not start")
