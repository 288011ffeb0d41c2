"""Leftovers of undone imports: beliefs that have ended and stay in the journal as history.

The messages of the import were removed without a deletion, and their quotes with them. So these
beliefs have no stored evidence and no stored message as a cause, which is how they are found.
"""

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import JournalEntry, JournalObject, Summary
from oldfriend.memory.deletion.memory_snapshot import MemorySnapshot, join_entry_text
from oldfriend.memory.deletion.orphan_analysis import (
    LatestEntries,
    get_latest_entries,
    is_written_by_person,
)


def select_leftovers(snapshot: MemorySnapshot) -> dict[ObjectId, JournalEntry]:
    """Return the ended beliefs whose sources are no longer stored, each as decided last."""
    message_ids = {each.id for each in snapshot.messages}
    segments = {each.id for each in snapshot.segments}
    with_evidence = {each.object for each in snapshot.evidence}
    sources: dict[ObjectId, set[str]] = {}
    for entry in snapshot.journal:
        sources.setdefault(entry.object_id, set()).update(each.message for each in entry.causes)

    def is_left(each: ObjectId, after: JournalObject) -> bool:
        if isinstance(after, Summary):
            return segments.isdisjoint(after.segments)
        return (
            each not in with_evidence
            and bool(sources[each])
            and message_ids.isdisjoint(sources[each])
        )

    return {
        each: entry
        for each, entry in get_latest_entries(snapshot).items()
        if entry.after.ended_at is not None
        and not is_written_by_person(entry)
        and is_left(each, entry.after)
    }


def list_beliefs_without_evidence(snapshot: MemorySnapshot) -> dict[ObjectId, JournalEntry]:
    """Return the leftovers, and the beliefs that the person has rejected, which are not relearned
    from other words.
    """
    latest = get_latest_entries(snapshot).items()
    return select_leftovers(snapshot) | {
        each: entry for each, entry in latest if entry.op == "rejected"
    }


def filter_by_learned_time(
    snapshot: MemorySnapshot, leftovers: LatestEntries, since: Micros, until: Micros
) -> frozenset[ObjectId]:
    """Return those of some leftovers that were learned in a time span, both ends included."""
    first: dict[ObjectId, Micros] = {}
    for entry in snapshot.journal:
        first.setdefault(entry.object_id, entry.decided_at)
    return frozenset(each for each in leftovers if since <= first[each] <= until)


def select_matching_leftovers(
    leftovers: LatestEntries, deleted: LatestEntries
) -> dict[ObjectId, JournalEntry]:
    """Select the leftovers that are deleted, or that say the same as a deleted belief."""
    deleted_keys = {build_content_key(entry) for entry in deleted.values()}
    return {
        each: entry
        for each, entry in leftovers.items()
        if each in deleted or build_content_key(entry) in deleted_keys
    }


def build_content_key(entry: JournalEntry) -> tuple[str, str]:
    """Return the class and the casefolded text of a belief, for comparison."""
    return type(entry.after).__name__, join_entry_text(entry).casefold()
