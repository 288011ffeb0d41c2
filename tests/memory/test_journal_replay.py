"""Whatever was decided, in whichever order: the journal alone makes the same beliefs again."""

import random
from dataclasses import replace

import pytest

from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import (
    Entity,
    JournalObject,
    JournalOp,
    ObjectLink,
    Status,
    StoredBelief,
    Summary,
)
from oldfriend.memory.evidence import (
    NewEvidence,
    add_evidence,
    list_segment_evidence,
    list_stats_mismatches,
    move_evidence,
    withdraw_evidence,
)
from oldfriend.memory.journal import (
    Provenance,
    list_journal_as_of,
    list_view_mismatches,
    load_views,
    rebuild_views,
    record_decision,
)
from oldfriend.memory.segments import cut_segment, list_uncut_spans
from tests.conftest import Sizes
from tests.two_people import Friend

ENDS: dict[JournalOp, Status] = {
    "superseded": "superseded",
    "merged": "merged",
    "deprecated": "deprecated",
    "fulfilled": "fulfilled",
    "expired": "expired",
    "rejected": "rejected",
}
AT_ONCE = 250


@pytest.mark.slow
async def test_replaying_many_random_decisions_rebuilds_the_same_views(
    nora: Friend, omar: Friend, sizes: Sizes
) -> None:
    """Of all kinds and ops, with evidence that comes, moves and goes; nobody else is touched."""
    chance = random.Random(7)
    said = [await nora.says(f"words {number}") for number in range(20)]
    hers = await nora_believes_nothing_of(omar)
    async with nora.db.begin_write() as tx:
        (uncut,) = await list_uncut_spans(tx, nora.person.id)
        segment = await cut_segment(tx, nora.person.id, uncut, cut_by="asked", now=nora.clock())
    believed: dict[str, tuple[JournalObject, int]] = {}
    moments: list[tuple[int, dict[str, JournalObject]]] = []
    for _ in range(0, sizes.decisions, AT_ONCE):
        async with nora.db.begin_write() as tx:
            for _ in range(AT_ONCE):
                now = nora.clock.tick(seconds=1)
                after, op, base = next_decision(nora, chance, believed, now)
                ground = Provenance(author="random/1", segment=segment.id)
                change = await record_decision(
                    tx, after, op=op, base=base, provenance=ground, now=now
                )
                believed[after.id] = after, change.seq
                if isinstance(after, StoredBelief) and chance.random() < 0.5:
                    source = chance.choice(said)
                    assert source is not None
                    words = NewEvidence(
                        source=source,
                        quote="words",
                        confidence=chance.random(),
                        stance=chance.choice(["supports", "supports", "contradicts"]),
                    )
                    await add_evidence(
                        tx,
                        nora.person.id,
                        after.id,
                        [words],
                        extractor="random/1",
                        now=now,
                        segment=chance.choice([None, segment.id]),
                    )
            one, other = chance.sample(sorted(believed), 2)
            await move_evidence(tx, nora.person.id, source_id=one, target=other)
            if chance.random() < 0.1:
                found = await list_segment_evidence(tx, nora.person.id, segment.id)
                pieces = [e for es in found.values() for e in es if e.segment == segment.id]
                await withdraw_evidence(tx, nora.person.id, pieces, now=nora.clock())
        moments.append((nora.clock(), {each: after for each, (after, _) in believed.items()}))

    async with nora.db.begin_write() as tx:
        person = nora.person.id
        assert await list_view_mismatches(tx, person) == []
        assert await list_stats_mismatches(tx, person) == []
        before = await load_views(tx, person)
        assert {each: after for each, (after, _) in before.items()} == moments[-1][1]
        assert await rebuild_views(tx, person) == len(believed)
        assert await load_views(tx, person) == before
        assert await list_stats_mismatches(tx, person) == []
        at, then = chance.choice(moments)
        assert {
            each.object_id: each.after for each in await list_journal_as_of(tx, person, at)
        } == then
        assert await load_views(tx, omar.person.id) == hers


async def nora_believes_nothing_of(omar: Friend) -> dict[str, tuple[JournalObject, int]]:
    """Somebody else's belief, to be left alone."""
    now = omar.clock()
    memory = StoredBelief(
        id=new_id(now),
        person=omar.person.id,
        kind="fact",
        text="his",
        language="en",
        learned_at=now,
    )
    async with omar.db.begin_write() as tx:
        await record_decision(
            tx, memory, op="learned", base=0, provenance=Provenance(author="x"), now=now
        )
        return dict(await load_views(tx, omar.person.id))


def next_decision(
    friend: Friend, chance: random.Random, believed: dict[str, tuple[JournalObject, int]], now: int
) -> tuple[JournalObject, JournalOp, int]:
    """Something new, or something else about what is known."""
    if not believed or chance.random() < 0.4:
        return new_object(friend, chance, now), "learned", 0
    after, base = believed[chance.choice(sorted(believed))]
    if isinstance(after, Summary):
        return replace(after, is_active=not after.is_active), "revised", base
    if isinstance(after, Entity):
        return replace(after, aliases=(*after.aliases, f"alias {now}")[-3:]), "revised", base
    if after.ended_at is not None:
        return replace(after, status="active", ended_at=None), "reopened", base
    if chance.random() < 0.5:
        relation = ObjectLink(kind="contradicts", target=chance.choice(sorted(believed)))
        return replace(after, text=f"{after.text}!", relations=(relation,)), "corrected", base
    op = chance.choice(sorted(ENDS))
    return replace(after, status=ENDS[op], ended_at=now), op, base


def new_object(friend: Friend, chance: random.Random, now: int) -> JournalObject:
    """Something of any kind."""
    person = friend.person.id
    match chance.randrange(8):
        case 0:
            return Entity(
                id=new_id(now), person=person, name=f"Ana {now}", kind="person", learned_at=now
            )
        case 1:
            return Summary(
                id=new_id(now),
                person=person,
                level=1,
                text="“talk”",
                language="en",
                from_at=now,
                until_at=now,
                learned_at=now,
            )
        case number:
            kind = ("note", "event", "fact", "preference", "pattern", "commitment")[number - 2]
            return StoredBelief(
                id=new_id(now),
                person=person,
                kind=kind,
                text=f"{kind} {now} 猫",
                language="zh",
                key="k",
                value=str(now),
                impact=chance.randint(-10, 10),
                tags=("a", "b"),
                learned_at=now,
            )
