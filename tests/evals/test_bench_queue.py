"""Claims are measured in stores that keep their size."""

from oldfriend.queues.queue import list_jobs
from oldfriend.runtime.wiring import open_database
from oldfriend_evals.bench_queue import SCHEMAS, fill_queue, open_two_schemas, time_claim
from tests.engines import both_engines

engine = both_engines


async def test_claim_measurement_keeps_the_number_of_jobs(db):
    await fill_queue(db, 30)
    taken = [await time_claim(db) for _ in range(40)]

    assert min(taken) > 0
    async with db.begin_read() as tx:
        assert len(await list_jobs(tx, is_dead_letter=False)) == 30


async def test_claim_measurement_leaves_the_postgres_database_unchanged(postgres):
    with postgres.new_database() as url:
        async with open_two_schemas(url) as (small, large):
            await fill_queue(small, 10)
            await fill_queue(large, 20)
        db = await open_database(url)
        async with db.begin_read() as tx:
            schemas = await tx.rows("SELECT nspname FROM pg_namespace")
            assert await list_jobs(tx, is_dead_letter=False) == []
        await db.close()

    assert not {(name,) for name in SCHEMAS} & set(schemas)
