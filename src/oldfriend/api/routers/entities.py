"""Entity routes: known people and things, and the graph of their relations."""

from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import MAX_NUMBER, build_cursor_error, decode_values, encode_values
from oldfriend.beliefs.entities import (
    EntityOverview,
    build_recency_key,
    get_entity_details,
    list_entity_overviews,
    list_relation_edges,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import EntityKind
from oldfriend.presenters.entities import (
    Acquaintances,
    AcquaintanceShape,
    GraphShape,
    PortraitShape,
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
