"""The list of stored tables is the schema, and says of every text how it can be erased."""

import inspect
from itertools import chain
from types import ModuleType

import pytest

from oldfriend.db.database import Database
from oldfriend.db.stored_table import StoredTable
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.forgetting import delete
from oldfriend.memory import working_memory
from oldfriend.memory.deletion import erase, journal_redaction, verification
from oldfriend.queues import purge
from oldfriend.usage import model_calls
from tests.engines import both_engines

engine = both_engines

ERASING: tuple[ModuleType, ...] = (
    erase,
    delete,
    journal_redaction,
    purge,
    model_calls,
    working_memory,
)
TYPES = {
    "int": {"integer", "bigint"},
    "real": {"real", "double precision"},
    **{kind: {"text"} for kind in ("words", "name", "text", "code")},
    **{kind: {"blob", "bytea"} for kind in ("packed", "terms", "bytes", "file")},
}
DESCRIPTION = {
    "sqlite": """SELECT name, lower(type), "notnull" OR pk FROM pragma_table_info(:name)""",
    "postgresql": """SELECT column_name, data_type, is_nullable = 'NO'
        FROM information_schema.columns WHERE table_name = :name""",
}


async def test_stored_tables_list_every_table_and_column(db: Database) -> None:
    """So that no export and no forgetting leaves out a column that a migration adds."""
    async with db.begin_read() as tx:
        found = {table.name: set(table.columns) for table in await tx.list_tables()}

    assert {table.name: set(table.columns) for table in STORED_TABLES} == found


async def test_stored_tables_match_schema_types_and_nullability(
    db: Database, database_url: str
) -> None:
    """Type and NULL are those of the database."""
    async with db.begin_read() as tx:
        for table in STORED_TABLES:
            rows = await tx.rows(DESCRIPTION[database_url.partition(":")[0]], name=table.name)
            for name, declared, is_required in rows:
                column = table.columns[name]
                assert declared in TYPES[column.kind], (table.name, name)
                assert column.is_nullable != bool(is_required), (table.name, name)
            assert rows


@pytest.mark.parametrize("table", STORED_TABLES, ids=lambda table: table.name)
def test_every_text_column_has_an_erasure_rule(table: StoredTable) -> None:
    """By a rule, with what it belongs to, by a function that exists, or it says why it stays."""
    written = {name for name, each in table.columns.items() if each.kind in {"words", "name"}}
    searched = set(chain.from_iterable(rule.searched for rule in table.erasure_rules))
    names = {rule.cites for rule in table.erasure_rules} - {None}

    assert searched | names <= table.columns.keys()
    assert set(chain.from_iterable(table.goes_with.values())) <= table.columns.keys()
    assert written <= searched or table.goes_with or table.erased_by or table.stays
    if table.erased_by:
        function = next(
            getattr(each, table.erased_by) for each in ERASING if hasattr(each, table.erased_by)
        )
        assert inspect.iscoroutinefunction(function)


def test_every_packed_column_has_a_decoder_for_verification() -> None:
    """Nothing that was forgotten hides in bytes."""
    assert verification.PACKED_DECODERS.keys() == {
        (table.name, name)
        for table in STORED_TABLES
        for name, column in table.columns.items()
        if column.kind == "packed"
    }
