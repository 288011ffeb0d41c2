"""Exports written for the tests, and how they are read."""

import json
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from oldfriend.db.database import Database, Row
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Companion, Person
from oldfriend.memory.import_batches import ImportUndoResult
from oldfriend.memory.people import ensure_companion, ensure_owner, ensure_person
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer.export_run import export_lines
from oldfriend.transfer.formats.format_detection import detect_format
from oldfriend.transfer.formats.parsed_message import ParsedMessage
from oldfriend.transfer.import_run import (
    ImportProgress,
    ImportResult,
    import_messages,
    undo_import_batch,
)
from oldfriend.transfer.preview import ImportPreview, build_preview
from tests.engines import every_engine

engine = every_engine


NOW = 1_760_000_000_000_000

Content = str | bytes | list[object] | dict[str, object]
Write = Callable[[str, Content], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """An install, and what the tests do with it."""

    db: Database
    person: Person
    companion: Companion

    def inspect(self, path: Path, *, me: str | None = None) -> ImportPreview:
        """What a file would bring."""
        return build_preview(path, me=me, person=self.person.name, zone=self.person.zone)

    async def bring_in(
        self,
        path: Path,
        *,
        me: str | None = None,
        progress: Callable[[ImportProgress], None] | None = None,
    ) -> ImportResult:
        """Import a file."""
        return await import_messages(
            self.db,
            self.inspect(path, me=me),
            person=self.person,
            companion=self.companion,
            clock=lambda: NOW,
            progress=progress,
        )

    async def undo(self, number: int) -> ImportUndoResult:
        """Undo an import."""
        return await undo_import_batch(self.db, self.person, number, now=NOW)

    async def export_to(self, path: Path, person: PersonId | None = None) -> Path:
        """Write everything that is kept, of one person or of everybody, to a file."""
        lines = [line async for line in export_lines(self.db, person=person, now=NOW)]
        path.write_text("".join(lines), encoding="utf-8")
        return path

    async def rows(self, sql: str) -> list[Row]:
        """Look into the store."""
        async with self.db.begin_read() as tx:
            return await tx.rows(sql)

    async def texts(self) -> list[str]:
        """Everything that is known to have been said, in the order of its times."""
        rows = await self.rows(
            "SELECT text FROM message WHERE replaced_at IS NULL ORDER BY said_at, seq"
        )
        return [str(row[0]) for row in rows]


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
        export = detect_format(write(name, content))
        return list(export.parse([].append if notes is None else notes.append))

    return read


@pytest.fixture
async def empty(other_url: str) -> AsyncIterator[Database]:
    """A store in which nothing was said yet."""
    db = await open_database(other_url)
    async with db.begin_write() as tx:
        await ensure_owner(tx, now=NOW, zone="UTC")
    yield db
    await db.close()


@pytest.fixture
async def install(database_url: str) -> AsyncIterator[Install]:
    """An install with its owner, Ana, in Lisbon."""
    db = await open_database(database_url)
    async with db.begin_write() as tx:
        person = await ensure_person(tx, "Ana", now=NOW, zone="Europe/Lisbon")
        companion = await ensure_companion(tx, now=NOW)
    yield Install(db=db, person=person, companion=companion)
    await db.close()
