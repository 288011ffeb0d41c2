"""Export: the whole store, or one person's data, as typed lines of JSON below a header.

Apart from the messages themselves it contains no secrets: keys and passwords are never stored.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from oldfriend.db.database import Database
from oldfriend.db.stored_tables import EXPORTED_TABLES
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import StoreFull, StoreUnusable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.memory.table_dump import dump_rows

RESERVED_DISK_BYTES: Final = 512 << 20


def check_free_space(folder: Path, *, spare: int = RESERVED_DISK_BYTES) -> None:
    """Raise StoreFull if the free space is down to what is reserved for messages."""
    if shutil.disk_usage(folder).free < spare:
        raise StoreFull(
            localizable(
                "disk_nearly_full",
                "The disk is nearly full, and the remaining space is reserved for what you say. "
                "Free some space.",
            )
        )


EXPORT_VERSION: Final = 1
"""Raised when older programs can no longer read the lines."""
MARKER_KEY: Final = "oldfriend"
TYPE_KEY: Final = "type"


async def export_lines(
    db: Database, *, person: PersonId | None, now: Micros
) -> AsyncGenerator[str, None]:
    """Yield everything stored about a person, or about everybody (None), as lines with their ends.

    All lines are as of one moment, so the consumer must be fast: it occupies one of the few read
    connections. The last line counts the rows, so that a truncated export is recognized.
    """
    yield format_line(
        {MARKER_KEY: "export", "version": EXPORT_VERSION, "made_at": from_micros(now).isoformat()}
    )
    count = 0
    async with db.begin_read() as tx:
        for table in EXPORTED_TABLES:
            async for record in dump_rows(tx, table, person):
                count += 1
                yield format_line({TYPE_KEY: table.name, **record})
    yield format_line({MARKER_KEY: "end", "rows": count})


def format_line(fields: Mapping[str, object]) -> str:
    """Format one line of the export."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


LINES_PER_CHUNK: Final = 500
CHUNK_BYTES: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """A person's export in a file that is deleted once it is closed."""

    file: IO[bytes]
    size: int
    close: Callable[[], None]

    async def read_chunks(self) -> AsyncIterator[bytes]:
        """Yield the file in chunks; close it before yielding the last one."""
        remaining = self.size
        while remaining > 0 and (chunk := await asyncio.to_thread(self.file.read, CHUNK_BYTES)):
            remaining -= len(chunk)
            if remaining <= 0:
                self.close()
            yield chunk


class ExportBuilder:
    """Builds export files, one person after another."""

    def __init__(self, folder: Path, *, spare: int = RESERVED_DISK_BYTES) -> None:
        """Set the folder to write in; ``spare`` bytes of its disk stay free."""
        self._folder = folder
        self._spare = spare
        self._active: set[PersonId] = set()
        self._turn = asyncio.Semaphore(1)

    def is_busy_for(self, person: PersonId) -> bool:
        """Return whether a person's export is being built or downloaded."""
        return person in self._active

    async def build(self, db: Database, *, person: PersonId, now: Micros) -> ExportFile:
        """Build a person's export file, which the caller has to close.

        Raises StoreFull, StoreUnusable.
        """
        self._active.add(person)
        try:
            async with self._turn, aclosing(export_lines(db, person=person, now=now)) as lines:
                file = await self._write_lines(lines)
        except BaseException as error:
            self._active.discard(person)
            if isinstance(error, OSError):
                raise StoreUnusable(f"It could not be written ({error.strerror}).") from error
            raise

        def close() -> None:
            if not file.closed:
                file.close()
                self._active.discard(person)

        size = file.tell()
        file.seek(0)
        return ExportFile(file=file, size=size, close=close)

    async def _write_lines(self, lines: AsyncIterator[str]) -> IO[bytes]:
        """Write lines to a file that only this process can read."""
        file = await asyncio.to_thread(open_temp_file, self._folder)
        try:
            async for chunk in batch_lines(lines):
                await asyncio.to_thread(self._write, file, chunk)
        except BaseException:
            file.close()
            raise
        return file

    def _write(self, file: IO[bytes], chunk: bytes) -> None:
        check_free_space(self._folder, spare=self._spare)
        file.write(chunk)


def open_temp_file(folder: Path) -> IO[bytes]:
    """Open an unnamed file in a folder, which is deleted once it is closed."""
    return tempfile.TemporaryFile(dir=folder)


async def batch_lines(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """Join lines into large chunks of bytes."""
    pending: list[str] = []
    async for line in lines:
        pending.append(line)
        if len(pending) >= LINES_PER_CHUNK:
            yield "".join(pending).encode()
            pending.clear()
    yield "".join(pending).encode()
