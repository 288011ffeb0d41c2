"""Supersession: which belief replaces which, where only one value holds at a time. All pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import JournalEntry, MemoryState, StoredBelief
from oldfriend.domain.relations import EntityResolver

REVERSIBLE_OPS: Final = frozenset({"superseded", "disputed", "fulfilled", "expired"})
"""Operations that words may cause, and that are undone when those words go."""

NAMES_AS_RECORDED: Final = EntityResolver(())
"""A resolver without merges: edges are between the entities as they were recorded."""


def has_same_key(one: StoredBelief, other: StoredBelief) -> bool:
    """Return whether two memories are values of the same attribute."""
    if (one.kind, one.key, one.subject) != (other.kind, other.key, other.subject):
        return False
    if one.kind != "triple":
        return True
    edge, other_edge = NAMES_AS_RECORDED.find_edge(one), NAMES_AS_RECORDED.find_edge(other)
    return edge is not None and other_edge is not None and edge.is_same_slot(other_edge)


def get_valid_since(known: MemoryState) -> Micros:
    """Return since when, in valid time, a value is known to hold."""
    return known.memory.holds_from or known.stats.first_seen


def is_or_was_true(memory: StoredBelief) -> bool:
    """Return whether a memory is or was true: it has not ended, or was superseded."""
    return memory.ended_at is None or memory.status == "superseded"


def list_superseders(
    memory: StoredBelief, others: Iterable[StoredBelief]
) -> Iterator[StoredBelief]:
    """Yield the memories that supersede a belief and still stand."""
    for other in others:
        superseded_ids = {link.target for link in other.relations if link.kind == "supersedes"}
        if memory.id in superseded_ids and is_or_was_true(other):
            yield other


def list_replacements(memory: StoredBelief, memories: Sequence[StoredBelief]) -> list[StoredBelief]:
    """Return what replaced a memory: other values of its key, or what superseded it."""
    found: dict[ObjectId, StoredBelief] = {}
    if is_single_valued(memory):
        found |= {
            each.id: each
            for each in memories
            if each.id != memory.id and has_same_key(each, memory) and is_or_was_true(each)
        }
    reached = [memory]
    for each in reached:
        for other in list_superseders(each, memories):
            if other.id != memory.id and other not in reached:
                reached.append(other)
                found[other.id] = other
    live = [each for each in found.values() if each.ended_at is None]
    return list(found.values()) if live else []


def find_prior_entry(
    decided: Mapping[int, JournalEntry], entry: JournalEntry, *, must_be_live: bool = True
) -> JournalEntry | None:
    """Return the last decision about an object before a consolidation changed it.

    With ``must_be_live`` it is the last one by which the object was believed; else it may have
    ended.
    """
    earlier = decided.get(entry.previous_seq)
    while earlier is not None and (
        (must_be_live and earlier.after.ended_at is not None)
        or (
            earlier.previous_seq
            and earlier.segment is not None
            and earlier.segment == entry.segment
        )
    ):
        earlier = decided.get(earlier.previous_seq)
    return earlier
