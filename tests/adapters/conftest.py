"""Memories for the frameworks that are tried."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from oldfriend import Memory, MemorySync


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where the memory is."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
async def memory(url: str) -> AsyncIterator[Memory]:
    """Nora's memory, awaited."""
    async with Memory.open(url, person="Nora", maintenance_s=0) as opened:
        yield opened


@pytest.fixture
def memory_sync(url: str) -> Iterator[MemorySync]:
    """Nora's memory, called."""
    with Memory.open(url, person="Nora", maintenance_s=0) as opened:
        yield opened
