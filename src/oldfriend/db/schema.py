"""Schema: the migrations, the state of a database, and which versions may write to it.

Migrations are SQL files in SQLite's spelling and are never changed once released. They expand first
and contract later: a step that only adds says in its first lines from which schema version on
programs may go on writing beside it ("-- Oldest writer: 2"); one that says nothing shuts out all
older programs. The row in ``schema_state`` records that, for programs that are older than the
database.

A conversion yields statements and is sent the rows of each, so that every engine can run it, in the
transaction of its migration. Like the migrations, a conversion is never changed once released.
"""

import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import resources
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from oldfriend.db.database import Row, SqlValue, TableInfo, Transaction
from oldfriend.domain.codec import (
    PackedItem,
    PackedReason,
    Reference,
    pack_items,
    pack_references,
    pack_sources,
    split_details,
)
from oldfriend.domain.errors import SchemaTooNew, SchemaUnknown

ROW_BATCH_SIZE: Final = 200
ID_BATCH_SIZE: Final = 500
RULE_SUMMARY_AUTHORS: Final = ("rules/", "summarise-by-rules/")
"""How the authors of summaries that rules wrote begin."""
TURN_PURPOSES: Final = frozenset({"reply", "classify"})
"""Purposes of calls whose answers are not needed once their turn is committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement with its values: one set, or one for each execution."""

    sql: str
    values: Mapping[str, SqlValue] | None = None
    batch: Sequence[Mapping[str, SqlValue]] = ()


Conversion: TypeAlias = Generator[Statement, list[Row], None]


async def run_conversion(tx: Transaction, conversion: Conversion) -> None:
    """Run a conversion on rows that have come in since its migration."""
    rows: list[Row] = []
    with suppress(StopIteration):
        statement = next(conversion)
        while True:
            if statement.values is not None:
                rows = await tx.rows(statement.sql, **statement.values)
            await tx.run_many(statement.sql, statement.batch)
            statement = conversion.send(rows)


def pack_receipts() -> Conversion:
    """Convert each receipt and its items into a compact row, and a row with the trace."""
    after = ""
    while True:
        receipts = yield Statement(
            sql="""SELECT id, person, turn, asked, asked_seq, replied, made_at, details FROM receipt
                   WHERE id > :after ORDER BY id LIMIT :most""",
            values={"after": after, "most": ROW_BATCH_SIZE},
        )
        if not receipts:
            return
        rows = yield Statement(
            sql="""SELECT i.receipt, i.kind, i.object, i.version, i.used, i.score, i.why, m.seq
                   FROM receipt_item i LEFT JOIN message m
                     ON m.id = i.object AND m.version = i.version AND m.person = i.person
                   WHERE i.receipt > :after AND i.receipt <= :last
                   ORDER BY i.receipt, i.ordinal""",
            values={"after": after, "last": receipts[-1][0]},
        )
        items: dict[str, list[Row]] = {}
        for receipt, *row in rows:
            items.setdefault(receipt, []).append(tuple(row))
        packed = [build_receipt_rows(row, items.get(row[0], [])) for row in receipts]
        yield Statement(
            sql="""INSERT INTO new_receipt (id, person, turn, asked, asked_seq, replied, made_at,
                     details, stood_on)
                   VALUES (:id, :person, :turn, :asked, :asked_seq, :replied, :made_at,
                     :details, :stood_on)""",
            batch=[receipt for receipt, _ in packed],
        )
        yield Statement(
            sql="""INSERT INTO receipt_trace (receipt, person, details, terms, items)
                   VALUES (:receipt, :person, :details, :terms, :items)""",
            batch=[trace for _, trace in packed],
        )
        after = receipts[-1][0]


def parse_item(row: Row) -> PackedItem:
    """Build an item from its former row; a known message version becomes its number."""
    kind, name, version, used, score, why, number = row
    is_numbered = kind == "message" and number is not None
    return PackedItem(
        is_memory=kind == "memory",
        reference=number if is_numbered else name,
        version=0 if is_numbered else version,
        is_used=bool(used),
        score=score,
        reasons=tuple(
            PackedReason(each["cause"], tuple(each["words"]), each["name"], each["strength"])
            for each in json.loads(why)
        ),
    )


def build_receipt_rows(
    row: Row, item_rows: Sequence[Row]
) -> tuple[dict[str, SqlValue], dict[str, SqlValue]]:
    """Build the new row of a receipt and that of its trace."""
    names = ("id", "person", "turn", "asked", "asked_seq", "replied", "made_at")
    items = [parse_item(each) for each in item_rows]
    lasting, temporary = split_details(json.loads(row[7]), [each[1] for each in item_rows])
    packed, terms = pack_items(items)
    receipt = dict(zip(names, row[:7], strict=True))
    return (
        {**receipt, "details": lasting, "stood_on": pack_sources(items)},
        {
            "receipt": row[0],
            "person": row[1],
            "details": temporary,
            "terms": terms,
            "items": packed,
        },
    )


