"""The index in memory says what the database says, whoever wrote it, within its bytes."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import MemoryState
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.message_log import edit_message, list_messages
from oldfriend.memory.segments import list_segments
from oldfriend.memory.vectors import load_belief_vectors, save_belief_vectors, save_message_vectors
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_database
from oldfriend.search import BeliefIndex, PersonIndex, QueryEmbedding, SearchQuery
from tests.clock import FrozenClock
from tests.engines import SEVERAL_PROCESSES
from tests.processes import python
from tests.two_people import Friend, Meet

WRITER = """
import asyncio, sys
from oldfriend.runtime.wiring import open_database
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.domain.messages import Chat
from oldfriend.memory.message_log import WriteTarget, write_message

async def write(url, person, companion, chat, session):
    chat = Chat(id=chat, person=person, companion=companion, channel="c", address="", title="")
    db = await open_database(url)
    spoken = UnloggedMessage(role="person", speaker="", text="from elsewhere", at=0, trust="person")
    async with db.begin_write() as tx:
        await write_message(tx, WriteTarget(chat=chat, session=session), spoken, now=0)
    await db.close()

asyncio.run(write(*sys.argv[1:]))
"""


def one_hot(place: int) -> np.ndarray:
    """A vector that only looks like itself."""
    vector = np.zeros((1, 384), dtype=np.float32)
    vector[0, :8] = 0.01
    vector[0, place] = 1
    return vector


async def index_of(friend: Friend, shelf: IndexCache) -> PersonIndex:
    """The person's index as of now."""
    async with friend.db.begin_read() as tx:
        return await shelf.get_message_index(tx, friend.person.id)


async def seqs(friend: Friend, shelf: IndexCache) -> list[int]:
    """Which messages the index holds."""
    return sorted((await index_of(friend, shelf)).columns.seq.tolist())


def speaking_as(friend: Friend, name: str) -> Friend:
    """The person under another name, as an import or a channel brings it."""
    return replace(friend, person=replace(friend.person, name=name))


async def own_speakers(friend: Friend, shelf: IndexCache) -> tuple[str, ...]:
    """As whom the person speaks."""
    async with friend.db.begin_read() as tx:
        return await shelf.list_own_speakers(tx, friend.person.id)


def every_vector(index: PersonIndex) -> np.ndarray:
    """The vectors of all messages."""
    return index.vectors.get_rows(np.arange(len(index)))


@pytest.fixture(params=["whole", "narrow"])
def shelf(request: pytest.FixtureRequest) -> IndexCache:
    """An empty shelf for the vectors of one model; also one that is too small for anybody."""
    return IndexCache("m") if request.param == "whole" else IndexCache("m", limit_bytes=1)


async def test_new_message_is_in_the_index_cache_at_once(nora: Friend, shelf: IndexCache) -> None:
    """What search never finds is not: the companion's quotes, words without a letter."""
    assert await seqs(nora, shelf) == []
    first = await nora.says("one")
    assert await seqs(nora, shelf) == [first.seq]
    await nora.says("a quote", role="companion", findable=False)
    await nora.says("…")
    second = await nora.says("two")

    assert await seqs(nora, shelf) == [first.seq, second.seq]


@SEVERAL_PROCESSES
async def test_message_written_by_another_process_is_in_the_index_cache(
    nora: Friend, shelf: IndexCache, database_url: str
) -> None:
    """A cache is never older than the transaction that asks for it."""
    first = await nora.says("one")
    assert await seqs(nora, shelf) == [first.seq]

    ids = (nora.person.id, nora.companion.id, nora.chat.id, first.session)
    with python(WRITER, database_url, *ids) as other:
        assert other.wait(60) == 0

    assert await seqs(nora, shelf) == [first.seq, first.seq + 1]


