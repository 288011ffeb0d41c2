"""Engines on which a test runs: most on SQLite, those of the storage on every one.

A module whose promise depends on the engine (locks, processes, forgetting) says
``engine = both_engines``: SQLite at once, PostgreSQL among the slow tests. One of the storage
says ``engine = every_engine`` in its folder's ``conftest.py`` and runs on all of them each time.
With ``make test-full`` all others run on both, too.
"""

from typing import Final

import pytest

ENGINES: Final = ("sqlite", "postgres")
EVERY_ENGINE: Final = (*ENGINES, "json")
"""The json store runs the tests of tables, queues and moving: what is above them knows no engine,
and often opens a store twice, which this one does not allow."""

SEVERAL_PROCESSES = pytest.mark.parametrize("engine", ENGINES, indirect=True)
"""For tests in which a database is opened twice."""

SQLITE_ONLY = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
"""For tests of what is so with a file only: ``pytestmark = SQLITE_ONLY``, or on one of them."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def both_engines(request: pytest.FixtureRequest) -> str:
    """SQLite and PostgreSQL, in turn."""
    return request.param


@pytest.fixture(params=EVERY_ENGINE)
def every_engine(request: pytest.FixtureRequest) -> str:
    """SQLite, PostgreSQL and the json store, in turn."""
    return request.param
