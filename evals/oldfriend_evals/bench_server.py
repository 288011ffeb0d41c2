"""Cost of serving: servers as processes, asked over HTTP from here.

Ours, or a bare one (``bare_site``) as the reference. It does not know what is asked.
"""

import asyncio
import json
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.pid_lock import find_server
from oldfriend.memory.credentials import generate_api_token, save_api_token
from oldfriend.memory.people import ensure_person
from oldfriend_evals.processes import ProcessFailed, build_command, read_resident

STARTS_S: Final = 120.0
ANSWERS_S: Final = 60.0
PAUSE_S: Final = 0.02
NO_TOKEN: Final = "none"
A_DAY: Final = 1
Hear = Callable[[bytes, bytes], None]
"""Takes the topic and the data of an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A process that answers at a port of this machine."""

    process: Process
    port: int

    @property
    def processor_ms(self) -> float:
        """What all its threads have taken so far. Raises OSError where there is no /proc."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    @property
    def resident_mb(self) -> float:
        """What it holds in memory. Raises OSError where there is no /proc."""
        return read_resident(self.process.pid).now


@asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[Server]:
    """``oldfriend serve`` on a folder, as soon as it is ready; gone afterwards."""
    command = build_command(folder, "serve", "--set", "serve.port=0")
    async with start_process(command) as process:
        async with asyncio.timeout(STARTS_S):  # for its start alone: how long one measures is open
            server = await wait_until_ready(process, folder)
        yield server


async def wait_until_ready(process: Process, folder: Path) -> Server:
    """A process that has begun to serve a folder, once it answers. Raises ProcessFailed.

    In its first moment the folder still names the port of whoever was there before.
    """
    while True:
        found = find_server(folder)
        if found is not None and found.port is not None:
            server = Server(process=process, port=found.port)
            if await fetch_status(server, "/ready") == 200:
                return server
        await check_running(process)


@asynccontextmanager
async def serve_baseline(*arguments: str) -> AsyncIterator[Server]:
    """The bare site, as soon as it says where it listens; gone afterwards."""
    command = [sys.executable, "-m", "oldfriend_evals.http_baseline", *arguments]
    async with start_process(command) as process:
        assert process.stdout is not None
        told = await asyncio.wait_for(process.stdout.readline(), STARTS_S)
        if not told:
            raise ProcessFailed("The bare site has ended.")
        yield Server(process=process, port=int(told))


@asynccontextmanager
async def start_process(command: Sequence[str]) -> AsyncIterator[Process]:
    """A process that is gone afterwards."""
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def check_running(process: Process) -> None:
    """Wait a moment. Raises ProcessFailed for one that has ended."""
    if process.returncode is not None:
        raise ProcessFailed(f"oldfriend serve ended with {process.returncode}.")
    await asyncio.sleep(PAUSE_S)


async def fetch_status(server: Server, path: str) -> int:
    """With which status something is answered; 0: it is not."""
    try:
        async with connect(server) as line:
            return (await line.ask(path))[0]
    except (OSError, ProcessFailed):
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A connection that stays open, and the token that is shown on it."""

    reader: StreamReader
    writer: StreamWriter
    token: str

    async def ask(self, path: str, *, said: object = None, key: str = "") -> tuple[int, bytes]:
        """The status of an answer, and its body. Raises ProcessFailed."""
        body = b"" if said is None else json.dumps(said).encode()
        self._begin("GET" if said is None else "POST", path, body, key)
        async with asyncio.timeout(ANSWERS_S):
            status, length = await self._head()
            return status, await self.reader.readexactly(length)

    async def hear(self, path: str, hear: Hear) -> None:
        """Pass on the events of a stream until it ends. Raises ProcessFailed."""
        self._begin("GET", path, b"", "")
        status, _ = await self._head()
        if status != 200:
            raise ProcessFailed(f"{path} was answered with {status}.")
        topic = b""
        while line := await self.reader.readline():
            name, _, value = line.rstrip().partition(b": ")
            if name == b"event":
                topic = value
            elif name == b"data":
                hear(topic, value)

    def _begin(self, method: str, path: str, body: bytes, key: str) -> None:
        head = [
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self.token}",
            f"Idempotency-Key: {key}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        self.writer.write("\r\n".join([*head, "", ""]).encode() + body)

    async def _head(self) -> tuple[int, int]:
        first = await self.reader.readline()
        if not first:
            raise ProcessFailed("The connection was closed.")
        length = 0
        while line := (await self.reader.readline()).strip():
            name, _, value = line.lower().partition(b":")
            length = int(value) if name == b"content-length" else length
        return int(first.split()[1]), length


@asynccontextmanager
async def connect(server: Server, token: str | None = None) -> AsyncIterator[Line]:
    """A connection, closed afterwards. Raises OSError."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 24)
    try:
        yield Line(reader=reader, writer=writer, token=token or NO_TOKEN)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def create_token(app: AppContext, name: str) -> str:
    """A token of the person of that name, who is made if new."""
    token, now = generate_api_token(), app.clock()
    async with app.db.begin_write() as tx:
        person = await ensure_person(tx, name, now=now, zone="UTC")
        await save_api_token(tx, person.id, token, name="bench", scope="write", days=A_DAY, now=now)
    return token
