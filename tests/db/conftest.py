"""Databases in which nothing is yet, not even tables."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from oldfriend.app.choices.database_url import names_postgres, sqlite_path
from oldfriend.db.database import Database
from oldfriend.db.postgres.database import open_postgres
from oldfriend.db.schema import Migration
from oldfriend.db.sqlite.database import open_sqlite
from tests.postgres import Server

OpenWith = Callable[..., Awaitable[Database]]


@pytest.fixture
def new_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place where nobody has opened anything."""
    if engine == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.db'}"
        return
    server: Server = request.getfixturevalue("postgres")
    with server.new_database() as url:
        yield url


@pytest.fixture
def open_with(new_url: str) -> OpenWith:
    """Open it as a version of the program does that knows these steps."""

    async def open_with(*steps: Migration, create: bool = True) -> Database:
        if names_postgres(new_url):
            return await open_postgres(new_url, migrations=steps, create=create)
        return open_sqlite(sqlite_path(new_url), migrations=steps, create=create)

    return open_with
