"""What was decided, and when? The journal of decisions, and its fold.

The only module that writes the views. Folding copies what was decided: it runs no formula,
clock or model, so that folding the journal into empty tables finds the same rows again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    CHANGE_VERSION,
    Believed,
    Cause,
    Change,
    ChangeOp,
    Memory,
    ObjectKind,
)
from oldfriend.memory.evidence import columns_of, list_standings
from oldfriend.memory.rows import class_of, from_json, kind_of, row_from_json, to_json
from oldfriend.memory.views import clear_views, fill_views, read_views, write_view

COLUMNS: Final = """person, seq, object, kind, op, v, learned_at, after, cause, author, base,
    segment"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What decisions rest on, and who has made them."""

    author: str  # a rule with its version, a prompt with its version, or the person
    causes: tuple[Cause, ...] = ()
    segment: SegmentId | None = None


async def decide(
    tx: Transaction, after: Believed, *, op: ChangeOp, base: int, ground: Ground, now: Micros
) -> Change:
    """Write a decision down and fold it into the views. Raises StaleDecision, NotFound.

    ``base`` is the object's newest change when this was decided, 0 for a new object.
    """
    row = await tx.row(
        "UPDATE person SET last_change = last_change + 1 WHERE id = :person RETURNING last_change",
        person=after.person,
    )
    assert row is not None
    newest = await newest_change_of(tx, after.person, after.id)
    if newest != base:
        raise StaleDecision(f"{after.id} has changed since ({newest} instead of {base}).")
    change = Change(
        person=after.person, seq=int(row[0]), object=after.id, op=op, v=CHANGE_VERSION,
        decided_at=now, after=after, causes=ground.causes, author=ground.author,
        segment=ground.segment, base=base,
    )  # fmt: skip
    await write_change(tx, change)
    await write_view(tx, after, seq=change.seq)
    return change


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """By which it shows that something was decided about a person, or taken away."""

    last_change: int
    rewritten: int


async def revision_of(tx: Transaction, person: PersonId) -> Revision:
    """How much was decided about a person by now, and how often something was taken away."""
    row = await tx.row(
        "SELECT last_change, rewritten FROM person WHERE id = :person", person=person
    )
    assert row is not None
    return Revision(last_change=row[0], rewritten=row[1])


async def was_set_right_since(tx: Transaction, person: PersonId, since: Micros) -> bool:
    """Whether the person has said after a moment that something is not as it was believed."""
    row = await tx.row(
        """SELECT 1 FROM change WHERE person = :person AND author = 'person'
           AND op IN ('corrected', 'rejected', 'separated') AND learned_at > :since LIMIT 1""",
        person=person,
        since=since,
    )
    return row is not None


async def newest_change_of(tx: Transaction, person: PersonId, object_id: ObjectId) -> int:
    """The seq of an object's newest change; 0 when it has none."""
    row = await tx.row(
        "SELECT max(seq) FROM change WHERE person = :person AND object = :object",
        person=person,
        object=object_id,
    )
    return 0 if row is None or row[0] is None else int(row[0])


async def write_change(tx: Transaction, change: Change) -> None:
    """Append one record to the journal; the one before it is no longer the newest."""
    if change.base:
        await tx.run(
            """UPDATE change SET ended_at = :now WHERE person = :person AND seq = :base
               AND object = :object""",
            now=change.decided_at, person=change.person, base=change.base, object=change.object,
        )  # fmt: skip
    await tx.run(
        """INSERT INTO change (person, seq, object, kind, op, v, learned_at, after, cause, author,
             base, segment)
           VALUES (:person, :seq, :object, :kind, :op, :v, :learned_at, :after, :cause, :author,
             :base, :segment)""",
        person=change.person, seq=change.seq, object=change.object, kind=kind_of(change.after),
        op=change.op, v=change.v, learned_at=change.decided_at, after=to_json(change.after),
        cause=json.dumps([[cause.message, cause.version] for cause in change.causes]),
        author=change.author, base=change.base, segment=change.segment,
    )  # fmt: skip


async def list_changes(tx: Transaction, person: PersonId) -> list[Change]:
    """The whole journal of a person, in order."""
    rows = await tx.rows(
        f"SELECT {COLUMNS} FROM change WHERE person = :person ORDER BY seq", person=person
    )
    return [change_from(row) for row in rows]


