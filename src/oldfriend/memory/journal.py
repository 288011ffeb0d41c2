"""Journal: the append-only log of decisions about beliefs, folded into the views.

The only module that writes the views. Folding copies what was decided and runs no formula, clock or
model, so folding the journal into empty tables gives the same rows again.

In statistics a decision counts on the day on which it was made, in a given time zone.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.errors import NotFound, RowCorrupt, StaleDecision
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    JOURNAL_VERSION,
    Cause,
    Entity,
    JournalEntry,
    JournalObject,
    JournalOp,
    ObjectKind,
    StoredBelief,
    Summary,
)
from oldfriend.memory.belief_views import (
    COLUMNS_BY_CLASS,
    build_row,
    from_json,
    from_row,
    get_class,
    get_kind,
    to_json,
    to_row,
)
from oldfriend.memory.evidence import build_stats_columns, compute_all_evidence_stats

TABLE_BY_CLASS: Final[Mapping[type[JournalObject], str]] = {
    StoredBelief: "memory",
    Entity: "entity",
    Summary: "summary",
}


def build_upsert(object_class: type[JournalObject]) -> str:
    """Build the statement that inserts or updates the view row of an object."""
    columns, table = COLUMNS_BY_CLASS[object_class], TABLE_BY_CLASS[object_class]
    copied = [name for name in columns if name not in {"id", "person"}]
    return f"""INSERT INTO {table} ({", ".join(columns)}, change_seq)
        VALUES ({", ".join(f":{name}" for name in columns)}, :change_seq)
        ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in copied)},
          change_seq = excluded.change_seq
        WHERE {table}.person = excluded.person"""


UPSERT_BY_CLASS: Final = {shape: build_upsert(shape) for shape in TABLE_BY_CLASS}


async def upsert_view(tx: Transaction, after: JournalObject, *, seq: int) -> None:
    """Write the view row of one object. Raises NotFound if the id belongs to another person."""
    touched = await tx.run(UPSERT_BY_CLASS[type(after)], change_seq=seq, **to_row(after))
    if touched == 0:
        raise NotFound(f"There is no {get_kind(after)} {after.id}.")


async def insert_views(
    tx: Transaction, rows: Sequence[tuple[ObjectKind, dict[str, SqlValue]]]
) -> None:
    """Insert the complete rows of many objects into empty views."""
    for object_class, table in TABLE_BY_CLASS.items():
        matching = [row for kind, row in rows if get_class(kind) is object_class]
        if matching:
            names = list(matching[0])
            await tx.run_many(
                f"""INSERT INTO {table} ({", ".join(names)})
                   VALUES ({", ".join(f":{name}" for name in names)})""",
                matching,
            )


async def clear_views(tx: Transaction, person: PersonId) -> None:
    """Delete all view rows of a person, before a rebuild."""
    for table in TABLE_BY_CLASS.values():
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)


async def load_views(
    tx: Transaction, person: PersonId
) -> dict[ObjectId, tuple[JournalObject, int]]:
    """Load all view rows of a person, each with the seq of its decision.

    A corrupt row is left out, as if it were missing.
    """
    views: dict[ObjectId, tuple[JournalObject, int]] = {}
    for shape, table in TABLE_BY_CLASS.items():
        rows = await tx.rows(
            f"SELECT {', '.join(COLUMNS_BY_CLASS[shape])}, change_seq FROM {table} WHERE person = "
            ":person",
            person=person,
        )
        for row in rows:
            with suppress(RowCorrupt):
                believed = from_row(shape, row[:-1])
                views[believed.id] = believed, row[-1]
    return views


JOURNAL_COLUMNS: Final = """person, seq, object, kind, op, v, learned_at, after, cause, author,
           base,
    segment"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The author of decisions, and what they rest on."""

    author: str  # a rule or a prompt with its version, or the person
    causes: tuple[Cause, ...] = ()
    segment: SegmentId | None = None


