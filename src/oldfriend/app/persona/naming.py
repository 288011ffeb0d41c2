"""How is a person called, and by whose clocks do they live? And how is the companion called?

As people say themselves.
"""

from dataclasses import replace

from oldfriend.app.house import House
from oldfriend.domain.clock import zone_named
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Companion, Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import (
    get_companion,
    get_person_by_id,
    lock_companion,
    lock_person,
    rename_companion,
    rename_person,
    set_zone,
)


async def change_person(
    house: House, person: PersonId, *, name: str | None = None, zone: str | None = None,
    base: Person | None = None,
) -> Person:  # fmt: skip
    """The person with another name or time zone; None leaves it.

    ``base`` is how they were when they were looked at (None: however). Raises InvalidInput,
    StaleDecision.
    """
    if zone is not None:
        zone_named(zone)
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        held = await get_person_by_id(tx, person)
        if base is not None and (held.name, held.zone) != (base.name, base.zone):
            raise StaleDecision(saying(
                "me_changed", "Your name or time zone has changed. Look again, then change it.",
            ))  # fmt: skip
        if name is not None and name != held.name:
            held = await rename_person(tx, held, name, platforms=house.platforms)
        if zone is not None:
            await set_zone(tx, person, zone, is_said=True)
            held = replace(held, zone=zone, has_said_zone=True)
    return held


async def name_companion(house: House, name: str, *, base: str | None = None) -> Companion:
    """The companion under another name, for everybody here; open pages hear of it.

    ``base`` is the name that was seen (None: whichever). Raises InvalidInput, StaleDecision.
    """
    async with house.db.writing() as tx:
        await lock_companion(tx)
        held = await get_companion(tx)
        if base is not None and held.name != base:
            raise StaleDecision(saying(
                "companion_renamed",
                "The companion was given another name. Look again, then change it.",
            ))  # fmt: skip
        renamed = await rename_companion(tx, held, name)
        await tx.wake()
    house.waking.ring()
    return renamed
