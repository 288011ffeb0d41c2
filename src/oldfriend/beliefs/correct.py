"""Belief corrections: the person's decisions about a belief, and undoing a reading or an import.

Ids may be given in full or by their first or last characters. Each decision is written in one
transaction. None is ever inverted.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.beliefs.queries import ISO_DATE_LENGTH, get_belief
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import Clock, Micros, get_start_of_day, parse_timestamp
from oldfriend.domain.errors import InvalidInput, NotFound, StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, JournalEntry, JournalObject, StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.learning.learning_scheduler import enqueue_learning
from oldfriend.learning.merge_duplicates import DuplicateMerge, MergeResult, write_merges
from oldfriend.learning.merge_duplicates import merge_duplicate_memories as join
from oldfriend.learning.similarity import compute_canonical_hash
from oldfriend.memory import belief_corrections as correcting
from oldfriend.memory.belief_views import get_memory_state, get_object_by_partial_id, list_memories
from oldfriend.memory.consolidation_undo import undo_consolidation
from oldfriend.memory.derived_evidence import cascade_retraction
from oldfriend.memory.import_batches import ImportUndoResult
from oldfriend.memory.journal import get_latest_seq, list_object_journal
from oldfriend.memory.pagination import BeliefFilter, list_folded
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.segments import (
    Segment,
    find_last_read_segment,
    find_segment_by_partial_id,
)
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.transfer.import_run import undo_import_batch
from oldfriend.turn.quotes import format_day
from oldfriend.usage.model_calls import CallContext

NO_DUE_DATE = "none"
"""Stands for a date where something has no due date."""

BeliefAction = Literal["pin", "unpin", "confirm", "reject", "unreject"]
PERSON_AUTHOR = correcting.BY_PERSON.author
"""Kinds in which no two memories say the same."""


async def apply_belief_action(
    db: Database,
    clock: Clock,
    person: PersonId,
    action: BeliefAction,
    partial_id: str,
    *,
    base: int | None = None,
) -> list[JournalObject]:
    """Apply an action to a belief; return it, and what holds again because of it.

    ``base`` is its newest change that the person has seen (None: any). Raises NotFound,
    InvalidInput, StaleDecision.
    """
    now = clock()
    async with db.begin_write() as tx:
        each = await resolve_object_id(tx, person, partial_id)
        await require_unchanged(tx, person, each, base)
        match action:
            case "pin":
                return [await correcting.pin(tx, person, each, now=now)]
            case "unpin":
                return [await correcting.unpin(tx, person, each, now=now)]
            case "confirm":
                return [await correcting.confirm(tx, person, each, now=now)]
            case "reject":
                return await reject_with_copies(tx, person, each, now=now)
            case "unreject":
                return await unreject_with_copies(tx, person, each, now=now)


async def reject_with_copies(
    tx: Transaction, person: PersonId, belief: ObjectId, *, now: Micros
) -> list[JournalObject]:
    """Reject a belief, and what is folded beneath it and says the same in the same words.

    Return it and what holds again. Raises NotFound, InvalidInput.
    """
    folded = await list_folded(tx, person, BeliefFilter(), [belief])
    rejected, *reopened = await correcting.reject(tx, person, belief, now=now)
    for each in folded.get(belief, ()):
        copy = (await get_memory_state(tx, person, MemoryId(each))).memory
        if isinstance(rejected, StoredBelief) and copy.text == rejected.text:
            reopened += (await correcting.reject(tx, person, each, now=now))[1:]
    return [rejected, *reopened]


async def unreject_with_copies(
    tx: Transaction, person: PersonId, belief: ObjectId, *, now: Micros
) -> list[JournalObject]:
    """Take a rejection back, and that of what was rejected with it; return the belief.

    Raises NotFound, InvalidInput.
    """
    known = [each.memory for each in await list_memories(tx, person, live=False)]
    rejected = {each.id: each for each in known if each.status == "rejected"}
    before = rejected.pop(MemoryId(belief), None)
    back = await correcting.unreject(tx, person, belief, now=now)
    for each in rejected.values():
        if before is not None and (each.text, each.ended_at) == (before.text, before.ended_at):
            with suppress(InvalidInput):  # something else was decided about it since
                await correcting.unreject(tx, person, each.id, now=now)
    return [back]


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDate:
    """A new due date; None removes it."""

    at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What a person corrects; None keeps the present value."""

    text: str | None = None
    value: str | None = None  # replaces the old one, which was wrong, or true until ``since``
    since: Micros | None = None
    due: DueDate | None = None