async def test_edited_message_replaces_its_old_version_in_the_index_cache(
    nora: Friend, shelf: IndexCache
) -> None:
    """On a shelf that knew the old ones, and on one that did not."""
    message, other = await nora.says("Porto"), await nora.says("rain")
    await seqs(nora, shelf)
    async with nora.db.begin_write() as tx:
        edited = await edit_message(tx, nora.person.id, message.id, "Lisbon", now=0)
        again = await edit_message(tx, nora.person.id, message.id, "Lisboa", now=0)

    assert edited.seq < again.seq
    assert await seqs(nora, shelf) == await seqs(nora, IndexCache("m")) == [other.seq, again.seq]


async def test_late_vectors_are_added_to_their_messages_in_the_index_cache(
    nora: Friend, shelf: IndexCache
) -> None:
    """In any order, one by one, as if they had been there from the start."""
    messages = [await nora.says(text) for text in ("one", "two", "three")]
    assert not every_vector(await index_of(nora, shelf)).any()
    for place in (2, 0, 1):
        async with nora.db.begin_write() as tx:
            await save_message_vectors(
                tx, nora.person.id, "m", [messages[place].seq], one_hot(20 + place)
            )
        index = await index_of(nora, shelf)
        there = np.flatnonzero(index.columns.seq == messages[place].seq)

        assert index.vectors.get_rows(there).argmax() == 20 + place
    assert every_vector(await index_of(nora, shelf)).any(axis=1).all()


async def test_vectors_of_another_model_are_not_loaded(nora: Friend, shelf: IndexCache) -> None:
    """A cosine between two models means nothing."""
    message = await nora.says("one")
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "another", [message.seq], one_hot(20))

    assert not every_vector(await index_of(nora, shelf)).any()
    assert not every_vector(await index_of(nora, IndexCache(None))).any()
    assert not (await index_of(nora, IndexCache(None))).legacy_vectors


def standing(index: PersonIndex, model: str) -> dict[int, int]:
    """Which messages are found by a model of before, and by which vector."""
    former = index.legacy_vectors.get(model)
    if former is None:
        return {}
    seqs = index.columns.seq[former.positions].tolist()
    vectors = former.vectors.get_rows(np.arange(len(seqs)))
    counting = zip(seqs, vectors.argmax(axis=1).tolist(), former.mask, strict=True)
    return {seq: top for seq, top, counts in counting if counts}


async def test_legacy_vectors_are_used_until_each_message_is_embedded_again(
    nora: Friend, shelf: IndexCache
) -> None:
    """Message by message, on a shelf that saw it all and on one that comes late."""
    seqs = [(await nora.says(text)).seq for text in ("one", "two", "three", "four")]
    async with nora.db.begin_write() as tx:
        for place, seq in enumerate(seqs[:3]):
            await save_message_vectors(
                tx, nora.person.id, "old", [seq], one_hot(20 + place)[:, :64]
            )
    places = dict(zip(seqs, (20, 21, 22), strict=False))
    assert standing(await index_of(nora, shelf), "old") == places

    for number, seq in enumerate(reversed(seqs)):
        async with nora.db.begin_write() as tx:
            await save_message_vectors(tx, nora.person.id, "m", [seq], one_hot(30 + number))
        places.pop(seq, None)
        for each in (shelf, IndexCache("m")):
            index = await index_of(nora, each)
            assert standing(index, "old") == places
            assert np.count_nonzero(every_vector(index).any(axis=1)) == number + 1
    assert not (await index_of(nora, shelf)).legacy_vectors


async def test_vectors_added_by_an_older_model_during_a_switch_are_loaded(
    nora: Friend, shelf: IndexCache
) -> None:
    """New words with their vector, and late vectors; an edit and a removal go through as well."""
    first = await nora.says("one")
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "old", [first.seq], one_hot(20))
    assert standing(await index_of(nora, shelf), "old") == {first.seq: 20}
    async with nora.db.begin_write() as tx:
        second = await nora.says_in(tx, "two")
        await save_message_vectors(tx, nora.person.id, "old", [second.seq], one_hot(21))
    assert standing(await index_of(nora, shelf), "old") == {first.seq: 20, second.seq: 21}

    third = await nora.says("three")
    assert standing(await index_of(nora, shelf), "old") == {first.seq: 20, second.seq: 21}
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "old", [third.seq], one_hot(22))
        await edit_message(tx, nora.person.id, first.id, "uno", now=0)
    assert standing(await index_of(nora, shelf), "old") == {second.seq: 21, third.seq: 22}


