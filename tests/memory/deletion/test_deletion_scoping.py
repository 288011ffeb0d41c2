"""Forgetting touches nobody else: every statement of it says whose rows it means."""

import ast
import importlib
from pathlib import Path

from oldfriend.db.database import Database
from oldfriend.memory import deletion as forgetting
from oldfriend.memory.deletion.audit_log import CLEANUP_COLUMNS
from tests.memory.test_scoping import names_the_person, sql_in, tables_of_people

EVERYBODYS = {
    ("audit_log", "SELECT 1 FROM cleanup WHERE is_clean = 0 LIMIT 1"),
    ("audit_log", "SELECT person, begun_at FROM cleanup ORDER BY begun_at, id"),
    ("audit_log", f"SELECT {CLEANUP_COLUMNS} FROM cleanup ORDER BY begun_at, id"),
}
"""What is still to be cleaned is looked for at each start, whoever it was that forgot."""


async def test_every_deletion_sql_statement_is_restricted_to_one_person(db: Database) -> None:
    """Read from the source."""
    async with db.begin_read() as tx:
        tables = await tables_of_people(tx)
    found = []
    for path in sorted(Path(forgetting.__path__[0]).glob("*.py")):
        module = vars(importlib.import_module(f"oldfriend.memory.deletion.{path.stem}"))
        found += [(path.stem, sql) for sql in sql_in(ast.parse(path.read_text("utf-8")), module)]

    found = [each for each in found if each not in EVERYBODYS]
    assert len(found) > 30
    assert [each for each in found if not names_the_person(each[1], tables)] == []
