"""Table dump: stored tables as rows of plain values, for export and restore.

``db.stored_tables`` says which tables. The imprint of a message can be computed again, so only
whether it has one is dumped.
"""

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.db.message_numbers import load_numbers, load_versions, pack_ids, unpack_ids
from oldfriend.db.stored_table import ColumnKind, StoredTable, parse_columns
from oldfriend.db.stored_tables import EXPORTED_TABLES
from oldfriend.domain.codec import (
    PackedItem,
    PackedReason,
    join_details,
    pack_items,
    pack_sources,
    split_details,
    unpack_items,
    unpack_sources,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.search.document_terms import encode_document_terms

Record = Mapping[str, SqlValue]

PACKED_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {"receipt": "stood_on", "receipt_trace": "items", "model_call": "shown"}
)
"""The packed column of each table that has one."""


async def to_portable(tx: Transaction, table: str, record: Record) -> Record:
    """Return a row as an export has it: ids in place of message numbers, JSON in place of bytes."""
    if table not in PACKED_COLUMNS:
        return record
    column, person = PACKED_COLUMNS[table], PersonId(str(record["person"]))
    packed = record[column]
    assert isinstance(packed, bytes)
    kept = {name: value for name, value in record.items() if name != "terms"}
    if table == "model_call":
        unpacked: object = await unpack_ids(tx, person, packed)
    elif table == "receipt":
        unpacked = drop_deleted_items(await to_portable_items(tx, person, unpack_sources(packed)))
    else:
        items = await to_portable_items(tx, person, unpack_items(packed, str(record["terms"])))
        names = [str(each["object"]) for each in items]
        details = join_details("{}", str(record["details"]), names)
        kept["details"] = json.dumps(details, ensure_ascii=False)
        unpacked = drop_deleted_items(items)
    return {**kept, column: json.dumps(unpacked, ensure_ascii=False)}