async def test_legacy_vectors_count_towards_the_cache_size(nora: Friend) -> None:
    """A shelf stays bounded during a switch."""
    seqs = [(await nora.says(f"message {number}")).seq for number in range(50)]
    empty, shelf = IndexCache("m"), IndexCache("m")
    await index_of(nora, empty)
    async with nora.db.begin_write() as tx:
        await save_message_vectors(
            tx, nora.person.id, "old", seqs, np.full((50, 1000), 0.03, dtype=np.float32)
        )
    await index_of(nora, shelf)

    assert shelf.nbytes >= empty.nbytes + 50 * 1000 * 4


async def test_deleted_messages_are_removed_from_the_index_cache(
    nora: Friend, shelf: IndexCache
) -> None:
    """Whoever removes rows raises the person's counter."""
    first, second = await nora.says("one"), await nora.says("two")
    await seqs(nora, shelf)
    async with nora.db.begin_write() as tx:
        await tx.run("DELETE FROM message WHERE id = :id", id=first.id)
        await tx.run("UPDATE person SET rewritten = rewritten + 1")

    assert await seqs(nora, shelf) == [second.seq]


@SEVERAL_PROCESSES
async def test_older_snapshot_reads_its_own_state_of_the_index(
    nora: Friend, shelf: IndexCache, database_url: str
) -> None:
    """And leaves the shelf in order for whoever comes after."""
    first = await nora.says("one")
    other = await open_database(database_url)
    async with other.begin_read() as older:
        await older.rows("SELECT 1 FROM person")
        second = await nora.says("two")
        assert await seqs(nora, shelf) == [first.seq, second.seq]
        of_older = await shelf.get_message_index(older, nora.person.id)

        assert of_older.columns.seq.tolist() == [first.seq]
    await other.close()

    assert await seqs(nora, shelf) == [first.seq, second.seq]


async def test_concurrent_readers_of_one_person_find_each_message_once(
    nora: Friend, shelf: IndexCache
) -> None:
    """Two chats of one person may ask at the same moment, in one process."""
    written = [(await nora.says("the first")).seq]
    assert await seqs(nora, shelf) == written
    for burst in range(10):
        written += [(await nora.says(f"{burst} {number}")).seq for number in range(3)]
        async with nora.db.begin_write() as tx:
            await save_message_vectors(tx, nora.person.id, "m", [written[-1]], one_hot(20 + burst))

        async with asyncio.TaskGroup() as tasks:
            readers = [tasks.create_task(seqs(nora, shelf)) for _ in range(8)]

        assert all(reader.result() == written for reader in readers)
    assert not shelf._locks


async def test_cancelled_reader_leaves_the_index_cache_consistent(nora: Friend) -> None:
    """A turn that takes too long is stopped wherever it is."""
    written = [(await nora.says("the first")).seq]
    shelf = IndexCache("m")
    assert await seqs(nora, shelf) == written
    for patience in range(40):
        written.append((await nora.says(f"and {patience}")).seq)
        async with asyncio.TaskGroup() as tasks:
            reader = tasks.create_task(seqs(nora, shelf))
            await asyncio.sleep(patience / 10_000)
            reader.cancel()

        assert await seqs(nora, shelf) == written


async def test_index_cache_keeps_a_separate_message_index_per_person(
    nora: Friend, omar: Friend, shelf: IndexCache
) -> None:
    """Whatever the order in which they talk and ask."""
    hers = [(await nora.says("hers")).seq]
    his = [(await omar.says(f"his {i}")).seq for i in range(3)]

    assert await seqs(nora, shelf) == hers
    assert await seqs(omar, shelf) == his
    async with nora.db.begin_read() as tx:
        assert len(await shelf.get_message_index(tx, PersonId("nobody"))) == 0


