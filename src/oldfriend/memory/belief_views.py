"""Belief queries: memories, entities and summaries as they stand now or as they once stood.

Reads the views and decides nothing.

JSON and table rows of a belief use the same fields under the same names.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar, cast

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound, RowCorrupt
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import (
    MemoryId,
    ObjectId,
    PersonId,
    build_ambiguous_id_error,
    build_id_patterns,
)
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    Entity,
    EvidenceStats,
    JournalObject,
    MemoryKind,
    MemoryState,
    ObjectKind,
    ObjectLink,
    StoredBelief,
    Summary,
)

BelievedT = TypeVar("BelievedT", bound=StoredBelief | Entity | Summary)

LIST_FIELDS: Final = frozenset(
    {
        "tags",
        "cues",
        "relational",
        "entities",
        "relations",
        "aliases",
        "topics",
        "segments",
        "sources",
    }
)
FLAG_FIELDS: Final = frozenset({"is_pinned", "is_by_person", "is_active"})

COLUMNS_BY_CLASS: Final[Mapping[type, tuple[str, ...]]] = {
    each: tuple(field.name for field in fields(each)) for each in (StoredBelief, Entity, Summary)
}
"""The columns of each class, in the order of its fields."""


def to_plain_json(value: object) -> JsonValue:
    """Convert a field value to JSON."""
    if isinstance(value, tuple):
        return [[x.kind, x.target] if isinstance(x, ObjectLink) else str(x) for x in value]
    return cast("JsonValue", value)


def to_column_value(value: object) -> SqlValue:
    """Convert a field value to a column value."""
    if isinstance(value, tuple):
        return json.dumps(to_plain_json(value), ensure_ascii=False) if value else "[]"
    return int(value) if isinstance(value, bool) else cast("SqlValue", value)


LIST_FIELDS_BY_CLASS: Final = {
    each: [name for name in COLUMNS_BY_CLASS[each] if name in LIST_FIELDS]
    for each in COLUMNS_BY_CLASS
}
FLAG_FIELDS_BY_CLASS: Final = {
    each: [name for name in COLUMNS_BY_CLASS[each] if name in FLAG_FIELDS]
    for each in COLUMNS_BY_CLASS
}
EMPTY_ROW_BY_CLASS: Final[Mapping[type, Mapping[str, SqlValue]]] = {
    each: {
        field.name: None if field.default is MISSING else to_column_value(field.default)
        for field in fields(each)
    }
    for each in COLUMNS_BY_CLASS
}
"""The default value of each column."""


DEFAULTS_BY_CLASS: Final[Mapping[type, Mapping[str, object]]] = {
    each: {field.name: field.default for field in fields(each)} for each in COLUMNS_BY_CLASS
}
"""The value of each field that an entry does not name; a default must never be changed."""


ALWAYS_SERIALIZED: Final = frozenset({"subject", "status", "is_pinned", "is_active", "ended_at"})
"""The fields that an entry always names, because queries search for them in its text."""
SERIALIZED_WITH_TAGS: Final = frozenset({"relational"})
"""What an entry with tags also names, so that queries can tell where the tags end."""


def get_kind(believed: JournalObject) -> ObjectKind:
    """Return the kind of a belief."""
    if isinstance(believed, StoredBelief):
        return believed.kind
    return "entity" if isinstance(believed, Entity) else "summary"


def get_class(kind: ObjectKind) -> type[JournalObject]:
    """Return the class for a kind."""
    if kind == "entity":
        return Entity
    return Summary if kind == "summary" else StoredBelief


def to_json(believed: JournalObject) -> str:
    """Serialize a belief for the journal; fields with their default are left out."""
    defaults = DEFAULTS_BY_CLASS[type(believed)]
    required = ALWAYS_SERIALIZED | (
        SERIALIZED_WITH_TAGS if getattr(believed, "tags", ()) else frozenset()
    )
    values = {
        name: to_plain_json(value)
        for name in COLUMNS_BY_CLASS[type(believed)]
        if (value := getattr(believed, name)) != defaults[name] or name in required
    }
    return json.dumps(values, ensure_ascii=False)


def from_json(kind: ObjectKind, values: Mapping[str, JsonValue]) -> JournalObject:
    """Deserialize a belief; fields that an earlier version did not know get their default."""
    shape = get_class(kind)
    known = {name: values[name] for name in COLUMNS_BY_CLASS[shape] if name in values}
    return build_object(shape, known)


def build_row(kind: ObjectKind, values: Mapping[str, JsonValue]) -> dict[str, SqlValue]:
    """Build the column values from a journal entry's values, without building the object."""
    shape = get_class(kind)
    row: dict[str, Any] = {**EMPTY_ROW_BY_CLASS[shape], **values}
    for name in FLAG_FIELDS_BY_CLASS[shape]:
        row[name] = int(row[name])
    for name in LIST_FIELDS_BY_CLASS[shape]:
        if name in values:
            row[name] = json.dumps(row[name], ensure_ascii=False) if row[name] else "[]"
    return row