def pack_model_calls() -> Conversion:
    """Pack what each call was shown, and delete the answers of committed turns."""
    after = ""
    columns = """id, person, turn, asked, step, request, purpose, prompt, model, outcome, shown,
        answer, error, tokens_in, tokens_cached, tokens_out, cost, sound, latency, is_background,
        made_at"""
    names = [each.strip() for each in columns.split(",")]
    while True:
        rows = yield Statement(
            sql=f"""SELECT {columns}, (SELECT count(*) FROM receipt r WHERE r.turn = c.turn)
                   FROM model_call c WHERE id > :after ORDER BY id LIMIT :most""",
            values={"after": after, "most": ROW_BATCH_SIZE},
        )
        if not rows:
            return
        calls = [dict(zip((*names, "is_over"), row, strict=True)) for row in rows]
        ids = dict.fromkeys(each for call in calls for each in json.loads(call["shown"]))
        numbers: dict[tuple[str, str], int] = {}
        for params in iter_id_params(list(ids)):
            marks = ", ".join(f":{name}" for name in params)
            found = yield Statement(
                sql=f"SELECT person, id, seq FROM message WHERE version = 1 AND id IN ({marks})",
                values=params,
            )
            numbers |= {(person, name): number for person, name, number in found}
        yield Statement(
            sql=f"""INSERT INTO new_model_call ({columns})
                   VALUES ({", ".join(f":{name}" for name in names)})""",
            batch=[build_call_row(call, numbers) for call in calls],
        )
        after = rows[-1][0]


def iter_id_params(ids: Sequence[str]) -> Iterable[dict[str, SqlValue]]:
    """Yield ids as parameters, in batches."""
    for start in range(0, len(ids), ID_BATCH_SIZE):
        yield {f"id{index}": each for index, each in enumerate(ids[start : start + ID_BATCH_SIZE])}


def build_call_row(
    call: Mapping[str, SqlValue], numbers: Mapping[tuple[str, str], int]
) -> dict[str, SqlValue]:
    """Build the new row of a call."""
    shown: list[str] = json.loads(str(call["shown"]))
    person = str(call["person"])
    references: list[Reference] = [numbers.get((person, each), each) for each in shown]
    kept = {name: value for name, value in call.items() if name != "is_over"}
    kept["shown"] = pack_references(references)
    if call["is_over"] and call["purpose"] in TURN_PURPOSES:
        kept |= {"answer": None, "request": "", "asked": None}
    return kept


def remove_rule_summaries() -> Conversion:
    """Remove the summaries that rules wrote, and those folded from them, with their decisions.

    Others that were folded only into removed ones are active again.
    """
    rows = yield Statement(
        sql="""SELECT person, seq, object, author, after FROM change WHERE kind = 'summary'
               ORDER BY person, seq""",
        values={},
    )
    removed: dict[str, str] = {}  # the person of each
    latest: dict[str, tuple[int, dict[str, Any]]] = {}
    for person, seq, name, author, after in rows:
        summary = parse_object(after)
        is_by_rules = name not in latest and author.startswith(RULE_SUMMARY_AUTHORS)
        if is_by_rules or not removed.keys().isdisjoint(list_sources(summary)):
            removed[name] = person
        latest[name] = seq, {**summary, "person": person}
    freed = list_freed_summaries(latest, removed)
    for table, column in (("change", "object"), ("summary", "id")):
        yield Statement(
            sql=f"DELETE FROM {table} WHERE {column} = :id AND person = :person",
            batch=[{"id": name, "person": person} for name, person in removed.items()],
        )
    yield Statement(
        sql="UPDATE summary SET is_active = 1 WHERE id = :id AND person = :person",
        batch=[{"id": each, "person": latest[each][1]["person"]} for each in freed],
    )
    yield Statement(
        sql="UPDATE change SET after = :after WHERE person = :person AND seq = :seq",
        batch=[
            {
                "after": json.dumps({**summary, "is_active": True}, ensure_ascii=False),
                "person": summary["person"],
                "seq": seq,
            }
            for seq, summary in map(latest.__getitem__, freed)
        ],
    )


def list_freed_summaries(
    latest: Mapping[str, tuple[int, Mapping[str, Any]]], removed: Collection[str]
) -> list[str]:
    """List the summaries that were folded into removed ones and into no other that still counts."""
    into_removed, into_kept = set[str](), set[str]()
    for name, (_, summary) in latest.items():
        if name in removed:
            into_removed.update(list_sources(summary))
        elif summary.get("ended_at") is None:
            into_kept.update(list_sources(summary))
    return [
        name
        for name, (_, summary) in latest.items()
        if name in into_removed - into_kept
        and name not in removed
        and summary.get("ended_at") is None
    ]


def list_sources(summary: Mapping[str, Any]) -> list[str]:
    """List what a summary was folded from; an export may hold anything there."""
    sources = summary.get("sources")
    named = sources if isinstance(sources, list) else []
    return [each for each in named if isinstance(each, str)]


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; empty if it is damaged."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


