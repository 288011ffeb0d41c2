"""Delay until a page hears what a model begins to say, beside a bare handler of events.

The model and the pages are in this process, so that both moments are read from one clock; who
serves is another, for both alike. Turn about, by the clock on the wall.
"""

import asyncio
import gc
import json
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target
from oldfriend_evals.bench_server import (
    Server,
    connect,
    create_token,
    serve,
    serve_baseline,
)
from oldfriend_evals.processes import ProcessFailed
from oldfriend_evals.temporary_stores import build_settings

STREAMS: Final = 25
"""Of each of two people; one person may have 32 pages open."""
NAMES: Final = ("Ana", "Bo")
OF_A_TOKEN: Final = 8
"""Pages that one token may have open."""
REPLY: Final = ("Certainly", ", with", " pleasure.")
BEFORE_FIRST_S: Final = 0.15
"""What comes before a model's first word is over by then."""
BETWEEN_S: Final = 0.05
LONGEST_S: Final = 60.0
ACCEPTED: Final = 202
SETTINGS: Final = """[models]
main = ["bench:one"]
[memory]
thinks = false
[limits]
messages_per_minute = 0
[providers.bench]
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"
"""
WARM: Final = 3


@dataclass(slots=True)
class Model:
    """Says the same to everybody, and knows when it last began."""

    port: int = 0
    began_at: float = 0.0

    async def answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer as OpenAI's form of it has it, until they hang up."""
        while head := await read_head(reader):
            body = json.loads(await reader.readexactly(get_content_length(head)))
            if body.get("stream"):
                await self._stream(writer)
                break  # as who streams without a length must
            writer.write(build_whole_reply())
        writer.close()

    async def _stream(self, writer: StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        )
        await asyncio.sleep(BEFORE_FIRST_S)
        self.began_at = time.perf_counter()
        for piece in REPLY:
            writer.write(build_chunk({"content": piece}))
            await asyncio.sleep(BETWEEN_S)
        writer.write(build_chunk({}, ending="stop") + b"data: [DONE]\n\n")
        await writer.drain()


@asynccontextmanager
async def serve_model() -> AsyncIterator[Model]:
    """A model that can be asked over HTTP."""
    model = Model()
    server = await asyncio.start_server(model.answer, "127.0.0.1", 0)
    model.port = server.sockets[0].getsockname()[1]
    try:
        yield model
    finally:
        server.close()


async def read_head(reader: StreamReader) -> bytes:
    """The head of what is asked; empty when nothing is."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def get_content_length(head: bytes) -> int:
    """How long a body is."""
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next((int(value) for name, _, value in lines if name == b"content-length"), 0)


def build_chunk(delta: dict[str, JsonValue], *, ending: str | None = None) -> bytes:
    """One piece of a reply."""
    choice: JsonValue = {
        "index": 0,
        "delta": {"role": "assistant", **delta},
        "finish_reason": ending,
    }
    return f"data: {json.dumps(frame_choice('chat.completion.chunk', choice))}\n\n".encode()


def build_whole_reply() -> bytes:
    """A reply that is sent at once."""
    choice: JsonValue = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "".join(REPLY)},
    }
    body = json.dumps(frame_choice("chat.completion", choice)).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


def frame_choice(kind: str, choice: JsonValue) -> dict[str, JsonValue]:
    """What is around every piece."""
    usage: JsonValue = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return {
        "id": "c",
        "object": kind,
        "created": 1,
        "model": "one",
        "choices": [choice],
        "usage": usage,
    }


@dataclass(slots=True, kw_only=True)
class Pages:
    """All pages that are open at a server, of two people; when each heard the first of a reply."""

    server: Server
    token: str = ""  # of the one who says something
    listening: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 0))
    heard_at: list[float] = field(default_factory=list)
    has_heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, path: str, token: str) -> None:
        """Listen until the server is gone."""

        def hear(topic: bytes, data: bytes) -> None:
            name = topic.rpartition(b".")[2]
            if name == b"ready":
                self.listening.release()
            elif name == b"token" and REPLY[0].encode() in data:
                self.heard_at.append(time.perf_counter())
                if len(self.heard_at) == STREAMS:
                    self.has_heard.set()

        async with connect(self.server, token) as line:
            await line.hear(path, hear)

    async def delay_ms(self, model: Model, path: str, number: int) -> float:
        """How long after a model has begun a page hears of it, the one in the middle."""
        self.heard_at.clear()
        self.has_heard.clear()
        said = {"text": f"Say something, number {number}."}
        async with connect(self.server, self.token) as line:
            status, _ = await line.ask(path, said=said, key=f"words number {number}")
        if status != ACCEPTED:
            raise ProcessFailed(f"{path} was answered with {status}.")
        async with asyncio.timeout(LONGEST_S):
            await self.has_heard.wait()
        await asyncio.sleep(len(REPLY) * BETWEEN_S + BEFORE_FIRST_S)
        return (median(self.heard_at) - model.began_at) * 1000


async def measure_page_events(scope: Scope) -> list[Measure]:
    """From a model's first word to the page, with fifty pages open."""
    return [await measure_first_word(rounds=10 if scope.quick else 60)]


async def measure_first_word(*, rounds: int) -> Measure:
    """The delay of a page in the middle, beside that of a bare handler of events."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="oldfriend-bench-")))
        model = await stack.enter_async_context(serve_model())
        (folder / "oldfriend.toml").write_text(SETTINGS.format(port=model.port))
        async with open_app(build_settings(folder)) as app:
            some = range(-(-STREAMS // OF_A_TOKEN))
            tokens = [[await create_token(app, name) for _ in some] for name in NAMES]
        ours = await stack.enter_async_context(serve(folder))
        bare = await stack.enter_async_context(serve_baseline("events", str(model.port)))
        taken = await measure_alternately(model, ours, bare, tokens, rounds)
    reference, value = (median(each[WARM:]) for each in zip(*taken, strict=True))
    return Measure(
        name="a model's first word, until a page hears it",
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(3),
        note=f"{STREAMS * len(NAMES)} pages open, by the wall; reference: a bare handler of events",
    )


async def measure_alternately(
    model: Model, ours: Server, bare: Server, tokens: Sequence[Sequence[str]], rounds: int
) -> list[tuple[float, float]]:
    """The delays of the bare one and of ours, in the same rounds."""
    barely, really = Pages(server=bare), Pages(server=ours, token=tokens[0][0])
    taken: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as listening:
        opened = [
            listening.create_task(pages.open(path, own[number // OF_A_TOKEN]))
            for name, own in zip(NAMES, tokens, strict=True)
            for pages, path in ((barely, f"/events/{name}"), (really, "/api/v1/chat/events"))
            for number in range(STREAMS)
        ]
        async with asyncio.timeout(LONGEST_S):
            for _ in range(STREAMS * len(NAMES)):
                await barely.listening.acquire()
                await really.listening.acquire()
        gc.collect()
        for number in range(WARM + rounds):
            at_bare = await barely.delay_ms(model, f"/say/{NAMES[0]}", number)
            at_ours = await really.delay_ms(model, "/api/v1/chat/messages", number)
            taken.append((at_bare, at_ours))
        for each in opened:
            each.cancel()
    return taken