async def correct_belief(
    db: Database,
    clock: Clock,
    person: PersonId,
    partial_id: str,
    correction: Correction,
    *,
    base: int | None = None,
) -> list[JournalObject]:
    """Apply a whole correction or none of it; return what is so now, and what it supersedes.

    ``base`` is its newest change that the person has seen (None: any). Raises NotFound,
    InvalidInput, StaleDecision.
    """
    now = clock()
    async with db.begin_write() as tx:
        each = await resolve_object_id(tx, person, partial_id)
        await require_unchanged(tx, person, each, base)
        changed: list[JournalObject] = []
        if correction.due is not None:
            due_at, zone = correction.due.at, (await get_person_by_id(tx, person)).zone
            render_text = partial(rewrite_due_date, due_at=due_at, zone=zone)
            changed = [
                await correcting.set_due(
                    tx, person, each, due_at, zone=zone, render_text=render_text, now=now
                )
            ]
        if correction.text is not None:
            changed = await correcting.edit(
                tx,
                person,
                each,
                correction.text,
                value=correction.value,
                since=correction.since,
                now=now,
            )
            changed += await merge_identical_memories(tx, person, changed[0], now=now)
        return changed


async def merge_identical_memories(
    tx: Transaction, person: PersonId, corrected: JournalObject, *, now: Micros
) -> list[JournalObject]:
    """Merge memories that say the same into a corrected one; return the merged ones."""
    if not isinstance(corrected, StoredBelief) or corrected.kind not in ATTRIBUTE_KINDS:
        return []
    known = await list_memories(tx, person, kinds=[corrected.kind])
    own = next(each for each in known if each.memory.id == corrected.id)
    text_hash = compute_canonical_hash(corrected.text, corrected.language)
    same = [
        each
        for each in known
        if each is not own
        and each.memory.language == corrected.language
        and compute_canonical_hash(each.memory.text, corrected.language) == text_hash
    ]
    merges = [DuplicateMerge(stronger=own, weaker=each, author=PERSON_AUTHOR) for each in same]
    await write_merges(tx, person, merges, now=now)
    return [(await get_memory_state(tx, person, each.memory.id)).memory for each in same]


def rewrite_due_date(memory: StoredBelief, *, due_at: Micros | None, zone: str) -> str:
    """Return a memory's text with a new due date, where it names the old one."""
    phrases = load_phrases(choose_language(memory.language))
    if memory.due_at is None:
        return memory.text
    day = format_day(phrases, memory.due_at, get_told_zone(memory, zone))
    if due_at is None:
        return memory.text.replace(f" ({day})", "").replace(f"（{day}）", "")
    return memory.text.replace(day, format_day(phrases, due_at, zone))


async def edit_belief_text(
    db: Database,
    clock: Clock,
    person: PersonId,
    partial_id: str,
    text: str,
    *,
    value: str | None = None,
    since: Micros | None = None,
) -> list[JournalObject]:
    """Correct a belief with a new text.

    Raises NotFound, InvalidInput.
    """
    correction = Correction(text=text, value=value, since=since)
    return await correct_belief(db, clock, person, partial_id, correction)


def parse_due_date(day: str | None, zone: str) -> DueDate | None:
    """Parse a due date: a time, a date (its end), or "none". Raises InvalidInput."""
    if day is None:
        return None
    return DueDate(at=None if day.strip().casefold() == NO_DUE_DATE else parse_until(day, zone))