def to_row(believed: JournalObject) -> dict[str, SqlValue]:
    """Return a belief's column values."""
    return {
        name: to_column_value(getattr(believed, name)) for name in COLUMNS_BY_CLASS[type(believed)]
    }


def from_row(object_class: type[BelievedT], row: Row) -> BelievedT:
    """Parse a row with all columns in order. Raises RowCorrupt."""
    values = dict(zip(COLUMNS_BY_CLASS[object_class], row, strict=True))
    try:
        for name in LIST_FIELDS & values.keys():
            values[name] = json.loads(values[name]) if values[name] != "[]" else ()
        return build_object(object_class, values)
    except (TypeError, ValueError) as error:
        raise RowCorrupt(object_class.__name__.lower(), str(values["id"])) from error


def build_object(object_class: type[BelievedT], values: Mapping[str, Any]) -> BelievedT:
    """Build an object from plain values: lists become tuples, integers become flags."""
    ready: dict[str, Any] = {
        name: tuple(value) if name in LIST_FIELDS else bool(value) if name in FLAG_FIELDS else value
        for name, value in values.items()
    }
    if ready.get("relations"):
        ready["relations"] = tuple(ObjectLink(kind=k, target=o) for k, o in ready["relations"])
    return object_class(**ready)


MEMORY_COLUMNS: Final = ", ".join(COLUMNS_BY_CLASS[StoredBelief])
EVIDENCE_STATS_COLUMNS: Final = (
    "strength, confidence, times_seen, first_seen, last_seen, change_seq"
)
ENTITY_COLUMNS: Final = ", ".join(COLUMNS_BY_CLASS[Entity])
SUMMARY_COLUMNS: Final = ", ".join(COLUMNS_BY_CLASS[Summary])
MAX_ID_CANDIDATES: Final = 5


