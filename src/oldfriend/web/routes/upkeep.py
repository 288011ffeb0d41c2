"""How does the install do: what was spent, what was set aside, is all sound? For its owner."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from oldfriend.app.allowance import allowances
from oldfriend.app.doctor import examine
from oldfriend.domain.clock import from_micros, start_of_day
from oldfriend.ledger.spending import spent_by, spent_by_day, spent_since
from oldfriend.memory.people import list_people
from oldfriend.queues.lanes import BEFORE_ALL, drop_letter, list_letters, retry_letter
from oldfriend.web.leafing import none_of_ours
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.shapes.settings import FindingShape, Health, Letters, Spending
from oldfriend.web.showing.settings import (
    find_place,
    left_shape,
    letter_shape,
    place_from,
    sum_shape,
)
from oldfriend.web.signing import Here, Owner

router = APIRouter(tags=["upkeep"])


@router.get("/spending", summary="What models have cost")
async def show_spending(
    _: Owner, room: Here,
    days: Annotated[int, Query(ge=1, le=366, description="The last so many days.")] = 30,
) -> Spending:  # fmt: skip
    """By purpose, model and day; and what is left for today."""
    house = room.house
    now, zone = house.clock(), house.settings.zone
    since = start_of_day(now, zone, days_back=days - 1)
    async with house.db.reading() as tx:
        total = await spent_since(tx, since)
        purposes = await spent_by(tx, "purpose", since=since)
        models = await spent_by(tx, "model", since=since)
        by_day = await spent_by_day(tx, days, now=now, zone=zone)
        left = await allowances(tx, house.settings, now=now)
    return Spending(
        days=days, total=sum_shape("all", total),
        by_purpose=[sum_shape(*each) for each in purposes],
        by_model=[sum_shape(*each) for each in models],
        by_day=[sum_shape(from_micros(day, zone).strftime("%Y-%m-%d"), spent)
                for day, spent in by_day],
        left=[left_shape(each) for each in left],
    )  # fmt: skip


@router.get("/letters", summary="What waits, or was set aside")
async def show_letters(
    me: Owner, room: Here,
    parked: Annotated[bool, Query(description="Only what was set aside.")] = True,
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 50,
) -> Letters:  # fmt: skip
    """Of everybody, without a word of what it says."""
    after = BEFORE_ALL if cursor is None else find_place(cursor)
    if after is None:
        raise none_of_ours()
    async with room.house.db.reading() as tx:
        found = await list_letters(tx, parked=parked, after=after, most=limit + 1)
        names = {person.id: person.name for person in await list_people(tx)}
    items = [
        letter_shape(each, names.get(each.person) if each.person else None, zone=me.person.zone)
        for each in found[:limit]
    ]
    return Letters(items=items, next=items[-1].id if len(found) > limit else None)


@router.post("/letters/{letter}/retry", status_code=204, summary="Try a letter again")
async def retry(letter: str, _: Owner, room: Here) -> Response:
    """With all that belongs to it."""
    queue, lane, seq = place_from(letter)
    async with room.house.db.writing() as tx:
        await retry_letter(tx, queue, lane, seq, now=room.house.clock())
    return Response(status_code=204)


@router.delete("/letters/{letter}", status_code=204, summary="Give a letter up")
async def drop(letter: str, _: Owner, room: Here) -> Response:
    """With all that belongs to it. What was said stays in the memory, unanswered."""
    queue, lane, seq = place_from(letter)
    async with room.house.db.writing() as tx:
        await drop_letter(tx, queue, lane, seq, now=room.house.clock())
    return Response(status_code=204)


@router.get("/doctor", summary="Is everything sound?")
async def look(_: Owner, room: Here) -> Health:
    """Look at everything; what is not well says what to do. It may take a while."""
    findings = await examine(room.house)
    return Health(
        findings=[
            FindingShape(is_well=each.is_well, told=saying_shape(each.text)) for each in findings
        ]
    )
