"""What is believed, from which words, since when; and how does the person set it right?"""

from collections.abc import Awaitable
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Response

from oldfriend.app.believing import correcting
from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.leafing import beliefs_named, find_by_words, leaf_through
from oldfriend.app.believing.looking import Belief, find_belief, moment_named
from oldfriend.domain.memories import ObjectKind, Status, Subject
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.leafing import Order, Wanted, count_kinds
from oldfriend.memory.watching import list_standing
from oldfriend.web.leafing import cursor_at, number_at, place_at, written
from oldfriend.web.matching import IfMatch, number_in, stale_is_412
from oldfriend.web.room import Room
from oldfriend.web.routes.chat import LAST_SEQ
from oldfriend.web.shapes.memories import (
    Beliefs,
    BeliefShape,
    Corrected,
    HistoryShape,
    Judged,
    Learned,
    ListedKind,
    Other,
)
from oldfriend.web.showing.memories import belief_shape, decided_shape, step_shape, tag_of
from oldfriend.web.signing import Here, Me

TIMELINE: Final[tuple[ObjectKind, ...]] = (
    "note", "event", "fact", "preference", "pattern", "commitment", "expectation", "thought",
    "opinion",
)  # fmt: skip
MOST_SHOWN: Final = 20

router = APIRouter(tags=["memory"])
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=400, description="`next` of a page.")]
Day = Annotated[
    str | None, Query(max_length=40, description="A day or time: as it was believed then.")
]


@router.get("/learned", summary="What was learned lately")
async def list_learned(
    me: Me, room: Here,
    before: Annotated[
        int | None, Query(ge=1, le=LAST_SEQ, description="`earlier` of a page.")
    ] = None,
    limit: Limit = 20,
) -> Learned:  # fmt: skip
    """What is believed now, what was decided last first, with its words."""
    async with room.house.db.reading() as tx:
        found = await list_standing(
            tx, me.person.id, kinds=TIMELINE, before=before, limit=limit + 1
        )
        words = await list_evidence_of(tx, me.person.id, [each.object for each in found])
    page = found[:limit]
    return Learned(
        items=[
            decided_shape(each, words.get(each.object, ()), zone=me.person.zone)
            for each in page if each.after.ended_at is None
        ],
        earlier=str(page[-1].seq) if len(found) > limit else None,
    )  # fmt: skip


async def wanted_of(  # noqa: PLR0913 -- each is a filter that can be named in the address
    me: Me, room: Here,
    kind: Annotated[list[ListedKind] | None, Query(description="Only such.")] = None,
    status: Annotated[list[Status] | None, Query(description="Only such; so no summaries.")] = None,
    subject: Annotated[Subject | None, Query(description="Whom it is about.")] = None,
    tag: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Only what has this tag.")
    ] = None,
    pinned: Annotated[bool, Query(description="Only what is pinned.")] = False,
    ended: Annotated[bool, Query(description="Also what is no longer believed.")] = False,
    sort: Annotated[Order, Query(description="In which order; by kind, each in its own.")] = "kind",
    as_of: Day = None,
) -> Wanted:  # fmt: skip
    """What is asked for. Raises InvalidInput."""
    now = room.house.clock()
    return Wanted(
        kinds=frozenset[ObjectKind](kind or ()), statuses=frozenset[Status](status or ()),
        subject=subject, tag=tag, is_pinned=pinned, with_ended=ended, order=sort,
        at=None if as_of is None else moment_named(as_of, me.person.zone, now=now),
    )  # fmt: skip


@router.get("/memories", summary="What is believed, now or on a day")
async def list_all(
    me: Me, room: Here, wanted: Annotated[Wanted, Depends(wanted_of)],
    q: Annotated[str | None, Query(max_length=500, description="Words, or what they mean.")] = None,
    cursor: Cursor = None, limit: Limit = 50,
) -> Beliefs:  # fmt: skip
    """A page of it, kind by kind; with ``q`` what fits best first."""
    if q is not None and q.strip():
        return await list_found(me, room, wanted, q.strip(), cursor, limit)
    after = None if cursor is None else place_at(cursor)
    async with room.house.db.reading() as tx:
        leaf = await leaf_through(tx, me.person.id, wanted, after=after, limit=limit)
        counts = await count_kinds(tx, me.person.id, replace(wanted, kinds=frozenset()))
    return page_of(
        leaf.beliefs, wanted, counts, zone=me.person.zone,
        following=None if leaf.next is None else cursor_at(leaf.next),
    )  # fmt: skip


