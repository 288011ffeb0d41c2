"""Two houses: one in which somebody has lived, and one that is empty."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.runtime.wiring import open_app
from tests.clock import FrozenClock


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With a key, by which what was forgotten is known again."""
    return replace(settings, environment={"OLDFRIEND_FORGETTING_KEY": "ab" * 32})


@pytest.fixture
async def second(
    settings: Settings, other_url: str, clock: FrozenClock
) -> AsyncIterator[AppContext]:
    """A house with nothing in it."""
    async with open_app(replace(settings, database=other_url), clock=clock) as opened:
        yield opened


@pytest.fixture
def elsewhere_url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A place for a database of the other engine."""
    if engine == "postgres":
        yield f"sqlite:///{tmp_path / 'elsewhere.db'}"
        return
    with request.getfixturevalue("postgres").database() as url:
        yield url


@pytest.fixture
async def elsewhere(
    settings: Settings, elsewhere_url: str, clock: FrozenClock
) -> AsyncIterator[AppContext]:
    """A house of the other engine with nothing in it."""
    async with open_app(replace(settings, database=elsewhere_url), clock=clock) as opened:
        yield opened
