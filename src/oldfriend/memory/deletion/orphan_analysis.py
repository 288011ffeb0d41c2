"""Orphan analysis: which beliefs lose their support when messages are deleted; pure functions.

A belief rests on its evidence. A belief that never had any, such as one that was merged into
another, rests on the causes of its decisions.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Entity, JournalEntry, JournalObject, StoredBelief, Summary
from oldfriend.domain.supersession import (
    REVERSIBLE_OPS,
    find_prior_entry,
    list_replacements,
)
from oldfriend.memory.deletion.memory_snapshot import MemorySnapshot, MessageVersion, VersionKey
from oldfriend.memory.derived_evidence import DESCRIBE_AUTHOR_PREFIX, list_premises
from oldfriend.memory.journal import fold_journal

LatestEntries = Mapping[ObjectId, JournalEntry]
"""The last decision about each belief."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportState:
    """How a belief rests on what is deleted and on what stays."""

    is_affected: bool  # some of its support is deleted
    remaining: int  # live evidence that stays
    is_unsupported: bool  # it has lost all support


def get_latest_entries(snapshot: MemorySnapshot) -> dict[ObjectId, JournalEntry]:
    """Return the last decision about each belief, including ended ones."""
    return fold_journal(snapshot.journal)


def compute_support(
    snapshot: MemorySnapshot, deleted: Collection[VersionKey]
) -> dict[ObjectId, SupportState]:
    """Compute how each belief rests on the deleted message versions."""
    live: Counter[str] = Counter()
    live_left: Counter[str] = Counter()
    sources: dict[str, set[VersionKey]] = {}
    for each in snapshot.evidence:
        sources.setdefault(each.object, set()).add(each.source)
        live[each.object] += each.supports
        live_left[each.object] += each.supports and each.source not in deleted
    for entry in snapshot.journal:
        if entry.op == "superseded":
            continue  # its causes support what superseded it, not the belief itself
        causes = {(cause.message, cause.version) for cause in entry.causes}
        sources.setdefault(entry.object_id, set()).update(causes)
    return {
        ObjectId(each): SupportState(
            is_affected=not rests_on.isdisjoint(deleted),
            remaining=live_left[each],
            is_unsupported=live_left[each] == 0 if live[each] else rests_on <= set(deleted),
        )
        for each, rests_on in sources.items()
    }


def select_lost_beliefs(
    latest: Mapping[ObjectId, JournalEntry],
    support: Mapping[ObjectId, SupportState],
    selected: Collection[ObjectId],
) -> dict[ObjectId, JournalEntry]:
    """Select the beliefs that have lost all support and were not written by the person.

    An entity stays as long as a remaining belief names it, and is deleted with the last one that
    did.
    """
    lost = {
        each: entry
        for each, entry in latest.items()
        if not isinstance(entry.after, Entity)
        and has_lost_support(each, support)
        and each not in selected
        and not is_written_by_person(entry)
    }
    lost |= select_derived_beliefs(latest, {*lost, *selected})
    deleted = {*lost, *selected}
    unneeded = collect_named_entities(latest[each] for each in deleted if each in latest)
    needed = collect_named_entities(entry for each, entry in latest.items() if each not in deleted)
    names = {
        each: entry
        for each, entry in latest.items()
        if isinstance(entry.after, Entity)
        and each not in needed
        and each not in selected
        and (
            has_lost_support(each, support)
            or (each in unneeded and not has_remaining_support(each, support))
        )
        and not is_written_by_person(entry)
    }
    return lost | names


def select_derived_beliefs(
    latest: Mapping[ObjectId, JournalEntry], deleted_ids: Collection[ObjectId]
) -> dict[ObjectId, JournalEntry]:
    """Select the thoughts and patterns derived, directly or indirectly, from deleted beliefs."""
    found: dict[ObjectId, JournalEntry] = {}
    reached = {*deleted_ids}
    while True:
        added = {
            each: entry
            for each, entry in latest.items()
            if each not in reached
            and isinstance(entry.after, StoredBelief)
            and not is_written_by_person(entry)
            and not reached.isdisjoint(list_premises(entry.after))
        }
        if not added:
            return found
        found |= added
        reached.update(added)


def list_source_versions(
    snapshot: MemorySnapshot, forgotten: Collection[ObjectId], kept: Iterable[MessageVersion]
) -> list[MessageVersion]:
    """List the remaining message versions from which deleted beliefs were learned."""
    sources = collect_source_ids(snapshot, forgotten)
    return [each for each in kept if each.is_current and each.id in sources]


def collect_source_ids(snapshot: MemorySnapshot, beliefs: Collection[ObjectId]) -> frozenset[str]:
    """Return the ids of messages that support some beliefs."""
    return frozenset(
        each.source[0] for each in snapshot.evidence if each.supports and each.object in beliefs
    )


def select_sibling_beliefs(
    snapshot: MemorySnapshot,
    latest: Mapping[ObjectId, JournalEntry],
    deleted_ids: Collection[ObjectId],
    messages: Iterable[MessageVersion],
) -> dict[ObjectId, JournalEntry]:
    """Select the remaining live memories that rest on some messages."""
    sources = {each.id for each in messages}
    found = {
        ObjectId(each.object)
        for each in snapshot.evidence
        if each.supports and each.source[0] in sources
    }
    return {
        each: entry
        for each, entry in latest.items()
        if each in found
        and each not in deleted_ids
        and isinstance(entry.after, StoredBelief)
        and entry.after.ended_at is None
    }