async def record_decision(
    tx: Transaction,
    after: JournalObject,
    *,
    op: JournalOp,
    base: int,
    provenance: Provenance,
    now: Micros,
) -> JournalEntry:
    """Append a decision to the journal and apply it to the views.

    ``base`` is the seq of the object's newest decision when this one was made, 0 for a new object.
    Raises StaleDecision, NotFound.
    """
    row = await tx.row(
        "UPDATE person SET last_change = last_change + 1 WHERE id = :person RETURNING last_change",
        person=after.person,
    )
    assert row is not None
    latest = await get_latest_seq(tx, after.person, after.id)
    if latest != base:
        raise StaleDecision(f"{after.id} has changed since ({latest} instead of {base}).")
    entry = JournalEntry(
        person=after.person,
        seq=int(row[0]),
        object_id=after.id,
        op=op,
        format_version=JOURNAL_VERSION,
        decided_at=now,
        after=after,
        causes=provenance.causes,
        author=provenance.author,
        segment=provenance.segment,
        previous_seq=base,
    )
    await insert_journal_entry(tx, entry)
    await upsert_view(tx, after, seq=entry.seq)
    return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """Counters that show whether anything was decided about a person or deleted."""

    last_change: int
    rewritten: int


async def get_memory_version(tx: Transaction, person: PersonId) -> MemoryVersion:
    """Return the counters of decisions and deletions of a person."""
    row = await tx.row(
        "SELECT last_change, rewritten FROM person WHERE id = :person", person=person
    )
    assert row is not None
    return MemoryVersion(last_change=row[0], rewritten=row[1])


async def has_corrections_since(tx: Transaction, person: PersonId, since: Micros) -> bool:
    """Whether the person has corrected, rejected or separated anything after a moment."""
    row = await tx.row(
        """SELECT 1 FROM change WHERE person = :person AND author = 'person'
           AND op IN ('corrected', 'rejected', 'separated') AND learned_at > :since LIMIT 1""",
        person=person,
        since=since,
    )
    return row is not None


async def get_latest_seq(tx: Transaction, person: PersonId, object_id: ObjectId) -> int:
    """Return the seq of an object's newest decision, 0 when it has none."""
    row = await tx.row(
        "SELECT max(seq) FROM change WHERE person = :person AND object = :object",
        person=person,
        object=object_id,
    )
    return 0 if row is None or row[0] is None else int(row[0])


async def insert_journal_entry(tx: Transaction, entry: JournalEntry) -> None:
    """Append one entry to the journal and mark its predecessor as ended."""
    if entry.previous_seq:
        await tx.run(
            """UPDATE change SET ended_at = :now WHERE person = :person AND seq = :base
               AND object = :object""",
            now=entry.decided_at,
            person=entry.person,
            base=entry.previous_seq,
            object=entry.object_id,
        )
    await tx.run(
        """INSERT INTO change (person, seq, object, kind, op, v, learned_at, after, cause, author,
             base, segment)
           VALUES (:person, :seq, :object, :kind, :op, :v, :learned_at, :after, :cause, :author,
             :base, :segment)""",
        person=entry.person,
        seq=entry.seq,
        object=entry.object_id,
        kind=get_kind(entry.after),
        op=entry.op,
        v=entry.format_version,
        learned_at=entry.decided_at,
        after=to_json(entry.after),
        cause=json.dumps([[cause.message, cause.version] for cause in entry.causes]),
        author=entry.author,
        base=entry.previous_seq,
        segment=entry.segment,
    )


async def list_journal(tx: Transaction, person: PersonId) -> list[JournalEntry]:
    """List the whole journal of a person, in order."""
    rows = await tx.rows(
        f"SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person ORDER BY seq", person=person
    )
    return [parse_journal_row(row) for row in rows]


