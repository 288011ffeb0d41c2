"""Relations: which kinds are symmetric, exclusive or opposite, and edges between two entities.

A relation is between two named entities, or between the person and an entity: the person is None
here, and always comes first. The words for relations are defined elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Entity, EntityKind, RelationType, StoredBelief

Node: TypeAlias = EntityId | None
"""A named entity; None is the person."""

RELATION_TYPES: Final[tuple[RelationType, ...]] = get_args(RelationType)
SYMMETRIC: Final[frozenset[RelationType]] = frozenset(
    {
        "partner_of",
        "sibling_of",
        "relative_of",
        "friend_of",
        "colleague_of",
        "knows",
    }
)
"""Relations that hold in both directions."""
CONVERSE: Final[Mapping[RelationType, RelationType]] = {
    "parent_of": "child_of",
    "child_of": "parent_of",
}
"""Relations that are called otherwise from the other end."""
EXCLUSIVE: Final[frozenset[RelationType]] = frozenset({"partner_of", "lives_in", "works_at"})
"""Relations of which one holds at a time, until the next."""
OPPOSITES: Final[Mapping[RelationType, frozenset[RelationType]]] = {
    "likes": frozenset({"dislikes"}),
    "prefers": frozenset({"dislikes"}),
    "dislikes": frozenset({"likes", "prefers"}),
}
"""Relations that cannot hold between the same two at once."""
DATED: Final[frozenset[RelationType]] = frozenset({"visited", "plans_for"})
"""Relations with a time of their own: at another time it is another relation."""
PERMANENT: Final[frozenset[RelationType]] = frozenset(
    {
        "parent_of",
        "child_of",
        "sibling_of",
        "relative_of",
        "comes_from",
        "part_of",
    }
)
"""Relations that also held before they were first mentioned."""
BETWEEN_PEOPLE: Final[frozenset[RelationType]] = SYMMETRIC | {"parent_of", "child_of"}
USUAL_TARGET_KIND: Final[Mapping[RelationType, EntityKind]] = {
    **dict.fromkeys(BETWEEN_PEOPLE, "person"),
    **dict.fromkeys(("lives_in", "comes_from", "plans_for"), "place"),
    **dict.fromkeys(("works_at", "studies_at", "member_of"), "org"),
}
"""The usual kind of the second entity; "other" where it may be anything."""
RELATION_KEY: Final = "relation"
"""The key of what somebody is to the person …"""
RELATION_KEY_SUFFIX: Final = f":{RELATION_KEY}"
"""… which follows their name: "Ana:relation"."""
PARTNER_ROLES: Final = (
    "partner",
    "spouse",
    "husband",
    "wife",
    "boyfriend",
    "girlfriend",
    "fiancé",
    "fiancée",
)
"""What the two partners of a couple are to each other."""
RELATION_BY_ROLE: Final[Mapping[str, RelationType]] = {
    **dict.fromkeys(("sister", "brother", "sibling"), "sibling_of"),
    **dict.fromkeys(("mother", "father"), "parent_of"),
    **dict.fromkeys(("son", "daughter", "child"), "child_of"),
    **dict.fromkeys(PARTNER_ROLES, "partner_of"),
    **dict.fromkeys(
        ("grandmother", "grandfather", "aunt", "uncle", "cousin", "niece", "nephew"),
        "relative_of",
    ),
    **dict.fromkeys(("friend", "best friend", "best_friend"), "friend_of"),
    **dict.fromkeys(("colleague", "boss"), "colleague_of"),
    **dict.fromkeys(("flatmate", "roommate", "neighbour", "teacher", "therapist"), "knows"),
}
"""The relation of somebody in this role to the other one."""
WOMEN_ROLES: Final = frozenset(
    {
        "sister",
        "mother",
        "daughter",
        "wife",
        "girlfriend",
        "fiancée",
        "grandmother",
        "aunt",
        "niece",
        "landlady",
    }
)
MEN_ROLES: Final = frozenset(
    {
        "brother",
        "father",
        "son",
        "husband",
        "boyfriend",
        "fiancé",
        "grandfather",
        "uncle",
        "nephew",
        "landlord",
    }
)
"""Roles of which the word tells whether "he" or "she" may mean whoever plays them."""
PET_ROLES: Final = frozenset({"dog", "cat", "rabbit", "parrot", "hamster", "horse", "pet", "pets"})
"""Roles of animals, which are owned."""
RELATION_BY_KEY: Final[Mapping[str, RelationType]] = {
    "location": "lives_in",
    "birthplace": "comes_from",
    "hometown": "comes_from",
    "workplace": "works_at",
    "employer": "works_at",
    "interests": "likes",
    "dislikes": "dislikes",
    **dict.fromkeys(
        ("partner", "spouse", "husband", "wife", "boyfriend", "girlfriend"), "partner_of"
    ),
}
"""The relation that a fact or preference states if its value is a name; no triple repeats it."""
ANIMATE: Final[frozenset[EntityKind]] = frozenset({"person", "pet"})


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two, in canonical form."""

    relation: RelationType
    first: Node
    second: EntityId

    @property
    def ends(self) -> tuple[Node, EntityId]:
        """Both ends."""
        return self.first, self.second

    def is_same_slot(self, other: "Edge") -> bool:
        """Return whether another edge of the same type shares the end that allows one at a time."""
        if self.relation != other.relation:
            return False
        if self.relation in SYMMETRIC:
            return not {*self.ends}.isdisjoint(other.ends)
        return self.first == other.first

    def excludes(self, other: "Edge") -> bool:
        """Return whether both edges cannot hold at once."""
        if self == other:
            return False
        if self.ends == other.ends and other.relation in OPPOSITES.get(self.relation, ()):
            return True
        return self.relation in EXCLUSIVE and self.is_same_slot(other)


