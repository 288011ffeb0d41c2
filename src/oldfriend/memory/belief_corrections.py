"""Corrections: decisions that the person makes about beliefs; they take effect at once.

They are written to the journal with the person as author. What the person has written or confirmed
is never overruled by inference. Nothing is deleted here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, MemoryId, MessageId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import (
    NEVER_BELIEVED,
    Entity,
    JournalEntry,
    JournalObject,
    JournalOp,
    ObjectLink,
    StoredBelief,
)
from oldfriend.domain.supersession import find_prior_entry, list_replacements
from oldfriend.domain.supersession import get_valid_since as since_when
from oldfriend.memory.belief_views import get_memory_state, list_entities, list_memories
from oldfriend.memory.derived_evidence import cascade_retraction
from oldfriend.memory.editable import (
    extract_value,
    get_editable,
    get_editable_entity,
    get_editable_memory,
    get_live_editable,
    get_live_entity,
    resolve_value,
    validate_belief_text,
)
from oldfriend.memory.evidence import move_evidence
from oldfriend.memory.journal import Provenance, list_object_journal, record_decision
from oldfriend.memory.retraction import record_next_decision, reopen_belief
from oldfriend.search import list_named_entities as named_among

CONFIRMABLE: Final = frozenset({"rejected", "deprecated", "expired", *NEVER_BELIEVED})
"""The statuses of ended beliefs that the person may confirm."""
BY_PERSON: Final = Provenance(author="person")


async def pin(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> JournalObject:
    """Protect a belief from fading and from being merged away. Raises NotFound, InvalidInput."""
    belief = await get_live_editable(tx, person, object_id)
    return await record_person_decision(tx, replace(belief, is_pinned=True), "pinned", now=now)


async def unpin(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> JournalObject:
    """Let a belief fade like others again. Raises NotFound, InvalidInput."""
    belief = await get_live_editable(tx, person, object_id)
    return await record_person_decision(tx, replace(belief, is_pinned=False), "unpinned", now=now)


async def confirm(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> JournalObject:
    """Confirm a belief: what was tentative, disputed or rejected is believed from now on.

    Another value that holds in its place is superseded. Raises NotFound, and InvalidInput for a
    belief that was superseded.
    """
    each = await get_editable(tx, person, object_id)
    after: JournalObject
    if isinstance(each, Entity):
        if each.status == "merged":
            raise InvalidInput(
                localizable(
                    "was_merged",
                    f"{each.name} was merged. To undo that: oldfriend memory separate",
                    name=each.name,
                )
            )
        after = replace(each, status="confirmed", same_as=None, is_by_person=True, ended_at=None)
    elif each.ended_at is None or each.status in CONFIRMABLE:
        entities = each.entities
        if each.status in NEVER_BELIEVED:  # names may have been learned since
            entities = await list_mentioned_entities(tx, person, each.text)
        after = replace(
            await supersede_competing(tx, each, now=now),
            status="active",
            entities=entities,
            ended_at=None,
        )
    else:
        raise InvalidInput(
            localizable(
                "belief_over",
                f"“{each.text}” is no longer current ({each.status}). Say what is true now: "
                "oldfriend memory edit ID TEXT",
                text=each.text,
            )
        )
    return await record_person_decision(tx, after, "confirmed", now=now)


async def supersede_competing(
    tx: Transaction, memory: StoredBelief, *, now: Micros
) -> StoredBelief:
    """Supersede the values that hold in a memory's place and return it as vouched for."""
    memories = [known.memory for known in await list_memories(tx, memory.person)]
    others = list_replacements(memory, memories) if memory.ended_at is not None else []
    ended = await end_reopened(tx, memory, now=now)
    others = [other for other in others if other.id not in ended]
    for other in others:
        until = other.holds_until or now
        retired = replace(other, status="superseded", holds_until=until, ended_at=now)
        await record_person_decision(tx, retired, "superseded", now=now)
    links = (ObjectLink(kind="supersedes", target=other.id) for other in others)
    relations = tuple(dict.fromkeys((*memory.relations, *links)))
    return replace(memory, relations=relations, is_by_person=True, vouched_at=now)


async def end_reopened(tx: Transaction, memory: StoredBelief, *, now: Micros) -> set[ObjectId]:
    """End what a rejection had reopened, as it had ended before, and return the ids.

    For a rejection that is taken back. Beliefs with a later decision stay as they are.
    """
    ended: set[ObjectId] = set()
    for link in memory.relations if memory.status == "rejected" else ():
        history = await list_object_journal(tx, memory.person, link.target)
        is_back = [change.op for change in history[-2:]] == ["superseded", "reopened"]
        if link.kind == "supersedes" and is_back and history[-1].author == BY_PERSON.author:
            await record_person_decision(tx, history[-2].after, "superseded", now=now)
            ended.add(link.target)
    return ended


