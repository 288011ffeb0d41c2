"""What has it said to itself between talks? Of the last days, as long as that is kept."""

from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.app.believing.pondering import list_transcripts, transcript_named
from oldfriend.web.leafing import none_of_ours, read, written
from oldfriend.web.shapes.thinking import Thought, Ticks
from oldfriend.web.showing.thinking import thought_shape, tick_shape
from oldfriend.web.signing import Here, Me

router = APIRouter(prefix="/thinking", tags=["memory"])


@router.get("", summary="When it thought")
async def show_all(
    me: Me, room: Here,
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 50,
) -> Ticks:  # fmt: skip
    """Of the last 14 days, the last first: why, what it took, how much came of it."""
    async with room.house.db.reading() as tx:
        found = await list_transcripts(tx, me.person.id, now=room.house.clock())
    if cursor is not None:
        found = [each for each in found if (each.ran_at, each.id) < moment_in(cursor)]
    page = found[:limit]
    return Ticks(
        items=[tick_shape(each, zone=me.person.zone) for each in page],
        next=written([page[-1].ran_at, page[-1].id]) if len(found) > limit else None,
    )


def moment_in(cursor: str) -> tuple[int, str]:
    """The last time of thinking that somebody has read of. Raises Refused."""
    match read(cursor):
        case [int(ran_at), str(tick)]:
            return ran_at, tick
        case _:
            raise none_of_ours()


@router.get("/{tick}", summary="What it said to itself")
async def show_one(tick: str, me: Me, room: Here) -> Thought:
    """What it was shown, in brief, and what it answered."""
    async with room.house.db.reading() as tx:
        found = await list_transcripts(tx, me.person.id, now=room.house.clock())
    return thought_shape(transcript_named(found, tick), zone=me.person.zone)
