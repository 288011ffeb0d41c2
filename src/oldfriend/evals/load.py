"""How much can it carry? Whole turns through the lanes, with a model that costs nothing.

Beside the plainest code for the same: the rows that the turns left, inserted in as many commits.
"""

import asyncio
import gc
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from statistics import quantiles

import apsw

from oldfriend.app.accepting import Line, Said, accept, open_line
from oldfriend.app.catching_up import catch_up
from oldfriend.app.choices.database_url import file_of
from oldfriend.app.choices.sections import Serve
from oldfriend.app.house import House, RoleModel, Step
from oldfriend.app.running.collecting import collect_seldom
from oldfriend.app.working import CLAIMED_AT_ONCE, work
from oldfriend.background.rules.books import rule_book
from oldfriend.db.database import Row
from oldfriend.evals.corpus import sessions
from oldfriend.evals.measuring import Measure, Scope, at_least, at_most, not_measured
from oldfriend.evals.processes import resident_of
from oldfriend.evals.references import PRAGMAS
from oldfriend.evals.stores import KnownVectors, temporary_house
from oldfriend.llm.chain import Chain
from oldfriend.llm.model import Record
from oldfriend.llm.resting import Rests
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.prompts.phrasebook import SPOKEN

CHATS = 50
MANY_CHATS, SLOW_S, ROUNDS = 200, 2.0, 5
LEFT = (
    "message WHERE role = 'person'", "model_call", "message WHERE role = 'companion'", "receipt",
)  # fmt: skip
"""The rows that each turn leaves one of."""
PARENTS = ("person", "companion", "identity", "chat", "session")
"""What the rows of a turn point to; there before it."""
VECTORS = """SELECT m.id, v.* FROM message_vector v
    JOIN message m ON m.person = v.person AND m.seq = v.seq"""
LETTER, BODY = "letter (queue, lane, seq, body, put_at, due_at)", "{}" * 60
LANE = "lane (queue, key, next_seq, owner, lease_until)"
IN_MIND = """SELECT m.id, w.* FROM working_memory w JOIN message m ON m.session = w.session"""
WRITTEN_ANEW = frozenset({"working_memory"})
"""Of these there is one for each session, which each turn writes in place of the one before."""
WARM, TENTHS = 2, 10
POLITE = "thanks"
"""Words that are answered and never looked for, so that nothing has to be kept at hand."""


async def measure_load(scope: Scope) -> list[Measure]:
    """Turns a second, many chats at once, how evenly words are taken in, and memory."""
    return [
        await measure_throughput(rounds=4 if scope.quick else 40),
        await measure_many_chats(rounds=1 if scope.quick else ROUNDS),
        await measure_accepting(count=500 if scope.quick else 5_000),
        await measure_memory(turns=1_000 if scope.quick else 100_000),
    ]


async def measure_throughput(*, rounds: int, chats: int = CHATS) -> Measure:
    """All say something at once and are answered, beside inserting the rows that this left."""
    taken_s = bare_s = 0.0
    turns = rounds * chats
    texts = remarks(turns)
    async with house_with_model(delay_s=0) as house, temporary_house() as empty:
        lines = await lines_in(house, chats)
        await empty.db.close()
        with opened(house) as left, opened(empty) as bare:
            async with a_worker(house) as answered:
                for before in range(0, turns, chats):
                    began = time.perf_counter()
                    await say_at_once(house, lines, texts)
                    await answered.wait_for(before + chats)
                    taken_s += time.perf_counter() - began
                    bare_s += seconds_to_insert(left, bare, after=WARM + before, turns=chats)
    return Measure(
        name="turns a second", value=turns / taken_s, unit="/s", reference=turns / bare_s,
        target=at_least(1 / 3),
        note=f"{chats} chats, a model of 0 ms, beside embedding; "
        "reference: the same rows in as many commits",
    )  # fmt: skip