def select_cleared_descriptions(
    snapshot: MemorySnapshot,
    deleted_versions: Collection[VersionKey],
    deleted: Mapping[ObjectId, JournalEntry],
) -> frozenset[ObjectId]:
    """Return the entities with inferred descriptions that deleted messages or beliefs support."""
    named = collect_named_entities(entry for entry in deleted.values())
    return frozenset(
        entry.object_id
        for entry in snapshot.journal
        if entry.author.startswith(DESCRIBE_AUTHOR_PREFIX)
        and entry.object_id not in deleted
        and (
            entry.object_id in named
            or any((cause.message, cause.version) in deleted_versions for cause in entry.causes)
        )
    )


def has_lost_support(each: ObjectId, support: Mapping[ObjectId, SupportState]) -> bool:
    """Whether a belief loses its last support."""
    return each in support and support[each].is_affected and support[each].is_unsupported


def has_remaining_support(each: ObjectId, support: Mapping[ObjectId, SupportState]) -> bool:
    """Whether a belief has evidence left."""
    return each in support and support[each].remaining > 0


def collect_named_entities(entries: Iterable[JournalEntry]) -> frozenset[ObjectId]:
    """Return the entities that some beliefs name."""
    return frozenset[ObjectId](
        name
        for entry in entries
        if isinstance(entry.after, StoredBelief)
        for name in entry.after.entities
    )


def is_written_by_person(entry: JournalEntry) -> bool:
    """Whether the person wrote or corrected a belief, so that it needs no other support.

    A memory that they have rejected needs its evidence: it is deleted with it. An entity that they
    have rejected stays, or else it would be learned again.
    """
    after = entry.after
    return not isinstance(after, Summary) and after.is_by_person and not is_rejected(entry)


def is_rejected(entry: JournalEntry) -> bool:
    """Whether a memory was rejected by the person."""
    return isinstance(entry.after, StoredBelief) and entry.after.status == "rejected"


def select_affected_segments(
    snapshot: MemorySnapshot, deleted: Collection[MessageVersion]
) -> frozenset[str]:
    """Return the segments that contain deleted messages."""
    first_versions = {each.id: each for each in snapshot.messages if each.version == 1}
    places = {
        (first.session, first.seq) for each in deleted if (first := first_versions.get(each.id))
    }
    return frozenset(
        segment.id
        for segment in snapshot.segments
        if any(
            session == segment.session and segment.first_seq <= seq <= segment.last_seq
            for session, seq in places
        )
    )


def select_summaries(
    latest: Mapping[ObjectId, JournalEntry], segments: Collection[str], deleted: Collection[str]
) -> dict[ObjectId, JournalEntry]:
    """Select the summaries of these segments, and those into which any of them was folded."""
    found: dict[ObjectId, JournalEntry] = {}
    reached = {*deleted}
    while True:
        added = {
            each: entry
            for each, entry in latest.items()
            if each not in found
            and isinstance(entry.after, Summary)
            and (
                not reached.isdisjoint(entry.after.sources)
                or not set(segments).isdisjoint(entry.after.segments)
            )
        }
        if not added:
            return found
        found |= added
        reached.update(added)


def list_reactivated_summaries(
    latest: Mapping[ObjectId, JournalEntry], deleted_ids: Collection[ObjectId]
) -> Iterator[Summary]:
    """Yield the remaining summaries that were folded only into deleted ones."""
    summaries = [c.after for c in latest.values() if isinstance(c.after, Summary)]
    folded_into_deleted = {s for each in summaries if each.id in deleted_ids for s in each.sources}
    folded_into_kept = {
        s
        for each in summaries
        if each.id not in deleted_ids and each.ended_at is None
        for s in each.sources
    }
    for each in summaries:
        is_free = each.id in folded_into_deleted and each.id not in folded_into_kept | set(
            deleted_ids
        )
        if is_free and not each.is_active and each.ended_at is None:
            yield each


def select_reopened(
    snapshot: MemorySnapshot,
    latest: Mapping[ObjectId, JournalEntry],
    deleted_versions: Collection[VersionKey],
    deleted_ids: Collection[ObjectId],
) -> dict[ObjectId, JournalEntry]:
    """Select the beliefs that were ended only by deleted messages, each with the decision before
    that.

    They are reopened unless something else has taken their place by then.
    """
    by_seq = {entry.seq: entry for entry in snapshot.journal}
    reopened: dict[ObjectId, JournalEntry] = {}
    for each, entry in latest.items():
        causes = {(cause.message, cause.version) for cause in entry.causes}
        is_overtaken = entry.op in REVERSIBLE_OPS and causes and causes <= set(deleted_versions)
        earlier = find_prior_entry(by_seq, entry)
        if each not in deleted_ids and is_overtaken and earlier is not None:
            reopened[each] = earlier
    memories = [entry.after for entry in latest.values() if isinstance(entry.after, StoredBelief)]
    return {
        each: earlier
        for each, earlier in reopened.items()
        if not is_superseded_further(earlier.after, memories, deleted_ids)
    }


def is_superseded_further(
    after: JournalObject, memories: Sequence[StoredBelief], deleted_ids: Collection[ObjectId]
) -> bool:
    """Whether a remaining memory holds in this one's place, where several values may hold."""
    if not isinstance(after, StoredBelief) or is_single_valued(after):
        return False
    replacements = list_replacements(after, memories)
    return any(each.ended_at is None and each.id not in deleted_ids for each in replacements)