def build_edge(relation: RelationType, first: Node, second: Node) -> Edge | None:
    """Return an edge in canonical form: the person first, parent before child; None if impossible.

    The ends of a symmetric relation are sorted by id.
    """
    if first == second:
        return None
    if relation in SYMMETRIC:
        one, other = (first, second) if second is not None else (second, first)
        if one is not None and other is not None:
            one, other = sorted((one, other))
        return None if other is None else Edge(relation, one, other)
    if relation == "child_of" and first is not None:
        return build_edge("parent_of", second, first)
    if relation == "parent_of" and second is None:
        return None if first is None else Edge("child_of", None, first)
    return None if second is None else Edge(relation, first, second)


def build_role_edge(role: str, first: Node, second: Node) -> Edge | None:
    """Return the edge of the first being the sister, husband, dog … of the second."""
    if role in PET_ROLES:
        return build_edge("owns", second, first)
    return build_edge(RELATION_BY_ROLE[role], first, second) if role in RELATION_BY_ROLE else None


class EntityResolver:
    """A resolver of names and merged ids to the entities of a person's life."""

    __slots__ = ("_merged_into", "_name_by_id", "_names_by_id")

    def __init__(self, entities: Iterable[Entity]) -> None:
        """Index the entities, and follow merges to their final entity."""
        known = list(entities)
        self._name_by_id = {each.id: each.name for each in known}
        self._names_by_id = {each.id: _casefold_names(each) for each in known}
        self._merged_into = build_merge_map(known)

    def resolve(self, entity_id: EntityId) -> EntityId:
        """Return the id of the entity that an id stands for after merges."""
        return self._merged_into.get(entity_id, entity_id)

    def find_name(self, entity_id: EntityId) -> str | None:
        """Return the main name of an entity."""
        return self._name_by_id.get(entity_id)

    def list_merged_ids(self, entity_id: EntityId) -> frozenset[EntityId]:
        """Return all ids that stand for this entity."""
        others = (each for each, target in self._merged_into.items() if target == entity_id)
        return frozenset((entity_id, *others))

    def find_by_name(self, name: str, candidates: Iterable[EntityId]) -> EntityId | None:
        """Return the candidate with this name, after merges."""
        wanted = name.strip().casefold()
        found = (each for each in candidates if wanted in self._names_by_id.get(each, ()))
        return next(map(self.resolve, found), None)

    def find_edge(self, memory: StoredBelief) -> Edge | None:
        """Return the edge that a triple, fact or preference states; None if it states none."""
        if memory.kind == "triple":
            return self._find_triple_edge(memory)
        owner, _, key = memory.key.rpartition(":")
        if memory.kind not in ATTRIBUTE_KINDS or memory.subject not in {"person", "other"}:
            return None
        first = self.find_by_name(owner, memory.entities) if owner else None
        if owner and first is None:
            return None
        if key == RELATION_KEY:
            return build_role_edge(memory.value, first, None)
        second = self.find_by_name(memory.value, memory.entities)
        if second is not None and key in RELATION_BY_KEY:
            return build_edge(RELATION_BY_KEY[key], first, second)
        return build_role_edge(key, second, first)

    def _find_triple_edge(self, memory: StoredBelief) -> Edge | None:
        relation = next((each for each in RELATION_TYPES if each == memory.key), None)
        ends = [self.resolve(each) for each in memory.entities]
        if relation is None or not ends:
            return None
        return build_edge(relation, None if memory.subject == "person" else ends[0], ends[-1])


def build_merge_map(entities: Iterable[Entity]) -> dict[EntityId, EntityId]:
    """Return the final entity of each merged entity."""
    into = {
        each.id: each.same_as
        for each in entities
        if each.status == "merged" and each.same_as is not None
    }
    return {each: _follow_merges(each, into) for each in into}


def _follow_merges(entity: EntityId, into: Mapping[EntityId, EntityId]) -> EntityId:
    seen: set[EntityId] = set()
    while entity in into and entity not in seen:
        seen.add(entity)
        entity = into[entity]
    return entity


ANIMATE_SUBJECT: Final[frozenset[RelationType]] = frozenset({"works_at", "lives_in"})
"""Relations whose subject is a living being, never a place or an organization."""


def is_valid_relation(relation: RelationType, first: EntityKind, second: EntityKind) -> bool:
    """Return whether these kinds can be related so: nobody is a town's sister or lives in a dog."""
    if relation in BETWEEN_PEOPLE:
        return not {"place", "org"} & {first, second}
    if relation in ANIMATE_SUBJECT and first in {"place", "org"}:
        return False
    if relation == "lives_in" and second == "org":
        return False
    return USUAL_TARGET_KIND.get(relation) not in {"place", "org"} or second not in ANIMATE


def _casefold_names(entity: Entity) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in (entity.name, *entity.aliases))
