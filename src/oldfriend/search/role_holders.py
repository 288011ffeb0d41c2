"""Role holders: who is known to play which role for the person or for somebody near them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from oldfriend.domain.belief_kinds import ATTRIBUTE_KINDS
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, MemoryState, RelationType, StoredBelief
from oldfriend.domain.relations import (
    CONVERSE,
    PET_ROLES,
    RELATION_BY_ROLE,
    RELATION_KEY,
    EntityResolver,
    Node,
)
from oldfriend.search.name_index import NameIndex
from oldfriend.search.question_patterns import list_kin_words
from oldfriend.search.role_references import RoleReference, Span, find_role_in
from oldfriend.search.synonyms import ROLE_KEYS, list_role_keys

_FAMILY: Final[frozenset[RelationType]] = frozenset(
    {"partner_of", "parent_of", "child_of", "sibling_of", "owns"}
)
"""Relations whose bearers have a role although no belief says which of several."""
_VAGUE_ROLES: Final = frozenset(
    {"", "child", "children", "kids", "sibling", "siblings", "parents", "pet", "pets", "family"}
)
"""Roles that a more exact one may be meant by."""
_MAX_NAME: Final = 40
"""Characters; a longer value is no name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHolder:
    """Somebody who plays a role for somebody."""

    entity: Entity
    owner: Node  # for whom; None: for the person
    role: str = ""  # "": which one is not known
    relation: RelationType | None = None  # of the holder to the owner; "owns": a pet
    known: MemoryState | None = None  # the belief that says so


