"""When did much change in what is believed, what is different between two days, how did it feel?"""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from oldfriend.app.believing.leafing import between
from oldfriend.app.believing.looking import moment_named
from oldfriend.domain.clock import from_micros
from oldfriend.domain.memories import ObjectKind
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.leafing import GROUPS, list_tags
from oldfriend.memory.moods import list_moods
from oldfriend.memory.turning import list_turned
from oldfriend.web.leafing import number_at, written
from oldfriend.web.routes.memories import Cursor, Day, Limit
from oldfriend.web.shapes.memories import BetweenShape, DaysShape, ListedKind, Moods, TagsShape
from oldfriend.web.showing.memories import day_shape, felt_shape, turned_shape
from oldfriend.web.signing import Here, Me

MOST_TAGS: Final = 100
MOST_MOODS: Final = 400
KINDS: Final[tuple[ObjectKind, ...]] = tuple(
    kind for kinds in GROUPS for kind in kinds if kind != "entity"
)

router = APIRouter(prefix="/memories", tags=["memory"])


@router.get("/days", summary="On which days did much change?")
async def list_days(me: Me, room: Here) -> DaysShape:
    """How much was decided on each day, by the clocks of the person."""
    async with room.house.db.reading() as tx:
        turned = await list_turned(tx, me.person.id, zone=me.person.zone)
    return DaysShape(
        items=[day_shape(each) for each in turned],
        today=from_micros(room.house.clock(), me.person.zone).date().isoformat(),
    )


@router.get("/tags", summary="Which tags are there?")
async def list_all_tags(me: Me, room: Here) -> TagsShape:
    """Of what is believed now, the most frequent first."""
    async with room.house.db.reading() as tx:
        tags = await list_tags(tx, me.person.id)
    return TagsShape(items=dict([*tags.items()][:MOST_TAGS]))


@router.get("/moods", summary="How it felt over time")
async def list_felt(me: Me, room: Here, as_of: Day = None) -> Moods:
    """How talks have left the companion, as far as their readings tell."""
    now = room.house.clock()
    until = now if as_of is None else moment_named(as_of, me.person.zone, now=now)
    async with room.house.db.reading() as tx:
        moods = await list_moods(tx, me.person.id, until=until, limit=MOST_MOODS)
    return Moods(items=[felt_shape(each, zone=me.person.zone) for each in moods])


@router.get("/difference", summary="What has changed between two days")
async def compare_days(
    me: Me, room: Here,
    since: Annotated[str, Query(max_length=40, description="The earlier day, or a time.")],
    until: Annotated[str, Query(max_length=40, description="The later one.")],
    kind: Annotated[list[ListedKind] | None, Query(description="Only such.")] = None,
    cursor: Cursor = None, limit: Limit = 50,
) -> BetweenShape:  # fmt: skip
    """What is believed on the later day only, no longer, or otherwise; the newest first."""
    now = room.house.clock()
    first, last = (moment_named(each, me.person.zone, now=now) for each in (since, until))
    async with room.house.db.reading() as tx:
        found = await between(
            tx, me.person.id, since=min(first, last), until=max(first, last),
            kinds=kind or KINDS, before=None if cursor is None else number_at(cursor), limit=limit,
        )  # fmt: skip
        words = await list_evidence_of(
            tx, me.person.id, [each.change.object for each in found.turned]
        )
    return BetweenShape(
        items=[
            turned_shape(each, words.get(each.change.object, ()), zone=me.person.zone)
            for each in found.turned
        ],
        counts=found.counts, next=None if found.next is None else written([found.next]),
    )  # fmt: skip
