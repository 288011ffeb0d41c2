"""What every test may ask for: a clock, a database, a house, and the program as a process."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from oldfriend.app.settings import Settings
from oldfriend.app.wiring import House, open_house
from oldfriend.db.sqlite.database import SqliteDatabase, open_sqlite
from tests.clock import FrozenClock
from tests.processes import Program

SIZE = os.environ.get("OLDFRIEND_TEST_SIZE", "small")  # noqa: TID251 - the tests' one setting

hypothesis_settings.register_profile("small", max_examples=25, deadline=None)
hypothesis_settings.register_profile("full", max_examples=500, deadline=None)
hypothesis_settings.load_profile(SIZE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How long the long tests are."""

    imported: int  # messages in the large import
    kills: int  # times that a writer is killed


@pytest.fixture(scope="session")
def sizes() -> Sizes:
    """Small while working, full with ``make test-full``."""
    if SIZE == "full":
        return Sizes(imported=100_000, kills=40)
    return Sizes(imported=3_000, kills=4)


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands still until it is told to go on."""
    return FrozenClock()


@pytest.fixture(params=["sqlite"])
async def db(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """A new database of each engine."""
    database = open_sqlite(tmp_path / "oldfriend.db")
    yield database
    await database.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The settings of somebody in Lisbon who speaks English."""
    data = tmp_path / "data"
    return Settings(
        data=data, database=f"sqlite:///{data / 'oldfriend.db'}", zone="Europe/Lisbon",
        language="en",
    )  # fmt: skip


@pytest.fixture
async def house(settings: Settings, clock: FrozenClock) -> AsyncIterator[House]:
    """An open house with everything in it, at a standing time."""
    async with open_house(settings, clock=clock) as opened:
        yield opened


@pytest.fixture
def oldfriend(tmp_path: Path) -> Program:
    """The command line as a process, on data of its own."""
    return Program(data=tmp_path / "data")
