"""The speed measurements run through the real house, at any size."""

from oldfriend.evals.speed import recall_among
from oldfriend.evals.stores import line_with_history, temporary_house
from oldfriend.memory.vectors import count_findable


async def test_recall_is_measured_beside_the_plain_search():
    measure = await recall_among(300)

    assert measure.value is not None
    assert measure.reference is not None
    assert measure.value > 0
    assert measure.reference > 0


async def test_a_history_is_written_as_real_messages_with_vectors():
    async with temporary_house() as house:
        line = await line_with_history(house, 60, seed=1)
        async with house.db.reading() as tx:
            findable, embedded = await count_findable(tx, line.person.id, house.embedder.model)

    assert findable == embedded > 55
