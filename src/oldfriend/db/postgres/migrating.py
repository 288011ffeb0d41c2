"""How does an older database become one that this version can use, with others at work on it?

All missing steps are one transaction. One process applies them, under an advisory lock; the
others wait for it and find them done. Writers hold a lock on the schema row's table while they
write, so that the steps wait for those who have begun, and whoever begins later sees the new
row. Backups are the server's matter (docs/how-to/postgres.md).
"""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.db.database import SqlValue
from oldfriend.db.postgres.address import Address
from oldfriend.db.postgres.connections import Connection
from oldfriend.db.postgres.errors import our_errors
from oldfriend.db.postgres.statements import said_to_postgres
from oldfriend.db.schema import (
    MAKE_STATE,
    READ_STATE,
    WRITE_STATE,
    Migration,
    SchemaState,
    refuse_overtaken,
    state_from,
)
from oldfriend.domain.errors import StoreDamaged, StoreNotFound, StoreUnusable

OUR_LOCK: Final = 0x4F4C4446  # "OLDF"
COMMENT: Final = re.compile(r"--[^\n]*")
SPELLINGS: Final = (
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),  # the order of code points, as in SQLite
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"\bWITHOUT ROWID\b"), ""),
)


async def migrate(
    connection: Connection, address: Address, migrations: Sequence[Migration], *, create: bool
) -> None:
    """Bring the database up to date. Raises StoreError."""
    known = migrations[-1].version
    with our_errors(address):
        state = await find_state(connection)
        if state is None:
            await refuse_strangers(connection, address, create=create)
        elif state.version >= known:
            refuse_overtaken(state, known, address.shown)
            return
        async with connection.transaction():
            await apply_missing(connection, address, migrations)


async def find_state(connection: Connection) -> SchemaState | None:
    """How far the database has come; None where nothing of ours is there."""
    cursor = await connection.execute(b"SELECT to_regclass('schema_state')::text")
    if await cursor.fetchone() in {None, (None,)}:
        return None
    cursor = await connection.execute(READ_STATE.encode())
    row = await cursor.fetchone()
    return None if row is None else state_from(row)


async def refuse_strangers(connection: Connection, address: Address, *, create: bool) -> None:
    """Raise StoreError, before anything is changed, for what cannot become our database."""
    cursor = await connection.execute(b"SHOW server_encoding")
    encoding = await cursor.fetchone()
    if encoding != ("UTF8",):
        raise StoreUnusable(
            f"{address.shown} keeps text as {encoding and encoding[0]}, which cannot hold every "
            "language. Make a database for it: createdb --encoding=UTF8 --template=template0 NAME"
        )
    if not create:
        raise StoreNotFound(
            f"There is no memory at {address.shown} yet. Talk first: oldfriend chat"
        )
    cursor = await connection.execute(
        b"SELECT tablename FROM pg_tables WHERE schemaname = current_schema() "
        b"AND tablename <> 'schema_state' AND to_regclass('schema_state') IS NULL LIMIT 1"
    )
    if await cursor.fetchone() is not None:
        raise StoreDamaged(
            f"{address.shown} holds the tables of another program. Name another with --database."
        )


async def apply_missing(
    connection: Connection, address: Address, migrations: Sequence[Migration]
) -> None:
    """Apply what is still missing once it is our turn, and note how far that is."""
    await connection.execute(b"SELECT pg_advisory_xact_lock(%s)", (OUR_LOCK,))
    await connection.execute(MAKE_STATE.replace("TEXT", 'TEXT COLLATE "C"').encode())
    await connection.execute(b"LOCK TABLE schema_state IN ACCESS EXCLUSIVE MODE")
    state = await find_state(connection) or SchemaState()  # another may have been quicker
    refuse_overtaken(state, migrations[-1].version, address.shown)
    missing = [step for step in migrations if step.version > state.version]
    if not missing:
        return
    for step in missing:
        await connection.execute(as_postgres(step.sql).encode())
    after = state.after(missing)
    values: dict[str, SqlValue] = {
        "version": after.version, "name": after.name, "oldest_writer": after.oldest_writer
    }  # fmt: skip
    await connection.execute(said_to_postgres(WRITE_STATE, values), values)


def as_postgres(sql: str) -> str:
    """A step as PostgreSQL spells it."""
    sql = COMMENT.sub("", sql)
    for ours, theirs in SPELLINGS:
        sql = ours.sub(theirs, sql)
    return sql
