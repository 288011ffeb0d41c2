"""What holds at the end of every journey: what is believed is what was decided."""

import asyncio
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from oldfriend.cli.database_commands import find_mismatches
from oldfriend.domain.ids import ObjectId
from oldfriend.memory.people import list_people
from oldfriend.runtime.wiring import open_database
from tests.journeys.browsers import opened_browser

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Journeys are slow, but for the few that say that they are quick."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def ends_as_it_was_decided(tmp_path: Path) -> Iterator[None]:
    """Whatever happened to a data folder, its journal alone makes the same beliefs."""
    yield
    for database in tmp_path.rglob("oldfriend.db"):
        assert_as_decided(database)


def assert_as_decided(database: Path) -> None:
    """Have everybody's beliefs in a database checked."""
    with ThreadPoolExecutor() as elsewhere:  # in this thread a browser may have its loop
        assert elsewhere.submit(asyncio.run, found_wrong(database)).result() == []


async def found_wrong(database: Path) -> list[ObjectId]:
    """What of anybody's beliefs is not as it was decided, as `rebuild --check` finds it."""
    opened = await open_database(f"sqlite:///{database}", create=False)
    try:
        async with opened.begin_read() as tx:
            people = await list_people(tx)
            return [each for one in people for each in await find_mismatches(tx, one.id)]
    finally:
        await opened.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a module."""
    with opened_browser() as opened:
        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes: three times what an empty store takes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    try:
        subprocess.run(mounting, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a disk cannot be made here ({error}); tests/db has the same with a limit")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def enlarge(disk: Path, megabytes: int) -> None:
    """Let more fit on a disk of the test."""
    remounting = ["mount", "-o", f"remount,size={megabytes}m", str(disk)]
    subprocess.run(remounting, check=True, capture_output=True)


def fill(disk: Path) -> Path:
    """Fill a disk to the last page, whoever else writes there; the file that does it."""
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filler