def parse_since(day: str | None, zone: str) -> Micros | None:
    """Parse a time, or a date as its beginning. Raises InvalidInput."""
    if day is None:
        return None
    at, at_zone = parse_timestamp(day, zone)
    return at if len(day.strip()) > ISO_DATE_LENGTH else get_start_of_day(at, at_zone)


def parse_until(text: str, zone: str) -> Micros:
    """Parse a time, or a date as its end. Raises InvalidInput."""
    at, at_zone = parse_timestamp(text, zone)
    if len(text.strip()) > ISO_DATE_LENGTH:
        return at
    return get_start_of_day(at, at_zone, days_back=-1) - 1


async def merge_beliefs(
    app: AppContext, person: PersonId, keep: str, drop: str, *, base: int | None = None
) -> list[JournalObject]:
    """Merge the second of two entities or memories into the first.

    ``base`` is the newest change of the first that the person has seen (None: any). Raises
    NotFound, InvalidInput, StaleDecision.
    """
    async with app.db.begin_write() as tx:
        one, other = await get_same_type_pair(tx, person, keep, drop)
        await require_unchanged(tx, person, ObjectId(one.id), base)
        if isinstance(one, Entity):
            return await correcting.merge_entities(
                tx, person, EntityId(one.id), EntityId(other.id), now=app.clock()
            )
        return await merge_memories(tx, app.clock, person, (MemoryId(one.id), MemoryId(other.id)))


async def merge_duplicates(app: AppContext, person: PersonId, *, dry_run: bool) -> MergeResult:
    """Merge duplicates and drop faded memories, as maintenance does, or return what would be done.

    Raises StaleDecision, and what the model raises.
    """
    model = await build_background_model(
        app, CallContext(person=person, is_background=True), "small"
    )
    return await join(
        app.db,
        person,
        model=model,
        embedder=app.embedder.model,
        now=app.clock(),
        dry_run=dry_run,
    )


async def merge_memories(
    tx: Transaction, clock: Clock, person: PersonId, ids: Sequence[MemoryId]
) -> list[JournalObject]:
    """Merge the second of two memories into the first, with the evidence of both.

    Raises InvalidInput.
    """
    await lock_person(tx, person)
    stronger, weaker = [await get_memory_state(tx, person, each) for each in ids]
    if stronger.memory.kind != weaker.memory.kind:
        kinds = f"{stronger.memory.kind} and {weaker.memory.kind}"
        raise InvalidInput(
            localizable(
                "merge_one_kind", f"Only beliefs of the same kind can be merged, not {kinds}."
            )
        )
    if stronger.memory.ended_at is not None or weaker.memory.ended_at is not None:
        raise InvalidInput(localizable("merge_present", "Only current beliefs can be merged."))
    merge = DuplicateMerge(stronger=stronger, weaker=weaker, author=PERSON_AUTHOR)
    await write_merges(tx, person, [merge], now=clock())
    return [(await get_memory_state(tx, person, each)).memory for each in ids]


async def separate_beliefs(
    app: AppContext, person: PersonId, one: str, other: str, *, base: int | None = None
) -> list[JournalObject]:
    """Separate two entities or memories for good, whatever merged them.

    ``base`` is the newest change of the first that the person has seen (None: any). Raises
    NotFound, InvalidInput, StaleDecision.
    """
    now = app.clock()
    async with app.db.begin_write() as tx:
        first, second = await get_same_type_pair(tx, person, one, other)
        await require_unchanged(tx, person, ObjectId(first.id), base)
        if isinstance(first, Entity):
            return await correcting.separate_entities(
                tx, person, EntityId(first.id), EntityId(second.id), now=now
            )
        return await correcting.separate_memories(
            tx, person, MemoryId(first.id), MemoryId(second.id), now=now
        )


