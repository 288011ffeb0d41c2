"""A server whose connections break, and what is written to it."""

import psycopg

from oldfriend.db.database import Database
from oldfriend.db.postgres.postgres_database import PostgresDatabase
from tests.postgres import Server


async def write(db: Database, name: str, *, wake: bool = True) -> None:
    """Commit something."""
    async with db.begin_write() as tx:
        await tx.run("INSERT INTO companion (id, name, created_at) VALUES (:id, :id, 0)", id=name)
        if wake:
            await tx.notify()


async def names(db: Database) -> list[str]:
    """What was committed."""
    async with db.begin_read() as tx:
        return [row[0] for row in await tx.rows("SELECT name FROM companion ORDER BY name")]


def cut(postgres: Server, db: PostgresDatabase) -> None:
    """Break every connection to a database, as a restart of the server does."""
    name = psycopg.conninfo.conninfo_to_dict(db.address.main_conninfo)["dbname"]
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
