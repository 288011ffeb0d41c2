"""Who is the companion to somebody, and who are they to it? Written by people alone."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from oldfriend.app.house import House
from oldfriend.app.persona.approving import accept, decline, write
from oldfriend.app.persona.naming import name_companion
from oldfriend.app.persona.soul import FILE
from oldfriend.domain.people import Person
from oldfriend.memory.core_blocks import (
    BLOCKS,
    LONGEST_BLOCK,
    BlockName,
    CoreBlock,
    list_versions,
)
from oldfriend.memory.people import LONGEST_COMPANION_NAME, get_companion
from oldfriend.memory.soul import list_souls
from oldfriend.memory.suggestions import list_suggestions
from oldfriend.prompts.starting import starting_points
from oldfriend.web.matching import IfMatch, number_in, refuse_changed, stale_is_412, tag_of
from oldfriend.web.shapes.character import (
    BlockShape,
    BlockWritten,
    Character,
    CompanionNamed,
    Decision,
    SuggestionShape,
    Versions,
)
from oldfriend.web.showing.character import (
    block_shape,
    soul_shape,
    starting_shape,
    suggestion_shape,
    version_shapes,
)
from oldfriend.web.signing import Here, Me, Owner

router = APIRouter(prefix="/character", tags=["character"])


@router.get("", summary="Who is who")
async def show(me: Me, room: Here) -> Character:
    """The blocks as they read now, SOUL.md, from what one can start, and what is suggested."""
    async with room.house.db.reading() as tx:
        versions = {name: await list_versions(tx, me.person.id, name) for name in BLOCKS}
        companion = await get_companion(tx)
        souls = await list_souls(tx, companion.id)
        waiting = await list_suggestions(tx, me.person.id, status="pending")
    zone = me.person.zone
    soul_file = str(room.house.settings.data / FILE) if me.person.is_owner else None
    return Character(
        name=companion.name, longest_name=LONGEST_COMPANION_NAME,
        blocks=[block_shape(name, newest(versions[name]), zone=zone) for name in BLOCKS],
        longest=LONGEST_BLOCK, soul=soul_shape(souls[-1], zone=zone) if souls else None,
        soul_file=soul_file,
        starting=[starting_shape(each) for each in starting_points().values()],
        suggestions=[suggestion_shape(each, zone=zone) for each in waiting],
    )  # fmt: skip


@router.get("/name", summary="What the companion is called")
async def show_name(_: Me, room: Here, response: Response) -> CompanionNamed:
    """By everybody here; its `ETag` is for `If-Match`."""
    named = await named_now(room.house)
    response.headers["ETag"] = tag_of(named)
    return named


@router.put("/name", summary="Give the companion a name")
async def give_name(
    wanted: CompanionNamed, _: Owner, room: Here, response: Response, if_match: IfMatch = None
) -> CompanionNamed:
    """For everybody here, so the owner does; what it has said stays signed as it was."""
    before = await named_now(room.house)
    refuse_changed(if_match, tag_of(before))
    with stale_is_412():
        companion = await name_companion(
            room.house, wanted.name, base=None if if_match is None else before.name
        )
    named = CompanionNamed(name=companion.name)
    response.headers["ETag"] = tag_of(named)
    return named


@router.get("/{block}", summary="One block")
async def show_block(block: BlockName, me: Me, room: Here, response: Response) -> BlockShape:
    """As it reads now; its `ETag` is for `If-Match`."""
    held = await held_now(room.house, me.person, block)
    response.headers["ETag"] = tag(held)
    return block_shape(block, held, zone=me.person.zone)


@router.put("/{block}", summary="Write a block")
async def write_block(
    block: BlockName, written: BlockWritten, me: Me, room: Here, response: Response,
    if_match: IfMatch = None,
) -> BlockShape:  # fmt: skip
    """In your words; what stood there stays as a version."""
    base = number_in(if_match)
    with stale_is_412():
        made = await write(room.house, me.person.id, block, written.text, base=base)
    response.headers["ETag"] = tag(made)
    return block_shape(block, made, zone=me.person.zone)


@router.get("/{block}/versions", summary="How a block came to read as it does")
async def show_versions(
    block: BlockName, me: Me, room: Here,
    cursor: Annotated[int | None, Query(ge=1, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 20,
) -> Versions:  # fmt: skip
    """The newest first, each with what it changed."""
    async with room.house.db.reading() as tx:
        versions = await list_versions(tx, me.person.id, block)
    older = [each for each in versions if cursor is None or each.version < cursor]
    page = version_shapes(older, most=limit, zone=me.person.zone)
    return Versions(items=page, next=str(page[-1].version) if len(older) > limit else None)


@router.post("/suggestions/{suggestion}", summary="Decide about a suggestion")
async def decide(suggestion: str, decision: Decision, me: Me, room: Here) -> SuggestionShape:
    """Accept it, perhaps in other words, or decline it: then it does not come again."""
    house, person = room.house, me.person.id
    if decision.verdict == "accept":
        settled, _ = await accept(house, person, suggestion, words=decision.words)
    else:
        settled = await decline(house, person, suggestion)
    return suggestion_shape(settled, zone=me.person.zone)


async def named_now(house: House) -> CompanionNamed:
    """What the companion is called now."""
    async with house.db.reading() as tx:
        return CompanionNamed(name=(await get_companion(tx)).name)


async def held_now(house: House, person: Person, block: BlockName) -> CoreBlock | None:
    """A block as it reads now; None: nothing was ever written."""
    async with house.db.reading() as tx:
        return newest(await list_versions(tx, person.id, block))


def newest(versions: list[CoreBlock]) -> CoreBlock | None:
    """The last of them, if there is any."""
    return versions[-1] if versions else None


def tag(block: CoreBlock | None) -> str:
    """By what a version is known."""
    return f'"{0 if block is None else block.version}"'