def drop_deleted_items(items: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """Drop the items of messages that are gone."""
    return [each for each in items if each["object"]]


async def from_portable(tx: Transaction, table: str, record: Record) -> Record:
    """Return a row of an export as its table has it. Raises ValueError if it cannot be read."""
    if table not in PACKED_COLUMNS:
        return record
    column, person = PACKED_COLUMNS[table], PersonId(str(record["person"]))
    unpacked = json.loads(str(record[column]))
    if table == "model_call":
        return {**record, column: await pack_ids(tx, person, unpacked)}
    items = await parse_portable_items(tx, person, unpacked)
    names = [str(each["object"]) for each in unpacked]
    lasting, temporary = split_details(parse_details(record), names)
    if table == "receipt":
        return {**record, column: pack_sources(items), "details": lasting}
    packed, terms = pack_items(items)
    return {**record, column: packed, "terms": terms, "details": temporary}


def parse_details(record: Record) -> Mapping[str, JsonValue]:
    """Parse the details of a receipt or trace. Raises ValueError, TypeError."""
    details = json.loads(str(record["details"]))
    if not isinstance(details, dict):
        raise TypeError("the details of a reply cannot be read")
    return details


async def to_portable_items(
    tx: Transaction, person: PersonId, items: Sequence[PackedItem]
) -> list[dict[str, object]]:
    """Return items as an export has them; a message that is gone has an empty id."""
    versions = await load_versions(tx, person, [item.reference for item in items])
    portable: list[dict[str, object]] = []
    for item in items:
        reference = item.reference
        if isinstance(reference, int):
            name, version = versions.get(reference, ("", 0))
        else:
            name, version = reference, item.version
        portable.append(
            {
                "kind": "memory" if item.is_memory else "message",
                "object": name,
                "version": version,
                "used": item.is_used,
                "score": item.score,
                "why": [why._asdict() for why in item.reasons],
                "is_cited": item.is_cited,
            }
        )
    return portable


async def parse_portable_items(
    tx: Transaction, person: PersonId, portable: Iterable[Mapping[str, object]]
) -> list[PackedItem]:
    """Parse items of an export."""
    portable = list(portable)
    messages = [str(each["object"]) for each in portable if each["kind"] == "message"]
    numbers = await load_numbers(tx, person, messages)
    return [parse_portable_item(each, numbers) for each in portable]


def parse_portable_item(
    portable: Mapping[str, object], numbers: Mapping[tuple[str, int], int]
) -> PackedItem:
    """Parse one item of an export. Raises ValueError if it cannot be read."""
    match portable:
        case {
            "kind": str(kind),
            "object": str(name),
            "version": int(version),
            "used": used,
            "score": int(score) | float(score),
            "why": list(why),
            **more,
        }:
            number = numbers.get((name, version)) if kind == "message" else None
            cited = more.get("is_cited")
            return PackedItem(
                is_memory=kind == "memory",
                reference=name if number is None else number,
                version=version if number is None else 0,
                is_used=bool(used),
                score=score,
                reasons=tuple(
                    PackedReason(
                        each["cause"], tuple(each["words"]), each["name"], each["strength"]
                    )
                    for each in why
                ),
                is_cited=None if cited is None else bool(cited),
            )
    raise ValueError("something that a reply stood on cannot be read")


async def restore_trace_details(tx: Transaction, records: Iterable[Record]) -> None:
    """Write the traces of receipts, each given as a row of an export.

    In exports from before traces were separate, the details of both are in the receipt.
    """
    items, terms = pack_items([])
    details = [(record, split_details(parse_details(record), ())[1]) for record in records]
    await tx.run_many(
        """INSERT INTO receipt_trace (receipt, person, details, terms, items)
           VALUES (:id, :person, :details, :terms, :items)""",
        [
            {
                "id": record["id"],
                "person": record["person"],
                "details": temporary,
                "terms": terms,
                "items": items,
            }
            for record, temporary in details
            if temporary != "{}"
        ],
    )


async def restore_receipt_items(tx: Transaction, records: Iterable[Record]) -> None:
    """Add items to receipts, each given as a row of an export from before items were packed."""
    by_receipt: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    for record in records:
        item = {**record, "why": json.loads(str(record["why"]))}
        by_receipt.setdefault((str(record["person"]), str(record["receipt"])), []).append(item)
    for (person, receipt), portable in by_receipt.items():
        items = await parse_portable_items(tx, PersonId(person), portable)
        await append_receipt_items(tx, PersonId(person), receipt, items)


async def append_receipt_items(
    tx: Transaction, person: PersonId, receipt: str, items: Sequence[PackedItem]
) -> None:
    """Append items to a receipt and its trace."""
    row = await tx.row(
        "SELECT items, terms FROM receipt_trace WHERE person = :person AND receipt = :receipt",
        person=person,
        receipt=receipt,
    )
    all_items = [*(unpack_items(*row) if row is not None else ()), *items]
    packed, terms = pack_items(all_items)
    await tx.run(
        "UPDATE receipt SET stood_on = :stood_on WHERE person = :person AND id = :receipt",
        person=person,
        receipt=receipt,
        stood_on=pack_sources(all_items),
    )
    await tx.run(
        """INSERT INTO receipt_trace (receipt, person, details, terms, items)
           VALUES (:receipt, :person, '{}', :terms, :items)
           ON CONFLICT (receipt) DO UPDATE SET terms = excluded.terms, items = excluded.items""",
        receipt=receipt,
        person=person,
        terms=terms,
        items=packed,
    )


DumpColumnType = Literal["text", "text?", "int", "int?", "real", "real?"]  # with "?" it may be NULL

ROWS_PER_READ: Final = 1000
SEARCHABLE_COLUMN: Final = "findable"
"""Replaces a message's imprint: whether search may find the message."""
DUMP_TYPES: Final[Mapping[ColumnKind, Literal["text", "int", "real"]]] = MappingProxyType(
    {"int": "int", "real": "real", "terms": "int"}
)
"""The type of a column in an export; all others are text."""
NULLABLE_TYPES: Final[Mapping[Literal["text", "int", "real"], DumpColumnType]] = MappingProxyType(
    {"text": "text?", "int": "int?", "real": "real?"}
)

LEGACY_TABLES: Final = (
    StoredTable(
        name="receipt_item",
        key_columns=("receipt", "ordinal"),
        columns=parse_columns(
            """receipt text, ordinal int, person text, kind text, object text, version int,
            used int, score real, why text"""
        ),
    ),
)
"""Tables of older exports, whose rows are stored in other tables now."""

CONTENT_TABLES: Final = (
    "message",
    "change",
    "memory",
    "entity",
    "summary",
    "evidence",
    "segment",
    "receipt",
    "model_call",
    "tool_call",
)
"""Tables of messages and what came of them; all others are filled when a store is opened, or left
over by an undo.
"""


def list_dump_columns(table: StoredTable) -> dict[str, DumpColumnType]:
    """Return the columns of a table as an export has them, with their types."""
    columns: dict[str, DumpColumnType] = {}
    for name, column in table.columns.items():
        if name not in table.merged:
            kind = DUMP_TYPES.get(column.kind, "text")
            columns[get_dump_name(name, column.kind)] = (
                NULLABLE_TYPES[kind] if column.is_nullable else kind
            )
    return columns


def get_dump_name(name: str, kind: ColumnKind) -> str:
    """Return the name of a column in an export."""
    return SEARCHABLE_COLUMN if kind == "terms" else name


async def dump_rows(
    tx: Transaction, table: StoredTable, person: PersonId | None
) -> AsyncIterator[Record]:
    """Yield all rows of a table, of one person or of everybody, in the order of its key."""
    names = [get_dump_name(name, column.kind) for name, column in table.columns.items()]
    columns = ", ".join(
        f"CASE WHEN length({name}) > 0 THEN 1 ELSE 0 END" if column.kind == "terms" else f'"{name}"'
        for name, column in table.columns.items()
    )
    key = ", ".join(table.key_columns)
    parameters: dict[str, SqlValue] = {"limit": ROWS_PER_READ}
    owner_condition = ""
    if person is not None and table.person_column is not None:
        owner_condition, parameters["whose"] = f"AND {table.person_column} = :whose", person
    after = "1 = 1"
    while True:
        rows = await tx.rows(
            f"""SELECT {columns} FROM {table.name} WHERE {after} {owner_condition}
               ORDER BY {key} LIMIT :limit""",
            **parameters,
        )
        for row in rows:
            record = dict(zip(names, row, strict=True))
            yield await to_portable(tx, table.name, record)
        if len(rows) < ROWS_PER_READ:
            return
        last = dict(zip(names, rows[-1], strict=True))
        after = f"({key}) > ({', '.join(f':after_{name}' for name in table.key_columns)})"
        parameters |= {f"after_{name}": last[name] for name in table.key_columns}


async def is_store_empty(tx: Transaction) -> bool:
    """Whether the store has no messages and nothing derived from them."""
    rows = [await tx.row(f"SELECT 1 FROM {name} LIMIT 1") for name in CONTENT_TABLES]
    return not any(rows)


async def delete_dumped_tables(tx: Transaction) -> None:
    """Delete the rows of an empty store, before those of another are restored."""
    await tx.run("DELETE FROM job WHERE person IS NOT NULL")
    for table in reversed(EXPORTED_TABLES):
        await tx.run(f"DELETE FROM {table.name}")


async def restore_rows(tx: Transaction, table: StoredTable, records: Sequence[Record]) -> None:
    """Insert dumped rows. Raises ValueError if part of one cannot be read."""
    if table in LEGACY_TABLES:
        await restore_receipt_items(tx, records)
        return
    rows = [await from_portable(tx, table.name, record) for record in records]
    await tx.run_many(
        f"""INSERT INTO {table.name} ({", ".join(f'"{name}"' for name in table.columns)})
           VALUES ({", ".join(f":{name}" for name in table.columns)})""",
        [restore_imprint(row) if SEARCHABLE_COLUMN in row else row for row in rows],
    )
    if table.name == "receipt":
        await restore_trace_details(tx, records)


def restore_imprint(record: Record) -> Record:
    """Return a message's row with its imprint computed again."""
    text, language = str(record["text"]), str(record["language"])
    imprint = encode_document_terms(text, language=language) if record[SEARCHABLE_COLUMN] else b""
    kept = {name: value for name, value in record.items() if name != SEARCHABLE_COLUMN}
    return {**kept, "imprint": imprint}
