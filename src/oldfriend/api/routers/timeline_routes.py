"""Timeline routes: changes by day, differences between two days, tags, moods and reflections."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import (
    MAX_NUMBER,
    AsOfParam,
    CursorParam,
    LimitParam,
    build_cursor_error,
    decode_offset,
    decode_values,
    encode_values,
)
from oldfriend.beliefs.belief_pages import diff_beliefs
from oldfriend.beliefs.queries import get_transcript, list_transcripts, parse_as_of
from oldfriend.domain.clock import from_micros
from oldfriend.domain.memories import ObjectKind
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import count_changes_by_day
from oldfriend.memory.mood import list_moods
from oldfriend.memory.pagination import KIND_GROUPS, count_tags
from oldfriend.presenters.belief_schemas import TagsShape
from oldfriend.presenters.journal_schemas import (
    BetweenShape,
    DayShape,
    DaysShape,
    Thought,
    Ticks,
    TickShape,
    TurnedShape,
)
from oldfriend.presenters.state_schemas import FeltShape, Moods

MAX_TAGS: Final = 100
MAX_MOODS: Final = 400
KINDS: Final[tuple[ObjectKind, ...]] = tuple(
    kind for kinds in KIND_GROUPS for kind in kinds if kind != "entity"
)

router = APIRouter(prefix="/memories", tags=["memory"])


@router.get("/days", summary="On which days did much change?")
async def list_days(me: CurrentUser, hub: HubDep) -> DaysShape:
    """How much was decided on each day, by the clocks of the person."""
    async with hub.app.db.begin_read() as tx:
        changes = await count_changes_by_day(tx, me.person.id, zone=me.person.zone)
    return DaysShape(
        items=tuple(DayShape.from_domain(each) for each in changes),
        today=from_micros(hub.app.clock(), me.person.zone).date().isoformat(),
    )


@router.get("/tags", summary="Which tags are there?")
async def list_all_tags(me: CurrentUser, hub: HubDep) -> TagsShape:
    """Of what is believed now, the most frequent first."""
    async with hub.app.db.begin_read() as tx:
        tags = await count_tags(tx, me.person.id)
    return TagsShape(items=dict([*tags.items()][:MAX_TAGS]))


@router.get("/moods", summary="How it felt over time")
async def list_felt(me: CurrentUser, hub: HubDep, as_of: AsOfParam = None) -> Moods:
    """How talks have left the companion, as far as their readings tell."""
    now = hub.app.clock()
    until = now if as_of is None else parse_as_of(as_of, me.person.zone, now=now)
    async with hub.app.db.begin_read() as tx:
        moods = await list_moods(tx, me.person.id, until=until, limit=MAX_MOODS)
    return Moods(items=tuple(FeltShape.from_domain(each, zone=me.person.zone) for each in moods))


@router.get("/difference", summary="What has changed between two days")
async def compare_days(
    me: CurrentUser,
    hub: HubDep,
    since: Annotated[str, Query(max_length=40, description="The earlier day, or a time.")],
    until: Annotated[str, Query(max_length=40, description="The later one.")],
    kind: Annotated[list[ObjectKind] | None, Query(description="Only such.")] = None,
    cursor: CursorParam = None,
    limit: LimitParam = 50,
) -> BetweenShape:
    """What is believed on the later day only, no longer, or otherwise; the newest first."""
    now = hub.app.clock()
    first, last = (parse_as_of(each, me.person.zone, now=now) for each in (since, until))
    async with hub.app.db.begin_read() as tx:
        found = await diff_beliefs(
            tx,
            me.person.id,
            since=min(first, last),
            until=max(first, last),
            kinds=kind or KINDS,
            before=None if cursor is None else decode_offset(cursor),
            limit=limit,
        )
        evidence = await list_object_evidence(
            tx, me.person.id, [each.change.object_id for each in found.changes]
        )
    return BetweenShape(
        items=tuple(
            TurnedShape.from_domain(
                each, evidence.get(each.change.object_id, ()), zone=me.person.zone
            )
            for each in found.changes
        ),
        counts=found.counts,
        next=None if found.next_cursor is None else encode_values([found.next_cursor]),
    )


reflections_router = APIRouter(prefix="/thinking", tags=["memory"])


@reflections_router.get("", summary="When it thought")
async def show_all(
    me: CurrentUser,
    hub: HubDep,
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 50,
) -> Ticks:
    """Of the last 14 days, the last first: why, what it took, how much came of it."""
    async with hub.app.db.begin_read() as tx:
        found = await list_transcripts(tx, me.person.id, now=hub.app.clock())
    if cursor is not None:
        found = [each for each in found if (each.ran_at, each.id) < decode_tick_cursor(cursor)]
    page = found[:limit]
    return Ticks(
        items=tuple(TickShape.from_domain(each, zone=me.person.zone) for each in page),
        next=encode_values([page[-1].ran_at, page[-1].id]) if len(found) > limit else None,
    )


def decode_tick_cursor(cursor: str) -> tuple[int, str]:
    """Decode time and id of a page's last reflection. Raises ApiError."""
    match decode_values(cursor):
        case [int(ran_at), str(tick)] if abs(ran_at) < MAX_NUMBER:
            return ran_at, tick
        case _:
            raise build_cursor_error()


@reflections_router.get("/{tick}", summary="What it said to itself")
async def show_one(tick: str, me: CurrentUser, hub: HubDep) -> Thought:
    """What it was shown, in brief, and what it answered."""
    async with hub.app.db.begin_read() as tx:
        found = await list_transcripts(tx, me.person.id, now=hub.app.clock())
    return Thought.from_domain(get_transcript(found, tick), zone=me.person.zone)
