"""Speed of claiming a job among few and among many that wait.

Timed is the claim alone, by the wall clock (a server works in another process), turn about in two
stores that differ in size only. Around it jobs are finished and put, so that the sizes stay.
"""

import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from oldfriend.db.database import Database
from oldfriend.queues.queue import ack, claim_jobs, enqueue, release_lease
from oldfriend.runtime.wiring import open_database
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target

FEW, MANY, QUITE_SOME = 1_000, 1_000_000, 50_000
PER_PARTITION = 10
CLAIMED = 400
WARMING = 20
LONG_AGO = 0
NOW = 10**15
SCHEMAS = ("oldfriend_bench_few", "oldfriend_bench_many")


async def measure_queue_claims(scope: Scope) -> list[Measure]:
    """On SQLite, and on PostgreSQL where there is one to measure with."""
    many = QUITE_SOME if scope.quick else MANY
    async with open_two_files() as (small, large):
        measures = [await compare_stores(f"a claim among {many:,} jobs", small, large, many)]
    name = f"a claim among {many:,} jobs on PostgreSQL"
    if scope.postgres is None:
        why = "needs a database: OLDFRIEND_BENCH_POSTGRES"
        return [*measures, build_unmeasured(name, why, target=build_upper_target(2))]
    async with open_two_schemas(scope.postgres) as (small, large):
        return [*measures, await compare_stores(name, small, large, many)]


async def compare_stores(name: str, small: Database, large: Database, many: int) -> Measure:
    """Fill two stores and claim from both in turn."""
    await fill_queue(small, FEW)
    await fill_queue(large, many)
    reference, value = await compute_claim_medians(small, large)
    return Measure(
        name=name,
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(2),
        note=f"reference: among {FEW:,}",
    )


async def fill_queue(db: Database, jobs: int) -> None:
    """So many jobs that are due, each partition's spread over the whole time."""
    partitions = jobs // PER_PARTITION
    async with db.begin_write() as tx:
        await tx.run(
            """WITH RECURSIVE number (n) AS
                 (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < :partitions)
               INSERT INTO job_partition (queue, partition, next_seq, ready_at)
               SELECT 'inbox', 'partition ' || n, :next_seq, n FROM number""",
            partitions=partitions,
            next_seq=PER_PARTITION + 1,
        )
        await tx.run(
            """WITH RECURSIVE number (n) AS
                 (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < :jobs)
               INSERT INTO job (queue, partition, seq, payload, enqueued_at, due_at)
               SELECT 'inbox', 'partition ' || (n % :partitions), n / :partitions + 1, '{}', n, n
               FROM number""",
            jobs=jobs,
            partitions=partitions,
        )


async def compute_claim_medians(*stores: Database) -> list[float]:
    """The median milliseconds of a claim in each store, turn about."""
    taken: list[list[float]] = [[] for _ in stores]
    gc.collect()
    gc.disable()
    try:
        for _ in range(WARMING + CLAIMED):
            for store, times in zip(stores, taken, strict=True):
                times.append(await time_claim(store))
    finally:
        gc.enable()
    return [median(times[WARMING:]) for times in taken]


async def time_claim(db: Database) -> float:
    """The milliseconds of one claim; one job of it is done and another put in its partition."""
    async with db.begin_write() as tx:
        began = time.perf_counter()
        found = await claim_jobs(tx, "inbox", owner="bench", now=NOW, lease_s=30)
        taken = time.perf_counter() - began
        assert found is not None
        await ack(tx, found, found.jobs[:1], now=NOW)
        await enqueue(tx, "inbox", found.partition, {}, person=None, now=NOW)
        await release_lease(tx, found, now=NOW)
    return taken * 1000


@asynccontextmanager
async def open_two_files() -> AsyncIterator[tuple[Database, Database]]:
    """Two SQLite databases that are gone afterwards."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        small, large = [
            await open_database(f"sqlite:///{Path(folder) / name}") for name in ("few", "many")
        ]
        try:
            yield small, large
        finally:
            await small.close()
            await large.close()


@asynccontextmanager
async def open_two_schemas(url: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two PostgreSQL databases, in schemas beside whatever is in one; gone afterwards."""
    given = await open_database(url)
    await run_for_each_schema(given, "CREATE SCHEMA {schema}")
    joint = "&" if "?" in url else "?"
    small, large = [
        await open_database(f"{url}{joint}options=-csearch_path%3D{schema}") for schema in SCHEMAS
    ]
    try:
        yield small, large
    finally:
        await small.close()
        await large.close()
        await run_for_each_schema(given, "DROP SCHEMA {schema} CASCADE")
        await given.close()


async def run_for_each_schema(db: Database, statement: str) -> None:
    """Make or remove the schemas of the bench."""
    async with db.begin_write() as tx:
        for schema in SCHEMAS:
            await tx.run(statement.format(schema=schema))