async def list_object_journal(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> list[JournalEntry]:
    """List all decisions about one object, in order."""
    rows = await tx.rows(
        f"""SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person AND object = :object
           ORDER BY seq""",
        person=person,
        object=object_id,
    )
    return [parse_journal_row(row) for row in rows]


async def list_segment_journal(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> list[JournalEntry]:
    """List all decisions that the consolidation of a segment has made, in order."""
    rows = await tx.rows(
        f"""SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person AND segment = :segment
           ORDER BY seq""",
        person=person,
        segment=segment,
    )
    return [parse_journal_row(row) for row in rows]


async def list_endings(
    tx: Transaction, person: PersonId, segment: SegmentId, *, read_at: Micros | None
) -> list[JournalEntry]:
    """List the decisions by which a reading of a segment has ended memories, in order."""
    return [
        each
        for each in await list_segment_journal(tx, person, segment)
        if each.decided_at == read_at
        and isinstance(each.after, StoredBelief)
        and EFFECT_BY_OP.get(each.op) == "ended"
    ]


async def list_decisions_at(tx: Transaction, person: PersonId, at: Micros) -> list[JournalEntry]:
    """List the decisions made at a moment, such as those of one reading, in order."""
    rows = await tx.rows(
        f"""SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person AND learned_at = :at
           ORDER BY seq""",
        person=person,
        at=at,
    )
    return [parse_journal_row(row) for row in rows]


async def list_journal_as_of(tx: Transaction, person: PersonId, at: Micros) -> list[JournalEntry]:
    """List the newest decision about each object as of a moment, including ended objects."""
    rows = await tx.rows(
        f"""SELECT {JOURNAL_COLUMNS} FROM change WHERE person = :person AND learned_at <= :at
           AND (ended_at IS NULL OR ended_at > :at) ORDER BY seq""",
        person=person,
        at=at,
    )
    return list(fold_journal(map(parse_journal_row, rows)).values())


def fold_journal(entries: Iterable[JournalEntry]) -> dict[ObjectId, JournalEntry]:
    """Return the newest decision about each object, given decisions in order."""
    return {entry.object_id: entry for entry in entries}


async def rebuild_views(tx: Transaction, person: PersonId) -> int:
    """Fold a person's journal into empty views; return the number of objects.

    Evidence statistics are not in the journal and are computed from the evidence.
    """
    rows = await tx.rows(
        """SELECT object, kind, op, v, learned_at, after, seq FROM change
           WHERE person = :person AND (ended_at IS NULL OR v = 1) ORDER BY seq""",
        person=person,
    )
    relations = {row[0] for row in rows if row[1] == "triple"}
    stats_by_object = await compute_all_evidence_stats(tx, person, relations=relations)
    folded_rows: list[tuple[ObjectKind, dict[str, SqlValue]]] = []
    for object_id, kind, op, v, decided_at, after, seq in {row[0]: row for row in rows}.values():
        values = upcast(json.loads(after), v, object_id, person, kind, op, decided_at)
        row = {**build_row(kind, values), "change_seq": seq}
        if get_class(kind) is StoredBelief:
            row |= build_stats_columns(stats_by_object.get(object_id))
        folded_rows.append((kind, row))
    await clear_views(tx, person)
    await insert_views(tx, folded_rows)
    await tx.run("UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=person)
    return len(folded_rows)


async def list_view_mismatches(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """List the objects whose view differs from the folded journal; empty when sound."""
    entries = fold_journal(await list_journal(tx, person))
    expected = {each: (entry.after, entry.seq) for each, entry in entries.items()}
    return sorted(diff_views(expected, await load_views(tx, person)))


def diff_views(
    expected: Mapping[ObjectId, tuple[JournalObject, int]],
    held: Mapping[ObjectId, tuple[JournalObject, int]],
) -> Iterator[ObjectId]:
    """Yield the objects on which the two differ."""
    for object_id in expected.keys() | held.keys():
        if expected.get(object_id) != held.get(object_id):
            yield object_id


def parse_journal_row(row: Row) -> JournalEntry:
    """Parse a row of JOURNAL_COLUMNS."""
    person, seq, object_id, kind, op, v, decided_at, after, cause, author, base, segment = row
    values = upcast(json.loads(after), v, object_id, person, kind, op, decided_at)
    return JournalEntry(
        person=PersonId(person),
        seq=seq,
        object_id=object_id,
        op=op,
        format_version=v,
        decided_at=decided_at,
        after=from_json(kind, values),
        causes=tuple(Cause(message=MessageId(m), version=n) for m, n in json.loads(cause)),
        author=author,
        segment=segment,
        previous_seq=base,
    )


def upcast(
    after: dict[str, JsonValue],
    v: int,
    object_id: str,
    person: str,
    kind: ObjectKind,
    op: JournalOp,
    decided_at: Micros,
) -> dict[str, JsonValue]:
    """Return the values of an entry of an earlier format version in the current format.

    Version 1 stored only a note's text and language, beside the columns; version 2 knew no
    relations, thoughts or views, and is otherwise the same.
    """
    if v > 1:
        return after
    return {
        **after,
        "id": object_id,
        "person": person,
        "kind": kind,
        "learned_at": decided_at,
        "ended_at": decided_at if op == "ended" else None,
    }


ChangeEffect = Literal["added", "ended", "changed"]
EFFECT_BY_OP: Final[dict[JournalOp, ChangeEffect]] = {
    "learned": "added",
    "reopened": "added",
    "unrejected": "added",
    "superseded": "ended",
    "merged": "ended",
    "deprecated": "ended",
    "fulfilled": "ended",
    "expired": "ended",
    "ended": "ended",
    "rejected": "ended",
}
"""The effect of each decision; any other operation counts as a change."""
QUARTER_HOUR: Final = 15 * MINUTE
"""Midnight falls on a multiple of this in every time zone."""
IS_HELD_SQL: Final = """CASE WHEN {0}.after LIKE '%"ended_at": null%'
    AND {0}.after NOT LIKE '%"is_active": false%' OR {0}.v = 1 AND {0}.op <> 'ended'
    THEN 1 ELSE 0 END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayChanges:
    """The number of beliefs with a decision on a day, by what it did in the end."""

    day: date
    added: int = 0
    changed: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBelief:
    """A belief that differs between two moments, with its newest decision by the later one."""

    object: ObjectId
    seq: int
    effect: ChangeEffect


async def count_changes_by_day(tx: Transaction, person: PersonId, *, zone: str) -> list[DayChanges]:
    """Count the beliefs with a decision on each day that has any, oldest first.

    Each is counted once a day, and not at all if it came and went on that day. Entities are not
    counted, nor what only waits for the person's word.
    """
    rows = await tx.rows(
        """SELECT learned_at / :quarter, object, op FROM change
           WHERE person = :person AND kind <> 'entity' AND op NOT IN ('proposed', 'withdrawn')
           ORDER BY seq""",
        person=person,
        quarter=QUARTER_HOUR,
    )
    dates: dict[int, date] = {}
    effects: dict[tuple[date, ObjectId], list[ChangeEffect]] = {}
    for quarter, object_id, op in rows:
        if quarter not in dates:
            dates[quarter] = from_micros(quarter * QUARTER_HOUR, zone).date()
        effects.setdefault((dates[quarter], object_id), []).append(EFFECT_BY_OP.get(op, "changed"))
    by_day: dict[date, dict[ChangeEffect, int]] = {}
    for (day, _), of_day in effects.items():
        if effect := find_net_effect(of_day):
            counts = by_day.setdefault(day, {})
            counts[effect] = counts.get(effect, 0) + 1
    return [DayChanges(day=day, **counts) for day, counts in sorted(by_day.items())]


def find_net_effect(effects: Sequence[ChangeEffect]) -> ChangeEffect | None:
    """Return what the decisions of one day did to a belief in the end."""
    was_held = effects[0] != "added"
    turns = [each for each in effects if each != "changed"]
    is_held = not turns or turns[-1] == "added"
    if was_held and is_held:
        return "changed" if "changed" in effects else None
    if was_held:
        return "ended"
    return "added" if is_held else None


async def list_changed_beliefs(
    tx: Transaction,
    person: PersonId,
    *,
    since: Micros,
    until: Micros,
    kinds: Collection[ObjectKind],
) -> list[ChangedBelief]:
    """List the beliefs held at only one of two moments, or changed between them, newest first.

    What came and went between the two is left out.
    """
    parameters = {f"kind{index}": kind for index, kind in enumerate(sorted(kinds))}
    rows = await tx.rows(
        f"""SELECT c.object, c.seq, {IS_HELD_SQL.format("c")},
             (SELECT {IS_HELD_SQL.format("p")} FROM change p WHERE p.person = c.person
              AND p.object = c.object AND p.seq < c.seq AND p.learned_at <= :since
              ORDER BY p.seq DESC LIMIT 1)
           FROM change c WHERE c.person = :person
           AND c.learned_at > :since AND c.learned_at <= :until
           AND c.kind IN ({", ".join(f":{name}" for name in parameters)}) ORDER BY c.seq DESC""",
        person=person,
        since=since,
        until=until,
        **parameters,
    )
    return list(collect_changed_beliefs(rows))


def collect_changed_beliefs(
    rows: Collection[tuple[str, int, int, int | None]],
) -> Iterator[ChangedBelief]:
    """Yield each object's net difference, given its decisions newest first."""
    seen: set[str] = set()
    for object_id, seq, is_held, was_held in rows:
        if object_id in seen:
            continue
        seen.add(object_id)
        if is_held or was_held:
            effect: ChangeEffect = (
                "changed" if is_held and was_held else "added" if is_held else "ended"
            )
            yield ChangedBelief(object=ObjectId(object_id), seq=seq, effect=effect)