def build_named_only(name: str, person: PersonId) -> Entity:
    """Build an entity for whom is known by a name alone; it is never stored."""
    key = EntityId(ObjectId(f"named:{name.casefold()}"))
    return Entity(id=key, person=person, name=name, kind="other", learned_at=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledByRole:
    """Whom a text calls by a role, as far as that is known."""

    meant: tuple[tuple[RoleReference, tuple[Entity, ...]], ...] = ()  # of each reference
    asked_names: tuple[MemoryState, ...] = ()  # what says who it is whose name is asked for

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Those who are meant, and whose they are by name."""
        owners = (each.owner for each, _ in self.meant if isinstance(each.owner, Entity))
        passed = self.passed
        called = (entities for each, entities in self.meant if each.span not in passed)
        return unite((*owners, *chain(*called)))

    @property
    def unknown(self) -> list[RoleReference]:
        """References of which nobody is known to be meant."""
        return [reference for reference, entities in self.meant if not entities]

    @property
    def passed(self) -> frozenset[Span]:
        """Where references stand that are only on the way: the sister of "my sister's husband"."""
        return frozenset(
            reference.owner.span
            for reference, entities in self.meant
            if entities and isinstance(reference.owner, RoleReference)
        )

    @property
    def role_words(self) -> frozenset[str]:
        """The words, in all languages, for the roles that the text says whose they are."""
        explicit = (reference for reference, _ in self.meant if reference.is_explicit)
        return frozenset(
            word
            for reference in explicit
            for roles in reference.readings
            for word in (reference.word, *list_kin_words(roles))
        )


NOBODY_CALLED: Final = CalledByRole()


def unite(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return the entities, each once."""
    return tuple({each.id: each for each in entities}.values())


class RoleHolders:
    """Index of who plays which role; `names`: of those who play one for the person."""

    __slots__ = ("_exact_roles", "_holders", "names")

    def __init__(
        self,
        live: Iterable[MemoryState],
        entities: Sequence[Entity],
        resolver: EntityResolver,
        names: NameIndex,
    ) -> None:
        """Read the roles from the live beliefs and the descriptions of entities."""
        by_id = {each.id: each for each in entities}
        self._holders: list[RoleHolder] = []
        for known in live:
            read = [
                *_read_edge(known.memory, resolver, by_id),
                *_read_roles(known.memory, resolver, by_id, names),
            ]
            self._holders += [replace(each, known=known) for each in read]
        self._holders += _read_descriptions(entities)
        self.names = frozenset(
            each.entity.name.casefold() for each in self._holders if each.owner is None
        )
        self._holders += _list_ownerless_pets(entities, self._holders)
        self._exact_roles: dict[tuple[EntityId, Node], set[str]] = {}
        for each in self._holders:
            if each.role not in _VAGUE_ROLES:
                self._exact_roles.setdefault((each.entity.id, each.owner), set()).add(each.role)

    def resolve(self, references: Sequence[RoleReference]) -> CalledByRole:
        """Return whom references mean."""
        holders = {each.span: self._list_meant(each) for each in references}
        meant = [(each, unite(one.entity for one in holders[each.span])) for each in references]
        names = (one.known for each in references if each.asks_name for one in holders[each.span])
        return CalledByRole(meant=tuple(meant), asked_names=tuple(filter(None, names)))

    def _list_meant(self, reference: RoleReference) -> list[RoleHolder]:
        """List whom one reference means."""
        owner = reference.owner
        owners: list[Node]
        if isinstance(owner, RoleReference):
            owners = [each.entity.id for each in self._list_meant(owner)]
        else:
            owners = [None if owner is None else owner.id]
        for roles in reference.readings:
            found = [each for one in owners for each in self._list_in_role(roles, one)]
            if found:
                return found
        return []

    def _list_in_role(self, roles: Collection[str], owner: Node) -> list[RoleHolder]:
        of_owner = [each for each in self._holders if each.owner == owner]
        group = _VAGUE_ROLES if any(each not in _VAGUE_ROLES for each in roles) else frozenset()
        is_group = next(iter(roles)) in _VAGUE_ROLES
        exact = {*roles} if is_group else {*roles} - group
        found = [each for each in of_owner if each.role in exact]
        relations = {_get_relation(role) for role in roles} - {None}
        if is_group or not found:
            found += [
                each
                for each in of_owner
                if each.role in _VAGUE_ROLES
                and each.relation in _FAMILY
                and each.relation in relations
                and self._may_be(each, exact)
            ]
        return list({each.entity.id: each for each in reversed(found)}.values())[::-1]

    def _may_be(self, holder: RoleHolder, roles: Collection[str]) -> bool:
        """Tell whether nothing more exact than these roles is known of a holder."""
        exact = self._exact_roles.get((holder.entity.id, holder.owner), set())
        return not exact or not exact.isdisjoint(roles)


def _get_relation(role: str) -> RelationType | None:
    """Return the relation of who plays a role to the other; of several, that of the first."""
    if role in PET_ROLES:
        return "owns"
    one_of = (RELATION_BY_ROLE.get(each) for each in (role, *list_role_keys(role)))
    return next(filter(None, one_of), None)


def _read_edge(
    memory: StoredBelief, resolver: EntityResolver, by_id: dict[EntityId, Entity]
) -> Iterator[RoleHolder]:
    """Yield both ends of a triple as holders whose exact role is not told."""
    edge = resolver.find_edge(memory) if memory.kind == "triple" else None
    if edge is None:
        return
    pairs: list[tuple[RelationType, Node, Node]] = [(edge.relation, edge.first, edge.second)]
    if edge.relation == "owns":
        pairs = [("owns", edge.second, edge.first)]
    else:
        converse = CONVERSE.get(edge.relation, edge.relation)
        pairs.append((converse, edge.second, edge.first))
    for relation, holder, owner in pairs:
        entity = None if holder is None else by_id.get(holder)
        is_thing = relation == "owns" and entity is not None and entity.kind != "pet"
        if entity is not None and not is_thing:
            yield RoleHolder(entity=entity, owner=owner, relation=relation)


def _read_roles(
    memory: StoredBelief, resolver: EntityResolver, by_id: dict[EntityId, Entity], names: NameIndex
) -> Iterator[RoleHolder]:
    """Yield the holders that a fact names: by a relation, or as the value of a role."""
    prefix, _, bare = memory.key.rpartition(":")
    is_told = bare == RELATION_KEY or (bare in ROLE_KEYS and 0 < len(memory.value) <= _MAX_NAME)
    is_near = memory.kind in ATTRIBUTE_KINDS and memory.subject in {"person", "other"}
    if not (is_told and is_near):
        return
    owner_id = resolver.find_by_name(prefix, memory.entities) if prefix else None
    subject = None if owner_id is None else by_id.get(owner_id)
    if prefix and subject is None:
        named = names.list_named_entities(prefix)
        subject = named[0] if named else build_named_only(prefix, memory.person)
    if bare == RELATION_KEY:
        role = memory.value if memory.value in ROLE_KEYS else find_role_in(memory.value)
        if subject is not None and role:
            yield _build_holder(subject, None, role)
        return
    owner = None if subject is None else subject.id
    for each in names.list_named_entities(memory.value) or _build_lone(memory):
        if each.id != owner:
            yield _build_holder(each, owner, bare)


def _build_holder(entity: Entity, owner: Node, role: str) -> RoleHolder:
    return RoleHolder(entity=entity, owner=owner, role=role, relation=_get_relation(role))


def _build_lone(memory: StoredBelief) -> tuple[Entity, ...]:
    """Return whom a capitalized value of one word names, though nothing else is known of them."""
    is_name = memory.value[:1].isupper() and " " not in memory.value.strip()
    return (build_named_only(memory.value.strip(), memory.person),) if is_name else ()


def _list_ownerless_pets(
    entities: Sequence[Entity], holders: Sequence[RoleHolder]
) -> list[RoleHolder]:
    """List the pets of which nobody has said whose they are as the person's."""
    owned = {each.entity.id for each in holders}
    pets = (each for each in entities if each.kind == "pet" and each.id not in owned)
    return [RoleHolder(entity=each, owner=None, relation="owns") for each in pets]


def _read_descriptions(entities: Sequence[Entity]) -> Iterator[RoleHolder]:
    """Yield the holders by the roles for the person that descriptions begin with."""
    for entity in entities:
        if not entity.description or entity.kind not in {"person", "pet"}:
            continue
        others = [
            each for each in entities if each.id != entity.id and each.name in entity.description
        ]
        role = "" if others else find_role_in(entity.description[:_MAX_NAME])
        if role:
            yield _build_holder(entity, None, role)
