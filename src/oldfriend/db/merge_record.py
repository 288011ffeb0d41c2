"""Merge record: which two people became one, which rows were whose, and what stood in them.

For as long as a merge can be undone.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, new_id

COUNTED: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "messages": ("message", "role = 'person' AND replaced_at IS NULL"),
        "beliefs": ("memory", "ended_at IS NULL"),
        "reminders": ("task", "status IN ('open', 'asking')"),
        "goals": ("goal", "status = 'active'"),
        "records": ("diary_entry", "1 = 1"),
        "numbers": ("measurement", "1 = 1"),
        "programs": ("web_token", "1 = 1"),
        "browsers": ("web_session", "1 = 1"),
    }
)
"""What the preview of a merge counts: each table, and which of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMerge:
    """A merge that can be undone: who was merged into whom, and by which numbers it is known."""

    id: str
    person: PersonId  # who is kept
    former: PersonId
    name: str  # of the former one
    settings: Mapping[str, SqlValue]  # the rest of their row
    first_seq: int
    last_seq: int
    first_change: int
    last_change: int
    merged_at: Micros
    undo_until: Micros

    @property
    def values(self) -> dict[str, SqlValue]:
        """Return what statements name."""
        return {
            "merge": self.id,
            "person": self.person,
            "former": self.former,
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "first_change": self.first_change,
            "last_change": self.last_change,
        }


async def record_merge(
    tx: Transaction, person: PersonId, former: PersonId, *, now: Micros, undo_until: Micros
) -> PersonMerge:
    """Record a merge, and raise the counters of whoever is kept."""
    columns = [*TABLES_BY_NAME["person"].columns]
    rows = [
        await tx.row(f"SELECT {', '.join(columns)} FROM person WHERE id = :person", person=each)
        for each in (person, former)
    ]
    kept, other = (dict(zip(columns, row, strict=True)) for row in rows if row is not None)
    first_seq, first_change = int(kept["last_seq"]), int(kept["last_change"])
    merge = PersonMerge(
        id=new_id(now),
        person=person,
        former=former,
        name=other.pop("name"),
        settings=other,
        first_seq=first_seq,
        last_seq=first_seq + int(other["last_seq"]),
        first_change=first_change,
        last_change=first_change + int(other["last_change"]),
        merged_at=now,
        undo_until=undo_until,
    )
    await tx.run(
        """INSERT INTO person_merge (id, person, former, name, settings, first_seq, last_seq,
             first_change, last_change, merged_at, undo_until)
           VALUES (:merge, :person, :former, :name, :settings, :first_seq, :last_seq,
             :first_change, :last_change, :now, :undo_until)""",
        **merge.values,
        name=merge.name,
        settings=json.dumps(merge.settings),
        now=now,
        undo_until=undo_until,
    )
    await tx.run(
        """UPDATE person SET last_seq = :last_seq, last_change = :last_change,
             tokens = tokens + :tokens, embedded = embedded + :embedded,
             weighed = weighed + :weighed + 1, rewritten = rewritten + :rewritten + 1
           WHERE id = :person""",
        last_seq=merge.last_seq,
        last_change=merge.last_change,
        person=person,
        **{name: other[name] for name in ("tokens", "embedded", "weighed", "rewritten")},
    )
    await tx.run(
        "UPDATE session SET after_tokens = after_tokens + :tokens WHERE person = :former",
        tokens=kept["tokens"],
        former=former,
    )
    return merge


def build_key(name: str) -> str:
    """Build the SQL of the key by which the rows of a table are listed."""
    table = TABLES_BY_NAME[name]
    parts = [
        f"CAST({column} AS TEXT)" if table.columns[column].kind == "int" else column
        for column in table.key_columns
        if column != "person"
    ]
    return " || '/' || ".join(parts)


def pick(sql: str, merge: PersonMerge) -> dict[str, SqlValue]:
    """Return those values of a merge that a statement names."""
    return {name: value for name, value in merge.values.items() if f":{name}" in sql}


async def insert_row(tx: Transaction, name: str, row: Mapping[str, SqlValue]) -> None:
    """Insert a row unless its key is taken."""
    await tx.run(
        f"""INSERT INTO {name} ({", ".join(row)}) VALUES ({", ".join(f":{each}" for each in row)})
           ON CONFLICT DO NOTHING""",
        **row,
    )