async def get_same_type_pair(
    tx: Transaction, person: PersonId, one: str, other: str
) -> tuple[StoredBelief | Entity, StoredBelief | Entity]:
    """Return two memories or two entities. Raises NotFound, InvalidInput."""
    first = (await get_belief(tx, person, one)).content
    second = (await get_belief(tx, person, other)).content
    if first.id == second.id:
        raise InvalidInput(localizable("merge_same", "These two are already the same."))
    if isinstance(first, StoredBelief) and isinstance(second, StoredBelief):
        return first, second
    if isinstance(first, Entity) and isinstance(second, Entity):
        return first, second
    raise InvalidInput(
        localizable(
            "merge_two", "Choose two beliefs or two names; not one of each, and no summaries."
        )
    )


async def resolve_object_id(tx: Transaction, person: PersonId, partial_id: str) -> ObjectId:
    """Return the full id for a partial one. Raises NotFound, InvalidInput."""
    object_id, _ = await get_object_by_partial_id(tx, person, partial_id)
    return ObjectId(object_id)


async def require_unchanged(
    tx: Transaction, person: PersonId, object_id: ObjectId, base: int | None
) -> None:
    """Raise StaleDecision if anything was decided about an object after ``base``."""
    await lock_person(tx, person)
    if base is not None and await get_latest_seq(tx, person, object_id) != base:
        raise StaleDecision(
            localizable(
                "changed_since_looked",
                "It has changed since you looked. Look again, then decide.",
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationUndoResult:
    """A retracted reading, and the beliefs it had touched by what happened to them."""

    segment: Segment  # as it was read
    ended: tuple[JournalObject, ...] = ()  # no longer believed
    reopened: tuple[JournalObject, ...] = ()  # believed again as before
    changed: tuple[JournalObject, ...] = ()  # still believed, with less in it


async def undo_segment(
    db: Database, clock: Clock, person: PersonId, partial_id: str | None
) -> ConsolidationUndoResult:
    """Retract the reading of a segment (None: the last one read).

    It is not read again by itself. Raises NotFound, InvalidInput.
    """
    now = clock()
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        segment = await resolve_segment(tx, person, partial_id)
        touched = await undo_consolidation(tx, person, segment.id, now=now)
        touched += await cascade_retraction(tx, person, now=now)
        last_changes = [
            (await list_object_journal(tx, person, each))[-1] for each in dict.fromkeys(touched)
        ]
    return build_undone_consolidation(segment, last_changes)


def build_undone_consolidation(
    segment: Segment, last_changes: Sequence[JournalEntry]
) -> ConsolidationUndoResult:
    """Group the touched beliefs by the last decision about each."""
    ended = [each.after for each in last_changes if each.after.ended_at is not None]
    reopened = [
        each.after for each in last_changes if each.op == "reopened" and each.after.ended_at is None
    ]
    changed = [
        each.after for each in last_changes if each.op != "reopened" and each.after.ended_at is None
    ]
    return ConsolidationUndoResult(
        segment=segment, ended=tuple(ended), reopened=tuple(reopened), changed=tuple(changed)
    )


async def resolve_segment(tx: Transaction, person: PersonId, partial_id: str | None) -> Segment:
    """Return the segment with a partial id (None: the last one read). Raises NotFound."""
    if partial_id is None:
        segment = await find_last_read_segment(tx, person)
    else:
        segment = await find_segment_by_partial_id(tx, person, partial_id)
    if segment is None:
        raise NotFound("There is no such consolidation. `oldfriend history ID` shows the ids.")
    return segment


async def undo_import(
    db: Database, clock: Clock, settings: Settings, person: Person, number: int
) -> ImportUndoResult:
    """Remove an import and everything learned from it; importing again brings it back.

    The rest of the affected conversations is read again. Raises NotFound.
    """
    now = clock()
    undone = await undo_import_batch(db, person, number, now=now)
    if settings.memory.forms:
        async with db.begin_write() as tx:
            await enqueue_learning(tx, person.id, now=now, due_at=now)
    return undone
