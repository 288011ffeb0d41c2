"""A message's vector is made once, kept small, and never missing for long."""

import numpy as np

from oldfriend.memory.message_log import edit_message
from oldfriend.memory.vectors import (
    EmbeddingModelChoice,
    EmbeddingProgress,
    count_searchable_messages,
    delete_embedding_progress,
    delete_legacy_vectors,
    find_newest_model_choice,
    get_embedding_status,
    list_unembedded_messages,
    list_vector_models,
    load_message_vectors,
    record_model_choice,
    save_embedding_progress,
    save_message_vectors,
)
from oldfriend.search import decode_vectors
from tests.two_people import Friend


def vectors(count: int) -> np.ndarray:
    """Any vectors."""
    return np.random.default_rng(count).standard_normal((count, 384)).astype(np.float32)


async def test_searchable_messages_without_a_vector_are_listed_in_order(nora: Friend) -> None:
    """Neither the companion's quotes nor empty words nor replaced versions wait."""
    first = await nora.says("one")
    await nora.says("a quote", role="companion", findable=False)
    await nora.says("…")
    edited = await nora.says("twoo")
    async with nora.db.begin_write() as tx:
        await edit_message(tx, nora.person.id, edited.id, "two", now=nora.clock())
        waiting = await list_unembedded_messages(tx, nora.person.id, "m")
        after = await list_unembedded_messages(tx, nora.person.id, "m", after=first.seq, limit=1)

        assert [(each.speaker, each.text) for each in waiting] == [("Nora", "one"), ("Nora", "two")]
        assert [each.text for each in after] == ["two"]
        assert await count_searchable_messages(tx, nora.person.id, "m") == (2, 0)


async def test_message_vector_is_stored_once_per_model(nora: Friend) -> None:
    """A switch of models begins anew and loses nothing; two processes may embed the same."""
    message = await nora.says("one")
    async with nora.db.begin_write() as tx:
        for _ in range(2):
            await save_message_vectors(tx, nora.person.id, "m", [message.seq], vectors(1))

        assert await list_unembedded_messages(tx, nora.person.id, "m") == []
        assert len(await list_unembedded_messages(tx, nora.person.id, "other")) == 1
        assert await count_searchable_messages(tx, nora.person.id, "m") == (1, 1)
        (stored,) = (await tx.rows("SELECT bytes FROM message_vector"))[0]
    assert np.allclose(decode_vectors([stored])[0], vectors(1)[0], atol=2e-2)


async def test_embedding_progress_is_per_model_and_reset_by_deletions(nora: Friend) -> None:
    """What is found again after a removal lies before the progress, and is looked for there."""
    person, last = nora.person.id, await nora.says("one")
    async with nora.db.begin_write() as tx:
        before = await get_embedding_status(tx, person, "m")
        done = EmbeddingProgress(seq=last.seq, last_change=3, rewritten=before.done.rewritten)
        await save_embedding_progress(tx, person, "m", done)

        assert (before.done.seq, before.last_seq) == (0, last.seq)
        assert (await get_embedding_status(tx, person, "m")).done == done
        assert (await get_embedding_status(tx, person, "other")).done.seq == 0

        await tx.run("UPDATE person SET rewritten = rewritten + 1")
        assert (await get_embedding_status(tx, person, "m")).done.seq == 0
        await save_embedding_progress(tx, person, "m", done)  # by whoever looked before the removal
        assert (await get_embedding_status(tx, person, "m")).done.seq == 0

        await tx.run("UPDATE person SET rewritten = :now", now=done.rewritten)
        await delete_embedding_progress(tx, person, "m")
        assert (await get_embedding_status(tx, person, "m")).done.seq == 0


async def test_deleted_message_gets_no_vector(nora: Friend) -> None:
    """Embedding takes a while, and the person may forget something in that time."""
    message = await nora.says("one")
    async with nora.db.begin_write() as tx:
        await tx.run("DELETE FROM message")
        await save_message_vectors(tx, nora.person.id, "m", [message.seq], vectors(1))

        assert await tx.rows("SELECT * FROM message_vector") == []


async def test_legacy_vectors_are_deleted_once_replaced(nora: Friend) -> None:
    """Those of messages that have no new one yet stay, whoever says that all is done."""
    messages = [await nora.says(text) for text in ("one", "two", "three", "four")]
    seqs = [message.seq for message in messages]
    async with nora.db.begin_write() as tx:
        await edit_message(tx, nora.person.id, messages[3].id, "fore", now=nora.clock())
        await save_message_vectors(tx, nora.person.id, "old", seqs, vectors(4))
        await save_message_vectors(tx, nora.person.id, "new", [seqs[0], seqs[2]], vectors(2))
        after, steps = 0, 0
        while after is not None:
            after = await delete_legacy_vectors(
                tx, nora.person.id, "new", "old", after=after, limit=3
            )
            steps += 1

        left = await tx.rows("SELECT model, seq FROM message_vector ORDER BY model, seq")
    assert left == [("new", seqs[0]), ("new", seqs[2]), ("old", seqs[1])]
    assert steps == 3


async def test_vector_models_are_listed_per_person(nora: Friend, omar: Friend) -> None:
    """Of oneself."""
    for friend, models in ((nora, ["b", "a"]), (omar, ["c"])):
        message = await friend.says("one")
        async with friend.db.begin_write() as tx:
            for model in models:
                await save_message_vectors(tx, friend.person.id, model, [message.seq], vectors(1))

    async with nora.db.begin_read() as tx:
        assert await list_vector_models(tx, nora.person.id) == ["a", "b"]
        assert await list_vector_models(tx, omar.person.id) == ["c"]


async def test_newest_embedding_model_choice_is_returned(nora: Friend) -> None:
    """Also when it is one of before."""
    async with nora.db.begin_write() as tx:
        assert await find_newest_model_choice(tx) is None
        for model, at in (("a", 1), ("b", 2), ("a", 3)):
            await record_model_choice(tx, EmbeddingModelChoice(model=model, chosen_at=at))

        assert await find_newest_model_choice(tx) == EmbeddingModelChoice(model="a", chosen_at=3)


async def test_loaded_message_vectors_are_of_the_most_frequent_model(nora: Friend) -> None:
    """Of that which has most of them."""
    seqs = [(await nora.says(text)).seq for text in ("one", "two", "three")]
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "old", seqs[:2], vectors(2)[:, :64])
        await save_message_vectors(tx, nora.person.id, "new", seqs[2:], vectors(1))

        found = await load_message_vectors(tx, nora.person.id, "new", seqs)
    assert found.shape == (3, 64)
    assert found.any(axis=1).tolist() == [True, True, False]
