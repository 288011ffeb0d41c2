"""Table dump: all stored tables as rows of plain values, for export and restore.

The one place that lists every table and column, and names the tables that are left out. The imprint
of a message can be computed again, so only whether it has one is dumped.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.portable import (
    Record,
    from_portable,
    restore_receipt_items,
    restore_trace_details,
    to_portable,
)
from oldfriend.search.document_terms import encode_document_terms

DumpColumnType = Literal["text", "text?", "int", "int?", "real"]  # with "?" it may be NULL

ROWS_PER_READ: Final = 1000
SEARCHABLE_COLUMN: Final = "findable"
"""Replaces a message's imprint: whether search may find the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpTable:
    """A table: its columns, its sort key, and the column that names the person."""

    name: str
    key_columns: tuple[str, ...]
    person_column: str | None
    columns: Mapping[str, DumpColumnType]
    defaults: Mapping[str, SqlValue] = field(
        default_factory=dict
    )  # for columns that older exports lack
    former_names: Mapping[str, str] = field(default_factory=dict)  # the names in older exports
    extra_columns: tuple[str, ...] = ()  # columns that an export merges into others


DUMPED_TABLES: Final = (
    DumpTable(
        name="companion",
        key_columns=("id",),
        person_column=None,
        columns={"id": "text", "name": "text", "created_at": "int", "introduced_at": "int?"},
    ),
    DumpTable(
        name="person",
        key_columns=("id",),
        person_column="id",
        columns={
            "id": "text",
            "name": "text",
            "is_owner": "int",
            "language": "text?",
            "zone": "text",
            "created_at": "int",
            "last_seq": "int",
            "tokens": "int",
            "last_change": "int",
            "rewritten": "int",
            "embedded": "int",
            "weighed": "int",
            "read_every": "int?",
            "has_said_zone": "int",
        },
        defaults={"weighed": 0, "read_every": None, "has_said_zone": 0},
    ),
    DumpTable(
        name="identity",
        key_columns=("channel", "address"),
        person_column="person",
        columns={"channel": "text", "address": "text", "person": "text", "created_at": "int"},
    ),
    DumpTable(
        name="chat",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "companion": "text",
            "channel": "text",
            "address": "text",
            "title": "text",
            "created_at": "int",
        },
    ),
    DumpTable(
        name="session",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "companion": "text",
            "chat": "text",
            "status": "text",
            "opened_at": "int",
            "closed_at": "int?",
            "close_trigger": "text?",
            "after_seq": "int",
            "after_tokens": "int",
            "external_id": "text?",
            "batch": "text?",
        },
    ),
    DumpTable(
        name="message",
        key_columns=("person", "seq"),
        person_column="person",
        columns={
            "id": "text",
            "version": "int",
            "person": "text",
            "seq": "int",
            "chat": "text",
            "session": "text",
            "role": "text",
            "author": "text",
            "speaker": "text",
            "trust": "text",
            "text": "text",
            "said_at": "int",
            "zone": "text",
            "language": "text",
            "tokens": "int",
            "turn": "text?",
            "external_id": "text?",
            "batch": "text?",
            "details": "text?",
            SEARCHABLE_COLUMN: "int",
            "written_at": "int",
            "replaced_at": "int?",
        },
    ),
    DumpTable(
        name="core_block",
        key_columns=("person", "name", "version"),
        person_column="person",
        columns={
            "person": "text",
            "name": "text",
            "version": "int",
            "text": "text",
            "written_at": "int",
        },
    ),
    DumpTable(
        name="soul",
        key_columns=("companion", "version"),
        person_column=None,
        columns={"companion": "text", "version": "int", "text": "text", "read_at": "int"},
    ),
    DumpTable(
        name="suggestion",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "block": "text",
            "text": "text",
            "replaces": "text",
            "reason": "text",
            "cites": "text",
            "author": "text",
            "status": "text",
            "made_at": "int",
            "decided_at": "int?",
            "version": "int?",
        },
    ),
    DumpTable(
        name="import_batch",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "number": "int",
            "file": "text",
            "format": "text",
            "sha256": "text",
            "me": "text",
            "zone": "text",
            "status": "text",
            "position": "int",
            "added": "int",
            "known": "int",
            "started_at": "int",
            "ended_at": "int?",
        },
    ),
    DumpTable(
        name="change",
        key_columns=("person", "seq"),
        person_column="person",
        columns={
            "person": "text",
            "seq": "int",
            "object": "text",
            "kind": "text",
            "op": "text",
            "v": "int",
            "learned_at": "int",
            "ended_at": "int?",
            "after": "text",
            "cause": "text",
            "author": "text",
            "model_call": "text?",
            "base": "int",
            "segment": "text?",
        },
        defaults={"segment": None},
    ),
    DumpTable(
        name="memory",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "kind": "text",
            "text": "text",
            "language": "text",
            "learned_at": "int",
            "ended_at": "int?",
            "change_seq": "int",
            "subject": "text",
            "trust": "text",
            "key": "text",
            "value": "text",
            "pattern": "text?",
            "impact": "int",
            "tags": "text",
            "relational": "text",
            "arousal": "int?",
            "cues": "text",
            "importance": "real",
            "status": "text",
            "happened_at": "int?",
            "happened_until": "int?",
            "holds_from": "int?",
            "holds_until": "int?",
            "due_at": "int?",
            "entities": "text",
            "relations": "text",
            "is_pinned": "int",
            "is_by_person": "int",
            "vouched_at": "int?",
            "strength": "real",
            "confidence": "real",
            "times_seen": "int",
            "first_seen": "int?",
            "last_seen": "int?",
            "weighed": "int",
        },
        defaults={
            "subject": "person",
            "trust": "person",
            "key": "",
            "value": "",
            "pattern": None,
            "impact": 0,
            "tags": "[]",
            "relational": "[]",
            "importance": 0.5,
            "arousal": None,
            "cues": "[]",
            "status": "active",
            "happened_at": None,
            "happened_until": None,
            "holds_from": None,
            "holds_until": None,
            "due_at": None,
            "entities": "[]",
            "relations": "[]",
            "is_pinned": 0,
            "is_by_person": 0,
            "vouched_at": None,
            "strength": 1.0,
            "confidence": 1.0,
            "times_seen": 0,
            "first_seen": None,
            "last_seen": None,
            "weighed": 0,
        },
    ),
    DumpTable(
        name="entity",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "name": "text",
            "kind": "text",
            "aliases": "text",
            "description": "text",
            "status": "text",
            "same_as": "text?",
            "is_by_person": "int",
            "is_pinned": "int",
            "learned_at": "int",
            "ended_at": "int?",
            "change_seq": "int",
        },
    ),
    DumpTable(
        name="summary",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "level": "int",
            "text": "text",
            "language": "text",
            "topics": "text",
            "segments": "text",
            "sources": "text",
            "from_at": "int",
            "until_at": "int",
            "is_active": "int",
            "learned_at": "int",
            "ended_at": "int?",
            "change_seq": "int",
        },
    ),
    DumpTable(
        name="segment",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "chat": "text",
            "session": "text",
            "first_seq": "int",
            "last_seq": "int",
            "messages": "int",
            "tokens": "int",
            "from_at": "int",
            "until_at": "int",
            "generation": "int",
            "status": "text",
            "cut_by": "text",
            "cut_at": "int",
            "author": "text?",
            "outcome": "text?",
            "error": "text?",
            "ended_at": "int?",
            "mood_phrase": "text",
            "mood_energy": "int?",
            "mood_signal": "text?",
        },
        defaults={"mood_phrase": "", "mood_energy": None, "mood_signal": None},
    ),
    DumpTable(
        name="evidence",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "object": "text",
            "message": "text",
            "version": "int",
            "quote": "text",
            "author": "text",
            "trust": "text",
            "signal": "text",
            "said_at": "int",
            "withdrawn_at": "int?",
            "stance": "text",
            "confidence": "real",
            "extractor": "text",
            "segment": "text?",
        },
        defaults={"stance": "supports", "confidence": 1.0, "extractor": "", "segment": None},
        former_names={"object": "memory"},
    ),
    DumpTable(
        name="receipt",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "turn": "text",
            "asked": "text",
            "asked_seq": "int",
            "replied": "text",
            "made_at": "int",
            "details": "text",
            "stood_on": "text",
        },
        defaults={"stood_on": "[]"},
    ),
    DumpTable(
        name="receipt_trace",
        key_columns=("receipt",),
        person_column="person",
        columns={"receipt": "text", "person": "text", "details": "text", "items": "text"},
        extra_columns=("terms",),
    ),
    DumpTable(
        name="model_call",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "turn": "text?",
            "asked": "text?",
            "step": "int",
            "request": "text",
            "purpose": "text",
            "prompt": "text",
            "model": "text",
            "outcome": "text",
            "shown": "text",
            "answer": "text?",
            "error": "text?",
            "tokens_in": "int",
            "tokens_cached": "int",
            "tokens_out": "int",
            "cost": "int?",
            "sound": "int?",
            "latency": "int",
            "is_background": "int",
            "made_at": "int",
        },
        defaults={"sound": None},
    ),
    DumpTable(
        name="tick",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "kind": "text",
            "why": "text",
            "ran_at": "int",
            "tokens_in": "int",
            "tokens_out": "int",
            "outcome": "text",
            "error": "text?",
            "shown": "text",
            "transcript": "text?",
        },
    ),
    DumpTable(
        name="tombstone",
        key_columns=("person", "print"),
        person_column="person",
        columns={"person": "text", "print": "text", "laid_at": "int"},
    ),
    DumpTable(
        name="audit",
        key_columns=("id",),
        person_column="person",
        columns={
            "id": "text",
            "person": "text",
            "done_at": "int",
            "what": "text",
            "counts": "text",
            "digest": "text",
            "proved_at": "int?",
        },
        defaults={"proved_at": None},
    ),
    DumpTable(
        name="tool_call",
        key_columns=("person", "turn", "number"),
        person_column="person",
        columns={
            "person": "text",
            "turn": "text",
            "number": "int",
            "name": "text",
            "kind": "text",
            "arguments": "text",
            "result": "text?",
            "begun_at": "int",
            "finished_at": "int?",
        },
    ),
    DumpTable(
        name="delivered",
        key_columns=("reply", "ordinal", "number"),
        person_column="person",
        columns={
            "person": "text",
            "reply": "text",
            "ordinal": "int",
            "number": "int",
            "chat": "text",
            "external_id": "text",
            "sent_at": "int",
        },
    ),
)
"""Each table comes after those that it references."""