async def list_memories(
    tx: Transaction, person: PersonId, *, kinds: Collection[MemoryKind] = (), live: bool = True
) -> list[MemoryState]:
    """List memories of some kinds or of all, oldest first; ``live=False`` includes ended ones.

    Memories learned at the same moment are ordered by text, not by id.
    """
    parameters = {f"kind{index}": kind for index, kind in enumerate(sorted(kinds))}
    condition = (
        f"AND kind IN ({', '.join(f':{name}' for name in parameters)})" if parameters else ""
    )
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory WHERE person = :person
           {condition}
           AND (:live = 0 OR ended_at IS NULL) ORDER BY learned_at, id""",
        person=person,
        live=int(live),
        **parameters,
    )
    return sorted(
        map(parse_memory_state_row, rows),
        key=lambda each: (each.memory.learned_at, each.memory.text),
    )


async def list_facts_with_end(tx: Transaction, person: PersonId) -> list[MemoryState]:
    """List the live facts for which somebody has said until when they hold, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory
           WHERE person = :person AND kind = 'fact' AND holds_until IS NOT NULL
           AND ended_at IS NULL ORDER BY learned_at, id""",
        person=person,
    )
    return [parse_memory_state_row(row) for row in rows]


async def list_memories_by_key(
    tx: Transaction, person: PersonId, kind: MemoryKind, key: str
) -> list[MemoryState]:
    """List the live memories of one kind and key, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory
           WHERE person = :person AND kind = :kind AND key = :key AND ended_at IS NULL
           ORDER BY learned_at, id""",
        person=person,
        kind=kind,
        key=key,
    )
    return sorted(
        map(parse_memory_state_row, rows),
        key=lambda each: (each.memory.learned_at, each.memory.text),
    )


async def list_memories_changed_since(
    tx: Transaction, person: PersonId, seq: int
) -> list[MemoryState]:
    """List the memories with a decision after a journal seq, each as decided last."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory
           WHERE change_seq > :seq AND id IN
             (SELECT object FROM change WHERE person = :person AND seq > :seq)
           ORDER BY change_seq""",
        person=person,
        seq=seq,
    )
    return [parse_memory_state_row(row) for row in rows]


async def list_memories_rescored_since(
    tx: Transaction, person: PersonId, weighed: int
) -> list[ObjectId]:
    """List the memories whose evidence has changed since a value of the evidence counter."""
    rows = await tx.rows(
        "SELECT id FROM memory WHERE person = :person AND weighed > :weighed",
        person=person,
        weighed=weighed,
    )
    return [ObjectId(row[0]) for row in rows]


async def list_evidence_stats_since(
    tx: Transaction, person: PersonId, weighed: int
) -> dict[ObjectId, EvidenceStats]:
    """Return the statistics of memories whose evidence changed since a counter value."""
    rows = await tx.rows(
        """SELECT id, strength, confidence, times_seen, first_seen, last_seen FROM memory
           WHERE person = :person AND weighed > :weighed AND last_seen IS NOT NULL""",
        person=person,
        weighed=weighed,
    )
    return {
        ObjectId(row[0]): EvidenceStats(
            strength=row[1],
            confidence=row[2],
            times_seen=row[3],
            first_seen=row[4],
            last_seen=row[5],
        )
        for row in rows
    }


async def list_rejected_memories(tx: Transaction, person: PersonId) -> list[StoredBelief]:
    """List the memories that the person has rejected."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS} FROM memory
           WHERE person = :person AND status = 'rejected' AND ended_at IS NOT NULL""",
        person=person,
    )
    return [from_row(StoredBelief, row) for row in rows]


async def list_unconfirmed_memories(tx: Transaction, person: PersonId) -> list[MemoryState]:
    """List what waits for the person's word, the newest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory
           WHERE person = :person AND status = 'unconfirmed' ORDER BY learned_at DESC, id DESC""",
        person=person,
    )
    return [parse_memory_state_row(row) for row in rows]


async def list_merged_memories(tx: Transaction, person: PersonId) -> list[StoredBelief]:
    """List the memories that were merged into another."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS} FROM memory
           WHERE person = :person AND status = 'merged' AND ended_at IS NOT NULL""",
        person=person,
    )
    return [from_row(StoredBelief, row) for row in rows]


async def list_superseding_memories(
    tx: Transaction, person: PersonId, memory_id: ObjectId
) -> list[ObjectId]:
    """List the memories that superseded one, oldest first."""
    rows = await tx.rows(
        "SELECT id FROM memory WHERE person = :person AND relations LIKE :link ORDER BY learned_at",
        person=person,
        link=f'%["supersedes", "{memory_id}"]%',
    )
    return [ObjectId(row[0]) for row in rows]


async def list_rejected_entity_names(tx: Transaction, person: PersonId) -> list[str]:
    """List the names of which the person has said that they are nobody's."""
    entities = await list_entities(tx, person, live=False)
    return [
        name
        for each in entities
        if each.ended_at is not None and each.is_by_person and each.status != "merged"
        for name in (each.name, *each.aliases)
    ]


async def get_memory(tx: Transaction, person: PersonId, memory_id: MemoryId) -> StoredBelief:
    """Return one memory as it was decided last. Raises NotFound."""
    row = await tx.row(
        f"SELECT {MEMORY_COLUMNS} FROM memory WHERE id = :id AND person = :person",
        id=memory_id,
        person=person,
    )
    if row is None:
        raise build_memory_not_found_error(memory_id)
    return from_row(StoredBelief, row)


