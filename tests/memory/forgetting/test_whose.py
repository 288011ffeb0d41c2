"""Forgetting touches nobody else: every statement of it says whose rows it means."""

import ast
import importlib
from pathlib import Path

from oldfriend.db.database import Database
from oldfriend.memory import forgetting
from tests.memory.test_scoping import names_the_person, sql_in, tables_of_people


async def test_every_statement_names_the_person(db: Database) -> None:
    """Read from the source."""
    async with db.reading() as tx:
        tables = await tables_of_people(tx)
    found = []
    for path in sorted(Path(forgetting.__path__[0]).glob("*.py")):
        module = vars(importlib.import_module(f"oldfriend.memory.forgetting.{path.stem}"))
        found += [(path.stem, sql) for sql in sql_in(ast.parse(path.read_text("utf-8")), module)]

    assert len(found) > 30
    assert [each for each in found if not names_the_person(each[1], tables)] == []
