"""Entity relations: what each known entity is to the person, directly or through somebody else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Evidence, MemoryState, RelationType, StoredBelief
from oldfriend.domain.relations import (
    CONVERSE,
    PET_ROLES,
    RELATION_BY_ROLE,
    RELATION_KEY,
    RELATION_TYPES,
    SYMMETRIC,
    Node,
)
from oldfriend.domain.unicode_text import fold_text
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.search.entity_graph import EntityGraph, Neighbor
from oldfriend.search.name_index import NameSpans
from oldfriend.search.role_references import find_role_in, find_role_references, list_role_words
from oldfriend.turn.role_names import find_told_names

EntityGroup = Literal["family", "friends", "work", "pets", "places", "others"]

GROUPS: Final[tuple[EntityGroup, ...]] = get_args(EntityGroup)
FAMILY: Final[frozenset[RelationType]] = frozenset(
    {"partner_of", "parent_of", "child_of", "sibling_of", "relative_of"}
)
AMONG_PEOPLE: Final[frozenset[RelationType]] = FAMILY | {"friend_of", "colleague_of", "knows"}
"""Relations that only people have to each other."""
WEAK: Final[frozenset[RelationType]] = frozenset({"visited", "plans_for"})
"""Relations that tell less of an entity than what it is to somebody else."""
UNNAMED: Final[frozenset[RelationType]] = frozenset({"likes", "dislikes", "prefers", "part_of"})
"""Relations that say nothing of what something is to somebody."""
DOUBTED: Final = frozenset({"tentative", "disputed"})
"""Statuses of relations that are not told as what somebody is."""
PARENT_ROLES: Final = ("mother", "father", "grandmother", "grandfather")
"""Roles by whose words only one's own are called: "Mum"."""
MAX_QUOTES: Final = 3
"""Quotes of a relation that are read for the role."""
_Step: TypeAlias = tuple[RelationType, Node, MemoryState]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """What an entity is to the person, or to somebody else whom they know."""

    group: EntityGroup
    relation: RelationType | None = None  # of places and things: what the other one does there
    other: str | None = None  # the name of the other one; None: the person
    role: str = ""  # in English, as far as it was told: "brother"
    word: str = ""  # the person's own word for the role …
    language: str = ""  # … and its language
    home: str | None = None  # where they live …
    home_belief: MemoryState | None = None  # … and the belief that states it
    tie: MemoryState | None = None  # the belief that states it


def relate_entities(
    entities: Sequence[Entity], graph: EntityGraph
) -> dict[EntityId, EntityRelation]:
    """Find what each entity is to the person, from the relations alone."""
    by_id = {each.id: each for each in entities}
    own_family = {
        node
        for neighbor in graph.list_neighbors(None, matches=_is_sure)
        if neighbor.edge.relation in FAMILY and (node := neighbor.node) is not None
    }
    return {each.id: _relate(each, graph, by_id, own_family) for each in entities}


async def add_roles(
    tx: Transaction,
    person: PersonId,
    entities: Sequence[Entity],
    relations: Mapping[EntityId, EntityRelation],
) -> dict[EntityId, EntityRelation]:
    """Add the roles that were told of some entities: "brother" to a sibling."""
    by_id = {each.id: each for each in entities}
    ties = [ObjectId(each.tie.memory.id) for each in relations.values() if each.tie is not None]
    evidence = await list_object_evidence(tx, person, list(dict.fromkeys(ties)))
    names = NameSpans(entities)
    return {
        id_: _add_role(relation, by_id[id_], names, evidence) for id_, relation in relations.items()
    }


def _relate(
    entity: Entity, graph: EntityGraph, by_id: Mapping[EntityId, Entity], family: set[EntityId]
) -> EntityRelation:
    neighbors = graph.list_neighbors(entity.id, matches=_is_sure)
    homes = (
        (by_id[node].name, each.known)
        for each in neighbors
        if (node := each.node) is not None and node in by_id
        if each.edge.relation == "lives_in" and each.edge.first == entity.id
    )
    home, home_belief = next(homes, (None, None))
    steps = [step for each in neighbors if (step := _step_to(entity, each)) is not None]
    best = min(steps, key=lambda step: _rank(step, family), default=None)
    if best is None:
        role = _find_name_role(entity)
        relation = RELATION_BY_ROLE.get(role)
        group = _group(entity, None, family)
        return EntityRelation(
            group=group, relation=relation, role=role, home=home, home_belief=home_belief
        )
    relation, node, tie = best
    named = None if node is None else by_id.get(node)
    return EntityRelation(
        group=_group(entity, best, family),
        relation=relation if node is None or named is not None else None,
        other=None if named is None else named.name,
        home=home,
        home_belief=home_belief,
        tie=tie,
    )


