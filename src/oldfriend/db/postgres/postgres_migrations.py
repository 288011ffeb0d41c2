"""PostgreSQL migrations: brings a database up to date while other processes use it.

All missing steps are one transaction. One process applies them, under an advisory lock; the others
wait for it and find them done. Writers hold a lock on the schema_state table while they write, so
that the migration waits for those who have begun, and whoever begins later sees the new row.
Backups are left to the server (docs/how-to/postgres.md).
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from oldfriend.db.database import Row, SqlValue
from oldfriend.db.postgres.postgres_connections import (
    Connection,
    PostgresAddress,
    map_postgres_errors,
)
from oldfriend.db.postgres.sql_dialect import to_postgres_sql
from oldfriend.db.schema import (
    CREATE_STATE,
    READ_STATE,
    WRITE_STATE,
    Conversion,
    Migration,
    SchemaState,
    check_schema_known,
    check_schema_version,
    parse_state,
)
from oldfriend.domain.errors import StoreCorrupt, StoreNotFound, StoreUnusable

MIGRATION_LOCK_ID: Final = 0x4F4C4446  # "OLDF"
COMMENT_PATTERN: Final = re.compile(r"--[^\n]*")
DDL_REPLACEMENTS: Final = (
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),  # sorted by code points, as in SQLite
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"\bWITHOUT ROWID\b"), ""),
)

SET_STORAGE: Final = b"""
DO $$
DECLARE
    each RECORD;
BEGIN
    FOR each IN
        SELECT format('ALTER INDEX %I SET (fillfactor = 100)', entry.relname) AS statement
        FROM pg_index
        JOIN pg_class AS entry ON entry.oid = indexrelid
        JOIN pg_class AS held ON held.oid = indrelid
        JOIN pg_am AS way ON way.oid = entry.relam AND way.amname = 'btree'
        WHERE held.relnamespace = current_schema()::regnamespace
          AND held.relname IN
              ('message', 'message_vector', 'model_call', 'receipt', 'receipt_trace')
        UNION ALL
        SELECT 'ALTER TABLE model_call SET (autovacuum_vacuum_insert_threshold = 100,
                autovacuum_vacuum_insert_scale_factor = 0.02)'
        WHERE to_regclass('model_call') IS NOT NULL
    LOOP
        EXECUTE each.statement;
    END LOOP;
END $$
"""
"""Keys of these tables grow with time, so their pages can be filled. A call shrinks once its turn
is committed; only a vacuum lets later calls use that space.
"""


async def migrate(
    connection: Connection,
    address: PostgresAddress,
    migrations: Sequence[Migration],
    *,
    create: bool,
) -> None:
    """Bring the database up to date. Raises StoreError."""
    known = migrations[-1].version
    with map_postgres_errors(address):
        state = await find_schema_state(connection)
        if state is None:
            await check_new_database(connection, address, create=create)
        else:
            check_schema_known(state, migrations, address.display)
            if state.version >= known:
                check_schema_version(state, known, address.display)
                return
        async with connection.transaction():
            await apply_missing(connection, address, migrations)


async def find_schema_state(connection: Connection) -> SchemaState | None:
    """Return the schema state of the database; None if it is not one of ours."""
    cursor = await connection.execute(b"SELECT to_regclass('schema_state')::text")
    if await cursor.fetchone() in {None, (None,)}:
        return None
    cursor = await connection.execute(READ_STATE.encode())
    row = await cursor.fetchone()
    return None if row is None else parse_state(row)


async def check_new_database(
    connection: Connection, address: PostgresAddress, *, create: bool
) -> None:
    """Raise StoreError, before any change, for what cannot become our database."""
    cursor = await connection.execute(b"SHOW server_encoding")
    encoding = await cursor.fetchone()
    if encoding != ("UTF8",):
        raise StoreUnusable(
            f"{address.display} keeps text as {encoding and encoding[0]}, which cannot store "
            "every language. Create a database in UTF-8: createdb --encoding=UTF8 "
            "--template=template0 NAME"
        )
    if not create:
        raise StoreNotFound(
            f"There is no memory at {address.display} yet. Talk first: oldfriend chat"
        )
    cursor = await connection.execute(
        b"SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
        b"AND tablename <> 'schema_state' AND to_regclass('schema_state') IS NULL LIMIT 1"
    )
    if await cursor.fetchone() is not None:
        raise StoreCorrupt(
            f"{address.display} contains the tables of another program. Name another with "
            "--database."
        )


async def apply_missing(
    connection: Connection, address: PostgresAddress, migrations: Sequence[Migration]
) -> None:
    """Apply the missing migrations under the lock, and record the new state."""
    await connection.execute(b"SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK_ID,))
    await connection.execute(CREATE_STATE.replace("TEXT", 'TEXT COLLATE "C"').encode())
    await connection.execute(b"LOCK TABLE schema_state IN ACCESS EXCLUSIVE MODE")
    state = await find_schema_state(connection) or SchemaState()  # another may have been faster
    check_schema_known(state, migrations, address.display)
    check_schema_version(state, migrations[-1].version, address.display)
    missing = [step for step in migrations if step.version > state.version]
    if not missing:
        return
    for part in (part for step in missing for part in step.iter_parts()):
        if isinstance(part, str):
            await connection.execute(to_postgres_ddl(part).encode())
        else:
            await run_conversion(connection, part())
    await connection.execute(SET_STORAGE)
    after = state.after_steps(missing)
    values: dict[str, SqlValue] = {
        "version": after.version,
        "name": after.name,
        "oldest_writer": after.oldest_writer,
    }
    await connection.execute(to_postgres_sql(WRITE_STATE, values), values)


async def run_conversion(connection: Connection, conversion: Conversion) -> None:
    """Run the statements of a conversion, and send it the rows of each."""
    rows: list[Row] = []
    with suppress(StopIteration):
        statement = next(conversion)
        while True:
            values = statement.values
            if values is not None:
                sql = to_postgres_sql(statement.sql, values)
                rows = await (await connection.execute(sql, values)).fetchall()
            async with connection.pipeline():
                for each in statement.batch:
                    await connection.execute(to_postgres_sql(statement.sql, each), each)
            statement = conversion.send(rows)


def to_postgres_ddl(sql: str) -> str:
    """Return a migration in PostgreSQL's dialect."""
    sql = COMMENT_PATTERN.sub("", sql)
    for pattern, replacement in DDL_REPLACEMENTS:
        sql = pattern.sub(replacement, sql)
    return sql
