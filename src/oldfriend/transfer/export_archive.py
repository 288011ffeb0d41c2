"""Export archive: spools an export to an unnamed temporary file before it is downloaded.

One short read transaction fills the file, so that a slow download holds up nobody. How the file is
delivered is not known here.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from oldfriend.app.disk_quota import RESERVED_DISK_BYTES, check_free_space
from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.transfer.export import export_lines

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
