"""What would be forgotten, and what was? Seen first, then done as it was seen, then proved."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Response

from oldfriend.app.believing.looking import find_belief
from oldfriend.app.bringing import Porter
from oldfriend.app.forgetting import Preview, forget, preview, span_between
from oldfriend.app.house import House
from oldfriend.domain.errors import InvalidInput, NotFound, StaleDecision
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Believed
from oldfriend.domain.sayings import saying
from oldfriend.memory.forgetting.auditing import list_audited
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.forgetting import ForgetForeseen, ForgetWish, Forgotten, ForgottenList
from oldfriend.web.showing.forgetting import before_shape, foreseen_shape, forgotten_shape
from oldfriend.web.signing import Here, Me

MOST_KEPT: Final = 50
NOTHING_NAMED: Final = saying(
    "nothing_named",
    "Name what is to be forgotten: ids, about whom, from when to when, which import, or "
    "everything.",
)  # fmt: skip

router = APIRouter(prefix="/forget", tags=["forget"])


@router.post("/preview", summary="What would be forgotten, and what follows from it")
async def look(wish: ForgetWish, me: Me, room: Here, response: Response) -> ForgetForeseen:
    """Nothing is done. The ETag names what was seen."""
    house = room.house
    shown = await preview(
        house, me.person.id, wish_from(wish, me.person.zone), orphan=wish.orphan
    )  # fmt: skip
    response.headers["ETag"] = f'"{shown.digest}"'
    return foreseen_shape(shown, await kept_by(house, me.person.id, shown))


@router.post("", summary="Forget it for good, as it was seen")
async def do(
    wish: ForgetWish, me: Me, room: Here,
    if_match: Annotated[str | None, Header(
        max_length=80, description="The ETag of the preview: another is not done (412).",
    )] = None,
) -> Forgotten:  # fmt: skip
    """Take it away with all that follows from it, and look for it once more everywhere.

    412: something else would go now than was seen. 428: nobody has looked.
    """
    if if_match is None:
        raise Refused(428, "Look first", "Ask for /forget/preview, and send its ETag as If-Match.")
    house, named = room.house, wish_from(wish, me.person.zone)
    if named.everything:
        await room.porter.pause_all(me.person.id, now=house.clock())
    try:
        report = await forget(
            house, me.person.id, named, orphan=wish.orphan,
            seen=if_match.removeprefix("W/").strip('"'),
        )  # fmt: skip
    except StaleDecision as error:
        raise Refused(412, "Something has changed meanwhile", error.says) from error
    if named.everything:
        await room.porter.put_all_away(me.person.id)
    await put_done_away(room.porter, me.person.id)
    return forgotten_shape(
        report, done_at=house.clock(), zone=me.person.zone, has_files=bool(house.db.files())
    )


async def put_done_away(porter: Porter, person: PersonId) -> None:
    """Name no more the files that were brought in: their names may tell of what was forgotten."""
    for each in porter.list_of(person):
        if each.stage == "done":
            await porter.put_away(each)


@router.get("/done", summary="What was forgotten before")
async def list_done(me: Me, room: Here) -> ForgottenList:
    """That it was, when, and how much; without a word of it."""
    async with room.house.db.reading() as tx:
        entries = await list_audited(tx, me.person.id)
    return ForgottenList(items=[before_shape(each, zone=me.person.zone) for each in entries[::-1]])


def wish_from(wish: ForgetWish, zone: str) -> Wish:
    """What is wanted. Raises InvalidInput where nothing was named."""
    first, last = wish.since or wish.until, wish.until or wish.since
    since, until = (None, None)
    if first is not None and last is not None:
        since, until = span_between(first, last, zone)
    named = Wish(
        ids=tuple(wish.ids), about=wish.about, since=since, until=until, batch=wish.batch,
        everything=wish.everything,
    )  # fmt: skip
    if named == Wish():
        raise InvalidInput(NOTHING_NAMED)
    return named


async def kept_by(house: House, person: PersonId, shown: Preview) -> dict[str, Believed]:
    """The first of the beliefs that stay with less evidence."""
    kept: dict[str, Believed] = {}
    async with house.db.reading() as tx:
        for each in [*shown.foreseen.keeping][:MOST_KEPT]:
            try:
                kept[each] = (await find_belief(tx, person, each)).what
            except NotFound:
                continue  # it was let go meanwhile
    return kept
