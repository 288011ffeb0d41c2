"""Person merge: makes one person of two who are the same human, and two again for 30 days.

Whoever types the code of the one on the other side sees first what would come together. Then all of
it is moved in one transaction, while nobody answers either of them. Of an attribute that has one
value at a time the newer one holds. An undo gives back what was theirs, with the beliefs as they
stood; what came since stays with whoever was kept.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.db.merge_record import (
    PersonMerge,
    count_moving,
    forget_expired_merges,
    list_merged_keys,
    list_merges,
)
from oldfriend.db.person_rows import move_back, move_rows, rewind_beliefs
from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import DAY, Clock, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.memories import JournalEntry, MemoryState, StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.domain.supersession import get_valid_since, has_same_key
from oldfriend.learning.learning_scheduler import enqueue_learning, enqueue_maintenance
from oldfriend.learning.merge_duplicates import DuplicateMerge, write_merges
from oldfriend.measurements.oura_store import find_connection
from oldfriend.memory.belief_corrections import find_merge_survivor
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.consolidation_undo import (
    BY_UNDO,
    requeue_segment,
    restore_merged_evidence,
)
from oldfriend.memory.groups import ensure_not_group
from oldfriend.memory.identities import (
    LinkCode,
    end_access,
    redeem_link_code,
    unlink_identities_since,
)
from oldfriend.memory.journal import Provenance, list_journal, rebuild_views
from oldfriend.memory.oauth_grants import end_all_connections
from oldfriend.memory.people import find_person, get_person_by_id, lock_person
from oldfriend.memory.push_subscriptions import delete_foreign_subscriptions
from oldfriend.memory.retraction import record_next_decision, revert_entries
from oldfriend.memory.segments import list_segments_read_since, reopen_segments
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.queues.person_jobs import is_anybody_served, move_jobs
from oldfriend.queues.scheduled_jobs import count_scheduled_jobs, delete_partition_jobs
from oldfriend.transfer.oura_connection import get_token_file
from oldfriend.transfer.oura_pull import end_connection
from oldfriend.turn.belief_changes import FORGET_JOB, PURGE_JOB, TELL_JOB, build_purge_partition

UNDO_TIME: Final = 30 * DAY
LINK_AUTHOR: Final = "link/1"
"""The author of decisions between beliefs of the two."""
MAX_SHOWN: Final = 20
"""Contradictions that a preview shows."""
JOB_NAMES: Final = ("chat", "task", "watch")
"""Tables whose rows jobs name."""

MergeResult: TypeAlias = Literal["joined", "join_busy", "code_wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePreview:
    """What would come together, before anything does."""

    kept: Person
    former: Person
    counts: Mapping[str, int]  # of the former person
    kept_counts: Mapping[str, int]
    contradictions: tuple[tuple[str, str], ...]  # what would hold no more, and what would
    ends_oura: bool  # their ring has to be connected again


async def choose_kept(tx: Transaction, giver: Person, taker: Person) -> tuple[Person, Person]:
    """Return who is kept and who is not: the owner, or else whoever has the code shown.

    Raises InvalidInput for a group.
    """
    for each in (giver, taker):
        await ensure_not_group(tx, each)
    return (taker, giver) if taker.is_owner else (giver, taker)


async def preview_merge(db: Database, giver: PersonId, taker: PersonId) -> MergePreview:
    """Show what a merge would bring together, without writing. Raises InvalidInput."""
    async with db.begin_read() as tx:
        kept, former = await choose_kept(
            tx, await get_person_by_id(tx, giver), await get_person_by_id(tx, taker)
        )
        mine, theirs = [await list_memories(tx, each.id) for each in (kept, former)]
        pairs = [pair for pair in iter_rivals(mine, theirs) if not is_same_value(*pair)]
        return MergePreview(
            kept=kept,
            former=former,
            counts=await count_moving(tx, former.id),
            kept_counts=await count_moving(tx, kept.id),
            contradictions=tuple(
                (older.memory.text, newer.memory.text) for older, newer in pairs[:MAX_SHOWN]
            ),
            ends_oura=await find_connection(tx, former.id) is not None,
        )


def iter_rivals(
    mine: Iterable[MemoryState], theirs: Iterable[MemoryState]
) -> Iterator[tuple[MemoryState, MemoryState]]:
    """Yield the values of both of which only one can hold, the one that was told last behind."""
    others = [each for each in theirs if is_single_valued(each.memory)]
    for each in mine:
        for other in others:
            if has_same_key(each.memory, other.memory):
                older, newer = sorted((each, other), key=lambda known: known.stats.last_seen)
                yield older, newer


def is_same_value(one: MemoryState, other: MemoryState) -> bool:
    """Tell whether two values say the same."""
    return one.memory.value.casefold() == other.memory.value.casefold()


async def merge_people(
    db: Database, clock: Clock, settings: Settings, code: LinkCode, taker: PersonId
) -> MergeResult:
    """Make one person of whoever has the code shown and whoever sends it. Raises InvalidInput."""
    now, giver = clock(), code.person
    async with db.begin_write() as tx:
        for each in sorted({giver, taker}):
            await lock_person(tx, each)
        kept, former = await choose_kept(
            tx, await get_person_by_id(tx, giver), await get_person_by_id(tx, taker)
        )
        two = (kept.id, former.id)
        if await is_anybody_served(tx, two) or await is_any_purge_open(tx, two):
            return "join_busy"
        if not await redeem_link_code(tx, code, now=now):
            return "code_wrong"
        await forget_expired_merges(tx, now=now)
        mine, theirs = [await list_memories(tx, each.id) for each in (kept, former)]
        get_token_file(settings, former.id).delete()
        await end_connection(tx, former.id)
        await end_all_connections(tx, former.id)
        if kept.is_owner:  # what they are signed in with was not made for the owner's rights
            await end_access(tx, former.id, since=0)
        await delete_partition_jobs(tx, build_purge_partition(kept.id))  # given up: not tried again
        await move_jobs(tx, former.id, kept.id, now=now)
        await move_rows(tx, kept.id, former.id, now=now, undo_until=now + UNDO_TIME)
        await settle_rivals(tx, kept.id, [*iter_rivals(mine, theirs)], now=now)
        await plan_reading(tx, settings, kept.id, now=now)
    return "joined"


async def is_any_purge_open(tx: Transaction, person_ids: Iterable[PersonId]) -> bool:
    """Tell whether one of some people wants something forgotten, to which no other said yes."""
    partitions = [build_purge_partition(each) for each in person_ids]
    counts = [
        await count_scheduled_jobs(tx, each, partitions=partitions)
        for each in (PURGE_JOB, FORGET_JOB, TELL_JOB)
    ]
    return any(counts)


async def settle_rivals(
    tx: Transaction,
    person: PersonId,
    pairs: Iterable[tuple[MemoryState, MemoryState]],
    *,
    now: Micros,
) -> None:
    """Let the newer of two values hold, and make one belief of two that say the same."""
    current = {each.memory.id: each for each in await list_memories(tx, person)}
    same: list[DuplicateMerge] = []
    for each in pairs:
        older, newer = (current.get(side.memory.id) for side in each)
        if older is None or newer is None:
            continue
        del current[older.memory.id]
        if is_same_value(older, newer):
            same.append(DuplicateMerge(stronger=newer, weaker=older, author=LINK_AUTHOR))
            continue
        until = max(get_valid_since(newer), get_valid_since(older))
        ended = replace(older.memory, status="superseded", holds_until=until, ended_at=now)
        provenance = Provenance(author=LINK_AUTHOR)
        await record_next_decision(tx, ended, "superseded", provenance, now=now)
    await write_merges(tx, person, same, now=now)


async def plan_reading(
    tx: Transaction, settings: Settings, person: PersonId, *, now: Micros
) -> None:
    """Plan to read what is unread of a person, and to look through what is believed."""
    if settings.memory.forms:
        await enqueue_learning(tx, person, now=now, due_at=now)
        await enqueue_maintenance(tx, person, now=now, due_at=now, since=0)
    await tx.notify()


async def undo_merge(
    db: Database, clock: Clock, settings: Settings, person: PersonId, merge_id: str
) -> Person:
    """Make two people of one again; return the one who comes back.

    Only the last merge can be undone, then the one before. Raises NotFound, InvalidInput.
    """
    now = clock()
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        merges = await list_merges(tx, person, now=now)
        merge = next((each for each in merges if each.id == merge_id), None)
        if merge is None:
            raise NotFound(localizable("merge_gone", "There is nothing to undo here any more."))
        if merge is not merges[0]:
            raise InvalidInput(localizable("merge_not_last", "Undo the last one first."))
        if await is_anybody_served(tx, (person,)) or await is_any_purge_open(tx, (person,)):
            raise InvalidInput(
                localizable("merge_busy", "I am still at work for you. Try again in a moment.")
            )
        return await separate(tx, settings, merge, now=now)


async def separate(
    tx: Transaction, settings: Settings, merge: PersonMerge, *, now: Micros
) -> Person:
    """Give back what was the former person's, and plan to read again what both may believe."""
    kept, former = merge.person, merge.former
    journal = await list_journal(tx, kept)
    sessions = set(await list_merged_keys(tx, merge, "session"))
    read = [
        each.id
        for each in await list_segments_read_since(tx, kept, merge.merged_at)
        if each.session in sessions
    ]
    jobs = {key for name in JOB_NAMES for key in await list_merged_keys(tx, merge, name)}
    crossing = list_crossing(journal, merge, read)
    for entry in reversed(crossing):
        if entry.op == "merged":
            await restore_merged_evidence(tx, entry, journal)
    messages = await rewind_beliefs(tx, merge)
    await end_access(tx, kept, since=merge.merged_at)
    await unlink_identities_since(tx, kept, merge.merged_at)
    await move_back(tx, merge, await choose_free_name(tx, merge.name), now=now)
    await delete_foreign_subscriptions(tx, kept)
    await move_jobs(tx, kept, former, now=now, only=jobs)
    for each in (kept, former):
        await rebuild_views(tx, each)
    theirs = list_their_objects(journal, merge)
    own = [each for each in crossing if each.object_id not in theirs]
    await revert_entries(tx, own, provenance=BY_UNDO, now=now)
    await reopen_segments(tx, kept, [MessageId(each) for each in messages])
    for segment in read:
        await requeue_segment(tx, former, segment, keep_generation=False)
    for each in (kept, former):
        await plan_reading(tx, settings, each, now=now)
        await plan_next_look(tx, each, now=now)
    return await get_person_by_id(tx, former)


