"""The beliefs at hand are those of the database, whoever has decided or weighed them."""

from dataclasses import replace

import numpy as np

from oldfriend.app.accepting import Line, Said, open_line
from oldfriend.app.answering import answer
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.domain.memories import Known
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.evidence import Words, add_evidence
from oldfriend.memory.log import list_messages
from oldfriend.memory.meanings import load_meanings, save_meanings
from oldfriend.memory.search import BeliefIndex, Question, Sense
from oldfriend.memory.segments import list_segments
from oldfriend.memory.shelf import Shelf
from oldfriend.memory.withdrawing import undo_consolidation
from tests.clock import FrozenClock

HERE = Ground(author="person")


async def told(house: House, *texts: str) -> Line:
    """Somebody who has said some things, and was read."""
    line = await open_line(house, person=None, channel="terminal")
    for text in texts:
        await answer(house, line, Said(text=text))
    for segment in await tend(house, line.person.id, because="asked"):
        await read(house, line.person.id, segment.id)
    return line


async def at_hand(house: House, line: Line, shelf: Shelf) -> BeliefIndex:
    """What stands ready now; it is exactly what is kept."""
    async with house.db.reading() as tx:
        kept = await list_memories(tx, line.person.id)
        index = await shelf.beliefs_of(tx, line.person.id)
    assert by_id(index.live) == by_id([each for each in kept if each.memory.kind != "note"])
    return index


def by_id(known: list[Known] | tuple[Known, ...]) -> dict[ObjectId, Known]:
    """Beliefs by their ids."""
    return {each.memory.id: each for each in known}


async def test_what_is_decided_is_at_hand_at_once(house: House, clock: FrozenClock) -> None:
    """New, changed, ended; and how it stands, where nothing was decided."""
    shelf = Shelf(house.embedder.model)
    line = await told(house, "I live in Porto.", "I love jazz.")
    assert len(await at_hand(house, line, shelf)) == 2
    clock.tick(minutes=60 * 24 * 30)
    await told(house, "I moved to Lisbon last week!", "I really love jazz.")
    index = await at_hand(house, line, shelf)

    assert {each.memory.value for each in index.live if each.memory.key == "location"} == {"Lisbon"}
    assert any(each.standing.times_seen == 2 for each in index.live)
    assert len(index) > len(index.live)  # Porto is kept for whoever asks for the past


async def test_evidence_alone_makes_it_stand_otherwise(house: House) -> None:
    """No decision is written for it."""
    shelf = Shelf(house.embedder.model)
    line = await told(house, "I love jazz.")
    (before,) = (await at_hand(house, line, shelf)).live
    async with house.db.writing() as tx:
        said = (await list_messages(tx, line.person.id))[-1]
        words = [Words(source=said, quote=said.text, stance="contradicts")]
        await add_evidence(
            tx, line.person.id, before.memory.id, words, extractor="test", now=house.clock()
        )
    (after,) = (await at_hand(house, line, shelf)).live

    assert after.standing.confidence < before.standing.confidence


async def test_a_meaning_that_comes_late_is_found_by(house: House) -> None:
    """What a belief means may be known only after it is believed."""
    shelf = Shelf(house.embedder.model)
    line = await told(house, "I love jazz.")
    person, model = line.person.id, house.embedder.model
    async with house.db.writing() as tx:
        (known,) = await list_memories(tx, person)
        corrected = replace(known.memory, text="Adores swing.")
        await decide(tx, corrected, op="corrected", base=known.base, ground=HERE, now=house.clock())
        await tx.run("DELETE FROM memory_vector WHERE person = :person", person=person)
    assert (await at_hand(house, line, shelf)).lacking() == [known.memory.id]
    vector = np.zeros(house.embedder.dimension, np.float32)
    vector[7] = 1
    async with house.db.writing() as tx:
        await save_meanings(tx, person, model, {known.memory.id: vector})
        assert MemoryId(known.memory.id) in await load_meanings(tx, person, model)
    index = await at_hand(house, line, shelf)
    question = Question(
        text="quite other words", language="en", sense=Sense(vector=vector), asked_at=house.clock()
    )

    assert index.lacking() == []
    (hit,) = index.search(question, 1).hits
    assert "meaning" in {reason.cause for reason in hit.why}


async def test_each_person_has_beliefs_of_their_own(house: House) -> None:
    """And an empty shelf is no error."""
    shelf = Shelf(house.embedder.model)
    await told(house, "I love jazz.")
    other = await open_line(house, person="Eve", channel="terminal")

    assert len(await at_hand(house, other, shelf)) == 0


async def test_who_was_asked_about_least_recently_goes_first(house: House) -> None:
    """Beliefs count among the bytes, and may be read again."""
    shelf = Shelf(house.embedder.model, limit_bytes=1)
    line = await told(house, "I love jazz.")
    other = await open_line(house, person="Eve", channel="terminal")
    await at_hand(house, line, shelf)
    held = shelf.nbytes
    await at_hand(house, other, shelf)

    assert 0 < shelf.nbytes < held
    assert len(await at_hand(house, line, shelf)) == 1


async def test_what_has_ended_is_not_at_hand_whatever_its_status_was(house: House) -> None:
    """An undone reading leaves "active" beliefs behind that are believed no longer."""
    shelf = Shelf(house.embedder.model)
    line = await told(house, "I live in Porto.", "I love jazz.")
    assert len((await at_hand(house, line, shelf)).live) == 2
    async with house.db.writing() as tx:
        (segment,) = await list_segments(tx, line.person.id)
        await undo_consolidation(tx, line.person.id, segment.id, now=house.clock())
    index = await at_hand(house, line, shelf)

    assert (list(index.live), index.profile(house.clock()).is_empty) == ([], True)
