"""What does the person decide about what is believed of them? It holds at once, and for good.

Each decision is written like any other, with the person as its author; what they have written or
confirmed is never overruled by inference. Nothing is taken away here: that is forgetting.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import EntityId, MemoryId, MessageId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import Believed, Change, ChangeOp, Entity, Memory, Relation
from oldfriend.domain.sayings import saying
from oldfriend.memory.beliefs import get_known, list_entities, list_memories
from oldfriend.memory.changes import Ground, decide, list_changes_of
from oldfriend.memory.evidence import move_evidence
from oldfriend.memory.mendable import entity, live_entity, live_one, memory, one_of
from oldfriend.memory.overtaking import before, in_its_place
from oldfriend.memory.overtaking import since as since_when
from oldfriend.memory.rewording import checked_text, value_in, value_meant
from oldfriend.memory.search import named_in as named_among
from oldfriend.memory.settling import end_what_was_made
from oldfriend.memory.withdrawing import decide_next, hold_again

BY_PERSON: Final = Ground(author="person")
DUE: Final = frozenset({"commitment", "expectation"})


async def pin(tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros) -> Believed:
    """Keep it from fading and from being merged away. Raises NotFound, InvalidInput."""
    each = await live_one(tx, person, object_id)
    return await decided(tx, replace(each, is_pinned=True), "pinned", now=now)


async def unpin(tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros) -> Believed:
    """Let it fade like others again. Raises NotFound, InvalidInput."""
    each = await live_one(tx, person, object_id)
    return await decided(tx, replace(each, is_pinned=False), "unpinned", now=now)


async def confirm(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> Believed:
    """It is so: what was unsure, disputed or rejected before is believed from now on.

    Another value that holds in its place does so no longer. Raises NotFound, InvalidInput for what
    has been overtaken by something else.
    """
    each = await one_of(tx, person, object_id)
    after: Believed
    if isinstance(each, Entity):
        if each.status == "merged":
            raise InvalidInput(saying(
                "was_merged", f"{each.name} was merged. To undo that: memory separate",
                name=each.name,
            ))  # fmt: skip
        after = replace(
            each, status="confirmed", same_as=None, is_by_person=True, ended_at=None
        )  # fmt: skip
    elif each.ended_at is None or each.status in {"rejected", "deprecated", "expired"}:
        after = replace(await overtaking(tx, each, now=now), status="active", ended_at=None)
    else:
        raise InvalidInput(saying(
            "belief_over",
            f"“{each.text}” is over ({each.status}). Say what is so now: memory edit ID TEXT",
            text=each.text,
        ))  # fmt: skip
    return await decided(tx, after, "confirmed", now=now)


async def overtaking(tx: Transaction, each: Memory, *, now: Micros) -> Memory:
    """A memory that the person vouches for, when it has overtaken what holds in its place."""
    memories = [known.memory for known in await list_memories(tx, each.person)]
    others = in_its_place(each, memories) if each.ended_at is not None else []
    ended = await end_once_more(tx, each, now=now)
    others = [other for other in others if other.id not in ended]
    for other in others:
        until = other.holds_until or now
        gone = replace(other, status="superseded", holds_until=until, ended_at=now)
        await decided(tx, gone, "superseded", now=now)
    links = (Relation(kind="supersedes", other=other.id) for other in others)
    relations = tuple(dict.fromkeys((*each.relations, *links)))
    return replace(each, relations=relations, is_by_person=True, vouched_at=now)


async def end_once_more(tx: Transaction, each: Memory, *, now: Micros) -> set[ObjectId]:
    """End what a rejection brought back, as it had ended before; which these are.

    For a rejection that is taken back. What was decided about since stays as it is.
    """
    ended: set[ObjectId] = set()
    for link in each.relations if each.status == "rejected" else ():
        history = await list_changes_of(tx, each.person, link.other)
        is_back = [change.op for change in history[-2:]] == ["superseded", "reopened"]
        if link.kind == "supersedes" and is_back and history[-1].author == BY_PERSON.author:
            await decided(tx, history[-2].after, "superseded", now=now)
            ended.add(link.other)
    return ended


async def reject(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> list[Believed]:
    """It is not so, nor was it; the same words teach it no more. It, and what holds again.

    What it had overtaken is believed as before. Raises NotFound, InvalidInput.
    """
    each = await live_one(tx, person, object_id)
    if isinstance(each, Entity):
        gone = replace(each, is_by_person=True, ended_at=now)
        return [await decided(tx, gone, "rejected", now=now)]
    rejected = replace(each, status="rejected", is_by_person=True, ended_at=now)
    await decided(tx, rejected, "rejected", now=now)
    await end_what_was_made(tx, person, now=now)
    overtaken = [link.other for link in each.relations if link.kind == "supersedes"]
    back = [await bring_back(tx, person, other, now=now) for other in overtaken]
    return [rejected, *(other for other in back if other is not None)]


async def unreject(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> Believed:
    """It was not wrong after all: as before, and no surer.

    Raises NotFound; InvalidInput, also where something else holds in its place by now.
    """
    each = await one_of(tx, person, object_id)
    history = await list_changes_of(tx, person, object_id)
    earlier = before({each.seq: each for each in history}, history[-1])
    if history[-1].op != "rejected" or earlier is None:
        raise InvalidInput(
            saying("not_called_wrong", "It was not called wrong last. Look again, then decide.")
        )
    if isinstance(each, Memory):
        await end_once_more(tx, each, now=now)
        memories = [known.memory for known in await list_memories(tx, person)]
        for other in in_its_place(each, memories):
            raise InvalidInput(saying(
                "other_holds",
                f"By now “{other.text}” holds in its place. If it is so anyhow: memory confirm",
                text=other.text,
            ))  # fmt: skip
    return await decided(tx, earlier.after, "unrejected", now=now)


async def bring_back(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> Believed | None:
    """Believe again what something else had overtaken, if that was decided about it last."""
    history = await list_changes_of(tx, person, object_id)
    if not history or history[-1].op != "superseded":
        return None
    earlier = before({each.seq: each for each in history}, history[-1])
    if earlier is None or not await hold_again(tx, earlier.after, ground=BY_PERSON, now=now):
        return None
    return earlier.after


async def edit(
    tx: Transaction, person: PersonId, object_id: ObjectId, text: str, *,
    value: str | None = None, since: Micros | None = None, now: Micros,
) -> list[Believed]:  # fmt: skip
    """Say it right. What is so, and what that overtakes.

    Another value of a fact or preference takes the place of the old one, which was never so, or was
    until ``since``. Of an entity the text becomes its description, and no inference writes it anew.
    Raises NotFound, InvalidInput.
    """
    text = checked_text(text)
    each = await live_one(tx, person, object_id)
    if isinstance(each, Entity):
        if since is not None:
            raise InvalidInput(saying(
                "name_has_no_date", f"{each.name} is a name; who or what it is has no date.",
                name=each.name,
            ))  # fmt: skip
        after = replace(each, description=text, is_by_person=True)
        return [await decided(tx, after, "corrected", now=now)]
    value = value_in(each, text) if value is None else value_meant(each, text, value.strip())
    if value == each.value:
        if since is not None:
            raise InvalidInput(saying(
                "value_as_before", f"It is {value!r} as before: nothing has changed.", value=value,
            ))  # fmt: skip
        status = "active" if each.status in {"tentative", "disputed"} else each.status
        names = each.entities if each.kind == "triple" else await named_in(tx, person, text)
        said = replace(
            each, text=text, status=status, entities=names, is_by_person=True, vouched_at=now
        )  # fmt: skip
        corrected = await decided(tx, said, "corrected", now=now)
        await end_what_was_made(tx, person, now=now, fallen=[said.id])
        return [corrected]
    return await supersede(tx, each, text, value, since=since, now=now)


async def set_due(
    tx: Transaction, person: PersonId, object_id: ObjectId, due_at: Micros | None, *,
    said: Callable[[Memory], str], now: Micros,
) -> Believed:  # fmt: skip
    """Say when a promise or an expectation is due, or that it has no time (None).

    ``said``: what it says then. Raises NotFound, and InvalidInput for what is never due.
    """
    each = await live_one(tx, person, object_id)
    if not isinstance(each, Memory) or each.kind not in DUE:
        raise InvalidInput(
            saying("no_due_date", "Only a commitment or an expectation is due at some time.")
        )
    after = replace(each, text=said(each), due_at=due_at, is_by_person=True, vouched_at=now)
    return await decided(tx, after, "corrected", now=now)


async def supersede(
    tx: Transaction, old: Memory, text: str, value: str, *, since: Micros | None, now: Micros
) -> list[Believed]:
    """Write another value. The old one held until then, or (None) never: it was a mistake."""
    if not value:
        raise InvalidInput(saying(
            "value_empty", "A value cannot be empty. If it is not so at all: memory reject ID",
        ))  # fmt: skip
    first = await began(tx, old)
    if since is not None and not first < since <= now:
        raise InvalidInput(saying(
            "since_unfit",
            "It cannot have changed then: that is ahead, or before it was first so. If it was a"
            " mistake all along, leave the date out.",
        ))  # fmt: skip
    new = replace(
        old, id=MemoryId(ObjectId(new_id(now))), text=text, value=value, status="active",
        entities=await named_with(tx, old, text, value),
        is_by_person=True, vouched_at=now, trust="person",
        relations=(Relation(kind="supersedes", other=old.id),),
        holds_from=first if since is None else since,
        holds_until=None if since is not None else old.holds_until,
        learned_at=now, ended_at=None,
    )  # fmt: skip
    await decide(tx, new, op="learned", base=0, ground=BY_PERSON, now=now)
    gone = replace(old, status="rejected", ended_at=now)
    if since is not None:
        gone = replace(old, status="superseded", holds_until=since, ended_at=now)
    return [new, await decided(tx, gone, "superseded", now=now)]


async def began(tx: Transaction, each: Memory) -> Micros:
    """Since when in the world something holds, as far as its words tell."""
    known = await get_known(tx, each.person, each.id)
    return since_when(known)


async def named_with(tx: Transaction, old: Memory, text: str, value: str) -> tuple[EntityId, ...]:
    """Who is named where something has another value; of a tie the first stays.

    Raises InvalidInput where a tie would lead to nobody known.
    """
    if old.kind != "triple":
        return await named_in(tx, old.person, text)
    wanted = value.casefold()
    for each in await list_entities(tx, old.person):
        if wanted in {name.casefold() for name in (each.name, *each.aliases)}:
            return (*old.entities[:-1], each.id)
    raise InvalidInput(saying(
        "entity_unknown", f"Nobody and nothing is known as {value!r}. See: oldfriend entities",
        value=value,
    ))  # fmt: skip


async def named_in(tx: Transaction, person: PersonId, text: str) -> tuple[EntityId, ...]:
    """Whose names stand in a text."""
    return tuple(each.id for each in named_among(text, await list_entities(tx, person)))


async def merge_entities(
    tx: Transaction, person: PersonId, keep_id: EntityId, go_id: EntityId, *, now: Micros
) -> list[Believed]:
    """Two names of the same: the second becomes another name of the first."""
    keep, go = await live_entity(tx, person, keep_id), await live_entity(tx, person, go_id)
    names = dict.fromkeys((*keep.aliases, go.name, *go.aliases))
    aliases = tuple(name for name in names if name != keep.name)
    kept = replace(keep, aliases=aliases, status="confirmed", same_as=None, is_by_person=True)
    gone = replace(go, status="merged", same_as=keep.id, is_by_person=True, ended_at=now)
    return [
        await decided(tx, kept, "revised", now=now),
        await decided(tx, gone, "merged", now=now),
    ]


async def separate_entities(
    tx: Transaction, person: PersonId, one_id: EntityId, other_id: EntityId, *, now: Micros
) -> list[Believed]:
    """Two names of two: one that was merged into the other has its own names again."""
    one, other = await entity(tx, person, one_id), await entity(tx, person, other_id)
    if one.same_as == other.id:
        one, other = other, one
    own = {other.name, *other.aliases} if other.same_as == one.id else set[str]()
    left = tuple(name for name in one.aliases if name not in own)
    stays = replace(one, aliases=left, status="confirmed", is_by_person=True)
    apart = replace(
        other, status="separate", same_as=one.id, is_by_person=True, ended_at=None
    )  # fmt: skip
    return [
        await decided(tx, stays, "separated", now=now),
        await decided(tx, apart, "separated", now=now),
    ]


async def separate_memories(
    tx: Transaction, person: PersonId, one_id: MemoryId, other_id: MemoryId, *, now: Micros
) -> list[Believed]:
    """They do not say the same, and are not merged again; one that was stands on its own words."""
    one, other = await memory(tx, person, one_id), await memory(tx, person, other_id)
    if merged_into(one) == other.id:
        one, other = other, one
    if merged_into(other) == one.id:
        other = await unmerged(tx, other, one)
    elif one.ended_at is not None or other.ended_at is not None:
        raise InvalidInput(saying("apart_present", "Only what is believed now can be kept apart."))
    return [
        await decided(tx, replace(each, is_by_person=True), "separated", now=now)
        for each in (one, other)
    ]


async def unmerged(tx: Transaction, gone: Memory, stronger: Memory) -> Memory:
    """A memory as it was before it was merged away, with the words that were its own."""
    history = await list_changes_of(tx, gone.person, gone.id)
    own = causes_of(history) - causes_of(
        change
        for change in await list_changes_of(tx, gone.person, stronger.id)
        if change.op == "learned"
    )
    await move_evidence(tx, gone.person, source=stronger.id, target=gone.id, messages=sorted(own))
    before = next(each.after for each in reversed(history) if each.op != "merged")
    assert isinstance(before, Memory)
    return replace(before, ended_at=None)


def causes_of(changes: Iterable[Change]) -> set[MessageId]:
    """The messages that decisions rest on."""
    return {cause.message for change in changes for cause in change.causes}


def merged_into(each: Memory) -> ObjectId | None:
    """What a memory was merged into; None: it was not."""
    links = [link.other for link in each.relations if link.kind == "merged_into"]
    return links[-1] if links and each.status == "merged" else None


async def when_set(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> dict[ObjectId, Micros]:
    """When the person has written each of these beliefs as it reads; not in it: they have not."""
    if not objects:
        return {}
    names = {f"object{place}": each for place, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT object, MAX(learned_at) FROM change
           WHERE person = :person AND author = :author AND op IN ('learned', 'corrected')
           AND object IN ({", ".join(f":{name}" for name in names)}) GROUP BY object""",
        person=person,
        author=BY_PERSON.author,
        **names,
    )
    return {ObjectId(row[0]): row[1] for row in rows}


async def decided(tx: Transaction, after: Believed, op: ChangeOp, *, now: Micros) -> Believed:
    """Write the person's decision; what is decided now."""
    await decide_next(tx, after, op, BY_PERSON, now=now)
    return after
