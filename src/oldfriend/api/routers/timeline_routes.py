"""Timeline routes: changes by day, differences between two days, tags, moods and reflections."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query

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
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.memories import ObjectKind
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import count_changes_by_day
from oldfriend.memory.mood import list_moods
from oldfriend.memory.pagination import KIND_GROUPS, count_said_by_day, count_tags
from oldfriend.presenters.belief_schemas import TagsSchema
from oldfriend.presenters.journal_schemas import (
    BeliefChangePageSchema,
    BeliefChangeSchema,
    DayCountsListSchema,
    DayCountsSchema,
    ReflectionDetailsSchema,
    ReflectionPageSchema,
    ReflectionSchema,
)
from oldfriend.presenters.state_schemas import MoodEntrySchema, MoodHistorySchema

MAX_TAGS: Final = 100
MAX_MOODS: Final = 400
MAX_COMPARED: Final = 100
KINDS: Final[tuple[ObjectKind, ...]] = tuple(
    kind for kinds in KIND_GROUPS for kind in kinds if kind != "entity"
)

router = APIRouter(prefix="/memories", tags=["memory"])


@router.get("/days", summary="Count changes for each day")
async def list_change_days(me: CurrentUser, hub: HubDep) -> DayCountsListSchema:
    """Return how many beliefs changed on each day, in the person's time zone."""
    async with hub.app.db.begin_read() as tx:
        changes = await count_changes_by_day(tx, me.person.id, zone=me.person.zone)
    return DayCountsListSchema(
        items=tuple(DayCountsSchema.from_domain(each) for each in changes),
        today=from_micros(hub.app.clock(), me.person.zone).date().isoformat(),
    )


@router.get("/days/said", summary="Count what was first said on each day")
async def list_said_days(me: CurrentUser, hub: HubDep) -> DayCountsListSchema:
    """Return how much of what is known was first said on each day, in the person's time zone."""
    async with hub.app.db.begin_read() as tx:
        counts = await count_said_by_day(tx, me.person.id, zone=me.person.zone)
    return DayCountsListSchema(
        items=tuple(DayCountsSchema.from_counts(day, kinds) for day, kinds in counts.items()),
        today=from_micros(hub.app.clock(), me.person.zone).date().isoformat(),
    )


@router.get("/tags", summary="List tags")
async def list_used_tags(me: CurrentUser, hub: HubDep) -> TagsSchema:
    """Count the tags of current beliefs, the most frequent first."""
    async with hub.app.db.begin_read() as tx:
        tags = await count_tags(tx, me.person.id)
    return TagsSchema(items=dict([*tags.items()][:MAX_TAGS]))


@router.get("/moods", summary="List moods over time")
async def list_mood_history(
    me: CurrentUser, hub: HubDep, as_of: AsOfParam = None
) -> MoodHistorySchema:
    """List the companion's mood after each conversation, where it is known."""
    now = hub.app.clock()
    until = now if as_of is None else parse_as_of(as_of, me.person.zone, now=now)
    async with hub.app.db.begin_read() as tx:
        moods = await list_moods(tx, me.person.id, until=until, limit=MAX_MOODS)
    return MoodHistorySchema(
        items=tuple(MoodEntrySchema.from_domain(each, zone=me.person.zone) for each in moods)
    )


async def parse_days(
    me: CurrentUser,
    hub: HubDep,
    since: Annotated[str, Query(max_length=40, description="The earlier day or time.")],
    until: Annotated[str, Query(max_length=40, description="The later day or time.")],
) -> tuple[Micros, Micros]:
    """Parse two days that are to be compared, the earlier first. Raises InvalidInput."""
    now = hub.app.clock()
    first, last = (parse_as_of(each, me.person.zone, now=now) for each in (since, until))
    return min(first, last), max(first, last)


@router.get("/difference", summary="Compare two days")
async def compare_days(
    me: CurrentUser,
    hub: HubDep,
    days: Annotated[tuple[Micros, Micros], Depends(parse_days)],
    kind: Annotated[
        list[ObjectKind] | None, Query(description="Return only beliefs of these kinds.")
    ] = None,
    only: Annotated[
        list[str] | None,
        Query(
            alias="id", max_length=MAX_COMPARED, description="Return only beliefs with these ids."
        ),
    ] = None,
    cursor: CursorParam = None,
    limit: LimitParam = 50,
) -> BeliefChangePageSchema:
    """List the beliefs that are new, ended or different on the later day, the newest first."""
    async with hub.app.db.begin_read() as tx:
        found = await diff_beliefs(
            tx,
            me.person.id,
            days=days,
            kinds=kind or KINDS,
            before=None if cursor is None else decode_offset(cursor),
            limit=limit,
            only=None if only is None else frozenset(only),
        )
        evidence = await list_object_evidence(
            tx, me.person.id, [each.change.object_id for each in found.changes]
        )
    return BeliefChangePageSchema(
        items=tuple(
            BeliefChangeSchema.from_domain(
                each, evidence.get(each.change.object_id, ()), zone=me.person.zone
            )
            for each in found.changes
        ),
        counts=found.counts,
        next=None if found.next_cursor is None else encode_values([found.next_cursor]),
    )


reflections_router = APIRouter(prefix="/reflections", tags=["memory"])


@reflections_router.get("", summary="List reflections")
async def list_reflections(
    me: CurrentUser,
    hub: HubDep,
    cursor: Annotated[
        str | None, Query(max_length=400, description="The `next` cursor of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")] = 50,
) -> ReflectionPageSchema:
    """List the reflections of the last 14 days, the latest first, with reason, cost and results."""
    async with hub.app.db.begin_read() as tx:
        found = await list_transcripts(tx, me.person.id, now=hub.app.clock())
    if cursor is not None:
        found = [each for each in found if (each.ran_at, each.id) < decode_tick_cursor(cursor)]
    page = found[:limit]
    return ReflectionPageSchema(
        items=tuple(ReflectionSchema.from_domain(each, zone=me.person.zone) for each in page),
        next=encode_values([page[-1].ran_at, page[-1].id]) if len(found) > limit else None,
    )


def decode_tick_cursor(cursor: str) -> tuple[int, str]:
    """Decode time and id of a page's last reflection. Raises ApiError."""
    match decode_values(cursor):
        case [int(ran_at), str(tick)] if abs(ran_at) < MAX_NUMBER:
            return ran_at, tick
        case _:
            raise build_cursor_error()


@reflections_router.get("/{tick}", summary="Show a reflection")
async def show_reflection(tick: str, me: CurrentUser, hub: HubDep) -> ReflectionDetailsSchema:
    """Return what the model was shown, in brief, and what it answered."""
    async with hub.app.db.begin_read() as tx:
        found = await list_transcripts(tx, me.person.id, now=hub.app.clock())
    return ReflectionDetailsSchema.from_domain(get_transcript(found, tick), zone=me.person.zone)
