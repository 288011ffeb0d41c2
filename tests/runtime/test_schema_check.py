"""A database that has the right version and other tables is not said to be up to date."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.schema_check import list_schema_faults
from oldfriend.runtime.wiring import open_database
from tests.engines import SQLITE_ONLY, every_engine
from tests.postgres import Server
from tests.processes import Program

engine = every_engine


@pytest.fixture
async def own(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Database]:
    """A database that no other test gets."""
    if engine != "postgres":
        db = await open_database(f"{engine}:///{tmp_path / f'own.{engine}'}")
        yield db
        await db.close()
        return
    server: Server = request.getfixturevalue("postgres")
    with server.new_database() as url:
        db = await open_database(url)
        yield db
        await db.close()


async def test_current_database_has_no_schema_faults(own: Database) -> None:
    """As every engine makes it."""
    assert await list_schema_faults(own) == []


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
async def test_schema_check_names_missing_tables_and_columns_and_ignores_extras(
    own: Database,
) -> None:
    """A step that was changed before its release has the same number and name."""
    async with own.begin_write() as tx:
        await tx.run("CREATE TABLE of_somebody_else (id BIGINT)")
        await tx.run("DROP TABLE embedding_progress")
        await tx.run("ALTER TABLE model_call DROP COLUMN sound")
    faults = await list_schema_faults(own)

    assert [each.code for each in faults] == ["database_lacks"] * 2
    assert [each.values["what"] for each in faults] == ["embedding_progress", "model_call.sound"]


@SQLITE_ONLY
async def test_doctor_reports_a_missing_table(app: AppContext) -> None:
    """Else it would find the database sound."""
    async with app.db.begin_write() as tx:
        await tx.run("DROP TABLE embedding_progress")
    found = [each.text for each in await run_checks(app) if not each.is_ok]

    assert "database_lacks" in [each.code for each in found if isinstance(each, LocalizedText)]


@pytest.mark.slow
def test_migrate_fails_if_a_table_is_missing(oldfriend: Program) -> None:
    """It ends with an error, and says what is missing."""
    oldfriend.done("say", "Hello there")
    before = oldfriend.done("migrate").stdout
    with closing(sqlite3.connect(oldfriend.data / "oldfriend.db")) as database:
        database.execute("DROP TABLE embedding_progress")
    after = oldfriend("migrate")

    assert "up to date" in before
    assert (after.code, after.stdout) == (1, "")
    assert "lacks embedding_progress" in after.stderr
