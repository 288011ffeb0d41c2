"""How is a reading taken back, or an import? What rested on it alone ends; nothing is inverted."""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.app.forming.tending import plan_tending
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Believed, Change
from oldfriend.domain.people import Person
from oldfriend.memory.batches import Undone
from oldfriend.memory.changes import list_changes_of
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import (
    Segment,
    find_last_read,
    find_segment_named,
    set_status,
)
from oldfriend.memory.settling import end_what_was_made
from oldfriend.memory.withdrawing import undo_consolidation
from oldfriend.transfer.importing import undo


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A reading that was taken back, and what was decided then of the beliefs that it touched."""

    segment: Segment  # as it was read
    ended: tuple[Believed, ...] = ()  # believed no more
    back: tuple[Believed, ...] = ()  # holds again as before
    changed: tuple[Believed, ...] = ()  # stays, and says less


async def undo_reading(house: House, person: PersonId, name: str | None) -> TakenBack:
    """Take back what was read in a segment (None: the last).

    It is not read again by itself. Raises NotFound, InvalidInput.
    """
    now = house.clock()
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        segment = await named(tx, person, name)
        touched = await undo_consolidation(tx, person, segment.id, now=now)
        touched += await end_what_was_made(tx, person, now=now)
        await set_status(tx, segment, "taken back", now=now)
        last = [(await list_changes_of(tx, person, each))[-1] for each in dict.fromkeys(touched)]
    return taken_back(segment, last)


def taken_back(segment: Segment, last: Sequence[Change]) -> TakenBack:
    """What became of beliefs, by the last decision about each."""
    ended = [each.after for each in last if each.after.ended_at is not None]
    back = [each.after for each in last if each.op == "reopened" and each.after.ended_at is None]
    rest = [each.after for each in last if each.op != "reopened" and each.after.ended_at is None]
    return TakenBack(
        segment=segment, ended=tuple(ended), back=tuple(back), changed=tuple(rest)
    )  # fmt: skip


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
