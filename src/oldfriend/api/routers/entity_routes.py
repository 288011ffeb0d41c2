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
    build_recency_key,
    get_entity_details,
    list_entity_overviews,
    list_relation_edges,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import EntityKind, EntityStatus, RelationType
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_schemas import BeliefShape

MAX_NODES: Final = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquaintanceShape(Schema):
    """Somebody or something with a name, in short."""

    id: str
    name: str = field(metadata=describe(examples=["Ana"]))
    kind: EntityKind
    status: EntityStatus
    aliases: tuple[str, ...] = field(metadata=describe("Other names, as they were said."))
    description: str
    same_as: str | None = field(metadata=describe("Uncertain: perhaps the one with this id."))
    is_pinned: bool
    to_you: tuple[str, ...] = field(metadata=describe("How they are tied to the person, in words."))
    known: int = field(metadata=describe("So much is believed about them."))
    told_at: str | None = field(
        metadata=describe("When the newest words were said from which something of them is known.")
    )

    @classmethod
    def from_domain(cls, overview: EntityOverview, *, zone: str) -> Self:
        """Present an entity in short."""
        entity = overview.entity
        return cls(
            id=entity.id,
            name=entity.name,
            kind=entity.kind,
            status=entity.status,
            aliases=entity.aliases,
            description=entity.description,
            same_as=entity.same_as,
            is_pinned=entity.is_pinned,
            to_you=tuple(each.memory.text for each in overview.relations_to_person),
            known=overview.belief_count,
            told_at=format_time(overview.last_mentioned_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintances(Schema):
    """Everybody and everything that is known by name, those of whom it was told last first."""

    items: tuple[AcquaintanceShape, ...]
    total: int
    next: str | None = field(
        metadata=describe("The cursor of the next page; None: this is the last.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TieShape(Schema):
    """How somebody is tied to another."""

    other: str | None = field(metadata=describe("The id of the other; None: the person themself."))
    name: str | None
    belief: BeliefShape


@dataclass(frozen=True, slots=True, kw_only=True)
class PortraitShape(Schema):
    """Somebody or something, and everything believed about them."""

    about: AcquaintanceShape
    belief: BeliefShape = field(metadata=describe("That they are known at all, with the words."))
    ties: tuple[TieShape, ...]
    others: tuple[BeliefShape, ...] = field(
        metadata=describe("What else is believed, the worthiest first.")
    )

    @classmethod
    def from_domain(cls, details: EntityDetails, *, zone: str) -> Self:
        """Present an entity with everything believed about it."""
        return cls(
            about=AcquaintanceShape.from_domain(details.overview, zone=zone),
            belief=BeliefShape.from_domain(details.belief, zone=zone),
            ties=tuple(
                TieShape(
                    other=other,
                    name=None if other is None else details.entity_names.get(other),
                    belief=BeliefShape.from_domain(tie, zone=zone),
                )
                for tie, other in details.relations
            ),
            others=tuple(
                BeliefShape.from_domain(each, zone=zone) for each in details.other_beliefs
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShape(Schema):
    """A point of the graph."""

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
class BondShape(Schema):
    """A line of the graph."""

    first: str = field(metadata=describe("The id of one; empty: the person themself."))
    second: str
    tie: RelationType
    text: str
    memory: str = field(metadata=describe("The id of what says so."))

    @classmethod
    def from_domain(cls, edge: RelationEdge) -> Self:
        """Present a relation as a line of the graph."""
        return cls(
            first=edge.first or "",
            second=edge.second,
            tie=edge.relation,
            text=edge.known.memory.text,
            memory=edge.known.memory.id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphShape(Schema):
    """Who is tied to whom and what; those who are tied to nobody are left out."""

    nodes: tuple[NodeShape, ...]
    bonds: tuple[BondShape, ...]
    left_out: int = field(metadata=describe("So many more are known than can be drawn."))

    @classmethod
    def from_domain(
        cls, overviews: Sequence[EntityOverview], edges: Sequence[RelationEdge]
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
        return cls(
            nodes=tuple(NodeShape.from_domain(each) for each in drawn),
            bonds=tuple(
                BondShape.from_domain(edge)
                for edge in edges
                if edge.first in ids and edge.second in ids
            ),
            left_out=len(connected) - len(drawn),
        )


router = APIRouter(prefix="/people", tags=["people"])


@router.get("", summary="Whom and what it knows by name")
async def list_people(
    me: CurrentUser,
    hub: HubDep,
    kind: Annotated[list[EntityKind] | None, Query(description="Only such.")] = None,
    q: Annotated[str | None, Query(max_length=100, description="Part of a name.")] = None,
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 100,
) -> Acquaintances:
    """Those of whom it was told last first."""
    async with hub.app.db.begin_read() as tx:
        overviews = await list_entity_overviews(tx, hub.app.index_cache, me.person.id)
    matching = [each for each in overviews if is_match(each, kind, q)]
    after = None if cursor is None else decode_rank_cursor(cursor)
    remaining = [each for each in matching if after is None or build_recency_key(each) > after]
    page = remaining[:limit]
    return Acquaintances(
        items=tuple(AcquaintanceShape.from_domain(each, zone=me.person.zone) for each in page),
        total=len(matching),
        next=encode_values([*build_recency_key(page[-1])]) if len(remaining) > limit else None,
    )


@router.get("/graph", summary="Who is tied to whom and what")
async def show_graph(me: CurrentUser, hub: HubDep) -> GraphShape:
    """Those with the most ties; what holds no longer is left out."""
    async with hub.app.db.begin_read() as tx:
        overviews = await list_entity_overviews(tx, hub.app.index_cache, me.person.id)
        return GraphShape.from_domain(
            overviews, await list_relation_edges(tx, hub.app.index_cache, me.person.id)
        )


@router.get("/{somebody}", summary="Somebody, or something with a name")
async def show_one(somebody: str, me: CurrentUser, hub: HubDep) -> PortraitShape:
    """Their ties, and what else is believed about them, each with its words."""
    async with hub.app.db.begin_read() as tx:
        portrait = await get_entity_details(tx, hub.app.index_cache, me.person.id, somebody)
    return PortraitShape.from_domain(portrait, zone=me.person.zone)


def decode_rank_cursor(cursor: str) -> tuple[Micros, EntityId]:
    """Decode the sort key of a page's last entity. Raises ApiError."""
    match decode_values(cursor):
        case [int(at), str(entity)] if abs(at) < MAX_NUMBER:
            return Micros(at), EntityId(ObjectId(entity))
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
