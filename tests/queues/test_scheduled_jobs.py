"""Jobs wait for their time."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.queues import queue as job_queue
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job


async def test_scheduled_job_round_trips_and_is_deduplicated(db):
    job = JobSpec(name="embed", arguments={"model": "m", "after": 3, "some": [1, "2", None]})
    async with db.begin_write() as tx:
        scheduled = await schedule_job(
            tx, "house", job, person=None, now=5, due_at=9, dedup_key="k"
        )
        again = await schedule_job(tx, "house", job, person=None, now=5, due_at=9, dedup_key="k")

    assert parse_job_spec(scheduled) == job
    assert scheduled.due_at == 9
    assert again is None


async def test_malformed_scheduled_job_payload_is_an_error(db):
    async with db.begin_write() as tx:
        malformed = await job_queue.enqueue(tx, "agenda", "a", {"name": "x"}, person=None, now=0)

    with pytest.raises(InvalidInput, match="arguments"):
        parse_job_spec(malformed)
