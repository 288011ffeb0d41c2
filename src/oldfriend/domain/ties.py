"""What are ties like? Which hold both ways, which one at a time, which put an end to another.

Two who have names, or the person themself and somebody else: the person is None here, and always
the first. Knows no words for ties.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Entity, EntityKind, Memory, Tie

Node: TypeAlias = EntityId | None
"""Somebody or something with a name; None: the person themself."""

TIES: Final[tuple[Tie, ...]] = get_args(Tie)
BOTH_WAYS: Final[frozenset[Tie]] = frozenset({
    "partner_of", "sibling_of", "relative_of", "friend_of", "colleague_of", "knows",
})  # fmt: skip
"""Whoever is named first."""
ONE_AT_A_TIME: Final[frozenset[Tie]] = frozenset({"partner_of", "lives_in", "works_at"})
"""Each until the next."""
OPPOSITE: Final[Mapping[Tie, frozenset[Tie]]] = {
    "likes": frozenset({"dislikes"}), "prefers": frozenset({"dislikes"}),
    "dislikes": frozenset({"likes", "prefers"}),
}  # fmt: skip
"""Not of the same at once."""
DATED: Final[frozenset[Tie]] = frozenset({"visited", "plans_for"})
"""With a time of their own: at another time it is another one."""
OF_PEOPLE: Final[frozenset[Tie]] = BOTH_WAYS | {"parent_of", "child_of"}
USUAL_KIND: Final[Mapping[Tie, EntityKind]] = {
    **dict.fromkeys(OF_PEOPLE, "person"),
    **dict.fromkeys(("lives_in", "comes_from", "visited", "plans_for"), "place"),
    **dict.fromkeys(("works_at", "studies_at", "member_of"), "org"),
}  # fmt: skip
"""What the second of a tie usually is; "other" where it may be anything."""
ANIMATE: Final[frozenset[EntityKind]] = frozenset({"person", "pet"})


@dataclass(frozen=True, slots=True)
class Edge:
    """A tie between two, in the one form that it has however it was said."""

    tie: Tie
    first: Node
    second: EntityId

    @property
    def ends(self) -> tuple[Node, EntityId]:
        """Both of them."""
        return self.first, self.second

    def is_about_same(self, other: "Edge") -> bool:
        """Whether another tie of the same sort shares the end that can have one at a time."""
        if self.tie != other.tie:
            return False
        if self.tie in BOTH_WAYS:
            return not {*self.ends}.isdisjoint(other.ends)
        return self.first == other.first

    def excludes(self, other: "Edge") -> bool:
        """Whether both cannot hold at once."""
        if self == other:
            return False
        if self.ends == other.ends and other.tie in OPPOSITE.get(self.tie, ()):
            return True
        return self.tie in ONE_AT_A_TIME and self.is_about_same(other)


def edge_between(tie: Tie, first: Node, second: Node) -> Edge | None:
    """A tie as it is kept: the person first, of parent and child the parent; None: none can be.

    Of those that hold both ways, whose id comes first.
    """
    if first == second:
        return None
    if tie in BOTH_WAYS:
        one, other = (first, second) if second is not None else (second, first)
        if one is not None and other is not None:
            one, other = sorted((one, other))
        return None if other is None else Edge(tie, one, other)
    if tie == "child_of" and first is not None:
        return edge_between("parent_of", second, first)
    if tie == "parent_of" and second is None:
        return None if first is None else Edge("child_of", None, first)
    return None if second is None else Edge(tie, first, second)


def edge_of(memory: Memory, same_as: Mapping[EntityId, EntityId]) -> Edge | None:
    """The tie that a memory tells of, between those whom its names mean by now."""
    tie = next((each for each in TIES if each == memory.key), None)
    ends = [same_as.get(each, each) for each in memory.entities]
    if memory.kind != "triple" or tie is None or not ends:
        return None
    first = None if memory.subject == "person" else ends[0]
    return edge_between(tie, first, ends[-1])


def same_ones(entities: Iterable[Entity]) -> dict[EntityId, EntityId]:
    """For each name that was merged into another, whom it means in the end."""
    into = {
        each.id: each.same_as
        for each in entities
        if each.status == "merged" and each.same_as is not None
    }
    return {each: _last(each, into) for each in into}


def _last(entity: EntityId, into: Mapping[EntityId, EntityId]) -> EntityId:
    seen: set[EntityId] = set()
    while entity in into and entity not in seen:
        seen.add(entity)
        entity = into[entity]
    return entity


def is_possible(tie: Tie, first: EntityKind, second: EntityKind) -> bool:
    """Whether such two can be tied so: nobody is the sister of a town, or lives in a dog."""
    if tie in OF_PEOPLE:
        return not {"place", "org"} & {first, second}
    usual = USUAL_KIND.get(tie)
    return usual not in {"place", "org"} or second not in ANIMATE or tie == "visited"