def list_their_objects(journal: Iterable[JournalEntry], merge: PersonMerge) -> set[ObjectId]:
    """Return the beliefs that were the former person's."""
    return {
        each.object_id for each in journal if merge.first_change < each.seq <= merge.last_change
    }


def list_crossing(
    journal: Iterable[JournalEntry], merge: PersonMerge, read: Iterable[SegmentId]
) -> list[JournalEntry]:
    """List the decisions since the merge that let a belief of one end for the other's sake."""
    entries, segments = list(journal), set(read)
    theirs = list_their_objects(entries, merge)
    crossing: list[JournalEntry] = []
    for each in entries:
        survivor = find_merge_survivor(each.after) if isinstance(each.after, StoredBelief) else None
        is_mixed = survivor is not None and (survivor in theirs) != (each.object_id in theirs)
        if each.seq > merge.last_change and (
            (each.op == "merged" and is_mixed)
            or (each.op == "superseded" and each.author == LINK_AUTHOR)
            or each.segment in segments
        ):
            crossing.append(each)
    return crossing


async def choose_free_name(tx: Transaction, name: str) -> str:
    """Return a name, with a number if somebody else has it by now."""
    number, free = 1, name
    while await find_person(tx, free) is not None:
        number += 1
        free = f"{name} {number}"
    return free
