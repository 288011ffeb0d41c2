"""Exports written for the tests, and how they are read."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from oldfriend.transfer.formats.detection import find_format
from oldfriend.transfer.formats.parsed import ParsedMessage

Content = str | bytes | list[object] | dict[str, object]
Write = Callable[[str, Content], Path]


def as_bytes(content: Content) -> bytes:
    """What is written to a file."""
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an export, and say where it is."""

    def write(name: str, content: Content) -> Path:
        path = tmp_path / name
        path.write_bytes(as_bytes(content))
        return path

    return write


@pytest.fixture
def write_zip(tmp_path: Path) -> Callable[[str, Mapping[str, Content]], Path]:
    """Write a zip, and say where it is."""

    def write_zip(name: str, files: Mapping[str, Content]) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in files.items():
                archive.writestr(member, as_bytes(content))
        return path

    return write_zip


@pytest.fixture
def read(write: Write) -> Callable[..., list[ParsedMessage]]:
    """Write an export and read it; what the reader mentioned goes to ``notes``."""

    def read(name: str, content: Content, notes: list[str] | None = None) -> list[ParsedMessage]:
        export = find_format(write(name, content))
        return list(export.messages([].append if notes is None else notes.append))

    return read
