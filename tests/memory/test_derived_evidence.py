"""Whom to describe is found by few statements, however many there are."""

from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import Entity, JournalObject, StoredBelief
from oldfriend.domain.messages import TrustClass
from oldfriend.memory.derived_evidence import list_description_candidates, save_description
from oldfriend.memory.journal import Provenance, record_decision
from tests.memory.test_scoping import recorded
from tests.two_people import Friend

MANY = 12


def somebody(friend: Friend, number: int, *, into: EntityId | None = None) -> Entity:
    """Somebody with a name; or a name that was merged into another's."""
    return Entity(
        id=EntityId(ObjectId(new_id(friend.clock()))),
        person=friend.person.id,
        kind="person",
        name=f"Name {number}",
        status="confirmed" if into is None else "merged",
        same_as=into,
        ended_at=None if into is None else friend.clock(),
        learned_at=friend.clock(),
    )


def event(friend: Friend, *names: Entity, trust: TrustClass = "person") -> StoredBelief:
    """Something that happened to some."""
    now = friend.clock.tick(seconds=1)
    return StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=friend.person.id,
        kind="event",
        text=f"It happened at {now}.",
        language="en",
        learned_at=now,
        trust=trust,
        entities=tuple(each.id for each in names),
    )


async def believe(friend: Friend, *everything: JournalObject) -> None:
    """Believe these."""
    async with friend.db.begin_write() as tx:
        for each in everything:
            ground = Provenance(author="extract/2")
            await record_decision(
                tx, each, op="learned", base=0, provenance=ground, now=friend.clock()
            )


async def indescribed(friend: Friend) -> list[tuple[EntityId, int]]:
    """Whom to describe, and by how many events."""
    async with friend.db.begin_read() as tx:
        found = await list_description_candidates(tx, friend.person.id)
    return [(each.entity.id, len(each.events)) for each in found]


async def test_listing_description_candidates_takes_a_constant_number_of_queries(
    nora: Friend,
) -> None:
    """The same number of them for one as for many."""
    many = [somebody(nora, number) for number in range(MANY)]
    events = [event(nora, *many[: MANY - number]) for number in range(4)]
    await believe(nora, *many, *events)

    async with recorded(nora) as tx:
        found = await list_description_candidates(tx, nora.person.id)

    assert len(tx.seen) <= 3
    assert [len(each.events) for each in found] == [4] * (MANY - 3) + [3]
    assert [each.memory.learned_at for each in found[0].events] == sorted(
        (each.learned_at for each in events), reverse=True
    )


async def test_described_entity_is_a_candidate_again_after_enough_new_events(nora: Friend) -> None:
    """Also by events of a name that means the same; not by what was only read somewhere."""
    rosa = somebody(nora, 1)
    rosie = somebody(nora, 2, into=rosa.id)
    read = [event(nora, rosa, trust="outside") for _ in range(3)]
    await believe(nora, rosa, rosie, *read, event(nora, rosa), event(nora, rosie))
    assert await indescribed(nora) == []
    await believe(nora, event(nora, rosa, rosie))
    async with nora.db.begin_write() as tx:
        (only,) = await list_description_candidates(tx, nora.person.id)
        now = nora.clock.tick(seconds=1)
        await save_description(
            tx, rosa, "A friend.", base=only.base, author="describe/2", causes=(), now=now
        )

    assert len(only.events) == 3
    assert await indescribed(nora) == []
    await believe(nora, *(event(nora, rosie) for _ in range(3)))
    assert await indescribed(nora) == [(rosa.id, 6)]
