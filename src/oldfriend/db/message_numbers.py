"""Message numbers: converts message ids to numbers in their person's log, and back."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.codec import Reference, pack_references, unpack_references
from oldfriend.domain.ids import PersonId

BATCH_SIZE: Final = 64
"""Constant, since each other number would be another statement to cache."""
PLACEHOLDERS: Final = ", ".join(f":each{place}" for place in range(BATCH_SIZE))


async def pack_ids(tx: Transaction, person: PersonId, ids: Iterable[str]) -> bytes:
    """Pack ids of messages and beliefs; their order is not kept."""
    unique_ids = list(dict.fromkeys(ids))
    numbers = await load_numbers(tx, person, unique_ids)
    return pack_references(numbers.get((each, 1), each) for each in unique_ids)


async def unpack_ids(tx: Transaction, person: PersonId, packed: bytes) -> tuple[str, ...]:
    """Return the packed ids, without those of messages that were deleted."""
    references = unpack_references(packed)
    versions = await load_versions(tx, person, references)
    return tuple(resolve_ids(references, {number: name for number, (name, _) in versions.items()}))


def resolve_ids(references: Iterable[Reference], ids: Mapping[int, str]) -> list[str]:
    """Return the ids of references, without those that are unknown."""
    found = (each if isinstance(each, str) else ids.get(each) for each in references)
    return [each for each in found if each is not None]


async def load_numbers(
    tx: Transaction, person: PersonId, message_ids: Sequence[str]
) -> dict[tuple[str, int], int]:
    """Load the number of each version of these messages, by id and version."""
    found: dict[tuple[str, int], int] = {}
    for params in iter_batch_params(message_ids):
        rows = await tx.rows(
            f"""SELECT id, version, seq FROM message WHERE id IN ({PLACEHOLDERS})
               AND CASE WHEN person = :person THEN 1 ELSE 0 END = 1""",
            person=person,
            **params,
        )
        found |= {(name, version): number for name, version, number in rows}
    return found


async def load_versions(
    tx: Transaction, person: PersonId, references: Collection[Reference]
) -> dict[int, tuple[str, int]]:
    """Load the id and version of the message version behind each number."""
    found: dict[int, tuple[str, int]] = {}
    for params in iter_batch_params([each for each in references if isinstance(each, int)]):
        rows = await tx.rows(
            "SELECT seq, id, version FROM message WHERE person = :person AND seq IN "
            f"({PLACEHOLDERS})",
            person=person,
            **params,
        )
        found |= {number: (name, version) for number, name, version in rows}
    return found


async def load_all_numbers(tx: Transaction, person: PersonId) -> dict[int, tuple[str, int]]:
    """Load the id and version of all message versions of a person, by number."""
    rows = await tx.rows(
        "SELECT seq, id, version FROM message WHERE person = :person", person=person
    )
    return {number: (name, version) for number, name, version in rows}


def iter_batch_params(values: Sequence[str] | Sequence[int]) -> Iterator[dict[str, str | int]]:
    """Yield values as parameters in batches of constant size, padded with the last value."""
    for start in range(0, len(values), BATCH_SIZE):
        batch = values[start : start + BATCH_SIZE]
        yield {f"each{index}": batch[min(index, len(batch) - 1)] for index in range(BATCH_SIZE)}
