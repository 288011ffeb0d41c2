"""The speed measurements run through the real house, at any size."""

from oldfriend.memory.vectors import count_searchable_messages
from oldfriend_evals.speed import measure_recall_among
from oldfriend_evals.temporary_stores import build_history, open_temporary_store


async def test_recall_is_measured_beside_the_plain_search():
    measure = await measure_recall_among(300)

    assert measure.value is not None
    assert measure.reference is not None
    assert measure.value > 0
    assert measure.reference > 0


async def test_generated_history_is_stored_as_embedded_messages():
    async with open_temporary_store() as app:
        line = await build_history(app, 60, seed=1)
        async with app.db.begin_read() as tx:
            findable, embedded = await count_searchable_messages(
                tx, line.person.id, app.embedder.model
            )

    assert findable == embedded > 55