LEGACY_TABLES: Final = (
    DumpTable(
        name="receipt_item",
        key_columns=("receipt", "ordinal"),
        person_column="person",
        columns={
            "receipt": "text",
            "ordinal": "int",
            "person": "text",
            "kind": "text",
            "object": "text",
            "version": "int",
            "used": "int",
            "score": "real",
            "why": "text",
        },
    ),
)
"""Tables of older exports, whose rows are stored in other tables now."""

EXCLUDED_TABLES: Final = MappingProxyType(
    {
        "attachment": "sounds, of which the words are in the messages",
        "message_vector": "made anew",
        "memory_vector": "made anew",
        "embedder": "what made them",
        "embedding_progress": "of vectors, which are made anew",
        "lane": "work in progress",
        "letter": "work in progress",
        "letter_key": "work in progress",
        "pace": "work in progress",
        "cleanup": "work in progress",
        "working_memory": "gone after an hour",
        "link_code": "gone after ten minutes",
        "link_attempt": "gone after ten minutes",
        "stranger": "gone after a day",
        "web_link": "gone after ten minutes",
        "web_attempt": "gone after ten minutes",
        "web_session": "a browser signs in again",
        "web_invitation": "the owner invites again",
        "web_token": "a program is given another",
        "web_passkey": "a device is added again",
        "web_challenge": "gone after five minutes",
        "closed_place": "found out again",
    }
)
"""The tables that are not dumped, and why."""

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