async def test_excluded_newest_message_is_loaded_later_with_its_vector(nora: Friend) -> None:
    """As long as nothing that is asked for was written after it."""
    shelf, first = IndexCache("m"), await nora.says("one")
    said = await nora.says("two")
    async with nora.db.begin_read() as tx:
        index = await shelf.get_message_index(tx, nora.person.id, exclude=[said.seq])
        assert index.columns.seq.tolist() == [first.seq]
    later = await nora.says("three")
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "m", [said.seq], one_hot(9))
    async with nora.db.begin_read() as tx:
        index = await shelf.get_message_index(tx, nora.person.id, exclude=[said.seq])

    assert index.columns.seq.tolist() == [first.seq, said.seq, later.seq]
    assert index.vector_mask.tolist() == [0, 1, 0]


async def test_messages_after_an_excluded_one_are_all_loaded(
    nora: Friend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it ends a part that is read at once."""
    monkeypatch.setattr("oldfriend.memory.index_cache.ROWS_PER_READ", 2)
    written = [(await nora.says(f"word{number}")).seq for number in range(4)]
    shelf = IndexCache("m")
    async with nora.db.begin_read() as tx:
        index = await shelf.get_message_index(tx, nora.person.id, exclude=[written[1]])
        assert index.columns.seq.tolist() == written

    assert await seqs(nora, shelf) == written


async def test_own_names_follow_the_messages_without_their_index(nora: Friend) -> None:
    """New names are read, names of deleted messages are dropped; the cache of indexes is empty."""
    shelf = IndexCache("m")
    assert await own_speakers(nora, shelf) == ()
    first = await nora.says("one")
    await speaking_as(nora, "Quoth").says("a quote", role="companion")
    assert await own_speakers(nora, shelf) == (nora.person.name,)
    await speaking_as(nora, "Eleonora").says("two")
    await speaking_as(nora, "Nobody").says("…")
    await nora.says("three")

    assert await own_speakers(nora, shelf) == (nora.person.name, "Eleonora")
    assert shelf.nbytes == 0
    index = await index_of(nora, IndexCache("m"))
    indexed = [index.tables.speakers.strings[number] for number in sorted(index.own_speakers)]
    assert indexed == [nora.person.name, "Eleonora"]

    async with nora.db.begin_write() as tx:
        await tx.run("DELETE FROM message WHERE id = :id", id=first.id)
        await tx.run("UPDATE person SET rewritten = rewritten + 1")
    assert await own_speakers(nora, shelf) == ("Eleonora", nora.person.name)


async def test_own_names_are_kept_for_the_people_asked_about_last(
    meet: Meet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of somebody who was dropped are read again."""
    monkeypatch.setattr("oldfriend.memory.index_cache.MAX_SPEAKER_CACHES", 1)
    shelf = IndexCache("m")
    ada, bob = await meet("Ada"), await meet("Bob")
    await ada.says("one")
    await bob.says("one")

    assert await own_speakers(ada, shelf) == ("Ada",)
    assert await own_speakers(bob, shelf) == ("Bob",)
    assert await own_speakers(ada, shelf) == ("Ada",)


async def test_least_recently_used_index_is_evicted_when_the_cache_is_full(meet: Meet) -> None:
    """And comes back, unchanged, when asked about again."""
    people = [await meet(name) for name in ("Ada", "Bob", "Cyd")]
    for person in people:
        for number in range(50):
            await person.says(f"{person.person.name} says word{number}")
    one = IndexCache("m")
    await index_of(people[0], one)
    shelf = IndexCache("m", limit_bytes=one.nbytes * 5 // 2)

    for place in (0, 1, 0, 2):
        await index_of(people[place], shelf)

    ada, bob, cyd = (person.person.id for person in people)
    assert list(shelf._indexes) == [ada, cyd]
    assert shelf.nbytes <= one.nbytes * 5 // 2
    assert len(await seqs(people[1], shelf)) == 50
    assert list(shelf._indexes) == [cyd, bob]


async def test_index_larger_than_the_cache_limit_is_still_served(nora: Friend) -> None:
    """Alone."""
    message = await nora.says("one")

    assert await seqs(nora, IndexCache("m", limit_bytes=1)) == [message.seq]


async def test_index_exceeding_the_cache_limit_is_quantized(nora: Friend) -> None:
    """From the first part that is read, or once there is too much; the shelf's limit decides."""
    written = [(await nora.says(f"word{number}")).seq for number in range(100)]
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "m", written, np.vstack([one_hot(9)] * 100))
    whole = IndexCache("m")
    assert not (await index_of(nora, whole)).is_quantized
    limit = whole.nbytes // 2
    early, late = (
        IndexCache("m", limit_bytes=limit),
        IndexCache("m", limit_bytes=whole.nbytes + 2_000),
    )

    assert (await index_of(nora, early)).is_quantized
    assert early.nbytes < limit
    assert not (await index_of(nora, late)).is_quantized
    more = [(await nora.says("more")).seq for _ in range(50)]
    async with nora.db.begin_write() as tx:
        await save_message_vectors(tx, nora.person.id, "m", more, np.vstack([one_hot(10)] * 50))
    assert (await index_of(nora, late)).is_quantized
    assert await seqs(nora, late) == written + more


async def test_long_message_log_is_loaded_in_batches(
    nora: Friend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many messages there are; each is there once, with its vector."""
    monkeypatch.setattr("oldfriend.memory.index_cache.ROWS_PER_READ", 7)
    written = [(await nora.says(f"word{number}")).seq for number in range(20)]
    async with nora.db.begin_write() as tx:
        await save_message_vectors(
            tx, nora.person.id, "m", written[:15], np.vstack([one_hot(9)] * 15)
        )
        await save_message_vectors(
            tx, nora.person.id, "old", written[15:18], np.vstack([one_hot(8)] * 3)
        )
    shelf = IndexCache("m")

    assert await seqs(nora, shelf) == written
    assert every_vector(await index_of(nora, shelf)).any(axis=1).sum() == 15
    assert standing(await index_of(nora, shelf), "old") == dict.fromkeys(written[15:18], 8)
    async with nora.db.begin_write() as tx:
        await save_message_vectors(
            tx, nora.person.id, "m", written[15:], np.vstack([one_hot(7)] * 5)
        )
    assert every_vector(await index_of(nora, shelf)).any(axis=1).all()
    assert not (await index_of(nora, shelf)).legacy_vectors


HERE = Provenance(author="person")


async def told(app: AppContext, *texts: str) -> ChatContext:
    """Somebody who has said some things, and was read."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    for text in texts:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, chat_context.person.id, segment.id)
    return chat_context


async def at_hand(app: AppContext, chat_context: ChatContext, shelf: IndexCache) -> BeliefIndex:
    """What stands ready now; it is exactly what is kept."""
    async with app.db.begin_read() as tx:
        kept = await list_memories(tx, chat_context.person.id)
        index = await shelf.get_belief_index(tx, chat_context.person.id)
    assert by_id(index.live) == by_id([each for each in kept if each.memory.kind != "note"])
    return index


def by_id(known: list[MemoryState] | tuple[MemoryState, ...]) -> dict[ObjectId, MemoryState]:
    """Beliefs by their ids."""
    return {each.memory.id: each for each in known}


async def test_journal_decisions_are_in_the_belief_index_at_once(
    app: AppContext, clock: FrozenClock
) -> None:
    """New, changed, ended; and how it stands, where nothing was decided."""
    shelf = IndexCache(app.embedder.model)
    line = await told(app, "I live in Porto.", "I love jazz.")
    assert len(await at_hand(app, line, shelf)) == 2
    clock.tick(minutes=60 * 24 * 30)
    await told(app, "I moved to Lisbon last week!", "I really love jazz.")
    index = await at_hand(app, line, shelf)

    assert {each.memory.value for each in index.live if each.memory.key == "location"} == {"Lisbon"}
    assert any(each.stats.times_seen == 2 for each in index.live)
    assert len(index) > len(index.live)  # Porto is kept for whoever asks for the past


async def test_new_evidence_updates_confidence_in_the_belief_index(app: AppContext) -> None:
    """No decision is written for it."""
    shelf = IndexCache(app.embedder.model)
    line = await told(app, "I love jazz.")
    (before,) = (await at_hand(app, line, shelf)).live
    async with app.db.begin_write() as tx:
        said = (await list_messages(tx, line.person.id))[-1]
        words = [NewEvidence(source=said, quote=said.text, stance="contradicts")]
        await add_evidence(
            tx, line.person.id, before.memory.id, words, extractor="test", now=app.clock()
        )
    (after,) = (await at_hand(app, line, shelf)).live

    assert after.stats.confidence < before.stats.confidence


async def test_belief_vector_saved_later_is_searchable(app: AppContext) -> None:
    """What a belief means may be known only after it is believed."""
    shelf = IndexCache(app.embedder.model)
    line = await told(app, "I love jazz.")
    person, model = line.person.id, app.embedder.model
    async with app.db.begin_write() as tx:
        (known,) = await list_memories(tx, person)
        corrected = replace(known.memory, text="Adores swing.")
        await record_decision(
            tx, corrected, op="corrected", base=known.base_seq, provenance=HERE, now=app.clock()
        )
        await tx.run("DELETE FROM memory_vector WHERE person = :person", person=person)
    assert (await at_hand(app, line, shelf)).list_unembedded() == [known.memory.id]
    vector = np.zeros(app.embedder.dimension, np.float32)
    vector[7] = 1
    async with app.db.begin_write() as tx:
        await save_belief_vectors(tx, person, model, {known.memory.id: vector})
        assert MemoryId(known.memory.id) in await load_belief_vectors(tx, person, model)
    index = await at_hand(app, line, shelf)
    question = SearchQuery(
        text="quite other words",
        language="en",
        embedding=QueryEmbedding(vector=vector),
        asked_at=app.clock(),
    )

    assert index.list_unembedded() == []
    (hit,) = index.search(question, 1).hits
    assert "meaning" in {reason.cause for reason in hit.score.reasons}


async def test_belief_index_is_separate_per_person_and_may_be_empty(app: AppContext) -> None:
    """And an empty shelf is no error."""
    shelf = IndexCache(app.embedder.model)
    await told(app, "I love jazz.")
    other = await open_local_chat(app.db, app.clock, app.settings, person="Eve", channel="terminal")

    assert len(await at_hand(app, other, shelf)) == 0


async def test_least_recently_used_belief_index_is_evicted_and_reloaded(app: AppContext) -> None:
    """Beliefs count among the bytes, and may be read again."""
    shelf = IndexCache(app.embedder.model, limit_bytes=1)
    line = await told(app, "I love jazz.")
    other = await open_local_chat(app.db, app.clock, app.settings, person="Eve", channel="terminal")
    await at_hand(app, line, shelf)
    held = shelf.nbytes
    await at_hand(app, other, shelf)

    assert 0 < shelf.nbytes < held
    assert len(await at_hand(app, line, shelf)) == 1


async def test_ended_belief_with_active_status_is_not_live_in_the_belief_index(
    app: AppContext,
) -> None:
    """An undone reading leaves "active" beliefs behind that are believed no longer."""
    shelf = IndexCache(app.embedder.model)
    line = await told(app, "I live in Porto.", "I love jazz.")
    assert len((await at_hand(app, line, shelf)).live) == 2
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, line.person.id)
        await undo_consolidation(tx, line.person.id, segment.id, now=app.clock())
    index = await at_hand(app, line, shelf)

    assert (list(index.live), index.build_profile(app.clock()).is_empty) == ([], True)
