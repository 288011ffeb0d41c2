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
FOR_GOOD: Final[frozenset[Tie]] = frozenset({
    "parent_of", "child_of", "sibling_of", "relative_of", "comes_from", "part_of",
})  # fmt: skip
"""Whenever it was said first, it was so before."""
OF_PEOPLE: Final[frozenset[Tie]] = BOTH_WAYS | {"parent_of", "child_of"}
USUAL_KIND: Final[Mapping[Tie, EntityKind]] = {
    **dict.fromkeys(OF_PEOPLE, "person"),
    **dict.fromkeys(("lives_in", "comes_from", "plans_for"), "place"),
    **dict.fromkeys(("works_at", "studies_at", "member_of"), "org"),
}  # fmt: skip
"""What the second of a tie usually is; "other" where it may be anything."""
RELATION: Final = "relation"
"""As a key, what somebody is to the person …"""
RELATION_OF: Final = f":{RELATION}"
"""… which is filed under their name: "Ana:relation"."""
LOVES: Final = (
    "partner", "spouse", "husband", "wife", "boyfriend", "girlfriend", "fiancé", "fiancée",
)  # fmt: skip
"""What people are to each other who are a couple."""
TIE_OF_PART: Final[Mapping[str, Tie]] = {
    **dict.fromkeys(("sister", "brother", "sibling"), "sibling_of"),
    **dict.fromkeys(("mother", "father"), "parent_of"),
    **dict.fromkeys(("son", "daughter", "child"), "child_of"),
    **dict.fromkeys(LOVES, "partner_of"),
    **dict.fromkeys(
        ("grandmother", "grandfather", "aunt", "uncle", "cousin", "niece", "nephew"),
        "relative_of",
    ),
    **dict.fromkeys(("friend", "best friend", "best_friend"), "friend_of"),
    **dict.fromkeys(("colleague", "boss"), "colleague_of"),
    **dict.fromkeys(("flatmate", "roommate", "neighbour", "teacher", "therapist"), "knows"),
}  # fmt: skip
"""How one stands to another whose … they are; …"""
PETS: Final = frozenset(
    {"dog", "cat", "rabbit", "parrot", "hamster", "horse", "pet", "pets"}
)  # fmt: skip
"""… and these are owned."""
TIE_OF_KEY: Final[Mapping[str, Tie]] = {
    "location": "lives_in", "birthplace": "comes_from", "hometown": "comes_from",
    "workplace": "works_at", "employer": "works_at", "interests": "likes", "dislikes": "dislikes",
    **dict.fromkeys(
        ("partner", "spouse", "husband", "wife", "boyfriend", "girlfriend"), "partner_of"
    ),
}  # fmt: skip
"""What a fact or preference ties, where its value has a name. What a fact says, no tie repeats."""
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


def edge_of_part(part: str, first: Node, second: Node) -> Edge | None:
    """That the first is the sister, the husband, the dog … of the second."""
    if part in PETS:
        return edge_between("owns", second, first)
    return edge_between(TIE_OF_PART[part], first, second) if part in TIE_OF_PART else None


class Names:
    """Whom each name means by now, of all who are known in somebody's life."""

    __slots__ = ("_called", "_name_of", "_same_as")

    def __init__(self, entities: Iterable[Entity]) -> None:
        """Know these; of those that were merged, whom they are in the end."""
        known = list(entities)
        self._name_of = {each.id: each.name for each in known}
        self._called = {each.id: _folded_names(each) for each in known}
        self._same_as = same_ones(known)

    def meant_by(self, entity: EntityId) -> EntityId:
        """Whom a name means by now."""
        return self._same_as.get(entity, entity)

    def name_of(self, entity: EntityId) -> str | None:
        """What somebody is called in the first place."""
        return self._name_of.get(entity)

    def names_of(self, entity: EntityId) -> frozenset[EntityId]:
        """Everything that means this one."""
        others = (each for each, meant in self._same_as.items() if meant == entity)
        return frozenset((entity, *others))

    def called(self, name: str, among: Iterable[EntityId]) -> EntityId | None:
        """Who of some is called so."""
        wanted = name.strip().casefold()
        found = (each for each in among if wanted in self._called.get(each, ()))
        return next(map(self.meant_by, found), None)

    def edge_of(self, memory: Memory) -> Edge | None:
        """The tie that a memory tells of: a triple, or a fact or preference that ties two."""
        if memory.kind == "triple":
            return self._edge_of_triple(memory)
        who, _, key = memory.key.rpartition(":")
        if memory.kind not in {"fact", "preference"} or memory.subject not in {"person", "other"}:
            return None
        first = self.called(who, memory.entities) if who else None
        if who and first is None:
            return None
        if key == RELATION:
            return edge_of_part(memory.value, first, None)
        second = self.called(memory.value, memory.entities)
        if second is not None and key in TIE_OF_KEY:
            return edge_between(TIE_OF_KEY[key], first, second)
        return edge_of_part(key, second, first)

    def _edge_of_triple(self, memory: Memory) -> Edge | None:
        tie = next((each for each in TIES if each == memory.key), None)
        ends = [self.meant_by(each) for each in memory.entities]
        if tie is None or not ends:
            return None
        return edge_between(tie, None if memory.subject == "person" else ends[0], ends[-1])


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


OF_SOMEBODY: Final[frozenset[Tie]] = frozenset({"works_at", "lives_in"})
"""Where only somebody can be, no town and no firm."""


def is_possible(tie: Tie, first: EntityKind, second: EntityKind) -> bool:
    """Whether such two can be tied so: nobody is the sister of a town, or lives in a dog."""
    if tie in OF_PEOPLE:
        return not {"place", "org"} & {first, second}
    if tie in OF_SOMEBODY and first in {"place", "org"}:
        return False
    if tie == "lives_in" and second == "org":
        return False
    return USUAL_KIND.get(tie) not in {"place", "org"} or second not in ANIMATE


def _folded_names(entity: Entity) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in (entity.name, *entity.aliases))
