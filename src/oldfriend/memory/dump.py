"""What is everything that is kept? All tables as rows of plain values, out and in again.

The one place that lists every table and column, and names the tables that are left out. Of the
imprint of a message, which can be made anew, only remains whether it has one.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.search.imprint import imprint_of

Kind = Literal["text", "text?", "int", "int?", "real"]  # with "?" it may be empty
Record = Mapping[str, SqlValue]

ROWS_AT_ONCE: Final = 1000
FINDABLE: Final = "findable"
"""Stands for a message's imprint: whether search may find it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its columns, what orders its rows, and which column names the person."""

    name: str
    key: tuple[str, ...]
    person: str | None
    columns: Mapping[str, Kind]
    defaults: Mapping[str, SqlValue] = field(default_factory=dict)  # of what older exports lack
    former: Mapping[str, str] = field(default_factory=dict)  # what a column was called in those


TABLES: Final = (
    Table(
        name="companion", key=("id",), person=None,
        columns={"id": "text", "name": "text", "created_at": "int", "introduced_at": "int?"},
    ),
    Table(
        name="person", key=("id",), person="id",
        columns={
            "id": "text", "name": "text", "is_owner": "int", "language": "text?",
            "zone": "text", "created_at": "int", "last_seq": "int", "tokens": "int",
            "last_change": "int", "rewritten": "int", "embedded": "int", "weighed": "int",
            "read_every": "int?", "has_said_zone": "int",
        },
        defaults={"weighed": 0, "read_every": None, "has_said_zone": 0},
    ),
    Table(
        name="identity", key=("channel", "address"), person="person",
        columns={"channel": "text", "address": "text", "person": "text", "created_at": "int"},
    ),
    Table(
        name="chat", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "companion": "text", "channel": "text",
            "address": "text", "title": "text", "created_at": "int",
        },
    ),
    Table(
        name="session", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "companion": "text", "chat": "text",
            "status": "text", "opened_at": "int", "closed_at": "int?", "close_trigger": "text?",
            "after_seq": "int", "after_tokens": "int", "external_id": "text?", "batch": "text?",
        },
    ),
    Table(
        name="message", key=("person", "seq"), person="person",
        columns={
            "id": "text", "version": "int", "person": "text", "seq": "int", "chat": "text",
            "session": "text", "role": "text", "author": "text", "speaker": "text",
            "trust": "text", "text": "text", "said_at": "int", "zone": "text",
            "language": "text", "tokens": "int", "turn": "text?", "external_id": "text?",
            "batch": "text?", "details": "text?", FINDABLE: "int", "written_at": "int",
            "replaced_at": "int?",
        },
    ),
    Table(
        name="core_block", key=("person", "name", "version"), person="person",
        columns={
            "person": "text", "name": "text", "version": "int", "text": "text",
            "written_at": "int",
        },
    ),
    Table(
        name="soul", key=("companion", "version"), person=None,
        columns={"companion": "text", "version": "int", "text": "text", "read_at": "int"},
    ),
    Table(
        name="suggestion", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "block": "text", "text": "text", "replaces": "text",
            "reason": "text", "cites": "text", "author": "text", "status": "text",
            "made_at": "int", "decided_at": "int?", "version": "int?",
        },
    ),
    Table(
        name="import_batch", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "number": "int", "file": "text", "format": "text",
            "sha256": "text", "me": "text", "zone": "text", "status": "text",
            "position": "int", "added": "int", "known": "int", "started_at": "int",
            "ended_at": "int?",
        },
    ),
    Table(
        name="change", key=("person", "seq"), person="person",
        columns={
            "person": "text", "seq": "int", "object": "text", "kind": "text", "op": "text",
            "v": "int", "learned_at": "int", "ended_at": "int?", "after": "text",
            "cause": "text", "author": "text", "model_call": "text?", "base": "int",
            "segment": "text?",
        },
        defaults={"segment": None},
    ),
    Table(
        name="memory", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "kind": "text", "text": "text",
            "language": "text", "learned_at": "int", "ended_at": "int?", "change_seq": "int",
            "subject": "text", "trust": "text", "key": "text", "value": "text",
            "pattern": "text?", "impact": "int", "tags": "text", "relational": "text",
            "arousal": "int?", "cues": "text",
            "importance": "real", "status": "text", "happened_at": "int?",
            "happened_until": "int?", "holds_from": "int?", "holds_until": "int?",
            "due_at": "int?", "entities": "text", "relations": "text", "is_pinned": "int",
            "is_by_person": "int", "vouched_at": "int?", "strength": "real", "confidence": "real",
            "times_seen": "int", "first_seen": "int?", "last_seen": "int?", "weighed": "int",
        },
        defaults={
            "subject": "person", "trust": "person", "key": "", "value": "", "pattern": None,
            "impact": 0, "tags": "[]", "relational": "[]", "importance": 0.5,
            "arousal": None, "cues": "[]",
            "status": "active", "happened_at": None, "happened_until": None,
            "holds_from": None, "holds_until": None, "due_at": None, "entities": "[]",
            "relations": "[]", "is_pinned": 0, "is_by_person": 0, "vouched_at": None,
            "strength": 1.0, "confidence": 1.0, "times_seen": 0, "first_seen": None,
            "last_seen": None, "weighed": 0,
        },
    ),
    Table(
        name="entity", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "name": "text", "kind": "text", "aliases": "text",
            "description": "text", "status": "text", "same_as": "text?", "is_by_person": "int",
            "is_pinned": "int", "learned_at": "int", "ended_at": "int?", "change_seq": "int",
        },
    ),
    Table(
        name="summary", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "level": "int", "text": "text", "language": "text",
            "topics": "text", "segments": "text", "sources": "text", "from_at": "int",
            "until_at": "int", "is_active": "int", "learned_at": "int", "ended_at": "int?",
            "change_seq": "int",
        },
    ),
    Table(
        name="segment", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "chat": "text", "session": "text",
            "first_seq": "int", "last_seq": "int", "messages": "int", "tokens": "int",
            "from_at": "int", "until_at": "int", "generation": "int", "status": "text",
            "cut_by": "text", "cut_at": "int", "author": "text?", "outcome": "text?",
            "error": "text?", "ended_at": "int?", "mood_phrase": "text", "mood_energy": "int?",
            "mood_signal": "text?",
        },
        defaults={"mood_phrase": "", "mood_energy": None, "mood_signal": None},
    ),
    Table(
        name="evidence", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "object": "text", "message": "text",
            "version": "int", "quote": "text", "author": "text", "trust": "text",
            "signal": "text", "said_at": "int", "withdrawn_at": "int?", "stance": "text",
            "confidence": "real", "extractor": "text", "segment": "text?",
        },
        defaults={"stance": "supports", "confidence": 1.0, "extractor": "", "segment": None},
        former={"object": "memory"},
    ),
    Table(
        name="receipt", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "turn": "text", "asked": "text",
            "asked_seq": "int", "replied": "text", "made_at": "int",
            "details": "text",
        },
    ),
    Table(
        name="receipt_item", key=("receipt", "ordinal"), person="person",
        columns={
            "receipt": "text", "ordinal": "int", "person": "text", "kind": "text",
            "object": "text", "version": "int", "used": "int", "score": "real", "why": "text",
        },
    ),
    Table(
        name="model_call", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "turn": "text?", "asked": "text?", "step": "int",
            "request": "text", "purpose": "text", "prompt": "text", "model": "text",
            "outcome": "text", "shown": "text", "answer": "text?", "error": "text?",
            "tokens_in": "int", "tokens_cached": "int", "tokens_out": "int", "cost": "int?",
            "sound": "int?", "latency": "int", "is_background": "int", "made_at": "int",
        },
        defaults={"sound": None},
    ),
    Table(
        name="tick", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "kind": "text", "why": "text", "ran_at": "int",
            "tokens_in": "int", "tokens_out": "int", "outcome": "text", "error": "text?",
            "shown": "text", "transcript": "text?",
        },
    ),
    Table(
        name="tombstone", key=("person", "print"), person="person",
        columns={"person": "text", "print": "text", "laid_at": "int"},
    ),
    Table(
        name="audit", key=("id",), person="person",
        columns={
            "id": "text", "person": "text", "done_at": "int", "what": "text", "counts": "text",
            "digest": "text",
        },
    ),
    Table(
        name="tool_call", key=("person", "turn", "number"), person="person",
        columns={
            "person": "text", "turn": "text", "number": "int", "name": "text", "kind": "text",
            "arguments": "text", "result": "text?", "begun_at": "int", "finished_at": "int?",
        },
    ),
    Table(
        name="delivered", key=("reply", "ordinal", "number"), person="person",
        columns={
            "person": "text", "reply": "text", "ordinal": "int", "number": "int", "chat": "text",
            "external_id": "text", "sent_at": "int",
        },
    ),
)  # fmt: skip
"""Each after those that it points to."""

