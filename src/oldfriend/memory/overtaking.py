"""What takes the place of what? Of some things one value holds at a time, each until the next.

Pure: told what is and was believed, and how it stands. Knows no journal and writes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Change, Known, Memory, MemoryKind
from oldfriend.domain.ties import ONE_AT_A_TIME, Names

OVERTAKEN: Final = frozenset({"superseded", "disputed", "fulfilled"})
"""What something else can do to a belief, and take back by going itself."""

MANY: Final = frozenset({
    "interests", "languages", "children", "child", "pets", "pet", "siblings", "sibling", "sister",
    "brother", "friend", "friends", "allergy", "allergies", "skills", "hobbies", "family", "goals",
    "colleague", "conditions", "medication",
})  # fmt: skip
"""Keys that may have several values at once."""

SINGLE: Final = frozenset({"budget", "preferred_currency", "home_timezone", "language"})
"""Categories of preferences that have one value at a time."""
AS_NAMED: Final = Names(())
"""Whom ties are between, as they were named when they were decided."""


def has_one_value(kind: MemoryKind, key: str) -> bool:
    """Whether a fact, preference or tie with this key has one value at a time."""
    if kind == "preference":
        return key in SINGLE
    if kind == "triple":
        return key in ONE_AT_A_TIME
    return kind == "fact" and key != "" and key.rpartition(":")[2] not in MANY


def is_same_key(one: Memory, other: Memory) -> bool:
    """Whether two are values of the same."""
    if (one.kind, one.key, one.subject) != (other.kind, other.key, other.subject):
        return False
    if one.kind != "triple":
        return True
    ours, theirs = AS_NAMED.edge_of(one), AS_NAMED.edge_of(other)
    return ours is not None and theirs is not None and ours.is_about_same(theirs)


def since(known: Known) -> Micros:
    """Since when in the world a value is known to hold."""
    return known.memory.holds_from or known.standing.first_seen


def stands(memory: Memory) -> bool:
    """Whether it is or was so; what was only thought for a while has ended without that."""
    return memory.ended_at is None or memory.status == "superseded"


def overtakers(memory: Memory, others: Iterable[Memory]) -> Iterator[Memory]:
    """What has taken the place of a belief, and still stands."""
    for other in others:
        links = {link.other for link in other.relations if link.kind == "supersedes"}
        if memory.id in links and stands(other):
            yield other


def in_its_place(memory: Memory, memories: Sequence[Memory]) -> list[Memory]:
    """What is believed where a belief was: another value of the same, or what overtook it."""
    found: dict[ObjectId, Memory] = {}
    if has_one_value(memory.kind, memory.key):
        found |= {
            each.id: each
            for each in memories
            if each.id != memory.id and is_same_key(each, memory) and stands(each)
        }
    reached = [memory]
    for each in reached:
        for other in overtakers(each, memories):
            if other.id != memory.id and other not in reached:
                reached.append(other)
                found[other.id] = other
    live = [each for each in found.values() if each.ended_at is None]
    return list(found.values()) if live else []


def before(
    decided: Mapping[int, Change], change: Change, *, is_believed: bool = True
) -> Change | None:
    """The last decision about an object before a reading touched it.

    By which it was believed; or, if that is not asked for, also as something that is over.
    """
    earlier = decided.get(change.base)
    while earlier is not None and (
        (is_believed and earlier.after.ended_at is not None)
        or (earlier.base and earlier.segment is not None and earlier.segment == change.segment)
    ):
        earlier = decided.get(earlier.base)
    return earlier
