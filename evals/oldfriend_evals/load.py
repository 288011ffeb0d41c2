"""Load: whole turns through the queue, with a model that costs nothing."""

import asyncio
import gc
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from statistics import quantiles

from oldfriend.app.app_context import AppContext, CrashPoint, RoleModel
from oldfriend.cli.work import preload_language_data, tune_gc
from oldfriend.config.settings_schema import ServeSettings
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import CallSink
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.worker import run_worker
from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    build_lower_target,
    build_unmeasured,
    build_upper_target,
)
from oldfriend_evals.corpus import build_sessions
from oldfriend_evals.processes import read_resident
from oldfriend_evals.temporary_stores import KnownVectors, open_temporary_store
from oldfriend_evals.workers import run_workers, wait_until_answered

CHATS = 50
MANY_CHATS, SLOW_S, ROUNDS = 200, 2.0, 5
AND_OTHERS = ("", ", 2 workers")
WARM, TENTHS = 2, 10
POLITE = "thanks"
"""Words that are answered and never looked for, so that nothing has to be kept at hand."""


async def measure_load(scope: Scope) -> list[Measure]:
    """Many chats at once, how evenly words are taken in, and memory."""
    return [
        await measure_many_chats(rounds=1 if scope.quick else ROUNDS),
        await measure_many_chats(rounds=1 if scope.quick else ROUNDS, others=1),
        await measure_accepting(count=500 if scope.quick else 5_000),
        await measure_memory(turns=1_000 if scope.quick else 100_000),
    ]


async def measure_many_chats(*, rounds: int, others: int = 0) -> Measure:
    """Chats that do not wait for each other, by the clock on the wall; with ``others`` at work."""
    turns = MANY_CHATS * rounds
    async with open_store_with_model(delay_s=SLOW_S) as app:
        await say_in_turn(app, await open_chats(app, MANY_CHATS), list_remarks(turns))
        async with run_workers(app, others, delay_s=SLOW_S):
            began = time.perf_counter()
            async with run_background_worker(app):
                await wait_until_answered(app)
                taken_s = time.perf_counter() - began
    return Measure(
        name=f"{MANY_CHATS} chats with a model of {SLOW_S:g} s{AND_OTHERS[others]}",
        value=turns / taken_s,
        unit="/s",
        reference=turns / (rounds * SLOW_S),
        target=build_lower_target(0.9),
        note="reference: as if nothing but the model took time",
    )


async def measure_accepting(*, count: int) -> Measure:
    """How long the slow ones wait until they know that their words are kept, by the wall."""
    taken: list[float] = []
    async with open_store_with_model(delay_s=0) as app:
        lines = await open_chats(app, CHATS)
        for number, text in enumerate(list_remarks(count)):
            began = time.perf_counter()
            await accept_message(
                app, lines[number % CHATS], MessageSubmission(text=text), claim_now=False
            )
            taken.append((time.perf_counter() - began) * 1000)
    percentiles = quantiles(taken, n=100)
    return Measure(
        name="accepting a message, 95th percentile",
        value=percentiles[94],
        unit="ms",
        reference=percentiles[49],
        target=build_upper_target(4),
        note="reference: the median",
    )


