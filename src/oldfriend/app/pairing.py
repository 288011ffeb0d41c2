"""How does an address on a platform become somebody's? By a code, or because the owner allows it.

So does a group become one that the companion is part of.

All that follows from it is one transaction. Who was somebody else before is joined only where
nothing was said as them.
"""

import asyncio
from typing import Literal, TypeAlias

from oldfriend.app.house import House
from oldfriend.channels.arriving import Sender, Spot
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.groups import (
    be_in_group,
    be_out_of_group,
    find_former_group,
    find_group,
    refuse_group,
)
from oldfriend.memory.identities import (
    Code,
    has_told_anything,
    join_identity,
    list_codes,
    new_code,
    remove_person,
    take_identities,
    use_code,
    write_code,
)
from oldfriend.memory.people import (
    add_person,
    checked_name,
    ensure_owner,
    ensure_person,
    find_person,
    get_person,
    get_person_by_id,
    lock_person,
    set_language,
)
from oldfriend.prompts.phrasebook import SPOKEN

Joined: TypeAlias = Literal["now_known", "not_joined", "code_wrong"]
"""It is theirs now; it stays somebody else's, who has told something; the code is used up."""


async def show_code(house: House, name: str | None) -> tuple[Person, str]:
    """A new code for a person (None: the owner), who is made if new; and the person.

    Raises InvalidInput for a group.
    """
    now, zone = house.clock(), house.settings.zone
    async with house.db.writing() as tx:
        person = await ensure_owner(tx, now=now, zone=zone)
        if name is not None:
            person = await ensure_person(tx, name, now=now, zone=zone)
        await refuse_group(tx, person)
        return person, await code_for(tx, person.id, now=now)


async def show_code_of(house: House, person: Person) -> str:
    """A new code for somebody who is signed in, whatever they are called by now."""
    async with house.db.writing() as tx:
        return await code_for(tx, person.id, now=house.clock())


async def code_for(tx: Transaction, person: PersonId, *, now: Micros) -> str:
    """A new code for a person."""
    code = new_code()
    await write_code(tx, person, code, now=now)
    return code


async def find_code(
    house: House, channel: str, address: str, digits: str
) -> tuple[Code | None, bool]:
    """The code that these digits are, and whether there are any that they could have been."""
    async with house.db.reading() as tx:
        codes = await list_codes(tx, channel, address, now=house.clock())
    for code in codes:
        if await asyncio.to_thread(code.fits, digits):
            return code, True
    return None, bool(codes)


async def join(
    house: House, channel: str, sender: Sender, before: Person | None, code: Code
) -> Joined:
    """Make an address theirs whom a code was shown, and use the code up."""
    now = house.clock()
    async with house.db.writing() as tx:
        for each in sorted({code.person, before.id if before else code.person}):
            await lock_person(tx, each)
        is_other = before is not None and before.id != code.person
        if before is not None and is_other and await has_told_anything(tx, before.id):
            return "not_joined"
        if not await use_code(tx, code, now=now):
            return "code_wrong"
        await join_identity(tx, code.person, channel=channel, address=sender.address, now=now)
        await note_language(tx, await get_person_by_id(tx, code.person), sender)
        if before is not None and is_other:
            await remove_person(tx, before.id)
    return "now_known"


async def let_go(house: House, person: Person, channel: str) -> int:
    """Know somebody on a channel no more; how many addresses they had there."""
    async with house.db.writing() as tx:
        left = await be_out_of_group(tx, person.id, channel)
        return left + await take_identities(tx, person.id, channel)


async def make_person(house: House, channel: str, sender: Sender) -> Person:
    """Somebody new, by the name that the platform gives, at an address that the owner allows."""
    now, zone = house.clock(), house.settings.zone
    async with house.db.writing() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        name = await free_name(tx, channel, sender)
        await add_person(tx, name, is_owner=False, now=now, zone=zone)
        person = await get_person(tx, name)
        await join_identity(tx, person.id, channel=channel, address=sender.address, now=now)
        await note_language(tx, person, sender)
        return await get_person_by_id(tx, person.id)


async def make_group(house: House, spot: Spot) -> Person:
    """The memory of a group that the owner lets us be part of; made if new."""
    now, zone = house.clock(), house.settings.zone
    place = {"channel": spot.channel, "address": spot.group}
    async with house.db.writing() as tx:
        group = await find_group(tx, **place) or await find_former_group(tx, **place)
        if group is None:
            await ensure_owner(tx, now=now, zone=zone)
            sender = Sender(address=spot.group, name=f"{spot.title} (group)")
            name = await free_name(tx, spot.channel, sender)
            await add_person(tx, name, is_owner=False, now=now, zone=zone)
            group = await get_person(tx, name)
        await be_in_group(tx, group.id, now=now, **place)
        return group


async def free_name(tx: Transaction, channel: str, sender: Sender) -> str:
    """A name that nobody has; nobody becomes somebody else by calling themselves so."""
    own = f"{channel} {sender.address}"
    try:
        name = checked_name(sender.name)
        if await find_person(tx, name) is None:
            return name
        return checked_name(f"{name} ({own})")
    except InvalidInput:
        return own


async def note_language(tx: Transaction, person: Person, sender: Sender) -> None:
    """Take over what the platform knows of somebody's language, where nothing is known of it."""
    if person.language is None and sender.language in SPOKEN:
        await set_language(tx, person.id, sender.language)