async def hold(
    tx: Transaction, merge: PersonMerge, name: str, key: str, held: Mapping[str, SqlValue]
) -> None:
    """List a row with what stood in it."""
    await tx.run(
        """INSERT INTO merged_row (merge, name, key, person, held)
           VALUES (:merge, :name, :key, :person, :held)""",
        merge=merge.id,
        name=name,
        key=key,
        person=merge.person,
        held=json.dumps(held, ensure_ascii=False),
    )


async def list_merges(tx: Transaction, person: PersonId, *, now: Micros) -> list[PersonMerge]:
    """List the merges into a person that can still be undone, the last one first."""
    rows = await tx.rows(
        """SELECT id, person, former, name, settings, first_seq, last_seq, first_change,
             last_change, merged_at, undo_until FROM person_merge
           WHERE person = :person AND undo_until > :now AND undone_at IS NULL
           ORDER BY first_seq DESC, id DESC""",
        person=person,
        now=now,
    )
    return [
        PersonMerge(
            id=row[0],
            person=PersonId(row[1]),
            former=PersonId(row[2]),
            name=row[3],
            settings=json.loads(row[4]),
            first_seq=row[5],
            last_seq=row[6],
            first_change=row[7],
            last_change=row[8],
            merged_at=row[9],
            undo_until=row[10],
        )
        for row in rows
    ]


async def mark_undone(tx: Transaction, merge: PersonMerge, *, now: Micros) -> None:
    """Keep of a merge only when it was undone."""
    await tx.run("DELETE FROM merged_row WHERE merge = :merge", merge=merge.id)
    await tx.run(
        """UPDATE person_merge SET undone_at = :now, former = '', name = '', settings = '{}'
           WHERE id = :merge""",
        now=now,
        merge=merge.id,
    )


async def forget_expired_merges(tx: Transaction, *, now: Micros) -> None:
    """Delete the lists of merges that can no longer be undone."""
    await tx.run(
        """DELETE FROM merged_row WHERE merge IN
             (SELECT id FROM person_merge WHERE undo_until <= :now)""",
        now=now,
    )
    await tx.run("DELETE FROM person_merge WHERE undo_until <= :now", now=now)


async def list_merged_keys(tx: Transaction, merge: PersonMerge, name: str) -> list[str]:
    """List the keys of the former person's rows in a table."""
    rows = await tx.rows(
        "SELECT key FROM merged_row WHERE merge = :merge AND name = :name",
        merge=merge.id,
        name=name,
    )
    return [str(row[0]) for row in rows]


async def count_moving(tx: Transaction, person: PersonId) -> dict[str, int]:
    """Count what a merge would bring of a person, by what people call it."""
    counted: dict[str, int] = {}
    for what, (name, condition) in COUNTED.items():
        row = await tx.row(
            f"SELECT count(*) FROM {name} WHERE person = :person AND {condition}", person=person
        )
        counted[what] = 0 if row is None else int(row[0])
    return counted


async def list_tombstones_since(tx: Transaction, merge: PersonMerge) -> list[tuple[str, int]]:
    """List the tombstones that were laid since the merge, with their times."""
    rows = await tx.rows(
        "SELECT print, laid_at FROM tombstone WHERE person = :person AND laid_at >= :since",
        person=merge.person,
        since=merge.merged_at,
    )
    return [(str(row[0]), int(row[1])) for row in rows]


async def share_tombstones(
    tx: Transaction, merge: PersonMerge, forgotten: Iterable[tuple[str, int]]
) -> None:
    """Lay tombstones for both: what was forgotten may have been said by either of the two."""
    await tx.run_many(
        """INSERT INTO tombstone (person, print, laid_at) VALUES (:person, :print, :laid_at)
           ON CONFLICT (person, print) DO UPDATE SET laid_at = excluded.laid_at""",
        [
            {"person": each, "print": fingerprint, "laid_at": laid_at}
            for fingerprint, laid_at in forgotten
            for each in (merge.person, merge.former)
        ],
    )
