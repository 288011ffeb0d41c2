"""Databases in which nothing is yet, not even tables."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from oldfriend.config.settings import is_json_url, is_postgres_url, parse_database_path
from oldfriend.db.database import Database
from oldfriend.db.json.json_database import open_json
from oldfriend.db.postgres.postgres_database import open_postgres
from oldfriend.db.schema import Migration
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from oldfriend.search.document_terms import encode_document_terms
from tests.engines import every_engine
from tests.postgres import Server

OpenWith = Callable[..., Awaitable[Database]]


engine = every_engine


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
        if is_postgres_url(new_url):
            return await open_postgres(new_url, migrations=steps, create=create)
        if is_json_url(new_url):
            path = parse_database_path(new_url)
            return open_json(
                path, pack_terms=encode_document_terms, migrations=steps, create=create
            )
        return open_sqlite(parse_database_path(new_url), migrations=steps, create=create)

    return open_with
