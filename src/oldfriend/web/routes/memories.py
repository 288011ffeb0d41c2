"""What is believed, from which words, since when; and how does the person set it right?"""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from oldfriend.app.believing import correcting
from oldfriend.app.believing.history import history_of
from oldfriend.app.believing.looking import (
    Belief,
    beliefs_at,
    find_belief,
    list_beliefs,
    list_names,
    list_told,
    moment_named,
    search_beliefs,
)
from oldfriend.app.forgetting import preview
from oldfriend.app.house import House
from oldfriend.domain.ids import short
from oldfriend.domain.memories import ObjectKind
from oldfriend.domain.people import Person
from oldfriend.memory.evidence import list_evidence_of
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.rows import kind_of
from oldfriend.memory.watching import list_standing
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.memories import (
    Beliefs,
    BeliefShape,
    Corrected,
    ForgetPreview,
    HistoryShape,
    Judged,
    Learned,
    ListedKind,
)
from oldfriend.web.showing.memories import belief_shape, decided_shape, step_shape, told
from oldfriend.web.signing import Here, Me

TIMELINE: Final[tuple[ObjectKind, ...]] = (
    "note", "event", "fact", "preference", "pattern", "commitment", "expectation", "thought",
    "opinion",
)  # fmt: skip
MOST_SHOWN: Final = 20

router = APIRouter(tags=["memory"])
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


@router.get("/learned", summary="What was learned lately")
async def list_learned(
    me: Me, room: Here,
    before: Annotated[int | None, Query(ge=1, description="`earlier` of a page.")] = None,
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


@router.get("/memories", summary="What is believed, now or on a day")
async def list_all(
    me: Me, room: Here,
    q: Annotated[str | None, Query(max_length=500, description="Words, or what they mean.")] = None,
    kind: Annotated[list[ListedKind] | None, Query(description="Only such.")] = None,
    as_of: Annotated[
        str | None, Query(max_length=40, description="A day or time: as it was believed then.")
    ] = None,
    start: Annotated[int, Query(ge=0, alias="cursor", description="`next` of a page.")] = 0,
    limit: Limit = 50,
) -> Beliefs:  # fmt: skip
    """All of it, oldest first; with ``q`` what fits best first."""
    found = await believed(room.house, me.person, q, as_of)
    wanted = [each for each in found if not kind or kind_of(each.what) in kind]
    page = wanted[start : start + limit]
    return Beliefs(
        items=[belief_shape(each, zone=me.person.zone) for each in page], total=len(wanted),
        next=str(start + limit) if start + limit < len(wanted) else None,
    )  # fmt: skip


@router.get("/memories/{memory}", summary="One thing that is believed")
async def show(memory: str, me: Me, room: Here) -> BeliefShape:
    """It, how it stands, and the words for and against it."""
    return await shown(room.house, me.person, memory)


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
async def judge(memory: str, judged: Judged, me: Me, room: Here) -> BeliefShape:
    """Decide about it; how it is then."""
    await correcting.judge(room.house, me.person.id, judged.verdict, memory)
    room.house.waking.ring()
    return await shown(room.house, me.person, memory)


@router.patch("/memories/{memory}", summary="Put it right")
async def put_right(memory: str, corrected: Corrected, me: Me, room: Here) -> BeliefShape:
    """Say how it is; what is so now."""
    changed = await correcting.edit(
        room.house, me.person.id, memory, corrected.text, value=corrected.value
    )
    room.house.waking.ring()
    return await shown(room.house, me.person, changed[0].id)


@router.get("/memories/{memory}/forget-preview", summary="What would be forgotten with it")
async def preview_forget(memory: str, me: Me, room: Here) -> ForgetPreview:
    """What goes, and how many replies stood on it; nothing is done."""
    seen = await preview(room.house, me.person.id, Wish(ids=(memory,)))
    foreseen = seen.foreseen
    goes = [each.text for each in foreseen.messages]
    goes += [told(each.after) for each in foreseen.objects.values()]
    return ForgetPreview(
        counts=dict(seen.counts), goes=goes[:MOST_SHOWN], replies=seen.receipts,
        command=f"oldfriend forget {short(memory)}",
    )  # fmt: skip


async def believed(house: House, person: Person, q: str | None, as_of: str | None) -> list[Belief]:
    """What is believed, of everything or of what some words ask for. Raises Refused."""
    if as_of is not None:
        if q is not None:
            raise Refused(422, "Not both", "Search what is believed now, or look at a day.")
        at = moment_named(as_of, person.zone, now=house.clock())
        async with house.db.reading() as tx:
            return await beliefs_at(tx, person.id, at)
    if q is not None and q.strip():
        return await search_beliefs(house, person, q)
    async with house.db.reading() as tx:
        return [
            *await list_beliefs(tx, person.id),
            *await list_names(tx, person.id),
            *[Belief(what=each) for each in await list_told(tx, person.id)],
        ]


async def shown(house: House, person: Person, memory: str) -> BeliefShape:
    """Something believed as it is now. Raises NotFound, InvalidInput."""
    async with house.db.reading() as tx:
        return belief_shape(await find_belief(tx, person.id, memory), zone=person.zone)
