"""What may a person set right, and is it of the kind that they mean?

It does not know what they decide about it.
"""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Memory, Summary
from oldfriend.domain.sayings import saying
from oldfriend.memory.beliefs import nothing_with
from oldfriend.memory.changes import list_changes_of
from oldfriend.memory.people import lock_person

MADE_OF_WORDS: Final = saying(
    "made_of_words",
    "A summary is made of what was said. Correct a belief instead, or edit the message itself.",
)  # fmt: skip


async def one_of(tx: Transaction, person: PersonId, object_id: ObjectId) -> Memory | Entity:
    """What is to be decided about, under the person's lock. Raises NotFound, InvalidInput."""
    await lock_person(tx, person)
    history = await list_changes_of(tx, person, object_id)
    if not history:
        raise nothing_with(object_id)
    after = history[-1].after
    if isinstance(after, Summary):
        raise InvalidInput(MADE_OF_WORDS)
    return after


async def live_one(tx: Transaction, person: PersonId, object_id: ObjectId) -> Memory | Entity:
    """The same; it must be believed now. Raises NotFound, InvalidInput."""
    each = await one_of(tx, person, object_id)
    if each.ended_at is not None:
        raise InvalidInput(saying(
            "not_believed", f"That is not believed any more ({each.status}): nothing to change.",
        ))  # fmt: skip
    return each


async def memory(tx: Transaction, person: PersonId, object_id: MemoryId) -> Memory:
    """A memory, live or not. Raises InvalidInput."""
    each = await one_of(tx, person, object_id)
    if not isinstance(each, Memory):
        raise InvalidInput(
            saying("name_no_memory", f"{each.name} is a name, not a memory.", name=each.name)
        )
    return each


async def entity(tx: Transaction, person: PersonId, object_id: EntityId) -> Entity:
    """Somebody or something with a name, live or not. Raises InvalidInput."""
    each = await one_of(tx, person, object_id)
    if not isinstance(each, Entity):
        raise InvalidInput(
            saying("memory_no_name", f"“{each.text}” is a memory, not a name.", text=each.text)
        )
    return each


async def live_entity(tx: Transaction, person: PersonId, object_id: EntityId) -> Entity:
    """The same; it must be live. Raises InvalidInput."""
    each = await entity(tx, person, object_id)
    if each.ended_at is not None:
        raise InvalidInput(
            saying("not_believed", f"{each.name} is not live any more ({each.status}).")
        )
    return each
