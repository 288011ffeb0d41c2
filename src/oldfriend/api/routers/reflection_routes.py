"""Reflection routes: transcripts of recent reflections."""

from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import MAX_NUMBER, build_cursor_error, decode_values, encode_values
from oldfriend.beliefs.queries import get_transcript, list_transcripts
from oldfriend.presenters.journal_schemas import Thought, Ticks, TickShape

router = APIRouter(prefix="/thinking", tags=["memory"])


@router.get("", summary="When it thought")
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


@router.get("/{tick}", summary="What it said to itself")
async def show_one(tick: str, me: CurrentUser, hub: HubDep) -> Thought:
    """What it was shown, in brief, and what it answered."""
    async with hub.app.db.begin_read() as tx:
        found = await list_transcripts(tx, me.person.id, now=hub.app.clock())
    return Thought.from_domain(get_transcript(found, tick), zone=me.person.zone)