CONVERSIONS: Final[Mapping[str, Callable[[], Conversion]]] = MappingProxyType(
    {
        "pack_receipts": pack_receipts,
        "pack_model_calls": pack_model_calls,
        "remove_rule_summaries": remove_rule_summaries,
    }
)
"""The conversions by the names that migrations use."""


OLDEST_WRITER_PATTERN: Final = re.compile(r"^-- Oldest writer: (\d+)$", re.MULTILINE)
CONVERSION_PATTERN: Final = re.compile(r"^-- Then: (\w+)$", re.MULTILINE)
"""Marks where a migration continues with a conversion."""

CREATE_STATE: Final = """CREATE TABLE IF NOT EXISTS schema_state (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL,       -- the newest step that was applied,
    name TEXT NOT NULL,            -- and its name
    oldest_writer BIGINT NOT NULL  -- the oldest schema whose programs may still write
)"""
READ_STATE: Final = "SELECT version, name, oldest_writer FROM schema_state"
TOUCH_STATE: Final = "UPDATE schema_state SET version = version"
"""A write that changes nothing."""
WRITE_STATE: Final = """INSERT INTO schema_state (id, version, name, oldest_writer)
    VALUES (1, :version, :name, :oldest_writer)
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, name = excluded.name,
      oldest_writer = excluded.oldest_writer"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered step of the schema."""

    version: int
    name: str
    sql: str

    @property
    def oldest_writer(self) -> int:
        """The oldest schema version whose programs may write after this step."""
        stated = OLDEST_WRITER_PATTERN.search(self.sql)
        return self.version if stated is None else int(stated[1])

    def iter_parts(self) -> Iterator[str | Callable[[], Conversion]]:
        """Yield the SQL of the step and the conversions in between, in order."""
        for number, part in enumerate(CONVERSION_PATTERN.split(self.sql)):
            if number % 2:
                yield CONVERSIONS[part]
            elif part.strip():
                yield part


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """Which migrations a database has, and which programs may write to it."""

    version: int = 0
    name: str = ""
    oldest_writer: int = 0

    def after_steps(self, steps: Sequence[Migration]) -> "SchemaState":
        """Return the state after these steps."""
        oldest = max(step.oldest_writer for step in steps)
        return SchemaState(
            version=steps[-1].version,
            name=steps[-1].name,
            oldest_writer=max(self.oldest_writer, oldest),
        )


def load_migrations() -> tuple[Migration, ...]:
    """Load the migrations that this version knows, in order."""
    folder = resources.files("oldfriend.db") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda f: f.name
    )
    return tuple(
        Migration(version=int(file.name[:4]), name=file.name[:-4], sql=file.read_text("utf-8"))
        for file in files
    )


def parse_state(row: Row) -> SchemaState:
    """Build a state from its row."""
    version, name, oldest_writer = row
    return SchemaState(version=version, name=name, oldest_writer=oldest_writer)


def check_schema_version(state: SchemaState, known: int, location: str) -> None:
    """Raise SchemaTooNew if a newer version has changed what this program writes."""
    if known < state.oldest_writer:
        raise SchemaTooNew(
            f"{location} was written by a newer Oldfriend (its schema is {state.version}, this one "
            f"knows {known}). Nothing was changed. Update Oldfriend and start it again."
        )


def check_schema_known(state: SchemaState, migrations: Sequence[Migration], location: str) -> None:
    """Raise SchemaUnknown if the database's last migration is not one of these.

    Such as one of an unreleased version: its tables may be anything.
    """
    if not 0 < state.version <= migrations[-1].version:
        return
    names = {step.version: step.name for step in migrations}
    known = names.get(state.version)
    if known is not None and state.name in {"", known}:  # empty: from before names were recorded
        return
    raise SchemaUnknown(
        f"{location} was made by a version of Oldfriend that was never released: its last "
        f"migration is {state.name or state.version}, which this version does not have. Nothing "
        "was changed. Export it with the version that made it, and import the export here; or "
        "restore an earlier copy."
    )


def build_table_infos(columns: Iterable[Row], references: Iterable[Row]) -> list[TableInfo]:
    """Build tables from (table, column, key position or 0) and (table, referenced table) rows.

    Each table comes after those it references.
    """
    described: dict[str, list[Row]] = {}
    for table, *column in columns:
        described.setdefault(table, []).append(tuple(column))
    order = TopologicalSorter[str](dict.fromkeys(sorted(described), ()))
    for table, parent in sorted(references):
        order.add(table, parent)
    return [build_table_info(name, described[name]) for name in order.static_order()]


def build_table_info(name: str, columns: Sequence[Row]) -> TableInfo:
    """Build a table from its columns, each (name, key position or 0)."""
    key = sorted((index, column) for column, index in columns if index)
    return TableInfo(
        name=name,
        columns=tuple(column for column, _ in columns),
        key=tuple(column for _, column in key),
    )