async def list_changes_of(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> list[Change]:  # fmt: skip
    """Everything that was ever decided about one object, in order."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM change WHERE person = :person AND object = :object
           ORDER BY seq""",
        person=person,
        object=object_id,
    )
    return [change_from(row) for row in rows]


async def list_changes_by(tx: Transaction, person: PersonId, segment: SegmentId) -> list[Change]:
    """Everything that the consolidation of a segment has decided, in order."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM change WHERE person = :person AND segment = :segment
           ORDER BY seq""",
        person=person,
        segment=segment,
    )
    return [change_from(row) for row in rows]


async def believed_at(tx: Transaction, person: PersonId, at: Micros) -> list[Change]:
    """The newest decision about each object at a moment, also of those that had ended by then."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM change WHERE person = :person AND learned_at <= :at
           AND (ended_at IS NULL OR ended_at > :at) ORDER BY seq""",
        person=person,
        at=at,
    )
    return list(folded(map(change_from, rows)).values())


def folded(changes: Iterable[Change]) -> dict[ObjectId, Change]:
    """The newest decision about each object, of decisions in order."""
    return {change.object: change for change in changes}


async def rebuild(tx: Transaction, person: PersonId) -> int:
    """Fold a person's journal into empty views; how many objects there are.

    How they stand is not in the journal: it is computed from the evidence, as always.
    """
    rows = await tx.rows(
        """SELECT object, kind, op, v, learned_at, after, seq FROM change
           WHERE person = :person AND (ended_at IS NULL OR v = 1) ORDER BY seq""",
        person=person,
    )
    ties = {row[0] for row in rows if row[1] == "triple"}
    standings = await list_standings(tx, person, ties=ties)
    folded_rows: list[tuple[ObjectKind, dict[str, SqlValue]]] = []
    for object_id, kind, op, v, decided_at, after, seq in {row[0]: row for row in rows}.values():
        values = upcast(json.loads(after), v, object_id, person, kind, op, decided_at)
        row = {**row_from_json(kind, values), "change_seq": seq}
        if class_of(kind) is Memory:
            row |= columns_of(standings.get(object_id))
        folded_rows.append((kind, row))
    await clear_views(tx, person)
    await fill_views(tx, folded_rows)
    await tx.run("UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=person)
    return len(folded_rows)


async def check_fold(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """The objects whose stored row is not what folding the journal gives; empty when sound."""
    changes = folded(await list_changes(tx, person))
    expected = {each: (change.after, change.seq) for each, change in changes.items()}
    return sorted(differing(expected, await read_views(tx, person)))


def differing(
    expected: Mapping[ObjectId, tuple[Believed, int]], held: Mapping[ObjectId, tuple[Believed, int]]
) -> Iterator[ObjectId]:
    """The objects of which the two know something else."""
    for object_id in expected.keys() | held.keys():
        if expected.get(object_id) != held.get(object_id):
            yield object_id


def change_from(row: Row) -> Change:
    """A change from the columns in COLUMNS."""
    person, seq, object_id, kind, op, v, decided_at, after, cause, author, base, segment = row
    values = upcast(json.loads(after), v, object_id, person, kind, op, decided_at)
    return Change(
        person=PersonId(person), seq=seq, object=object_id, op=op, v=v, decided_at=decided_at,
        after=from_json(kind, values),
        causes=tuple(Cause(message=MessageId(m), version=n) for m, n in json.loads(cause)),
        author=author, segment=segment, base=base,
    )  # fmt: skip


def upcast(
    after: dict[str, JsonValue], v: int, object_id: str, person: str, kind: ObjectKind,
    op: ChangeOp, decided_at: Micros,
) -> dict[str, JsonValue]:  # fmt: skip
    """What a change of an earlier version says, as one of now would say it.

    Version 1 kept a note's text and language only, beside the columns; version 2 knew neither ties,
    thoughts nor opinions, and said all else as it is said now.
    """
    if v > 1:
        return after
    return {
        **after, "id": object_id, "person": person, "kind": kind, "learned_at": decided_at,
        "ended_at": decided_at if op == "ended" else None,
    }  # fmt: skip
