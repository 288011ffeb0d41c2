"""Editable objects: loads what a person may correct, and checks its kind and state."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import QUOTE_KEY, Entity, StoredBelief, Summary
from oldfriend.memory.belief_views import build_memory_not_found_error
from oldfriend.memory.journal import list_object_journal
from oldfriend.memory.people import lock_person

MAX_BELIEF_LENGTH: Final = 500
FINAL_PUNCTUATION: Final = " .!。！"
"""May end a sentence or be left out."""


def extract_value(memory: StoredBelief, text: str) -> str:
    """Return the value in a new wording. Raises InvalidInput if it cannot be found.

    Of a fact in the person's own words, these are the value.
    """
    if memory.key == QUOTE_KEY:
        return text
    if not memory.value or memory.value.casefold() in text.casefold():
        return memory.value
    if (replacement := find_replaced_value(memory, text)) is not None:
        return replacement
    raise InvalidInput(
        localizable(
            "value_needed",
            f"Give the new value, too, in place of {memory.value!r}: --value VALUE, in a program "
            "value=",
            value=memory.value,
        )
    )


def resolve_value(memory: StoredBelief, text: str, value: str) -> str:
    """Return the value given with a new wording.

    Where the old value was passed along with a text that no longer contains it, as a form does,
    return what took its place in the text.
    """
    if not value or value != memory.value or value.casefold() in text.casefold():
        return value
    return find_replaced_value(memory, text) or value


def find_replaced_value(memory: StoredBelief, text: str) -> str | None:
    """Return what stands in place of the value, or None if other words differ as well."""
    before, found, after = memory.text.rstrip(FINAL_PUNCTUATION).partition(memory.value)
    text = text.rstrip(FINAL_PUNCTUATION)
    has_frame = found and len(text) > len(before) + len(after)
    if has_frame and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)].strip()
    return None


def validate_belief_text(text: str) -> str:
    """Return a text on one line.

    Raises InvalidInput if it is empty or longer than MAX_BELIEF_LENGTH.
    """
    flat = " ".join(text.split())
    if not flat or len(flat) > MAX_BELIEF_LENGTH:
        raise InvalidInput(
            localizable(
                "text_unfit",
                f"Use 1 to {MAX_BELIEF_LENGTH} characters, not {len(flat)}.",
                most=MAX_BELIEF_LENGTH,
                count=len(flat),
            )
        )
    return flat


SUMMARY_NOT_EDITABLE: Final = localizable(
    "made_of_words",
    "A summary is made from what was said. Correct a belief instead, or edit the message itself.",
)


async def get_editable(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> StoredBelief | Entity:
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
) -> StoredBelief | Entity:
    """Return a live memory or entity to be decided about and lock its person.

    Raises NotFound, and InvalidInput for one that has ended.
    """
    belief = await get_editable(tx, person, object_id)
    if belief.ended_at is not None:
        raise InvalidInput(
            localizable(
                "not_believed",
                f"That is no longer believed ({belief.status}), so there is nothing to change.",
            )
        )
    return belief


async def get_editable_memory(
    tx: Transaction, person: PersonId, object_id: MemoryId
) -> StoredBelief:
    """Return a memory, live or not, and lock its person.

    Raises NotFound, and InvalidInput for another kind of object.
    """
    belief = await get_editable(tx, person, object_id)
    if not isinstance(belief, StoredBelief):
        raise InvalidInput(
            localizable(
                "name_no_memory", f"{belief.name} is a name, not a belief.", name=belief.name
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
                "memory_no_name", f"“{belief.text}” is a belief, not a name.", text=belief.text
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
            localizable("not_believed", f"{entity.name} is no longer current ({entity.status}).")
        )
    return entity
