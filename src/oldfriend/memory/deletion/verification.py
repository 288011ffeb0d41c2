"""Deletion verification: searches every text column for what was deleted.

Two checks: no id of deleted content stands anywhere, and no run of words that stood only there.
Other people's data is theirs and is not searched.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from typing import Final

from oldfriend.db.database import TableInfo, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.db.table_copy import exclude_file_columns, iter_row_batches
from oldfriend.domain.codec import (
    PackedItem,
    Reference,
    unpack_items,
    unpack_references,
    unpack_sources,
)
from oldfriend.domain.ids import PersonId
from oldfriend.memory.deletion.pending_cleanups import ResidualFinding
from oldfriend.memory.deletion.text_fingerprints import TextFingerprints, extract_ids

CLEANUP_TABLE: Final = "cleanup"
"""The table that holds the fingerprints themselves."""
PACKED_DECODERS: Final[Mapping[tuple[str, str], Callable[[bytes], frozenset[Reference]]]] = {
    ("receipt", "stood_on"): lambda packed: collect_references(unpack_sources(packed)),
    ("receipt_trace", "items"): lambda packed: collect_references(unpack_items(packed)),
    ("model_call", "shown"): lambda packed: frozenset(unpack_references(packed)),
}
"""The columns that hold packed references, and their decoders; none of them holds words."""


async def list_residuals(
    tx: Transaction, person: PersonId, fingerprints: TextFingerprints
) -> tuple[ResidualFinding, ...]:
    """List where deleted content still stands; empty when it is gone."""
    found: Counter[tuple[str, str]] = Counter()
    for table in await tx.list_tables():
        if table.name == CLEANUP_TABLE:
            continue
        async for name, packed in iterate_packed_references(tx, table, person):
            if any(map(fingerprints.is_deleted_reference, packed)):
                found[f"{table.name}.{name}", "id"] += 1
        async for name, text in iterate_texts(tx, table, person):
            if fingerprints.has_deleted_id(text):
                found[f"{table.name}.{name}", "id"] += 1
            is_code = TABLES_BY_NAME[table.name].columns[name].kind == "code"
            if not is_code and fingerprints.has_deleted_text(text):
                found[f"{table.name}.{name}", "words"] += 1
    return tuple(
        ResidualFinding(place=place, what=what, count=count)
        for (place, what), count in sorted(found.items())
    )


async def iterate_packed_references(
    tx: Transaction, table: TableInfo, person: PersonId
) -> AsyncIterator[tuple[str, frozenset[Reference]]]:
    """Yield the references in each packed value of a person in a table, with the column name."""
    decoders = {name: decode for (of, name), decode in PACKED_DECODERS.items() if of == table.name}
    if not decoders:
        return
    async for rows in iter_row_batches(tx, table, owner=("person", person)):
        for row in rows:
            for name, value in zip(table.columns, row, strict=True):
                if name in decoders and value is not None:
                    yield name, decoders[name](value)


async def iterate_texts(
    tx: Transaction, table: TableInfo, person: PersonId
) -> AsyncIterator[tuple[str, str]]:
    """Yield every text in a table that belongs to this person or to nobody, with the column
    name.
    """
    owner = TABLES_BY_NAME[table.name].person_column
    owner_condition = None if owner is None else (owner, person)
    table = exclude_file_columns(table)
    async for rows in iter_row_batches(tx, table, owner=owner_condition):
        for row in rows:
            for name, value in zip(table.columns, row, strict=True):
                if isinstance(value, str):
                    yield name, value


def collect_references(items: Iterable[PackedItem]) -> frozenset[Reference]:
    """Return the messages and beliefs that some packed items refer to."""
    return frozenset(item.reference for item in items)


async def collect_shared_shingles(
    tx: Transaction, person: PersonId, shingles: frozenset[int], fingerprints: TextFingerprints
) -> frozenset[int]:
    """Return those shingles that also occur in other people's data."""
    found: set[int] = set()
    for table in map(exclude_file_columns, await tx.list_tables()):
        if "person" not in table.columns or table.name == CLEANUP_TABLE:
            continue
        person_index = table.columns.index("person")
        async for rows in iter_row_batches(tx, table):
            for row in rows:
                if row[person_index] not in {person, None}:
                    texts = [value for value in row if isinstance(value, str)]
                    found.update(*(shingles & fingerprints.find_shingles(text) for text in texts))
    return frozenset(found)


def has_any_id(text: str, ids: Collection[str]) -> bool:
    """Whether a text contains one of these ids."""
    return any(each in ids for each in extract_ids(text))