async def measure_many_chats(*, rounds: int) -> Measure:
    """Chats that do not wait for each other, by the clock on the wall."""
    turns = MANY_CHATS * rounds
    async with house_with_model(delay_s=SLOW_S) as house:
        await say_in_turn(house, await lines_in(house, MANY_CHATS), remarks(turns))
        began = time.perf_counter()
        await work_until_answered(house, turns)
        taken_s = time.perf_counter() - began
    return Measure(
        name=f"{MANY_CHATS} chats with a model of {SLOW_S:g} s", value=turns / taken_s, unit="/s",
        reference=turns / (rounds * SLOW_S), target=at_least(0.9),
        note="reference: as if nothing but the model took time",
    )  # fmt: skip


async def measure_accepting(*, count: int) -> Measure:
    """How long the slow ones wait until they know that their words are kept, by the wall."""
    taken: list[float] = []
    async with house_with_model(delay_s=0) as house:
        lines = await lines_in(house, CHATS)
        for number, text in enumerate(remarks(count)):
            began = time.perf_counter()
            await accept(house, lines[number % CHATS], Said(text=text), to_answer=False)
            taken.append((time.perf_counter() - began) * 1000)
    percentiles = quantiles(taken, n=100)
    return Measure(
        name="accepting a message, 95th percentile", value=percentiles[94], unit="ms",
        reference=percentiles[49], target=at_most(4), note="reference: the median",
    )  # fmt: skip


