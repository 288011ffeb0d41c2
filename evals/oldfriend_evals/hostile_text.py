"""Cost of hostile text: repetitive messages of 100 kB beside prose of the same length."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_file import SETTINGS_FILE_NAME
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    build_unmeasured,
    build_upper_target,
    measure_processor_ms,
)
from oldfriend_evals.bench_server import ANSWERS_S, Line, connect, create_token, serve
from oldfriend_evals.corpus import build_sessions
from oldfriend_evals.processes import ProcessFailed
from oldfriend_evals.temporary_stores import build_settings, open_temporary_store

LENGTH: Final = 100_000
PROSE: Final = "prose"
UNITS: Final[Mapping[str, str]] = {
    "blanks": " ",
    "tabs": "\t ",
    "lines": "\n",
    "short lines": "a\n",
    "one letter": "a",
    "single letters": "a ",
    "full stops": ".",
    "short sentences": "a. ",
    "commas": "a,",
    "digits": "9",
    "numbers": "1.2,",
    "quotation marks": '"',
    "opened quotations": "“",
    "brackets": "[(",
    "JSON": '{"a":[',
    "labels": "<memory>",
    "calls": "<tool_call>",
    "fences": "```\n",
    "links": "http://",
    "addresses": "@a ",
    "I": "I ",
    "and": "and ",
    "run-on sentence": "My sister Ana lives in Porto and ",
    "statements": "I like tea. ",
    "clauses": "I live in Porto, ",
    "questions": "What did I say? ",
    "requests": "remember that ",
    "names": "Ana ",
    "Chinese": "我妈妈在北京工作",
    "one sign": "你",
    "numerals": "二十",
    "Chinese stops": "。",
    "adverbs": "我刚刚",
    "zero-width characters": "a\u200b",
    "accents": "a\u0301",
    "stacked accents": "\u0301\u0316",
    "pictures": "😀",
    "wide blanks": "\u3000",
    "quoted mail": "> a\n",
    "headers": "from: a@b\n",
    "dates": "2020-01-01 ",
    "mixed": " \t\n.a,\"'(",
}
"""What is said again and again, between two words."""
EVERY_S: Final = 0.005
"""So often a server is asked whether it is alive."""
PAUSE_S: Final = 0.05
MESSAGES: Final = "/api/v1/chat/messages"
NO_LIMIT: Final = "[limits]\nmessages_per_minute = 0\n"
LONGEST_WAIT_MS: Final = 100
CALM_S: Final = 0.3
"""After an answer so long is waited for what else is done about it."""


def build_prose(length: int) -> str:
    """Plain sentences, as many characters of them."""
    texts = (spoken.text for session in build_sessions(length // 20, seed=3) for spoken in session)
    return " ".join(texts)[:length]


def build_hostile(unit: str, length: int) -> str:
    """A unit again and again, between two words."""
    repeated = unit * (length // len(unit) + 1)
    return f"hi{repeated[: length - 4]}ho"


def build_texts(length: int) -> dict[str, str]:
    """The hostile texts of a length, and prose of the same."""
    texts = {name: build_hostile(unit, length) for name, unit in UNITS.items()}
    return {PROSE: build_prose(length), **texts}


async def measure_hostile_text(scope: Scope) -> list[Measure]:
    """The processor time of one message, and how long a server is not to be reached meanwhile."""
    texts = build_texts(LENGTH)
    if scope.quick:
        texts = {name: texts[name] for name in (PROSE, *list(UNITS)[::4])}
    return [await compare_with_prose(texts), await find_longest_wait(texts)]


async def compare_with_prose(texts: Mapping[str, str]) -> Measure:
    """What the worst text costs from its acceptance to its reading, beside prose."""
    async with open_temporary_store() as app:
        costs = await measure_costs(app, texts)
    reference = costs.pop(PROSE)
    worst = max(costs, key=costs.__getitem__)
    return Measure(
        name="hostile text: CPU beside prose",
        value=costs[worst],
        unit="ms",
        reference=reference,
        target=build_upper_target(2),
        note=f"100 kB, accepted, answered and read by rules; worst: {worst}",
    )


async def measure_costs(app: AppContext, texts: Mapping[str, str]) -> dict[str, float]:
    """The processor milliseconds of each text: accepted, answered, and read by rules."""
    await handle_text(
        app, "somebody else", build_prose(1_000)
    )  # what is opened once is opened by then
    return {
        name: min([await time_handling(app, f"{name} {time}", text) for time in range(2)])
        for name, text in texts.items()
    }


async def time_handling(app: AppContext, person: str, text: str) -> float:
    """The processor milliseconds that a text of somebody takes who says nothing else."""
    return await measure_processor_ms(lambda: handle_text(app, person, text))


async def handle_text(app: AppContext, person: str, text: str) -> None:
    """Have a text accepted, answered, and read by rules."""
    line = await open_local_chat(app.db, app.clock, app.settings, person=person, channel="terminal")
    await answer_message(app, line, MessageSubmission(text=text))
    await learn_now(app, line.person.id, cut_reason="asked")


async def find_longest_wait(texts: Mapping[str, str]) -> Measure:
    """How long a server is not to be reached while it deals with such texts."""
    name, target = "hostile text: longest wait of /health", build_upper_target(LONGEST_WAIT_MS)
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        try:
            waits = await measure_health_waits(Path(folder), texts)
        except (ProcessFailed, OSError, TimeoutError) as error:
            return build_unmeasured(name, f"failed: {error}", target=target)
    worst = max(waits, key=waits.__getitem__)
    note = f"while 100 kB are accepted, answered and read; worst: {worst}"
    return Measure(name=name, value=waits[worst], unit="ms", target=target, note=note)


async def measure_health_waits(folder: Path, texts: Mapping[str, str]) -> dict[str, float]:
    """The longest milliseconds that a server took to say that it is alive, during each text."""
    async with open_app(build_settings(folder)) as app:
        token = await create_token(app, "hostile")
    (folder / SETTINGS_FILE_NAME).write_text(NO_LIMIT, "utf-8")
    async with (
        serve(folder) as server,
        connect(server, token) as talk,
        connect(server) as watch,
    ):
        await say(talk, build_prose(1_000))
        pid = server.process.pid
        return {name: await measure_wait(talk, watch, text, pid) for name, text in texts.items()}


async def measure_wait(talk: Line, watch: Line, text: str, server: int) -> float:
    """The longest milliseconds that a server took to say that it is alive, during one text."""
    longest = 0.0
    saying = asyncio.ensure_future(say(talk, text))
    calm_from = float("inf")
    while time.monotonic() < calm_from + CALM_S:
        before, began = read_thread_times(server, os.getpid()), time.monotonic()
        await watch.ask("/health")
        waited = 1000 * (time.monotonic() - began)
        after = read_thread_times(server, os.getpid())
        longest = max(longest, compute_held_up_ms(waited, before, after, loop=str(server)))
        await asyncio.sleep(EVERY_S)
        if saying.done():
            calm_from = min(calm_from, time.monotonic())
    await saying
    return longest


class ThreadTimes(NamedTuple):
    """The milliseconds that a thread has run, and has waited for a processor."""

    ran: float
    queued: float


def read_thread_times(*processes: int) -> dict[str, ThreadTimes]:
    """The times of each thread of some processes, by its id; nothing but on Linux."""
    found: dict[str, ThreadTimes] = {}
    for process in processes:
        for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with suppress(OSError):  # it has ended meanwhile
                ran, queued, _ = file.read_text("ascii").split()
                found[file.parent.name] = ThreadTimes(int(ran) / 1e6, int(queued) / 1e6)
    return found


def compute_held_up_ms(
    waited_ms: float,
    before: Mapping[str, ThreadTimes],
    after: Mapping[str, ThreadTimes],
    *,
    loop: str,
) -> float:
    """The milliseconds of a wait that are the server's own doing.

    Those are not in which a thread had no processor, because others had them: whoever asks, the
    event loop and a thread that it waits for are delayed one after the other. What the event loop's
    own thread has run counts in any case.
    """
    queued = sum(now.queued - before.get(thread, now).queued for thread, now in after.items())
    own = after[loop].ran - before[loop].ran if loop in before and loop in after else 0.0
    return max(own, waited_ms - queued)


async def find_longest_stretch_ms(work: Awaitable[None]) -> float:
    """The longest processor milliseconds of this thread for which nothing else could be done."""
    longest, mark = 0.0, time.thread_time()

    async def look() -> None:
        nonlocal longest, mark
        while True:
            now = time.thread_time()
            longest, mark = max(longest, now - mark), now
            await asyncio.sleep(0.001)

    looking = asyncio.ensure_future(look())
    await work
    looking.cancel()
    return 1000 * longest


async def say(talk: Line, text: str) -> None:
    """Say something, wait for the reply, and have it read."""
    await ask(talk, MESSAGES, said={"text": text})
    async with asyncio.timeout(ANSWERS_S):
        await wait_for_answer(talk)
    await ask(talk, "/api/v1/learned/now", said={})


async def wait_for_answer(talk: Line) -> None:
    """Wait for the reply."""
    for pause_s in repeat(PAUSE_S):
        if await is_answered(talk):
            return
        await asyncio.sleep(pause_s)


async def is_answered(talk: Line) -> bool:
    """Whether the last word is the companion's."""
    newest = json.loads(await ask(talk, f"{MESSAGES}?limit=2"))["items"]
    return any(each["role"] == "companion" for each in newest[-1:])


async def ask(talk: Line, path: str, *, said: object = None) -> bytes:
    """What is answered. Raises ProcessFailed for a refusal."""
    status, body = await talk.ask(path, said=said, key=f"hostile {time.monotonic_ns()}")
    if status >= 300:
        raise ProcessFailed(f"{path} was answered with {status}: {body[:200]!r}")
    return body