def _is_sure(known: MemoryState) -> bool:
    return known.memory.is_live and known.memory.status not in DOUBTED


def _step_to(entity: Entity, neighbor: Neighbor) -> _Step | None:
    """Return what an entity is to a neighbor; None if that is nothing to call it by."""
    edge = neighbor.edge
    if edge.relation in UNNAMED:
        return None
    if edge.first == entity.id and edge.relation not in SYMMETRIC | CONVERSE.keys():
        return None  # where somebody lives says nothing of who they are
    is_second = edge.first != entity.id
    relation = CONVERSE.get(edge.relation, edge.relation) if is_second else edge.relation
    is_living = relation in SYMMETRIC or relation in CONVERSE
    if is_living and entity.kind in {"place", "org"}:
        return None
    return relation, neighbor.node, neighbor.known


def _rank(step: _Step, family: set[EntityId]) -> tuple[bool, bool, bool, int]:
    relation, node, _ = step
    is_far = node is not None and node not in family
    return relation in WEAK, node is not None, is_far, RELATION_TYPES.index(relation)


def _group(entity: Entity, step: _Step | None, family: set[EntityId]) -> EntityGroup:
    by_kind: dict[str, EntityGroup] = {"pet": "pets", "place": "places", "org": "work"}
    if entity.kind in by_kind:
        return by_kind[entity.kind]
    if step is None:
        return "family" if _find_name_role(entity) else "others"
    relation, node, _ = step
    if relation in FAMILY:
        return "family" if node is None or node in family else "others"
    if node is not None:
        return "others"
    by_relation: dict[str, EntityGroup] = {"friend_of": "friends", "colleague_of": "work"}
    return by_relation.get(relation, "others")


def _add_role(
    known: EntityRelation,
    entity: Entity,
    names: NameSpans,
    evidence: Mapping[ObjectId, Sequence[Evidence]],
) -> EntityRelation:
    if known.tie is None or known.relation is None:
        return known
    memory = known.tie.memory
    quotes = evidence.get(ObjectId(memory.id), ())[:MAX_QUOTES]
    told = (
        _read_owned(memory, entity, names, known.other)
        if known.other is not None
        else _read_own(memory, entity, quotes)
    )
    for role, word in told:
        if _fits(role, known.relation):
            return replace(known, role=role, word=word, language=memory.language)
    role = _find_name_role(entity)
    return (
        replace(known, role=role) if known.other is None and _fits(role, known.relation) else known
    )


def _read_own(
    memory: StoredBelief, entity: Entity, quotes: Iterable[Evidence]
) -> Iterable[tuple[str, str]]:
    """Yield the roles for the person by which a belief or its words call an entity."""
    key = memory.key.rpartition(":")[2]
    if memory.kind != "triple" and key == RELATION_KEY:
        if memory.value in RELATION_BY_ROLE:  # an English word, whatever the language
            yield memory.value, ""
        else:
            yield find_role_in(memory.value), memory.value
    elif memory.kind != "triple":
        yield key, ""
    names = {name.casefold() for name in (entity.name, *entity.aliases)}
    names |= {name.split()[0] for name in names if name.split()}
    for each in quotes:
        if each.role != "person":
            continue
        for reference, name in find_told_names(each.quote, memory.language):
            if name.casefold() in names:
                yield reference.role, reference.word


def _read_owned(
    memory: StoredBelief, entity: Entity, names: NameSpans, other: str
) -> Iterable[tuple[str, str]]:
    """Yield the roles for somebody else: by a belief's text, or by the entity's description."""
    for text in (memory.text, entity.description):
        for reference in find_role_references(text, memory.language, names):
            if isinstance(reference.owner, Entity) and reference.owner.name == other:
                yield reference.role, ""


def _fits(role: str, relation: RelationType) -> bool:
    """Tell whether a role is one of those that stand in a relation."""
    return relation == "owns" if role in PET_ROLES else RELATION_BY_ROLE.get(role) == relation


def _find_name_role(entity: Entity) -> str:
    """Return whose parent's name an entity bears: "Mum" is the mother; "" if none."""
    if entity.kind != "person":
        return ""
    name = fold_text(entity.name)
    return next((each for each in PARENT_ROLES if name in list_role_words((each,))), "")
