"""The beliefs at hand are those of the database, whoever has decided or weighed them."""

from dataclasses import replace

import numpy as np

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.memories import MemoryState
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_embeddings import load_belief_vectors, save_belief_vectors
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.messages import list_messages
from oldfriend.memory.retraction import undo_consolidation
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.search import BeliefIndex, QueryEmbedding, SearchQuery
from tests.clock import FrozenClock

HERE = Provenance(author="person")


async def told(app: AppContext, *texts: str) -> ChatContext:
    """Somebody who has said some things, and was read."""
    line = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")
    for text in texts:
        await answer_message(app, line, MessageSubmission(text=text))
    for segment in await schedule_learning(
        app.db, app.clock, app.settings, line.person.id, cut_reason="asked"
    ):
        await consolidate_segment(app, line.person.id, segment.id)
    return line


async def at_hand(app: AppContext, line: ChatContext, shelf: IndexCache) -> BeliefIndex:
    """What stands ready now; it is exactly what is kept."""
    async with app.db.begin_read() as tx:
        kept = await list_memories(tx, line.person.id)
        index = await shelf.get_belief_index(tx, line.person.id)
    assert by_id(index.live) == by_id([each for each in kept if each.memory.kind != "note"])
    return index


def by_id(known: list[MemoryState] | tuple[MemoryState, ...]) -> dict[ObjectId, MemoryState]:
    """Beliefs by their ids."""
    return {each.memory.id: each for each in known}


async def test_what_is_decided_is_at_hand_at_once(app: AppContext, clock: FrozenClock) -> None:
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


async def test_evidence_alone_makes_it_stand_otherwise(app: AppContext) -> None:
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


async def test_a_meaning_that_comes_late_is_found_by(app: AppContext) -> None:
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
    assert "meaning" in {reason.cause for reason in hit.reasons}


async def test_each_person_has_beliefs_of_their_own(app: AppContext) -> None:
    """And an empty shelf is no error."""
    shelf = IndexCache(app.embedder.model)
    await told(app, "I love jazz.")
    other = await open_local_chat(app.db, app.clock, app.settings, person="Eve", channel="terminal")

    assert len(await at_hand(app, other, shelf)) == 0


async def test_who_was_asked_about_least_recently_goes_first(app: AppContext) -> None:
    """Beliefs count among the bytes, and may be read again."""
    shelf = IndexCache(app.embedder.model, limit_bytes=1)
    line = await told(app, "I love jazz.")
    other = await open_local_chat(app.db, app.clock, app.settings, person="Eve", channel="terminal")
    await at_hand(app, line, shelf)
    held = shelf.nbytes
    await at_hand(app, other, shelf)

    assert 0 < shelf.nbytes < held
    assert len(await at_hand(app, line, shelf)) == 1


async def test_what_has_ended_is_not_at_hand_whatever_its_status_was(app: AppContext) -> None:
    """An undone reading leaves "active" beliefs behind that are believed no longer."""
    shelf = IndexCache(app.embedder.model)
    line = await told(app, "I live in Porto.", "I love jazz.")
    assert len((await at_hand(app, line, shelf)).live) == 2
    async with app.db.begin_write() as tx:
        (segment,) = await list_segments(tx, line.person.id)
        await undo_consolidation(tx, line.person.id, segment.id, now=app.clock())
    index = await at_hand(app, line, shelf)

    assert (list(index.live), index.build_profile(app.clock()).is_empty) == ([], True)