LEFT_OUT: Final = MappingProxyType({
    "attachment": "sounds, of which the words are in the messages",
    "message_vector": "made anew",
    "memory_vector": "made anew",
    "embedder": "what made them",
    "lane": "work in progress",
    "letter": "work in progress",
    "letter_key": "work in progress",
    "pace": "work in progress",
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
})  # fmt: skip
"""The tables of which nothing is kept here, and why."""

CONTENT: Final = (
    "message", "change", "memory", "entity", "summary", "evidence", "segment", "receipt",
    "receipt_item", "model_call", "tool_call",
)  # fmt: skip
"""What was said, and what came of it. All else is made by opening a store, or left by an undo."""


async def dump_rows(
    tx: Transaction, table: Table, person: PersonId | None
) -> AsyncIterator[Record]:
    """All rows of a table, of one person or of everybody, in the order of its key."""
    columns = ", ".join(
        "CASE WHEN length(imprint) > 0 THEN 1 ELSE 0 END" if name == FINDABLE else f'"{name}"'
        for name in table.columns
    )
    key = ", ".join(table.key)
    asked: dict[str, SqlValue] = {"limit": ROWS_AT_ONCE}
    whose = ""
    if person is not None and table.person is not None:
        whose, asked["whose"] = f"AND {table.person} = :whose", person
    after = "1 = 1"
    while True:
        rows = await tx.rows(
            f"""SELECT {columns} FROM {table.name} WHERE {after} {whose}
               ORDER BY {key} LIMIT :limit""",
            **asked,
        )
        for row in rows:
            yield dict(zip(table.columns, row, strict=True))
        if len(rows) < ROWS_AT_ONCE:
            return
        last = dict(zip(table.columns, rows[-1], strict=True))
        after = f"({key}) > ({', '.join(f':after_{name}' for name in table.key)})"
        asked |= {f"after_{name}": last[name] for name in table.key}


