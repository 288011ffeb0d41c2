"""Entity routes: known people and things, and the graph of their relations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Self

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import MAX_NUMBER, build_cursor_error, decode_values, encode_values
from oldfriend.beliefs.entities import (
    EntityDetails,
    EntityOverview,
    RelationEdge,
    add_entity_roles,
    build_order_key,
    get_entity_details,
    list_entity_overviews,
    list_relation_edges,
)
from oldfriend.beliefs.entity_relations import EntityGroup
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import EntityKind, EntityStatus, MemoryState, RelationType
from oldfriend.domain.staleness import find_state_stale_since
from oldfriend.lang.language_pack import LANGUAGES
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_schemas import BeliefSchema
from oldfriend.presenters.belief_sentences import BeliefSentence
from oldfriend.presenters.dated_sentences import Audience, tell_as_of
from oldfriend.presenters.entity_phrases import phrase_relation

MAX_NODES: Final = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySchema(Schema):
    """A known person, place or thing, in brief."""

    id: str
    name: str = field(metadata=describe(examples=["Ana"]))
    kind: EntityKind
    status: EntityStatus
    aliases: tuple[str, ...] = field(metadata=describe("Other names, as people wrote them."))
    description: str
    same_as: str | None = field(metadata=describe("The id of an entity that may be the same one."))
    namesake: str | None = field(
        metadata=describe(
            "The id of somebody who by the name is likely the same, and not asked of."
        )
    )
    is_pinned: bool
    group: EntityGroup = field(metadata=describe("The part of the person's life it belongs to."))
    relation: str = field(
        metadata=describe(
            "What it is to the person, in words, of long ago with its time; else empty.",
            examples=["your brother"],
        )
    )
    home: str | None = field(
        metadata=describe("The name of the place where they live; null if told long ago.")
    )
    line: str = field(metadata=describe("The description, else the most important sentence."))
    known: int = field(metadata=describe("The number of beliefs about it."))
    told_at: str | None = field(
        metadata=describe(
            "When the latest message was sent from which something about it is known."
        )
    )

    @classmethod
    def from_domain(
        cls, overview: EntityOverview, *, zone: str, language: str, now: Micros
    ) -> Self:
        """Present an entity in short, its relation in words of a language."""
        entity, best, relation = overview.entity, overview.best_belief, overview.relation
        audience = Audience(language=language, zone=zone, now=now)
        home, tie = relation.home_belief, relation.tie
        is_home_current = home is not None and find_state_stale_since(home, now) is None
        is_old = tie is not None and find_state_stale_since(tie, now) is not None
        return cls(
            id=entity.id,
            name=entity.name,
            kind=entity.kind,
            status=entity.status,
            aliases=entity.aliases,
            description=entity.description,
            same_as=entity.same_as,
            namesake=overview.namesake,
            is_pinned=entity.is_pinned,
            group=relation.group,
            relation=tell_known(tie, audience).text
            if tie is not None and is_old
            else phrase_relation(relation, entity.kind, language),
            home=relation.home if is_home_current else None,
            line=entity.description or (tell_known(best, audience).text if best else ""),
            known=overview.belief_count,
            told_at=format_time(overview.last_mentioned_at, zone),
        )


def tell_known(known: MemoryState, audience: Audience) -> BeliefSentence:
    """Return a belief as a sentence to the person; a state of long ago with its time."""
    as_of = None if audience.now is None else find_state_stale_since(known, audience.now)
    return tell_as_of(known.memory, (), as_of=as_of, zone=audience.zone, language=audience.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPageSchema(Schema):
    """A page of entities by group, the most recently mentioned of each first."""

    items: tuple[EntitySchema, ...]
    total: int
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSchema(Schema):
    """A relation of an entity."""

    other: str | None = field(metadata=describe("The id of the other entity; null for the person."))
    name: str | None
    belief: BeliefSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDetailsSchema(Schema):
    """An entity, and everything believed about it."""

    about: EntitySchema
    belief: BeliefSchema = field(metadata=describe("The belief that it exists, with its evidence."))
    relations: tuple[RelationSchema, ...] = field(
        metadata=describe("Its relations to others, and to the person.")
    )
    ties: tuple[RelationSchema, ...] = field(
        metadata=describe("The former name of `relations`.", deprecated=True)
    )
    others: tuple[BeliefSchema, ...] = field(
        metadata=describe("Other beliefs, the most important first.")
    )

    @classmethod
    def from_domain(cls, details: EntityDetails, *, zone: str, language: str, now: Micros) -> Self:
        """Present an entity with everything believed about it, as it is told at a moment."""
        relations = tuple(
            RelationSchema(
                other=other,
                name=None if other is None else details.entity_names.get(other),
                belief=BeliefSchema.from_domain(relation, zone=zone, now=now, language=language),
            )
            for relation, other in details.relations
        )
        return cls(
            about=EntitySchema.from_domain(details.overview, zone=zone, language=language, now=now),
            belief=BeliefSchema.from_domain(details.belief, zone=zone, now=now, language=language),
            relations=relations,
            ties=relations,
            others=tuple(
                BeliefSchema.from_domain(each, zone=zone, now=now, language=language)
                for each in details.other_beliefs
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNodeSchema(Schema):
    """A node of the graph."""

    id: str
    name: str
    kind: EntityKind
    known: int

    @classmethod
    def from_domain(cls, overview: EntityOverview) -> Self:
        """Present an entity as a point of the graph."""
        entity = overview.entity
        return cls(id=entity.id, name=entity.name, kind=entity.kind, known=overview.belief_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdgeSchema(Schema):
    """An edge of the graph."""

    first: str = field(metadata=describe("The id of the first entity; empty for the person."))
    second: str
    relation: RelationType
    tie: RelationType = field(metadata=describe("The former name of `relation`.", deprecated=True))
    text: str
    text_language: str = field(metadata=describe("The language of the text."))
    memory: str = field(metadata=describe("The id of the belief that states it."))

    @classmethod
    def from_domain(cls, edge: RelationEdge, audience: Audience) -> Self:
        """Present a relation as a line of the graph, as it is told to an audience."""
        told = tell_known(edge.known, audience)
        return cls(
            first=edge.first or "",
            second=edge.second,
            relation=edge.relation,
            tie=edge.relation,
            text=told.text,
            text_language=told.language,
            memory=edge.known.memory.id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSchema(Schema):
    """The graph of relations; entities without any are left out."""

    nodes: tuple[GraphNodeSchema, ...]
    edges: tuple[GraphEdgeSchema, ...]
    bonds: tuple[GraphEdgeSchema, ...] = field(
        metadata=describe("The former name of `edges`.", deprecated=True)
    )
    left_out: int = field(metadata=describe("The number of entities that do not fit in the graph."))

    @classmethod
    def from_domain(
        cls,
        overviews: Sequence[EntityOverview],
        edges: Sequence[RelationEdge],
        audience: Audience,
    ) -> Self:
        """Present the relations of the MAX_NODES entities that have the most of them."""
        degrees = Counter(
            end for edge in edges for end in (edge.first, edge.second) if end is not None
        )
        connected = sorted(
            (each for each in overviews if degrees[each.entity.id]),
            key=lambda each: (-degrees[each.entity.id], -each.belief_count),
        )
        drawn = connected[:MAX_NODES]
        ids = {each.entity.id for each in drawn} | {None}
        shown = tuple(
            GraphEdgeSchema.from_domain(edge, audience)
            for edge in edges
            if edge.first in ids and edge.second in ids
        )
        return cls(
            nodes=tuple(GraphNodeSchema.from_domain(each) for each in drawn),
            edges=shown,
            bonds=shown,
            left_out=len(connected) - len(drawn),
        )


Language = Annotated[
    str | None,
    Query(
        max_length=8,
        description="The language of relations, as a code; else that of the person, or English.",
    ),
]

router = APIRouter(prefix="/people", tags=["people"])


@router.get("", summary="List known people, places and things")
async def list_known_entities(
    me: CurrentUser,
    hub: HubDep,
    kind: Annotated[
        list[EntityKind] | None, Query(description="Return only entities of these kinds.")
    ] = None,
    q: Annotated[str | None, Query(max_length=100, description="A part of the name.")] = None,
    cursor: Annotated[
        str | None, Query(max_length=400, description="The `next` cursor of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")] = 100,
    language: Language = None,
) -> EntityPageSchema:
    """List entities by group: family, friends, work, pets, places, others.

    The most recently mentioned of a group is first.
    """
    after = None if cursor is None else decode_order_cursor(cursor)
    index_cache, person = hub.app.index_cache, me.person
    async with hub.app.db.begin_read() as tx:
        overviews = await list_entity_overviews(tx, index_cache, person.id)
        matching = [each for each in overviews if is_match(each, kind, q)]
        remaining = [each for each in matching if after is None or build_order_key(each) > after]
        page = await add_entity_roles(tx, index_cache, person.id, remaining[:limit])
    spoken, now = choose_language(language, me), hub.app.clock()
    return EntityPageSchema(
        items=tuple(
            EntitySchema.from_domain(each, zone=person.zone, language=spoken, now=now)
            for each in page
        ),
        total=len(matching),
        next=encode_values([*build_order_key(page[-1])]) if len(remaining) > limit else None,
    )


@router.get("/graph", summary="Show the graph of relations")
async def show_entity_graph(me: CurrentUser, hub: HubDep) -> GraphSchema:
    """Return the entities with the most relations. Relations that no longer hold are left out."""
    async with hub.app.db.begin_read() as tx:
        overviews = await list_entity_overviews(tx, hub.app.index_cache, me.person.id)
        return GraphSchema.from_domain(
            overviews,
            await list_relation_edges(tx, hub.app.index_cache, me.person.id),
            Audience(language=me.language, zone=me.person.zone, now=hub.app.clock()),
        )


@router.get("/{somebody}", summary="Show an entity")
async def show_entity(
    somebody: str, me: CurrentUser, hub: HubDep, language: Language = None
) -> EntityDetailsSchema:
    """Return an entity's relations and what else is believed about it, with the evidence."""
    async with hub.app.db.begin_read() as tx:
        portrait = await get_entity_details(tx, hub.app.index_cache, me.person.id, somebody)
    spoken = choose_language(language, me)
    return EntityDetailsSchema.from_domain(
        portrait, zone=me.person.zone, language=spoken, now=hub.app.clock()
    )


def choose_language(asked: str | None, me: CurrentUser) -> str:
    """Return the registered language that is asked for, else the reader's, else English."""
    registered = (each for each in (asked, me.language) if each in LANGUAGES)
    return next(registered, None) or LANGUAGES[0]


def decode_order_cursor(cursor: str) -> tuple[int, Micros, EntityId]:
    """Decode the sort key of a page's last entity. Raises ApiError."""
    match decode_values(cursor):
        case [int(group), int(at), str(entity)] if max(abs(group), abs(at)) < MAX_NUMBER:
            return group, Micros(at), EntityId(ObjectId(entity))
        case _:
            raise build_cursor_error()


def is_match(
    acquaintance: EntityOverview, kinds: list[EntityKind] | None, name_part: str | None
) -> bool:
    """Tell whether an entity is of these kinds and has a name containing the text."""
    names = (acquaintance.entity.name, *acquaintance.entity.aliases)
    return (not kinds or acquaintance.entity.kind in kinds) and (
        not name_part or any(name_part.casefold() in each.casefold() for each in names)
    )
