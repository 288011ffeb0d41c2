"""What becomes of what somebody has edited in the store itself, in a text editor?

The text of a message is read again, as after any edit. The text of a belief is taken as the
person's own word, and written down as a correction. Anything else about a belief cannot be edited
there: what is believed is the fold of decisions, and they would not bear it out.
"""

from collections.abc import Mapping
from dataclasses import replace

from oldfriend.app.embedding import plan_embedding
from oldfriend.app.forming.tending import reopened
from oldfriend.app.house import House
from oldfriend.db.database import ByHand, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreDamaged
from oldfriend.domain.ids import MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Memory
from oldfriend.memory.changes import check_fold, folded, list_changes, rebuild
from oldfriend.memory.correcting import edit
from oldfriend.memory.people import list_people
from oldfriend.memory.views import read_views


async def take_over(house: House) -> None:
    """Take over what was edited by hand. Raises StoreDamaged for what cannot be; nothing is kept.

    Nothing happens where nothing was edited.
    """
    if house.db.by_hand is None:
        return
    async with house.db.writing() as tx:
        for person in await list_people(tx):
            await take_over_messages(tx, house, person.id, house.db.by_hand)
            await take_over_beliefs(tx, person.id, now=house.clock())


async def take_over_messages(
    tx: Transaction, house: House, person: PersonId, by_hand: ByHand
) -> None:  # fmt: skip
    """Have edited messages read and embedded anew."""
    edited = [MessageId(message) for whose, message in by_hand.messages if whose == person]
    if edited:
        await reopened(tx, house, person, edited, now=house.clock())
        await plan_embedding(tx, now=house.clock())


async def take_over_beliefs(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Write edited beliefs down as corrections. Raises StoreDamaged."""
    differing = await check_fold(tx, person)
    if not differing:
        return
    corrections = await corrections_in(tx, person, differing)
    await rebuild(tx, person)
    for each, text in corrections.items():
        await edit(tx, person, each, text, now=now)


async def corrections_in(
    tx: Transaction, person: PersonId, differing: list[ObjectId]
) -> Mapping[ObjectId, str]:
    """The new texts of beliefs that have nothing else new. Raises StoreDamaged."""
    decided = folded(await list_changes(tx, person))
    views = await read_views(tx, person)
    corrections: dict[ObjectId, str] = {}
    for each in differing:
        then = decided[each].after if each in decided else None
        now, _ = views.get(each, (None, 0))
        if not (isinstance(then, Memory) and isinstance(now, Memory)):
            raise not_to_be_edited(each)
        if replace(now, text=then.text) != then or then.ended_at is not None:
            raise not_to_be_edited(each)
        corrections[each] = now.text
    return corrections


def not_to_be_edited(each: ObjectId) -> StoreDamaged:
    """The error for an edit that the decisions do not bear out."""
    return StoreDamaged(
        f"What is known under the id {each} was edited in the file in a way that cannot be taken "
        "over: of what is believed now, only the text can be edited there. Nothing was changed. "
        "Take that edit back; then use: oldfriend memory, facts, entities"
    )
