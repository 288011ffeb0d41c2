"""How is a reading taken back, or an import? What rested on it alone ends; nothing is inverted."""

from oldfriend.app.forming.tending import plan_tending
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.batches import Undone
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import (
    Segment,
    find_last_read,
    find_segment_named,
    set_status,
)
from oldfriend.memory.withdrawing import undo_consolidation
from oldfriend.transfer.importing import undo


async def undo_reading(house: House, person: PersonId, name: str | None) -> list[ObjectId]:
    """Take back what was read in a segment (None: the last); what ended or holds again.

    It is not read again by itself. Raises NotFound.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        segment = await named(tx, person, name)
        touched = await undo_consolidation(tx, person, segment.id, now=now)
        await set_status(tx, segment, "taken back", now=now)
    return touched


async def named(tx: Transaction, person: PersonId, name: str | None) -> Segment:
    """The segment that is meant. Raises NotFound."""
    if name is None:
        segment = await find_last_read(tx, person)
    else:
        segment = await find_segment_named(tx, person, name)
    if segment is None:
        raise NotFound("There is no such reading. `oldfriend history ID` names the segments.")
    return segment


async def undo_import(house: House, person: Person, number: int) -> Undone:
    """Take an import out with all that was read in it; importing again brings it back.

    What else stands in the same conversations is read again. Raises NotFound.
    """
    now = house.clock()
    undone = await undo(house.db, person, number, now=now)
    if house.settings.memory.forms:
        async with house.db.writing() as tx:
            await plan_tending(tx, person.id, now=now, due_at=now)
    return undone
