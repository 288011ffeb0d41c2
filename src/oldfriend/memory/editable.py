"""Editable objects: loads what a person may correct, and checks its kind and state."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Memory, Summary
from oldfriend.memory.beliefs import build_memory_not_found_error
from oldfriend.memory.journal import list_object_journal
from oldfriend.memory.people import lock_person

SUMMARY_NOT_EDITABLE: Final = localizable(
    "made_of_words",
    "A summary is made of what was said. Correct a belief instead, or edit the message itself.",
)


async def get_editable(tx: Transaction, person: PersonId, object_id: ObjectId) -> Memory | Entity:
    """Return the memory or entity to be decided about and lock its person.

    Raises NotFound, and InvalidInput for a summary.
    """
    await lock_person(tx, person)
    history = await list_object_journal(tx, person, object_id)
    if not history:
        raise build_memory_not_found_error(object_id)
    after = history[-1].after
    if isinstance(after, Summary):
        raise InvalidInput(SUMMARY_NOT_EDITABLE)
    return after


async def get_live_editable(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> Memory | Entity:
    """Return a live memory or entity to be decided about and lock its person.

    Raises NotFound, and InvalidInput for one that has ended.
    """
    belief = await get_editable(tx, person, object_id)
    if belief.ended_at is not None:
        raise InvalidInput(
            localizable(
                "not_believed",
                f"That is not believed any more ({belief.status}): nothing to change.",
            )
        )
    return belief


async def get_editable_memory(tx: Transaction, person: PersonId, object_id: MemoryId) -> Memory:
    """Return a memory, live or not, and lock its person.

    Raises NotFound, and InvalidInput for another kind of object.
    """
    belief = await get_editable(tx, person, object_id)
    if not isinstance(belief, Memory):
        raise InvalidInput(
            localizable(
                "name_no_memory", f"{belief.name} is a name, not a memory.", name=belief.name
            )
        )
    return belief


async def get_editable_entity(tx: Transaction, person: PersonId, object_id: EntityId) -> Entity:
    """Return an entity, live or not, and lock its person.

    Raises NotFound, and InvalidInput for another kind of object.
    """
    belief = await get_editable(tx, person, object_id)
    if not isinstance(belief, Entity):
        raise InvalidInput(
            localizable(
                "memory_no_name", f"“{belief.text}” is a memory, not a name.", text=belief.text
            )
        )
    return belief


async def get_live_entity(tx: Transaction, person: PersonId, object_id: EntityId) -> Entity:
    """Return a live entity and lock its person.

    Raises NotFound, and InvalidInput for another kind of object or one that has ended.
    """
    entity = await get_editable_entity(tx, person, object_id)
    if entity.ended_at is not None:
        raise InvalidInput(
            localizable("not_believed", f"{entity.name} is not live any more ({entity.status}).")
        )
    return entity
