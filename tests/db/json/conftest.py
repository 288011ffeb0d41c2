"""A json store of somebody who has talked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oldfriend.db.json.json_database import JsonDatabase, open_json
from oldfriend.search.document_terms import encode_document_terms

Open = Callable[..., JsonDatabase]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where it is."""
    return tmp_path / "data" / "memory.json"


@pytest.fixture
def opened(file: Path) -> Open:
    """Open it."""

    def opened(*, create: bool = True) -> JsonDatabase:
        return open_json(file, pack_terms=encode_document_terms, create=create)

    return opened


@pytest.fixture
def engine() -> str:
    """Here it is always the same."""
    return "json"


@pytest.fixture
def database_url(file: Path) -> str:
    """Its address."""
    return f"json:///{file}"


def content_of(file: Path) -> Any:
    """What anybody's program reads there."""
    return json.loads(file.read_text("utf-8"))
