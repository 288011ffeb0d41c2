"""Load on Telegram: whole talks, from what Telegram tells to what it is sent.

The Telegram is a process of its own (``bot_api``) on the same machine.
"""

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from statistics import quantiles

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import ChatRef, IncomingMessage, Sender
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.config.provider_resolution import ChannelCredentials
from oldfriend.domain.errors import OldfriendError, PlatformRejected
from oldfriend.inbound.receive import handle_event, listen_on_channel
from oldfriend.runtime.bot_connections import open_bot
from oldfriend.runtime.worker import run_worker
from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    build_lower_target,
    build_unmeasured,
    build_upper_target,
)
from oldfriend_evals.fake_bot_api import FIRST
from oldfriend_evals.load import (
    AND_OTHERS,
    CHATS,
    MANY_CHATS,
    SLOW_S,
    list_remarks,
    open_store_with_model,
)
from oldfriend_evals.workers import run_workers

NAME = "telegram"
TOKEN = "1:bench"
ROUNDS = 20
"""All begin at the same moment, and the last of them waits for all: that must not be most of it."""
IDLE_S, SETTLED_S = 10.0, 3.0
LONGEST_S = 600.0


class NotAnswered(OldfriendError):
    """The Telegram of the measurement has ended before everybody was answered."""


async def measure_telegram(scope: Scope) -> list[Measure]:
    """Many chats at once, how evenly words are taken in, and what it takes when nobody talks."""
    try:
        return [
            await measure_many_chats(rounds=1 if scope.quick else ROUNDS),
            await measure_many_chats(rounds=1 if scope.quick else ROUNDS, others=1),
            await measure_receiving(count=500 if scope.quick else 5_000),
            await measure_idling(),
        ]
    except PlatformRejected as error:
        return [build_unmeasured("chats on Telegram", str(error), target=build_lower_target(0.9))]


async def measure_many_chats(*, rounds: int, chats: int = MANY_CHATS, others: int = 0) -> Measure:
    """Everybody writes again as soon as they are answered, by the clock on the wall.

    With ``others`` at work, who only decide: one process alone speaks to Telegram.
    """
    async with (
        open_store_with_model(delay_s=SLOW_S) as app,
        serve_fake_telegram(chats, rounds) as town,
        run_workers(app, others, delay_s=SLOW_S),
        serve_replies(app, town, chats),
    ):
        taken_s = await town.measure_all_answered_s()
    turns = chats * rounds
    return Measure(
        name=f"{chats} chats on Telegram with a model of {SLOW_S:g} s{AND_OTHERS[others]}",
        value=turns / taken_s,
        unit="/s",
        reference=turns / (rounds * SLOW_S),
        target=build_lower_target(0.9),
        note=f"{rounds} rounds; reference: as if nothing but the model took time",
    )


async def measure_receiving(*, count: int) -> Measure:
    """How long the slow ones take until Telegram may be told that they are kept, by the wall."""
    taken: list[float] = []
    async with open_store_with_model(delay_s=0) as plain:
        app = allow_chats(plain, CHATS)
        for number, text in enumerate(list_remarks(count)):
            said = build_message(FIRST + number % CHATS, number, text, at=app.clock())
            began = time.perf_counter()
            await handle_event(app, said)
            taken.append((time.perf_counter() - began) * 1000)
    percentiles = quantiles(taken[CHATS:], n=100)  # what makes people and chats comes once
    return Measure(
        name="taking in a message from Telegram, 95th percentile",
        value=percentiles[94],
        unit="ms",
        reference=percentiles[49],
        target=build_upper_target(4),
        note="reference: the median",
    )


async def measure_idling() -> Measure:
    """What listening and working take of a processor while nobody says anything."""
    async with (
        open_store_with_model(delay_s=0) as app,
        serve_fake_telegram(0, 0) as town,
        serve_replies(app, town, 1),
    ):
        await asyncio.sleep(SETTLED_S)
        before = time.process_time()
        await asyncio.sleep(IDLE_S)
        taken_s = time.process_time() - before
    return Measure(
        name="idle on Telegram, of a core",
        value=100 * taken_s / IDLE_S,
        unit="%",
        reference=1.0,
        target=build_upper_target(1),
        note="reference: one per cent",
    )


@dataclass(frozen=True, slots=True)
class TelegramProcess:
    """The people of a Telegram of ours, and where that is."""

    url: str
    process: Process

    async def measure_all_answered_s(self) -> float:
        """How long it took until everybody was answered. Raises NotAnswered."""
        async with asyncio.timeout(LONGEST_S):
            return float(await read_number(self.process))


@asynccontextmanager
async def serve_fake_telegram(chats: int, rounds: int) -> AsyncIterator[TelegramProcess]:
    """A Telegram on which so many people have so much to say, gone afterwards."""
    command = [sys.executable, "-m", "oldfriend_evals.fake_bot_api", str(chats), str(rounds)]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    try:
        yield TelegramProcess(f"http://127.0.0.1:{int(await read_number(process))}", process)
    finally:
        process.kill()
        await process.wait()


async def read_number(process: Process) -> float:
    """The next number that it tells. Raises NotAnswered."""
    assert process.stdout is not None
    if not (line := await process.stdout.readline()):
        raise NotAnswered("The Telegram of the measurement has ended.")
    return float(json.loads(line))


@asynccontextmanager
async def serve_replies(app: AppContext, town: TelegramProcess, chats: int) -> AsyncIterator[None]:
    """Listen to everybody on that Telegram meanwhile, and answer them without a pause."""
    app, stopping = allow_chats(app, chats), asyncio.Event()
    chosen = replace(app.settings.channels["telegram"], base_url=town.url, quiet_s=0.0)
    settings = replace(app.settings, channels={"telegram": chosen})
    telegram = open_bot(TELEGRAM, ChannelCredentials((("token", TOKEN),), ""), settings)
    app = replace(app, settings=settings, channels={NAME: telegram})
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run_worker(app, stopping=stopping))
            tasks.create_task(listen_on_channel(NAME, app, stopping))
            try:
                yield
            finally:
                stopping.set()
    finally:
        await telegram.close()


def allow_chats(app: AppContext, chats: int) -> AppContext:
    """A house to whose companion so many people on Telegram may talk."""
    allowed = tuple(str(FIRST + chat) for chat in range(chats))
    return replace(
        app,
        settings=replace(app.settings, channels={"telegram": TelegramSettings(allowed=allowed)}),
    )


def build_message(person: int, number: int, text: str, *, at: int) -> IncomingMessage:
    """Something that somebody says on Telegram."""
    address = str(person)
    return IncomingMessage(
        chat_ref=ChatRef(channel=NAME, address=address, title=address, is_private=True),
        sender=Sender(address=address, name=f"P{person}"),
        external_id=f"message:{person}:{number}",
        number=number,
        at=at,
        text=text,
    )
