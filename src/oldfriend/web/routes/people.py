"""Whom and what does it know by name, and how are they tied to each other?"""

from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.app.believing.acquaintances import (
    Acquaintance,
    list_acquaintances,
    list_bonds,
    portrait_of,
    rank,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId
from oldfriend.domain.memories import EntityKind
from oldfriend.web.leafing import none_of_ours, read, written
from oldfriend.web.shapes.people import Acquaintances, GraphShape, PortraitShape
from oldfriend.web.showing.people import acquaintance_shape, graph_shape, portrait_shape
from oldfriend.web.signing import Here, Me

router = APIRouter(prefix="/people", tags=["people"])


@router.get("", summary="Whom and what it knows by name")
async def list_people(
    me: Me, room: Here,
    kind: Annotated[list[EntityKind] | None, Query(description="Only such.")] = None,
    q: Annotated[str | None, Query(max_length=100, description="Part of a name.")] = None,
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 100,
) -> Acquaintances:  # fmt: skip
    """Those of whom it was told last first."""
    async with room.house.db.reading() as tx:
        everybody = await list_acquaintances(tx, room.house, me.person.id)
    wanted = [each for each in everybody if is_wanted(each, kind, q)]
    after = None if cursor is None else rank_at(cursor)
    left = [each for each in wanted if after is None or rank(each) > after]
    page = left[:limit]
    return Acquaintances(
        items=[acquaintance_shape(each, zone=me.person.zone) for each in page], total=len(wanted),
        next=written([*rank(page[-1])]) if len(left) > limit else None,
    )  # fmt: skip


@router.get("/graph", summary="Who is tied to whom and what")
async def show_graph(me: Me, room: Here) -> GraphShape:
    """Those with the most ties; what holds no longer is left out."""
    async with room.house.db.reading() as tx:
        everybody = await list_acquaintances(tx, room.house, me.person.id)
        return graph_shape(everybody, await list_bonds(tx, room.house, me.person.id))


@router.get("/{somebody}", summary="Somebody, or something with a name")
async def show_one(somebody: str, me: Me, room: Here) -> PortraitShape:
    """Their ties, and what else is believed about them, each with its words."""
    async with room.house.db.reading() as tx:
        portrait = await portrait_of(tx, room.house, me.person.id, somebody)
    return portrait_shape(portrait, zone=me.person.zone)


def rank_at(cursor: str) -> tuple[Micros, EntityId]:
    """Whom a page ends with, as its cursor names them. Raises Refused."""
    match read(cursor):
        case [int(at), str(entity)]:
            return Micros(at), EntityId(ObjectId(entity))
        case _:
            raise none_of_ours()


def is_wanted(one: Acquaintance, kinds: list[EntityKind] | None, part: str | None) -> bool:
    """Whether one is of these kinds, and called so."""
    names = (one.entity.name, *one.entity.aliases)
    return (not kinds or one.entity.kind in kinds) and (
        not part or any(part.casefold() in each.casefold() for each in names)
    )
