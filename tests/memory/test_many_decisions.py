"""Whatever was decided, in whichever order: the journal alone makes the same beliefs again."""

import random
from dataclasses import replace

from oldfriend.domain.ids import new_id
from oldfriend.domain.memories import Believed, ChangeOp, Entity, Memory, Relation, Status, Summary
from oldfriend.memory.changes import Ground, believed_at, check_fold, decide, rebuild
from oldfriend.memory.evidence import (
    Words,
    add_evidence,
    check_standings,
    move_evidence,
    withdraw_evidence,
)
from oldfriend.memory.segments import cut_segment, list_uncut
from oldfriend.memory.views import read_views
from tests.conftest import Sizes
from tests.memory.conftest import Friend

ENDS: dict[ChangeOp, Status] = {
    "superseded": "superseded", "merged": "merged", "deprecated": "deprecated",
    "fulfilled": "fulfilled", "expired": "expired", "rejected": "rejected",
}  # fmt: skip
AT_ONCE = 250


async def test_the_fold_of_many_random_decisions_is_what_is_believed(
    nora: Friend, omar: Friend, sizes: Sizes
) -> None:
    """Of all kinds and ops, with evidence that comes, moves and goes; nobody else is touched."""
    chance = random.Random(7)
    said = [await nora.says(f"words {number}") for number in range(20)]
    hers = await nora_believes_nothing_of(omar)
    async with nora.db.writing() as tx:
        (uncut,) = await list_uncut(tx, nora.person.id)
        segment = await cut_segment(tx, nora.person.id, uncut, cut_by="asked", now=nora.clock())
    believed: dict[str, tuple[Believed, int]] = {}
    moments: list[tuple[int, dict[str, Believed]]] = []
    for _ in range(0, sizes.decisions, AT_ONCE):
        async with nora.db.writing() as tx:
            for _ in range(AT_ONCE):
                now = nora.clock.tick(seconds=1)
                after, op, base = next_decision(nora, chance, believed, now)
                ground = Ground(author="random/1", segment=segment.id)
                change = await decide(tx, after, op=op, base=base, ground=ground, now=now)
                believed[after.id] = after, change.seq
                if isinstance(after, Memory) and chance.random() < 0.5:
                    source = chance.choice(said)
                    assert source is not None
                    words = Words(
                        source=source, quote="words", confidence=chance.random(),
                        stance=chance.choice(["supports", "supports", "contradicts"]),
                    )  # fmt: skip
                    await add_evidence(
                        tx, nora.person.id, after.id, [words], extractor="random/1", now=now,
                        segment=chance.choice([None, segment.id]),
                    )  # fmt: skip
            one, other = chance.sample(sorted(believed), 2)
            await move_evidence(tx, nora.person.id, source=one, target=other)
            if chance.random() < 0.1:
                await withdraw_evidence(tx, nora.person.id, segment.id, now=nora.clock())
        moments.append((nora.clock(), {each: after for each, (after, _) in believed.items()}))

    async with nora.db.writing() as tx:
        person = nora.person.id
        assert await check_fold(tx, person) == []
        assert await check_standings(tx, person) == []
        before = await read_views(tx, person)
        assert {each: after for each, (after, _) in before.items()} == moments[-1][1]
        assert await rebuild(tx, person) == len(believed)
        assert await read_views(tx, person) == before
        assert await check_standings(tx, person) == []
        at, then = chance.choice(moments)
        assert {each.object: each.after for each in await believed_at(tx, person, at)} == then
        assert await read_views(tx, omar.person.id) == hers


async def nora_believes_nothing_of(omar: Friend) -> dict[str, tuple[Believed, int]]:
    """Somebody else's belief, to be left alone."""
    now = omar.clock()
    memory = Memory(id=new_id(now), person=omar.person.id, kind="fact", text="his", language="en",
                    learned_at=now)  # fmt: skip
    async with omar.db.writing() as tx:
        await decide(tx, memory, op="learned", base=0, ground=Ground(author="x"), now=now)
        return dict(await read_views(tx, omar.person.id))


def next_decision(
    friend: Friend, chance: random.Random, believed: dict[str, tuple[Believed, int]], now: int
) -> tuple[Believed, ChangeOp, int]:
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
        relation = Relation(kind="contradicts", other=chance.choice(sorted(believed)))
        return replace(after, text=f"{after.text}!", relations=(relation,)), "corrected", base
    op = chance.choice(sorted(ENDS))
    return replace(after, status=ENDS[op], ended_at=now), op, base


def new_object(friend: Friend, chance: random.Random, now: int) -> Believed:
    """Something of any kind."""
    person = friend.person.id
    match chance.randrange(8):
        case 0:
            return Entity(id=new_id(now), person=person, name=f"Ana {now}", kind="person",
                          learned_at=now)  # fmt: skip
        case 1:
            return Summary(id=new_id(now), person=person, level=1, text="“talk”", language="en",
                           from_at=now, until_at=now, learned_at=now)  # fmt: skip
        case number:
            kind = ("note", "event", "fact", "preference", "pattern", "commitment")[number - 2]
            return Memory(
                id=new_id(now), person=person, kind=kind, text=f"{kind} {now} 猫", language="zh",
                key="k", value=str(now), impact=chance.randint(-10, 10), tags=("a", "b"),
                learned_at=now,
            )  # fmt: skip
