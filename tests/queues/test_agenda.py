"""Jobs wait for their time."""

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend.queues import lanes
from oldfriend.queues.agenda import Job, job_of, put_job


async def test_a_job_is_read_as_it_was_put(db):
    job = Job(name="embed", arguments={"model": "m", "after": 3, "some": [1, "2", None]})
    async with db.writing() as tx:
        letter = await put_job(tx, "house", job, person=None, now=5, due_at=9, key="k")
        again = await put_job(tx, "house", job, person=None, now=5, due_at=9, key="k")

    assert job_of(letter) == job
    assert letter.due_at == 9
    assert again is None


async def test_a_letter_that_is_no_job_is_an_error(db):
    async with db.writing() as tx:
        letter = await lanes.put(tx, "agenda", "a", {"name": "x"}, person=None, now=0)

    with pytest.raises(InvalidInput, match="arguments"):
        job_of(letter)