async def measure_memory(*, turns: int) -> Measure:
    """What a process holds after many turns, beside what it held after a tenth of them."""
    name = f"memory after {turns:,} turns"
    held: list[float] = []
    async with house_with_model(delay_s=0) as house:
        lines = await lines_in(house, CHATS)
        for _ in range(TENTHS):
            await say_in_turn(house, lines, iter([POLITE] * (turns // TENTHS)))
            await work_until_answered(house, turns // TENTHS)
            gc.collect()
            try:
                held.append(resident_of(os.getpid()).now)
            except FileNotFoundError:
                return not_measured(name, "needs Linux's /proc", target=at_most(1.1))
    return Measure(
        name=name, value=held[-1], unit="MB", reference=held[0], target=at_most(1.1),
        note="reference: after a tenth of them",
    )  # fmt: skip


@asynccontextmanager
async def house_with_model(*, delay_s: float) -> AsyncIterator[House]:
    """A house whose model takes so long, and where embedding is free; it has worked before."""
    async with temporary_house() as empty:
        house = replace(
            empty,
            settings=replace(empty.settings, serve=Serve(turns_at_once=MANY_CHATS)),
            embedder=KnownVectors(empty.embedder, {}),
        )
        await warm_up(replace(house, models={"main": role_model(delay_s=0)}))
        with collecting_seldom():
            yield replace(house, models={"main": role_model(delay_s=delay_s)})


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """As it is in a process that stays, and only meanwhile."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def role_model(*, delay_s: float) -> RoleModel:
    """A model that costs nothing but time, in the chain that every model is asked through."""
    rests, answers = Rests(), [Scripted(text="I see.", delay_s=delay_s)]

    def chain(record: Record) -> Chain:
        model = ScriptedModel(answers)  # one for each call, for it keeps what it was asked
        return Chain(
            models=[model], record=record, rests=rests, clock=lambda: 0, random=random.random
        )

    return RoleModel(name=ScriptedModel(answers).name, chain=chain)


async def warm_up(house: House) -> None:
    """Have all imported and read that a worker needs once: the second turn recalls the first.

    Then what was said is read, by the rules of every language.
    """
    for number, text in enumerate(remarks(WARM)):
        line = await open_line(house, person="somebody", channel=f"place {number}")
        await say_in_turn(house, [line], iter([text]))
        await work_until_answered(house, 1)
        await catch_up(house, line.person.id, because="asked")
    for language in SPOKEN:
        rule_book(language)


async def lines_in(house: House, count: int) -> list[Line]:
    """So many people, each in a chat of their own."""
    return [await open_line(house, person=f"p{each}", channel="x") for each in range(count)]


def remarks(count: int) -> Iterator[str]:
    """Things that people say."""
    return (spoken.text for session in sessions(count, seed=1) for spoken in session)


async def say_in_turn(house: House, lines: list[Line], texts: Iterator[str]) -> None:
    """Have one thing after the other said, each in the next chat."""
    for number, text in enumerate(texts):
        await accept(house, lines[number % len(lines)], Said(text=text), to_answer=False)


async def say_at_once(house: House, lines: list[Line], texts: Iterator[str]) -> None:
    """Have one thing said in each chat, by nobody after another."""
    async with asyncio.TaskGroup() as everybody:
        for line, text in zip(lines, texts, strict=False):
            everybody.create_task(accept(house, line, Said(text=text), to_answer=False))


async def work_until_answered(house: House, turns: int) -> None:
    """Let a worker work until so many turns are committed."""
    async with a_worker(house) as answered:
        await answered.wait_for(turns)


class Answered:
    """Counts the turns that a worker has committed."""

    def __init__(self) -> None:
        """None yet."""
        self._count = 0
        self._more = asyncio.Event()

    def reached(self, step: Step) -> None:
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
async def a_worker(house: House) -> AsyncIterator[Answered]:
    """A worker that works meanwhile: what it does once, at its start and end, is not a turn's."""
    answered, stopping = Answered(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(work(replace(house, reached=answered.reached), stopping=stopping))
        try:
            yield answered
        finally:
            stopping.set()


@contextmanager
def opened(house: House) -> Iterator[apsw.Connection]:
    """The plainest connection to a house's database."""
    with closing(apsw.Connection(str(file_of(house.settings.database)))) as connection:
        connection.execute(PRAGMAS).fetchall()
        yield connection


def seconds_to_insert(
    left: apsw.Connection, bare: apsw.Connection, *, after: int, turns: int
) -> float:
    """How long it takes to write what so many turns left, once more, in as many commits."""
    said, called, replied, receipts = (
        left.execute(f"SELECT * FROM {of_each} ORDER BY rowid LIMIT ? OFFSET ?", (turns, after))
        .fetchall()
        for of_each in LEFT
    )  # fmt: skip
    items = {
        receipt[0]: left.execute("SELECT * FROM receipt_item WHERE receipt = ?", receipt[:1])
        .fetchall()
        for receipt in receipts
    }  # fmt: skip
    vectors = {row[0]: row[1:] for row in left.execute(VECTORS)}
    in_mind = {row[0]: row[1:] for row in left.execute(IN_MIND)}
    copy_parents(left, bare)
    began = time.perf_counter()
    for number in range(turns):
        commit(
            bare, ("message", said[number]), (LETTER, ("inbox", "x", after + number, BODY, 0, 0))
        )
    for first in range(0, turns, CLAIMED_AT_ONCE):
        claimed = range(after + first, after + min(first + CLAIMED_AT_ONCE, turns))
        commit(bare, *((LANE, ("inbox", str(number), 1, "worker", 1)) for number in claimed))
    for number in range(turns):
        commit(bare, ("model_call", called[number]))
        receipt, asked = receipts[number], said[number][0]
        of_receipt = [("receipt_item", item) for item in items[receipt[0]]]
        embedded = [("message_vector", vectors[asked])] if asked in vectors else []
        kept = [("working_memory", in_mind[asked])] if asked in in_mind else []
        commit(
            bare, ("message", replied[number]), ("receipt", receipt), *of_receipt, *embedded, *kept
        )
    return time.perf_counter() - began


def copy_parents(left: apsw.Connection, bare: apsw.Connection) -> None:
    """Have all there that the rows of a turn point to."""
    for table in PARENTS:
        for row in left.execute(f"SELECT * FROM {table}").fetchall():
            bare.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def commit(bare: apsw.Connection, *rows: tuple[str, Row]) -> None:
    """Insert rows into their tables, and commit."""
    bare.execute("BEGIN IMMEDIATE")
    for table, row in rows:
        verb = "REPLACE" if table in WRITTEN_ANEW else "INSERT"
        bare.execute(f"{verb} INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    bare.execute("COMMIT")
