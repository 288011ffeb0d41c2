"""Whom the words name, and how they are tied: at the time that is asked about."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Entity, EntityKind, RelationType, StoredBelief
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.turn.user_context import UserContext, load_user_context
from tests.turn.conftest import Talk

YEAR = 365 * DAY
BY = Provenance(author="test/1")


async def known(talk: Talk, name: str, kind: EntityKind) -> Entity:
    """Somebody or something with a name."""
    now = talk.clock()
    entity = Entity(
        id=EntityId(ObjectId(new_id(now))),
        person=talk.chat_context.person.id,
        name=name,
        kind=kind,
        status="confirmed",
        learned_at=now,
    )
    async with talk.app.db.begin_write() as tx:
        await record_decision(tx, entity, op="learned", base=0, provenance=BY, now=now)
    return entity


async def tied(
    talk: Talk,
    one: Entity,
    tie: RelationType,
    other: Entity,
    *,
    since: Micros,
    until: Micros | None,
) -> None:
    """That one is or was tied to another."""
    now = talk.clock()
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=one.person,
        kind="triple",
        language="en",
        text=f"{one.name} {tie} {other.name}.",
        subject="other",
        key=tie,
        value=other.name,
        entities=(one.id, other.id),
        learned_at=since,
        holds_from=since,
    )
    async with talk.app.db.begin_write() as tx:
        made = await record_decision(tx, memory, op="learned", base=0, provenance=BY, now=since)
        if until is not None:
            over = replace(memory, status="superseded", holds_until=until, ended_at=until)
            await record_decision(
                tx, over, op="superseded", base=made.seq, provenance=BY, now=until
            )


async def asked(talk: Talk, text: str) -> UserContext:
    """What is at hand for a question."""
    async with talk.app.db.begin_read() as tx:
        return await load_user_context(
            tx,
            talk.app.index_cache,
            talk.chat_context.person,
            [text],
            language="en",
            now=talk.clock(),
        )


def ties_in(found: UserContext) -> set[str]:
    """What stands about those named, of ties."""
    return {each.known.memory.text for about in found.named for each in about.relations}


@pytest.fixture
async def moved(talk: Talk) -> Talk:
    """Ana worked with Tom at the Mill until two years ago, and with Eva at the Dock since."""
    now = talk.clock()
    ana, tom, eva = [await known(talk, name, "person") for name in ("Ana", "Tom", "Eva")]
    mill, dock = [await known(talk, name, "org") for name in ("Mill", "Dock")]
    then, change = Micros(now - 6 * YEAR), Micros(now - 2 * YEAR)
    await tied(talk, ana, "works_at", mill, since=then, until=change)
    await tied(talk, tom, "works_at", mill, since=then, until=change)
    await tied(talk, ana, "works_at", dock, since=change, until=None)
    await tied(talk, eva, "works_at", dock, since=change, until=None)
    return talk


async def test_question_about_the_present_gets_current_relations(moved: Talk) -> None:
    """What is over is not said of somebody who is asked about today."""
    found = await asked(moved, "Who is Ana?")

    assert ties_in(found) == {"Ana works_at Dock.", "Eva works_at Dock."}


@pytest.mark.parametrize("text", ["Where did Ana work four years ago?", "Who was Ana with in {}?"])
async def test_question_about_a_past_time_gets_relations_of_that_time(
    moved: Talk, text: str
) -> None:
    """And what holds now did not hold then."""
    year = 1970 + (moved.clock() - 4 * YEAR) // YEAR
    found = await asked(moved, text.format(year))

    assert ties_in(found) == {"Ana works_at Mill.", "Tom works_at Mill."}


async def test_relation_path_between_two_entities_uses_the_asked_time(moved: Talk) -> None:
    """Over the place where both were then; today there is none."""
    now = await asked(moved, "How do Ana and Tom know each other?")
    then = await asked(moved, "How were Ana and Tom tied back then?")

    assert [each.memory.text for each in now.relations_between] == []
    assert [each.memory.text for each in then.relations_between] == [
        "Ana works_at Mill.",
        "Tom works_at Mill.",
    ]