async def dump_rows(
    tx: Transaction, table: DumpTable, person: PersonId | None
) -> AsyncIterator[Record]:
    """Yield all rows of a table, of one person or of everybody, in the order of its key."""
    columns = ", ".join(
        "CASE WHEN length(imprint) > 0 THEN 1 ELSE 0 END"
        if name == SEARCHABLE_COLUMN
        else f'"{name}"'
        for name in (*table.columns, *table.extra_columns)
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
            record = dict(zip((*table.columns, *table.extra_columns), row, strict=True))
            yield await to_portable(tx, table.name, record)
        if len(rows) < ROWS_PER_READ:
            return
        last = dict(zip(table.columns, rows[-1], strict=False))
        after = f"({key}) > ({', '.join(f':after_{name}' for name in table.key_columns)})"
        parameters |= {f"after_{name}": last[name] for name in table.key_columns}


async def is_store_empty(tx: Transaction) -> bool:
    """Whether the store has no messages and nothing derived from them."""
    rows = [await tx.row(f"SELECT 1 FROM {name} LIMIT 1") for name in CONTENT_TABLES]
    return not any(rows)


async def delete_dumped_tables(tx: Transaction) -> None:
    """Delete the rows of an empty store, before those of another are restored."""
    await tx.run("DELETE FROM letter WHERE person IS NOT NULL")
    for table in reversed(DUMPED_TABLES):
        await tx.run(f"DELETE FROM {table.name}")


async def restore_rows(tx: Transaction, table: DumpTable, records: Sequence[Record]) -> None:
    """Insert dumped rows. Raises ValueError if part of one cannot be read."""
    if table in LEGACY_TABLES:
        await restore_receipt_items(tx, records)
        return
    rows = [await from_portable(tx, table.name, record) for record in records]
    columns = [name if name != SEARCHABLE_COLUMN else "imprint" for name in table.columns]
    columns += table.extra_columns
    await tx.run_many(
        f"""INSERT INTO {table.name} ({", ".join(f'"{name}"' for name in columns)})
           VALUES ({", ".join(f":{name}" for name in columns)})""",
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