async def is_empty(tx: Transaction) -> bool:
    """Whether nothing that was said or brought in is there."""
    held = [await tx.row(f"SELECT 1 FROM {name} LIMIT 1") for name in CONTENT]
    return not any(held)


async def clear_the_way(tx: Transaction) -> None:
    """Take away what an empty store holds, for the same of another."""
    await tx.run("DELETE FROM letter WHERE person IS NOT NULL")
    for table in reversed(TABLES):
        await tx.run(f"DELETE FROM {table.name}")


async def restore_rows(tx: Transaction, table: Table, records: Sequence[Record]) -> None:
    """Write rows as they were dumped."""
    columns = [name if name != FINDABLE else "imprint" for name in table.columns]
    await tx.run_many(
        f"""INSERT INTO {table.name} ({", ".join(f'"{name}"' for name in columns)})
           VALUES ({", ".join(f":{name}" for name in columns)})""",
        [with_imprint(record) if FINDABLE in record else record for record in records],
    )


def with_imprint(record: Record) -> Record:
    """A message's row with its imprint made anew."""
    text, language = str(record["text"]), str(record["language"])
    imprint = imprint_of(text, language=language) if record[FINDABLE] else b""
    kept = {name: value for name, value in record.items() if name != FINDABLE}
    return {**kept, "imprint": imprint}