async def get_memory_state(tx: Transaction, person: PersonId, memory_id: MemoryId) -> MemoryState:
    """Return one memory with its evidence statistics. Raises NotFound."""
    row = await tx.row(
        f"SELECT {MEMORY_COLUMNS}, {EVIDENCE_STATS_COLUMNS} FROM memory WHERE id = :id AND person "
        "= :person",
        id=memory_id,
        person=person,
    )
    if row is None:
        raise build_memory_not_found_error(memory_id)
    return parse_memory_state_row(row)


async def list_entities(tx: Transaction, person: PersonId, *, live: bool = True) -> list[Entity]:
    """List a person's entities, oldest first; merged ones are not live."""
    rows = await tx.rows(
        f"""SELECT {ENTITY_COLUMNS} FROM entity WHERE person = :person
           AND (:live = 0 OR ended_at IS NULL) ORDER BY learned_at, id""",
        person=person,
        live=int(live),
    )
    entities = [from_row(Entity, row) for row in rows]
    return sorted(entities, key=lambda each: (each.learned_at, each.name))


async def list_summaries(
    tx: Transaction, person: PersonId, *, active: bool = True
) -> list[Summary]:
    """List the summaries, the highest level first, each level in order of time."""
    rows = await tx.rows(
        f"""SELECT {SUMMARY_COLUMNS} FROM summary WHERE person = :person AND ended_at IS NULL
           AND (:active = 0 OR is_active = 1) ORDER BY level DESC, from_at, id""",
        person=person,
        active=int(active),
    )
    return [from_row(Summary, row) for row in rows]


async def list_written_summaries(tx: Transaction, person: PersonId) -> list[Summary]:
    """List the active summaries without those that rules have pasted from what was said."""
    rows = await tx.rows(
        f"""SELECT {SUMMARY_COLUMNS} FROM summary WHERE person = :person AND ended_at IS NULL
           AND is_active = 1 AND NOT EXISTS (SELECT 1 FROM change c
             WHERE c.person = :person AND c.seq = summary.change_seq
             AND (c.author LIKE 'rules/%' OR c.author LIKE 'summarise-by-rules/%'))
           ORDER BY level DESC, from_at, id""",
        person=person,
    )
    return [from_row(Summary, row) for row in rows]


async def get_object_by_partial_id(
    tx: Transaction, person: PersonId, partial_id: str
) -> tuple[str, str]:
    """Return the id and kind of the belief that a partial id means.

    Raises NotFound, InvalidInput.
    """
    rows = await tx.rows(
        """SELECT DISTINCT object, kind FROM change WHERE person = :person
           AND (object LIKE :begins OR object LIKE :ends OR object LIKE :shown)
           ORDER BY object LIMIT :most""",
        person=person,
        most=MAX_ID_CANDIDATES,
        **build_id_patterns(partial_id),
    )
    if not rows:
        raise build_memory_not_found_error(partial_id)
    if len(rows) > 1:
        raise build_ambiguous_id_error(partial_id, {row[0]: row[1] for row in rows})
    return str(rows[0][0]), str(rows[0][1])


def build_memory_not_found_error(name: str) -> NotFound:
    """Build the error that no belief has this id or partial id."""
    return NotFound(localizable("memory_gone", f"No belief has the id {name!r}."))


def parse_memory_state_row(row: Row) -> MemoryState:
    """Parse a row of MEMORY_COLUMNS followed by EVIDENCE_STATS_COLUMNS."""
    *columns, strength, confidence, times_seen, first_seen, last_seen, base_seq = row
    memory = from_row(StoredBelief, tuple(columns))
    first: Micros = memory.learned_at if first_seen is None else first_seen
    stats = EvidenceStats(
        strength=strength,
        confidence=confidence,
        times_seen=times_seen,
        first_seen=first,
        last_seen=first if last_seen is None else last_seen,
    )
    return MemoryState(memory=memory, stats=stats, base_seq=base_seq)
