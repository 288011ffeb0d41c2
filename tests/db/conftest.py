"""Databases in which nothing is yet, not even tables."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from oldfriend.app.choices.database_url import file_of, names_json, names_postgres
from oldfriend.db.database import Database
from oldfriend.db.json.database import open_json
from oldfriend.db.postgres.database import open_postgres
from oldfriend.db.schema import Migration
from oldfriend.db.sqlite.database import open_sqlite
from oldfriend.memory.search.imprint import imprint_of
from tests.conftest import EVERY_ENGINE
from tests.postgres import Server

OpenWith = Callable[..., Awaitable[Database]]


@pytest.fixture(params=EVERY_ENGINE)
def engine(request: pytest.FixtureRequest) -> str:
    """The json store too."""
    return request.param


@pytest.fixture
def new_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place where nobody has opened anything."""
    if engine != "postgres":
        yield f"{engine}:///{tmp_path / f'new.{engine}'}"
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
        if names_json(new_url):
            path = file_of(new_url)
            return open_json(path, imprint=imprint_of, migrations=steps, create=create)
        return open_sqlite(file_of(new_url), migrations=steps, create=create)

    return open_with
