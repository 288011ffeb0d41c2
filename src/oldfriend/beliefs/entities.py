"""Entity queries: the people, places and things known by name, and their relations. Read-only."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.beliefs.entity_relations import (
    GROUPS,
    EntityRelation,
    add_roles,
    relate_entities,
)
from oldfriend.beliefs.queries import BeliefDetails, attach_evidence, get_belief
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, MemoryState, RelationType
from oldfriend.domain.profile_attributes import sort_by_importance
from oldfriend.domain.relations import RELATION_KEY_SUFFIX, Node
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.resolution.entity_linking import NAME_PARTS
from oldfriend.memory.evidence import list_entity_mention_times, list_object_evidence
from oldfriend.memory.index_cache import IndexCache
from oldfriend.search import BeliefIndex
from oldfriend.search.entity_graph import Neighbor


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityOverview:
    """An entity in short."""

    entity: Entity
    belief_count: int  # beliefs about it, including relations
    last_mentioned_at: Micros | None  # time of the newest evidence
    relation: EntityRelation  # what it is to the person
    best_belief: MemoryState | None  # the most important one that is no relation
    namesake: EntityId | None  # somebody known for longer who may be the same person, by the name


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationEdge:
    """A relation in the entity graph, between two entities, or the person (None) and an entity."""

    relation: RelationType
    first: Node
    second: EntityId
    known: MemoryState


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDetails:
    """An entity with everything believed about it."""

    overview: EntityOverview
    belief: BeliefDetails
    relations: tuple[tuple[BeliefDetails, Node], ...]  # each with the node at its other end
    other_beliefs: tuple[BeliefDetails, ...]  # most important first
    entity_names: dict[EntityId, str]  # of the nodes at the other ends


async def list_entity_overviews(
    tx: Transaction, index_cache: IndexCache, person: PersonId
) -> list[EntityOverview]:
    """Return all entities by group, the most recently mentioned of each first; roles left out."""
    beliefs = await index_cache.get_belief_index(tx, person)
    mention_times = await list_entity_mention_times(tx, person)
    about: defaultdict[EntityId, list[MemoryState]] = defaultdict(list)
    for each in beliefs.live:
        for entity in set(each.memory.entities):
            about[entity].append(each)
    relations = relate_entities(beliefs.entities, beliefs.graph)
    namesakes = find_namesakes(beliefs.entities, relations)
    found = [
        EntityOverview(
            entity=each,
            belief_count=len(about[each.id]),
            last_mentioned_at=find_last_mentioned_at(mention_times.get(each.id), about[each.id]),
            relation=relations[each.id],
            best_belief=find_best_belief(about[each.id], beliefs.graph.list_neighbors(each.id)),
            namesake=namesakes.get(each.id),
        )
        for each in beliefs.entities
    ]
    return sorted(found, key=build_order_key)


def find_namesakes(
    entities: Sequence[Entity], relations: Mapping[EntityId, EntityRelation]
) -> dict[EntityId, EntityId]:
    """Return, of each person whose name and another's go together, who that is: "Tom", "Tom Baker".

    Only where there is no third, neither is in question or told apart, and what is known of both
    does not make them two: another relation to the person, or another part of their life.
    """
    people = sorted(
        (each for each in entities if each.kind == "person" and each.status == "confirmed"),
        key=lambda each: (each.learned_at, each.id),
    )
    pairs = list_name_pairs(people)
    met = Counter(each.id for pair in pairs for each in pair)
    told_apart = {each.same_as for each in entities if each.status == "separate"}
    return {
        newer.id: older.id
        for older, newer in pairs
        if met[older.id] == met[newer.id] == 1
        and not {older.id, newer.id} & told_apart
        and may_be_one(relations[older.id], relations[newer.id])
    }


def list_name_pairs(people: Sequence[Entity]) -> list[tuple[Entity, Entity]]:
    """Pair those of whom one has a name with all the parts of a name of the other, and more.

    Only people who share a part of a name are compared.
    """
    named = [
        [frozenset(NAME_PARTS.findall(fold_value(name))) for name in (each.name, *each.aliases)]
        for each in people
    ]
    holders: defaultdict[str, list[int]] = defaultdict(list)  # by name part, places of people
    pairs: list[tuple[Entity, Entity]] = []
    for place, names in enumerate(named):
        parts = frozenset[str]().union(*names)
        pairs += [
            (people[older], people[place])
            for older in sorted({each for part in parts for each in holders[part]})
            if any(one < other or other < one for one in named[older] for other in names)
        ]
        for part in parts:
            holders[part].append(place)
    return pairs


def may_be_one(one: EntityRelation, other: EntityRelation) -> bool:
    """Tell whether two relations to the person do not contradict each other."""
    groups = {one.group, other.group} - {"others"}
    told = {each.relation for each in (one, other) if each.relation not in {None, "knows"}}
    return len(groups) <= 1 and len(told) <= 1


def build_order_key(overview: EntityOverview) -> tuple[int, Micros, EntityId]:
    """Return the sort key: by group, then the most recently mentioned first."""
    group = GROUPS.index(overview.relation.group)
    return group, Micros(-(overview.last_mentioned_at or 0)), overview.entity.id


async def add_entity_roles(
    tx: Transaction,
    index_cache: IndexCache,
    person: PersonId,
    overviews: Sequence[EntityOverview],
) -> list[EntityOverview]:
    """Return overviews with the roles that were told: somebody is not any sibling but a brother."""
    beliefs = await index_cache.get_belief_index(tx, person)
    relations = {each.entity.id: each.relation for each in overviews}
    told = await add_roles(tx, person, beliefs.entities, relations)
    return [replace(each, relation=told[each.entity.id]) for each in overviews]


def find_best_belief(
    about: Sequence[MemoryState], relations: Sequence[Neighbor]
) -> MemoryState | None:
    """Return the most important belief about an entity that is more than a relation or a quote."""
    known = {each.known.memory.id for each in relations}
    told = [
        each
        for each in about
        if each.memory.id not in known
        and each.memory.kind != "triple"
        and not each.memory.key.endswith(RELATION_KEY_SUFFIX)
        and not each.memory.is_quoted_fact
    ]
    return next(iter(sort_by_importance(told)), None)


async def list_relation_edges(
    tx: Transaction, index_cache: IndexCache, person: PersonId
) -> list[RelationEdge]:
    """Return every current relation once."""
    beliefs = await index_cache.get_belief_index(tx, person)
    nodes: list[Node] = [None, *(each.id for each in beliefs.entities)]
    return [
        RelationEdge(
            relation=neighbor.edge.relation,
            first=neighbor.edge.first,
            second=neighbor.edge.second,
            known=neighbor.known,
        )
        for node in nodes
        for neighbor in beliefs.graph.list_neighbors(node)
        if neighbor.edge.first == node
    ]


async def get_entity_details(
    tx: Transaction, index_cache: IndexCache, person: PersonId, partial_id: str
) -> EntityDetails:
    """Return the details of the entity with a partial id. Raises NotFound, InvalidInput."""
    belief = await get_belief(tx, person, partial_id)
    if not isinstance(belief.content, Entity):
        raise NotFound(localizable("nobody_named", "That is not a name."))
    beliefs = await index_cache.get_belief_index(tx, person)
    neighbors = beliefs.graph.list_neighbors(belief.content.id)
    relation_ids = {each.known.memory.id for each in neighbors}
    others = sort_by_importance(
        [
            each
            for each in beliefs.list_about(belief.content.id)
            if each.memory.id not in relation_ids
        ]
    )
    evidence = await list_object_evidence(
        tx,
        person,
        [*(ObjectId(each) for each in relation_ids), *(each.memory.id for each in others)],
    )
    overview = build_entity_overview(belief.content, belief, beliefs)
    (overview,) = await add_entity_roles(tx, index_cache, person, [overview])
    return EntityDetails(
        overview=overview,
        belief=belief,
        relations=tuple(
            (attach_evidence(each.known, evidence.get(each.known.memory.id, ())), each.node)
            for each in neighbors
        ),
        other_beliefs=tuple(
            attach_evidence(each, evidence.get(each.memory.id, ())) for each in others
        ),
        entity_names=map_entity_names(beliefs, neighbors),
    )


def build_entity_overview(
    entity: Entity, belief: BeliefDetails, beliefs: BeliefIndex
) -> EntityOverview:
    """Build the overview of one entity."""
    about = [each for each in beliefs.live if entity.id in each.memory.entities]
    relations = relate_entities(beliefs.entities, beliefs.graph)
    return EntityOverview(
        entity=entity,
        last_mentioned_at=find_last_mentioned_at(find_last_evidence_at(belief), about),
        belief_count=len(about),
        relation=relations[entity.id],
        best_belief=find_best_belief(about, beliefs.graph.list_neighbors(entity.id)),
        namesake=find_namesakes(beliefs.entities, relations).get(entity.id),
    )


def map_entity_names(beliefs: BeliefIndex, relations: Sequence[Neighbor]) -> dict[EntityId, str]:
    """Return the names of the entities at the other ends of relations."""
    ends = {each.node for each in relations}
    return {each.id: each.name for each in beliefs.entities if each.id in ends}


def find_last_mentioned_at(
    last_said_at: Micros | None, about: Iterable[MemoryState]
) -> Micros | None:
    """Return the time of the newest evidence for an entity or a belief about it."""
    seen = (each.stats.last_seen for each in about)
    return max((at for at in (last_said_at, *seen) if at is not None), default=None)


def find_last_evidence_at(belief: BeliefDetails) -> Micros | None:
    """Return when the newest evidence of a belief was said; None if it has none."""
    return max((each.said_at for each in belief.evidence), default=None)
