"""A message's vector is made once, kept small, and never missing for long."""

import numpy as np

from oldfriend.memory.log import edit_message
from oldfriend.memory.vectors import count_findable, list_unembedded, save_vectors
from tests.memory.conftest import Friend


def vectors(count: int) -> np.ndarray:
    """Any vectors."""
    return np.random.default_rng(count).standard_normal((count, 384)).astype(np.float32)


async def test_what_can_be_found_and_has_no_vector_is_waiting_in_order(nora: Friend) -> None:
    """Neither the companion's quotes nor empty words nor replaced versions wait."""
    first = await nora.says("one")
    await nora.says("a quote", role="companion", findable=False)
    await nora.says("…")
    edited = await nora.says("twoo")
    async with nora.db.writing() as tx:
        await edit_message(tx, nora.person.id, edited.id, "two", now=nora.clock())
        waiting = await list_unembedded(tx, nora.person.id, "m")
        after = await list_unembedded(tx, nora.person.id, "m", after=first.seq, limit=1)

        assert [(each.speaker, each.text) for each in waiting] == [("Nora", "one"), ("Nora", "two")]
        assert [each.text for each in after] == ["two"]
        assert await count_findable(tx, nora.person.id, "m") == (2, 0)


async def test_a_vector_is_kept_for_its_model_and_the_first_one_stays(nora: Friend) -> None:
    """A switch of models begins anew and loses nothing; two processes may embed the same."""
    message = await nora.says("one")
    async with nora.db.writing() as tx:
        for _ in range(2):
            await save_vectors(tx, nora.person.id, "m", [message.seq], vectors(1))

        assert await list_unembedded(tx, nora.person.id, "m") == []
        assert len(await list_unembedded(tx, nora.person.id, "other")) == 1
        assert await count_findable(tx, nora.person.id, "m") == (1, 1)
        (stored,) = (await tx.rows("SELECT bytes FROM message_vector"))[0]
    assert np.allclose(np.frombuffer(stored, "<f2"), vectors(1)[0], rtol=1e-3, atol=1e-3)


async def test_a_message_that_went_meanwhile_gets_no_vector(nora: Friend) -> None:
    """Embedding takes a while, and the person may forget something in that time."""
    message = await nora.says("one")
    async with nora.db.writing() as tx:
        await tx.run("DELETE FROM message")
        await save_vectors(tx, nora.person.id, "m", [message.seq], vectors(1))

        assert await tx.rows("SELECT * FROM message_vector") == []