async def reject(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> list[JournalObject]:
    """Reject a belief: it is not and never was so, and the same words will not teach it again.

    Return it and the beliefs that it had superseded, which hold again, those last said long ago
    as of then. Raises NotFound, InvalidInput.
    """
    belief = await get_editable(tx, person, object_id)
    if not (isinstance(belief, StoredBelief) and belief.status == "unconfirmed"):
        belief = await get_live_editable(tx, person, object_id)
    if isinstance(belief, Entity):
        retired = replace(belief, is_by_person=True, ended_at=now)
        return [await record_person_decision(tx, retired, "rejected", now=now)]
    rejected = replace(belief, status="rejected", is_by_person=True, ended_at=now)
    await record_person_decision(tx, rejected, "rejected", now=now)
    await cascade_retraction(tx, person, now=now)
    superseded = [link.target for link in belief.relations if link.kind == "supersedes"]
    reopened = [await reopen_superseded(tx, person, other, now=now) for other in superseded]
    return [rejected, *(other for other in reopened if other is not None)]


async def unreject(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> JournalObject:
    """Take a rejection back: the belief stands as it did before, no more confident.

    Raises NotFound, and InvalidInput also where another value holds in its place by now.
    """
    belief = await get_editable(tx, person, object_id)
    history = await list_object_journal(tx, person, object_id)
    by_seq = {belief.seq: belief for belief in history}
    earlier = find_prior_entry(by_seq, history[-1]) or find_waiting_entry(by_seq, history[-1])
    if history[-1].op != "rejected" or earlier is None:
        raise InvalidInput(
            localizable(
                "not_called_wrong",
                "This belief is not the one that was rejected last. Look again, then decide.",
            )
        )
    if isinstance(belief, StoredBelief):
        await end_reopened(tx, belief, now=now)
        memories = [known.memory for known in await list_memories(tx, person)]
        for other in list_replacements(belief, memories):
            raise InvalidInput(
                localizable(
                    "other_holds",
                    f"“{other.text}” has taken its place. If it is true all the same: oldfriend "
                    "memory confirm",
                    text=other.text,
                )
            )
    return await record_person_decision(tx, earlier.after, "unrejected", now=now)


def find_waiting_entry(
    by_seq: Mapping[int, JournalEntry], entry: JournalEntry
) -> JournalEntry | None:
    """Return the decision before one, if the belief waited for the person's word then."""
    earlier = by_seq.get(entry.previous_seq)
    if earlier is None or not isinstance(earlier.after, StoredBelief):
        return None
    return earlier if earlier.after.status == "unconfirmed" else None


async def reopen_superseded(
    tx: Transaction, person: PersonId, object_id: ObjectId, *, now: Micros
) -> JournalObject | None:
    """Reopen a superseded belief, unless something else was decided about it since.

    One that was read together with what replaces it was ended when it was learned. A state that
    was last said long ago holds again, too, and is told with its time.
    """
    history = await list_object_journal(tx, person, object_id)
    if not history:
        return None
    latest = history[-1].after
    before: JournalObject
    if history[-1].op == "superseded":
        earlier = find_prior_entry({each.seq: each for each in history}, history[-1])
        if earlier is None:
            return None
        before = earlier.after
    elif len(history) == 1 and isinstance(latest, StoredBelief) and latest.status == "superseded":
        before = replace(latest, status="active", holds_until=None, ended_at=None)
    else:
        return None
    is_back = await reopen_belief(tx, before, provenance=BY_PERSON, now=now)
    return before if is_back else None


async def edit(
    tx: Transaction,
    person: PersonId,
    object_id: ObjectId,
    text: str,
    *,
    value: str | None = None,
    since: Micros | None = None,
    now: Micros,
) -> list[JournalObject]:
    """Correct the text of a belief; return what holds now and what that supersedes.

    Another value of a fact or preference replaces the old one, which was never true, or was true
    until ``since``. For an entity the text becomes its description, which inference no longer
    rewrites. Raises NotFound, InvalidInput.
    """
    text = validate_belief_text(text)
    belief = await get_live_editable(tx, person, object_id)
    if isinstance(belief, Entity):
        if since is not None:
            raise InvalidInput(
                localizable(
                    "name_has_no_date",
                    f"{belief.name} is a name; a description of who or what it is takes no date.",
                    name=belief.name,
                )
            )
        after = replace(belief, description=text, is_by_person=True)
        return [await record_person_decision(tx, after, "corrected", now=now)]
    value = (
        extract_value(belief, text) if value is None else resolve_value(belief, text, value.strip())
    )
    if value == belief.value:
        if since is not None:
            raise InvalidInput(
                localizable(
                    "value_as_before",
                    f"It is already {value!r}; nothing has changed.",
                    value=value,
                )
            )
        status = "active" if belief.status in {"tentative", "disputed"} else belief.status
        entities = (
            belief.entities
            if belief.kind == "triple"
            else await list_mentioned_entities(tx, person, text)
        )
        edited = replace(
            belief, text=text, status=status, entities=entities, is_by_person=True, vouched_at=now
        )
        corrected = await record_person_decision(tx, edited, "corrected", now=now)
        await cascade_retraction(tx, person, now=now, retracted=[edited.id])
        return [corrected]
    return await supersede(tx, belief, text, value, since=since, now=now)


async def set_due(
    tx: Transaction,
    person: PersonId,
    object_id: ObjectId,
    due_at: Micros | None,
    *,
    zone: str,
    render_text: Callable[[StoredBelief], str],
    now: Micros,
) -> JournalObject:
    """Set when a commitment or an expectation is due, by which zone; None: it has no due time.

    ``render_text`` gives its new text. Raises NotFound, and InvalidInput for a kind that is never
    due.
    """
    each = await get_live_editable(tx, person, object_id)
    if not isinstance(each, StoredBelief) or each.kind not in FUTURE_KINDS:
        raise InvalidInput(
            localizable("no_due_date", "Only a promise or an expectation can have a due date.")
        )
    after = replace(
        each,
        text=render_text(each),
        due_at=due_at,
        grain="",
        zone=zone,
        is_by_person=True,
        vouched_at=now,
    )
    return await record_person_decision(tx, after, "corrected", now=now)


async def supersede(
    tx: Transaction, old: StoredBelief, text: str, value: str, *, since: Micros | None, now: Micros
) -> list[JournalObject]:
    """Replace a value.

    The old one held until ``since``, or with None was a mistake and never held. Raises InvalidInput
    for an empty value, or for a date outside the time since which the old one held.
    """
    if not value:
        raise InvalidInput(
            localizable(
                "value_empty",
                "A value cannot be empty. If it is not true at all: oldfriend memory reject ID",
            )
        )
    first = await load_valid_since(tx, old)
    if since is not None and not first < since <= now:
        raise InvalidInput(
            localizable(
                "since_unfit",
                "It cannot have changed then: that day is in the future, or before it was first "
                "true. If it was never true, leave out the date.",
            )
        )
    new = replace(
        old,
        id=MemoryId(ObjectId(new_id(now))),
        text=text,
        value=value,
        status="active",
        entities=await resolve_entities(tx, old, text, value),
        is_by_person=True,
        vouched_at=now,
        trust="person",
        relations=(ObjectLink(kind="supersedes", target=old.id),),
        holds_from=first if since is None else since,
        holds_until=None if since is not None else old.holds_until,
        learned_at=now,
        ended_at=None,
    )
    await record_decision(tx, new, op="learned", base=0, provenance=BY_PERSON, now=now)
    retired = replace(old, status="rejected", ended_at=now)
    if since is not None:
        retired = replace(old, status="superseded", holds_until=since, ended_at=now)
    return [new, await record_person_decision(tx, retired, "superseded", now=now)]


async def load_valid_since(tx: Transaction, memory: StoredBelief) -> Micros:
    """Return since when something holds in the world, as far as its evidence tells."""
    known = await get_memory_state(tx, memory.person, memory.id)
    return since_when(known)


async def resolve_entities(
    tx: Transaction, old: StoredBelief, text: str, value: str
) -> tuple[EntityId, ...]:
    """Return the entities of a memory with a new value; a relation keeps its first.

    Raises InvalidInput where a relation would lead to an unknown entity.
    """
    if old.kind != "triple":
        return await list_mentioned_entities(tx, old.person, text)
    wanted = value.casefold()
    for each in await list_entities(tx, old.person):
        if wanted in {name.casefold() for name in (each.name, *each.aliases)}:
            return (*old.entities[:-1], each.id)
    raise InvalidInput(
        localizable(
            "entity_unknown",
            f"No name is known as {value!r}. See: oldfriend entities",
            value=value,
        )
    )


async def list_mentioned_entities(
    tx: Transaction, person: PersonId, text: str
) -> tuple[EntityId, ...]:
    """List the entities whose names stand in a text."""
    return tuple(each.id for each in named_among(text, await list_entities(tx, person)))


async def merge_entities(
    tx: Transaction, person: PersonId, keep_id: EntityId, go_id: EntityId, *, now: Micros
) -> list[JournalObject]:
    """Merge two entities: the names of the second become aliases of the first."""
    keep, go = await get_live_entity(tx, person, keep_id), await get_live_entity(tx, person, go_id)
    names = dict.fromkeys((*keep.aliases, go.name, *go.aliases))
    aliases = tuple(name for name in names if name != keep.name)
    survivor = replace(keep, aliases=aliases, status="confirmed", same_as=None, is_by_person=True)
    merged = replace(go, status="merged", same_as=keep.id, is_by_person=True, ended_at=now)
    return [
        await record_person_decision(tx, survivor, "revised", now=now),
        await record_person_decision(tx, merged, "merged", now=now),
    ]


async def separate_entities(
    tx: Transaction, person: PersonId, one_id: EntityId, other_id: EntityId, *, now: Micros
) -> list[JournalObject]:
    """Separate two entities, giving one that was merged its own names back."""
    one, other = (
        await get_editable_entity(tx, person, one_id),
        await get_editable_entity(tx, person, other_id),
    )
    if one.same_as == other.id:
        one, other = other, one
    own = {other.name, *other.aliases} if other.same_as == one.id else set[str]()
    aliases = tuple(name for name in one.aliases if name not in own)
    first = replace(one, aliases=aliases, status="confirmed", is_by_person=True)
    second = replace(other, status="separate", same_as=one.id, is_by_person=True, ended_at=None)
    return [
        await record_person_decision(tx, first, "separated", now=now),
        await record_person_decision(tx, second, "separated", now=now),
    ]


async def separate_memories(
    tx: Transaction, person: PersonId, one_id: MemoryId, other_id: MemoryId, *, now: Micros
) -> list[JournalObject]:
    """Mark two memories as different, so that they are not merged again, and undo any merge."""
    one, other = (
        await get_editable_memory(tx, person, one_id),
        await get_editable_memory(tx, person, other_id),
    )
    if find_merge_survivor(one) == other.id:
        one, other = other, one
    if find_merge_survivor(other) == one.id:
        other = await unmerge(tx, other, one)
    elif one.ended_at is not None or other.ended_at is not None:
        raise InvalidInput(
            localizable("apart_present", "Only current beliefs can be marked as different.")
        )
    return [
        await record_person_decision(tx, replace(each, is_by_person=True), "separated", now=now)
        for each in (one, other)
    ]


async def unmerge(tx: Transaction, merged: StoredBelief, survivor: StoredBelief) -> StoredBelief:
    """Return a memory as it was before it was merged, and give it its own evidence back."""
    history = await list_object_journal(tx, merged.person, merged.id)
    own = collect_cause_messages(history) - collect_cause_messages(
        change
        for change in await list_object_journal(tx, merged.person, survivor.id)
        if change.op == "learned"
    )
    await move_evidence(
        tx, merged.person, source_id=survivor.id, target=merged.id, message_ids=sorted(own)
    )
    before = next(each.after for each in reversed(history) if each.op != "merged")
    assert isinstance(before, StoredBelief)
    return replace(before, ended_at=None)


def collect_cause_messages(entries: Iterable[JournalEntry]) -> set[MessageId]:
    """Return the messages that some decisions name as causes."""
    return {cause.message for change in entries for cause in change.causes}


def find_merge_survivor(memory: StoredBelief) -> ObjectId | None:
    """Return what a memory was merged into, or None if it was not merged."""
    links = [link.target for link in memory.relations if link.kind == "merged_into"]
    return links[-1] if links and memory.status == "merged" else None


async def load_correction_times(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> dict[ObjectId, Micros]:
    """Return when the person wrote or corrected each of these beliefs; others are left out."""
    if not objects:
        return {}
    parameters = {f"object{index}": each for index, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT object, MAX(learned_at) FROM change
           WHERE person = :person AND author = :author AND op IN ('learned', 'corrected')
           AND object IN ({", ".join(f":{name}" for name in parameters)}) GROUP BY object""",
        person=person,
        author=BY_PERSON.author,
        **parameters,
    )
    return {ObjectId(row[0]): row[1] for row in rows}


async def record_person_decision(
    tx: Transaction, after: JournalObject, op: JournalOp, *, now: Micros
) -> JournalObject:
    """Record a decision of the person and return the belief as decided."""
    await record_next_decision(tx, after, op, BY_PERSON, now=now)
    return after
