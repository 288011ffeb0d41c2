"""Turns a second, by workers as processes of their own, with a model that costs nothing.

Beside the plainest code for the same: the rows that the turns left, inserted in as many commits.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

import apsw

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import parse_database_path
from oldfriend.db.database import Row
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message
from oldfriend.runtime.worker import CLAIM_BATCH_SIZE
from oldfriend_evals.baselines import PRAGMAS
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target
from oldfriend_evals.load import CHATS, WARM, list_remarks, open_chats, open_store_with_model
from oldfriend_evals.slow_disk import use_slow_disk
from oldfriend_evals.temporary_stores import open_temporary_store
from oldfriend_evals.workers import run_workers, wait_until_answered

WARM_ROUNDS: Final = 4
"""After so many the workers have read who everybody is."""
LEFT = (
    "message WHERE role = 'person'",
    "model_call WHERE purpose = 'reply'",
    "message WHERE role = 'companion'",
    "receipt",
)
"""The rows that each turn leaves one of."""
PARENTS = ("person", "companion", "identity", "chat", "session")
"""What the rows of a turn point to; there before it."""
VECTORS = """SELECT m.id, v.* FROM message_vector v
    JOIN message m ON m.person = v.person AND m.seq = v.seq"""
JOB, PAYLOAD = "job (queue, partition, seq, payload, enqueued_at, due_at)", "{}" * 60
PARTITION = "job_partition (queue, partition, next_seq, owner, lease_until)"
USUAL_SYNC_S: Final = 0.002
"""What a disk of a laptop takes to say that it has everything; a virtual one may only claim it."""
IN_MIND = """SELECT m.id, w.* FROM working_memory w JOIN message m ON m.session = w.session"""
WRITTEN_ANEW = frozenset({"working_memory"})
"""Of these there is one for each session, which each turn writes in place of the one before."""


async def measure_turns(scope: Scope) -> list[Measure]:
    """With one worker, and with as many as the machine has cores; then on a slower disk."""
    rounds, cores = (4 if scope.quick else 40), os.cpu_count() or 1
    hands = sorted({1, max(cores, 2)})
    return [
        *[await measure_throughput(rounds=rounds, workers=each) for each in hands],
        await measure_throughput(rounds=rounds // 4, workers=1, sync_s=USUAL_SYNC_S),
    ]


async def measure_throughput(
    *, rounds: int, workers: int, chats: int = CHATS, sync_s: float = 0.0
) -> Measure:
    """All say something at once and are answered, beside inserting the rows that this left."""
    with use_slow_disk(sync_s=sync_s):
        return await measure_on_this_disk(
            rounds=rounds, workers=workers, chats=chats, sync_s=sync_s
        )


async def measure_on_this_disk(*, rounds: int, workers: int, chats: int, sync_s: float) -> Measure:
    """The same, once the disk is chosen."""
    taken_s = bare_s = 0.0
    turns, warm = rounds * chats, WARM_ROUNDS * chats
    texts = list_remarks(warm + turns)
    async with open_store_with_model(delay_s=0) as app, open_temporary_store() as empty:
        lines = await open_chats(app, chats)
        await empty.db.close()
        with connect_directly(app) as left, connect_directly(empty) as bare:
            async with run_workers(app, workers, delay_s=0, sync_s=sync_s):
                for _ in range(WARM_ROUNDS):
                    await answer_in_each_chat(app, lines, texts)
                for before in range(WARM + warm, WARM + warm + turns, chats):
                    began = time.perf_counter()
                    await answer_in_each_chat(app, lines, texts)
                    taken_s += time.perf_counter() - began
                    bare_s += time_inserts(left, bare, after=before, turns=chats)
    hands = "1 worker" if workers == 1 else f"{workers} workers"
    where = f", a disk that syncs in {1000 * sync_s:g} ms more" if sync_s else ""
    return Measure(
        name=f"turns a second, {hands}{where}",
        value=turns / taken_s,
        unit="/s",
        reference=turns / bare_s,
        target=build_lower_target(1 / 3) if workers > 1 else None,
        note=f"{chats} chats, a model of 0 ms, beside embedding; "
        "reference: the same rows in as many commits",
    )


async def answer_in_each_chat(
    app: AppContext, lines: list[ChatContext], texts: Iterator[str]
) -> None:
    """Have one thing said in each chat, by nobody after another; return when all have replies."""
    async with asyncio.TaskGroup() as everybody:
        for line, text in zip(lines, texts, strict=False):
            everybody.create_task(
                accept_message(app, line, MessageSubmission(text=text), claim_now=False)
            )
    await wait_until_answered(app)


@contextmanager
def connect_directly(app: AppContext) -> Iterator[apsw.Connection]:
    """The plainest connection to a house's database."""
    with closing(apsw.Connection(str(parse_database_path(app.settings.database)))) as connection:
        connection.execute(PRAGMAS).fetchall()
        yield connection


def time_inserts(left: apsw.Connection, bare: apsw.Connection, *, after: int, turns: int) -> float:
    """How long it takes to write what so many turns left, once more, in as many commits."""
    said, called, replied, receipts = (
        left.execute(
            f"SELECT * FROM {of_each} ORDER BY rowid LIMIT ? OFFSET ?", (turns, after)
        ).fetchall()
        for of_each in LEFT
    )
    traces = {
        receipt[0]: left.execute(
            "SELECT * FROM receipt_trace WHERE receipt = ?", receipt[:1]
        ).fetchall()
        for receipt in receipts
    }
    vectors = {row[0]: row[1:] for row in left.execute(VECTORS)}
    in_mind = {row[0]: row[1:] for row in left.execute(IN_MIND)}
    copy_parents(left, bare)
    began = time.perf_counter()
    for number in range(turns):
        insert_rows(
            bare, ("message", said[number]), (JOB, ("inbox", "x", after + number, PAYLOAD, 0, 0))
        )
    for first in range(0, turns, CLAIM_BATCH_SIZE):
        claimed = range(after + first, after + min(first + CLAIM_BATCH_SIZE, turns))
        insert_rows(
            bare, *((PARTITION, ("inbox", str(number), 1, "worker", 1)) for number in claimed)
        )
    for number in range(turns):
        insert_rows(bare, ("model_call", called[number]))
        receipt, asked = receipts[number], said[number][0]
        of_receipt = [("receipt_trace", trace) for trace in traces[receipt[0]]]
        embedded = [("message_vector", vectors[asked])] if asked in vectors else []
        kept = [("working_memory", in_mind[asked])] if asked in in_mind else []
        insert_rows(
            bare, ("message", replied[number]), ("receipt", receipt), *of_receipt, *embedded, *kept
        )
    return time.perf_counter() - began


def copy_parents(left: apsw.Connection, bare: apsw.Connection) -> None:
    """Have all there that the rows of a turn point to."""
    for table in PARENTS:
        for row in left.execute(f"SELECT * FROM {table}").fetchall():
            bare.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def insert_rows(bare: apsw.Connection, *rows: tuple[str, Row]) -> None:
    """Insert rows into their tables, and commit."""
    bare.execute("BEGIN IMMEDIATE")
    for table, row in rows:
        verb = "REPLACE" if table in WRITTEN_ANEW else "INSERT"
        bare.execute(f"{verb} INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    bare.execute("COMMIT")