async def list_found(
    me: Me, room: Here, wanted: Wanted, words: str, cursor: str | None, limit: int
) -> Beliefs:
    """A page of what fits some words, best first."""
    start = 0 if cursor is None else number_at(cursor)
    found = await find_by_words(room.house, me.person, words, wanted)
    page = found.ids[start : start + limit]
    async with room.house.db.reading() as tx:
        beliefs = await beliefs_named(tx, me.person.id, page, at=wanted.at)
    is_last = start + limit >= len(found.ids)
    return page_of(
        beliefs, wanted, found.counts, zone=me.person.zone,
        following=None if is_last else written([start + limit]),
    )  # fmt: skip


def page_of(
    beliefs: tuple[Belief, ...], wanted: Wanted, counts: dict[ObjectKind, int], *, zone: str,
    following: str | None,
) -> Beliefs:  # fmt: skip
    """A page, and how much there is."""
    total = sum(count for kind, count in counts.items() if not wanted.kinds or kind in wanted.kinds)
    return Beliefs(
        items=[belief_shape(each, zone=zone) for each in beliefs], total=total, kinds=counts,
        next=following,
    )  # fmt: skip


@router.get("/memories/{memory}", summary="One thing that is believed")
async def show(memory: str, me: Me, room: Here, response: Response) -> BeliefShape:
    """It, how it stands, and the words for and against it; its ETag is for If-Match."""
    return await shown(room, me, memory, response)


@router.get("/memories/{memory}/history", summary="How it came to be believed")
async def show_history(memory: str, me: Me, room: Here) -> HistoryShape:
    """Every decision about it, and about what it overtook or gave way to."""
    async with room.house.db.reading() as tx:
        history = await history_of(tx, me.person.id, memory)
    return HistoryShape(
        id=history.object,
        steps=[step_shape(each, zone=me.person.zone) for each in history.steps],
    )


@router.post("/memories/{memory}/verdict", summary="Confirm, reject, pin or unpin it")
async def judge(
    memory: str, judged: Judged, me: Me, room: Here, response: Response, if_match: IfMatch = None
) -> BeliefShape:
    """Decide about it; how it is then. Decided once more, it is no other."""
    base, person = number_in(if_match), me.person.id
    deed = correcting.judge(room.house, person, judged.verdict, memory, base=base)
    return await decided(deed, room, me, memory, response)


@router.patch("/memories/{memory}", summary="Put it right")
async def put_right(
    memory: str, corrected: Corrected, me: Me, room: Here, response: Response,
    if_match: IfMatch = None,
) -> BeliefShape:  # fmt: skip
    """Say how it is, or when it is due, all of it or nothing; what is so now."""
    base, zone = number_in(if_match), me.person.zone
    how = correcting.Correction(
        text=corrected.text, value=corrected.value,
        since=correcting.changed_on(corrected.since, zone),
        due=correcting.due_on(corrected.due, zone),
    )  # fmt: skip
    with stale_is_412():
        changed = await correcting.put_right(room.house, me.person.id, memory, how, base=base)
    room.house.waking.ring()
    return await shown(room, me, changed[0].id if changed else memory, response)


@router.post("/memories/{memory}/merge", summary="Two that say the same become one")
async def merge(
    memory: str, other: Other, me: Me, room: Here, response: Response, if_match: IfMatch = None
) -> BeliefShape:
    """The other joins it, with its words; it, as it is then. Asked again, it is refused (422)."""
    base, person = number_in(if_match), me.person.id
    deed = correcting.merge(room.house, person, memory, other.other, base=base)
    return await decided(deed, room, me, memory, response)


@router.post("/memories/{memory}/separate", summary="They are two, and stay so")
async def separate(
    memory: str, other: Other, me: Me, room: Here, response: Response, if_match: IfMatch = None
) -> BeliefShape:
    """One that was merged into the other stands on its own words again; it, as it is then."""
    base, person = number_in(if_match), me.person.id
    deed = correcting.separate(room.house, person, memory, other.other, base=base)
    return await decided(deed, room, me, memory, response)


async def decided(
    deed: Awaitable[object], room: Room, me: Me, memory: str, response: Response
) -> BeliefShape:
    """Have something decided about it; how it is then. Raises Refused where it was stale."""
    with stale_is_412():
        await deed
    room.house.waking.ring()
    return await shown(room, me, memory, response)


async def shown(room: Room, me: Me, memory: str, response: Response) -> BeliefShape:
    """Something believed as it is now, and its ETag. Raises NotFound, InvalidInput."""
    async with room.house.db.reading() as tx:
        found = await find_belief(tx, me.person.id, memory)
    if found.base is not None:
        response.headers["ETag"] = tag_of(found.base)
    return belief_shape(found, zone=me.person.zone)