async def measure_memory(*, turns: int) -> Measure:
    """What a process holds after many turns, beside what it held after a tenth of them."""
    name = f"memory after {turns:,} turns"
    held: list[float] = []
    async with open_store_with_model(delay_s=0) as app:
        lines = await open_chats(app, CHATS)
        for _ in range(TENTHS):
            await say_in_turn(app, lines, iter([POLITE] * (turns // TENTHS)))
            await work_until_answered(app, turns // TENTHS)
            gc.collect()
            try:
                held.append(read_resident(os.getpid()).now)
            except FileNotFoundError:
                return build_unmeasured(name, "needs Linux's /proc", target=build_upper_target(1.1))
    return Measure(
        name=name,
        value=held[-1],
        unit="MB",
        reference=held[0],
        target=build_upper_target(1.1),
        note="reference: after a tenth of them",
    )


@asynccontextmanager
async def open_store_with_model(*, delay_s: float) -> AsyncIterator[AppContext]:
    """A house whose model takes so long, and where embedding is free; it has worked before."""
    async with open_temporary_store() as app:
        await warm_up(use_model(app, delay_s=0))
        with collect_seldom():
            yield use_model(app, delay_s=delay_s)


def use_model(app: AppContext, *, delay_s: float) -> AppContext:
    """A house with such a model, where embedding is free, and many are answered at once."""
    return replace(
        app,
        settings=replace(app.settings, serve=ServeSettings(turns_at_once=MANY_CHATS)),
        embedder=KnownVectors(app.embedder, {}),
        models={"main": build_role_model(delay_s=delay_s)},
    )


@contextmanager
def collect_seldom() -> Iterator[None]:
    """As it is in a process that stays, and only meanwhile."""
    before = gc.get_threshold()
    tune_gc()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def build_role_model(*, delay_s: float) -> RoleModel:
    """A model that costs nothing but time, in the chain that every model is asked through."""
    rests, answers = CircuitBreaker(), [ScriptedReply(text="I see.", delay_s=delay_s)]

    def chain(record: CallSink) -> FallbackChain:
        model = ScriptedModel(answers)  # one for each call, for it keeps what it was asked
        return FallbackChain(
            models=[model],
            record=record,
            circuit_breaker=rests,
            clock=lambda: 0,
            random=random.random,
        )

    return RoleModel(name=ScriptedModel(answers).name, build_chain=chain)


async def warm_up(app: AppContext) -> None:
    """Have all imported and read that a worker needs once: the second turn recalls the first.

    Then what was said is read, and the books of every language are opened.
    """
    for number, text in enumerate(list_remarks(WARM)):
        line = await open_local_chat(
            app.db, app.clock, app.settings, person="somebody", channel=f"place {number}"
        )
        await say_in_turn(app, [line], iter([text]))
        await work_until_answered(app, 1)
        await learn_now(app, line.person.id, cut_reason="asked")
    await preload_language_data()


async def open_chats(app: AppContext, count: int) -> list[ChatContext]:
    """So many people, each in a chat of their own."""
    return [
        await open_local_chat(app.db, app.clock, app.settings, person=f"p{each}", channel="x")
        for each in range(count)
    ]


def list_remarks(count: int) -> Iterator[str]:
    """Things that people say."""
    return (spoken.text for session in build_sessions(count, seed=1) for spoken in session)


async def say_in_turn(app: AppContext, lines: list[ChatContext], texts: Iterator[str]) -> None:
    """Have one thing after the other said, each in the next chat."""
    for number, text in enumerate(texts):
        await accept_message(
            app, lines[number % len(lines)], MessageSubmission(text=text), claim_now=False
        )


async def work_until_answered(app: AppContext, turns: int) -> None:
    """Let a worker work until so many turns are committed."""
    async with run_background_worker(app) as answered:
        await answered.wait_for(turns)


class AnswerCounter:
    """Counts the turns that a worker has committed."""

    def __init__(self) -> None:
        """None yet."""
        self._count = 0
        self._more = asyncio.Event()

    def reached(self, step: CrashPoint) -> None:
        """Take note of a step."""
        if step == "committed":
            self._count += 1
            self._more.set()

    async def wait_for(self, turns: int) -> None:
        """Return once so many are committed."""
        while self._count < turns:
            self._more.clear()
            await self._more.wait()


@asynccontextmanager
async def run_background_worker(app: AppContext) -> AsyncIterator[AnswerCounter]:
    """A worker that works meanwhile: what it does once, at its start and end, is not a turn's."""
    answered, stopping = AnswerCounter(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(
            run_worker(replace(app, on_crash_point=answered.reached), stopping=stopping)
        )
        try:
            yield answered
        finally:
            stopping.set()
