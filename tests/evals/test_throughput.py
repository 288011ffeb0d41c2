"""Turns are counted where workers of their own do them, beside the rows that they left."""

import pytest

from oldfriend_evals.load import list_remarks, open_chats, open_store_with_model
from oldfriend_evals.throughput import answer_in_each_chat, measure_throughput
from oldfriend_evals.workers import has_unanswered, run_workers


@pytest.mark.slow
async def test_throughput_of_two_workers_is_compared_with_bare_row_writes():
    measure = await measure_throughput(rounds=1, workers=2, chats=10)

    assert measure.value is not None
    assert measure.ratio is not None
    assert measure.ratio > 0
    assert measure.target is not None


@pytest.mark.slow
async def test_throughput_on_a_slow_disk_benefits_from_group_commit():
    """Workers and the rows that they left wait for it alike."""
    measure = await measure_throughput(rounds=1, workers=1, chats=10, sync_s=0.02)

    assert measure.reference is not None
    assert measure.reference < 1 / 0.04  # two syncs and more for each
    assert measure.value is not None
    assert measure.value > measure.reference


@pytest.mark.slow
async def test_worker_processes_answer_every_message():
    """Two of them share the chats, and nobody's words are left."""
    async with open_store_with_model(delay_s=0) as app:
        lines = await open_chats(app, 8)
        async with run_workers(app, 2, delay_s=0):
            await answer_in_each_chat(app, lines, list_remarks(8))

        assert not await has_unanswered(app)
        async with app.db.begin_read() as tx:
            ((replies, owners),) = await tx.rows(
                "SELECT count(*), count(DISTINCT chat) FROM message WHERE role = 'companion'"
            )

    assert (replies, owners) == (8 + 2, 8 + 2)  # two were said to warm it up
