"""What every test may ask for: a clock, a database, a house, and the program as a process."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import keyring
import pytest
from hypothesis import settings as hypothesis_settings
from keyring.backends.fail import Keyring as NoKeyring

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.db.database import Database
from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.runtime.wiring import open_app, open_database
from tests.chat_fixtures import chat_context, say
from tests.clock import FrozenClock
from tests.engines import ENGINES
from tests.postgres import Server, running_server
from tests.processes import Program
from tests.two_people import meet, nora, omar
from tests.unit_lane import forbid_storage, is_unit

__all__ = ["chat_context", "meet", "nora", "omar", "say"]

SIZE = os.environ.get("OLDFRIEND_TEST_SIZE", "small")  # noqa: TID251 - the tests' one setting

NAMES = {"sqlite": "oldfriend.db", "json": "oldfriend.json"}

MEMORY_DISK, ENOUGH_BYTES = Path("/dev/shm"), 4 << 30

# The small run says the same of the same code each time; the full one looks for what is new.
hypothesis_settings.register_profile("small", max_examples=25, deadline=None, derandomize=True)
hypothesis_settings.register_profile("full", max_examples=500, deadline=None)
hypothesis_settings.load_profile(SIZE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the unit lane."""
    parser.addoption("--unit", action="store_true", help="only tests that open and start nothing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out whatever is no unit test, where only those are asked for."""
    if config.getoption("unit"):
        units = [item for item in items if is_unit(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(units)])
        items[:] = units


@pytest.fixture(scope="session", autouse=True)
def nothing_opened(request: pytest.FixtureRequest) -> Iterator[None]:
    """In the unit lane whoever opens a database or starts a process fails."""
    with pytest.MonkeyPatch.context() as patched:
        if request.config.getoption("unit"):
            forbid_storage(patched)
        yield


def pytest_configure() -> None:
    """Have databases in memory where there is room: half of a test's time is a disk's."""
    if MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > ENOUGH_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))  # noqa: TID251 - pytest reads it


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How long the long tests are."""

    imported: int  # messages in the large import
    kills: int  # times that a writer is killed
    switched: int = 1_000  # messages that another model embeds anew
    crash_messages: int  # answered while workers are killed
    crash_chats: int  # in which they are said
    decisions: int = 1_000  # that are folded
    fuzzed: int = 300  # updates that no platform would send
    live_replies: int = 30  # shown while they are written
    forgets_killed: int = 10  # each at another of its steps
    reminder_kills: int = 4  # around the time of a reminder
    page_messages: int = 400  # in the talk that two pages show
    page_beliefs: int = 300  # in the memory that they show


@pytest.fixture(scope="session")
def sizes() -> Sizes:
    """Small while working, full with ``make test-full``."""
    if SIZE == "full":
        return Sizes(
            imported=100_000,
            kills=40,
            switched=20_000,
            crash_messages=1_000,
            crash_chats=50,
            decisions=10_000,
            fuzzed=10_000,
            live_replies=500,
            forgets_killed=200,
            reminder_kills=200,
            page_messages=20_000,
            page_beliefs=10_000,
        )
    return Sizes(imported=3_000, kills=4, crash_messages=40, crash_chats=10)


@pytest.fixture
def settings_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keys are kept outside the data folder, and outside of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("keyring.get_keyring", NoKeyring)
    return tmp_path / "config"


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No keyring, no key in the environment, a home of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for variable in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "OPENROUTER_API_KEY",
    ):
        monkeypatch.delenv(variable, raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture(scope="session", autouse=True)
def embedder_in_use() -> MiniLM:
    """One that is open all the time, so that the model is loaded once and not for each test."""
    embedder = MiniLM()
    with ThreadPoolExecutor() as elsewhere:  # in this thread a test may have its loop
        elsewhere.submit(asyncio.run, embedder.embed(["once"])).result()
    return embedder


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands still until it is told to go on."""
    return FrozenClock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server, started by the first test that needs one."""
    with running_server() as server:
        yield server


@pytest.fixture(params=ENGINES if SIZE == "full" else ENGINES[:1])
def engine(request: pytest.FixtureRequest) -> str:
    """SQLite, and with ``make test-full`` PostgreSQL too; see ``tests/engines.py``."""
    return request.param


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with our tables and nothing in them, which is quickly copied."""
    path = tmp_path_factory.mktemp("empty") / NAMES["sqlite"]

    async def make() -> None:
        await (await open_database(f"sqlite:///{path}")).close()

    with ThreadPoolExecutor() as elsewhere:  # in this thread a test may have its loop
        elsewhere.submit(asyncio.run, make()).result()
    return path


@pytest.fixture
def database_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database of each engine, with nothing in it."""
    if engine != "postgres":
        place = tmp_path / "data" / NAMES[engine]
        if engine == "sqlite":
            place.parent.mkdir(mode=0o700)
            shutil.copy(request.getfixturevalue("empty_file"), place)
        yield f"{engine}:///{place}"
        return
    with request.getfixturevalue("postgres").database() as url:
        yield url


@pytest.fixture
def other_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place for a second database of the same engine."""
    if engine != "postgres":
        yield f"{engine}:///{tmp_path / 'other' / NAMES[engine]}"
        return
    with request.getfixturevalue("postgres").database() as url:
        yield url


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """A new database of each engine."""
    database = await open_database(database_url)
    yield database
    await database.close()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """The settings of somebody in Lisbon who speaks English."""
    return Settings(
        data=tmp_path / "data",
        database=database_url,
        zone="Europe/Lisbon",
        language="en",
        limits=LimitSettings(messages_per_minute=0),
    )


@pytest.fixture
async def app(settings: Settings, clock: FrozenClock) -> AsyncIterator[AppContext]:
    """An open house with everything in it, at a standing time."""
    async with open_app(settings, clock=clock) as opened:
        yield opened


@pytest.fixture
def oldfriend(tmp_path: Path) -> Program:
    """The command line as a process, on data of its own."""
    return Program(data=tmp_path / "data")
