"""What have people decided about who is who? The only place that has core blocks written.

Each of these is called for an act of a person, and for nothing else (ACCEPTANCE I1).
"""

from dataclasses import replace

from oldfriend.app.house import House
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import PersonId
from oldfriend.domain.sayings import saying
from oldfriend.memory.core_blocks import (
    BlockName,
    CoreBlock,
    StyleAction,
    list_versions,
    text_of,
    write_block,
    write_style,
)
from oldfriend.memory.people import lock_person
from oldfriend.memory.suggestions import (
    Suggestion,
    get_pending,
    settle,
    take_away,
    with_it,
)
from oldfriend.prompts.starting import StartingPoint


async def write(
    house: House, person: PersonId, name: BlockName, text: str, *, base: int | None = None
) -> CoreBlock:
    """A block as a person has written it.

    ``base`` is the version that they have read, 0 for none (None: whichever). Raises InvalidInput,
    and StaleDecision where a newer one stands there.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        held = await list_versions(tx, person, name) if base is not None else []
        if base is not None and base != (held[-1].version if held else 0):
            raise StaleDecision(
                saying("block_newer", "What stands there now is newer. Read it again, then write.")
            )
        return await write_block(tx, person, name, text, now=house.clock())


async def restyle(house: House, person: PersonId, action: StyleAction, text: str) -> CoreBlock:
    """How the companion talks to a person, as they have decided. Raises InvalidInput."""
    async with house.db.writing() as tx:
        return await write_style(tx, person, action, text, now=house.clock())


async def start_from(house: House, person: PersonId, point: StartingPoint) -> list[CoreBlock]:
    """Persona and style as a starting point has them; what stood there stays as a version."""
    async with house.db.writing() as tx:
        now = house.clock()
        return [
            await write_block(tx, person, "persona", point.persona, now=now),
            await write_block(tx, person, "style", point.style, now=now),
        ]


async def accept(
    house: House, person: PersonId, name: str, *, words: str | None = None
) -> tuple[Suggestion, CoreBlock]:
    """Let a suggestion stand in its block, in its words or in the person's.

    Raises NotFound, and InvalidInput where it is decided, does not fit or is too long.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        each = await get_pending(tx, person, name)
        if words is not None and words.strip():
            each = replace(each, what=replace(each.what, text=words.strip()))
        text = with_it(await text_of(tx, person, each.what.block), each)
        block = await write_block(tx, person, each.what.block, text, now=house.clock())
        settled = await settle(tx, each, "accepted", now=house.clock(), version=block.version)
    return settled, block


async def decline(house: House, person: PersonId, name: str) -> Suggestion:
    """Let a suggestion be; it does not come again. A draft goes, and may be drafted anew.

    Raises NotFound, InvalidInput.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        each = await get_pending(tx, person, name)
        if each.what.is_draft:
            await take_away(tx, each)
            return each
        return await settle(tx, each, "declined", now=house.clock())
