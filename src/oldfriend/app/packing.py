"""How is everything taken away by somebody who may be slow to take it?

It is written into a file without a name first, in one short look at the database, and handed out
from there: so nobody waits for whoever takes it. It does not know how it is handed out.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from oldfriend.app.sparing import SPARE_BYTES, refuse_to_fill
from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.transfer.exporting import export_lines

LINES_AT_ONCE: Final = 500
PIECE_BYTES: Final = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """Everything that is kept of somebody, in a file that is gone once it is closed."""

    file: IO[bytes]
    size: int
    close: Callable[[], None]

    async def pieces(self) -> AsyncIterator[bytes]:
        """All of it, piece by piece; let go of with the last one, before it is on its way."""
        left = self.size
        while left > 0 and (piece := await asyncio.to_thread(self.file.read, PIECE_BYTES)):
            left -= len(piece)
            if left <= 0:
                self.close()
            yield piece


class Packer:
    """Packs everything, of one person after another."""

    def __init__(self, folder: Path, *, spare: int = SPARE_BYTES) -> None:
        """Pack in a folder, of whose disk so much is left alone."""
        self._folder = folder
        self._spare = spare
        self._taking: set[PersonId] = set()
        self._turn = asyncio.Semaphore(1)

    def is_at_it_for(self, asker: PersonId) -> bool:
        """Whether somebody is being packed for, or takes what was packed."""
        return asker in self._taking

    async def pack(
        self, db: Database, *, asker: PersonId, person: PersonId | None, now: Micros
    ) -> Packed:
        """Everything of a person (None: of everybody), to be closed by whoever asked.

        Raises StoreFull, StoreUnusable.
        """
        self._taking.add(asker)
        try:
            async with self._turn, aclosing(export_lines(db, person=person, now=now)) as lines:
                file = await self._written(lines)
        except BaseException as error:
            self._taking.discard(asker)
            if isinstance(error, OSError):
                raise StoreUnusable(f"It could not be written ({error.strerror}).") from error
            raise

        def close() -> None:
            if not file.closed:
                file.close()
                self._taking.discard(asker)

        size = file.tell()
        file.seek(0)
        return Packed(file=file, size=size, close=close)

    async def _written(self, lines: AsyncIterator[str]) -> IO[bytes]:
        """Lines in a file that only this process can read."""
        file = await asyncio.to_thread(new_file, self._folder)
        try:
            async for piece in many_at_once(lines):
                await asyncio.to_thread(self._write, file, piece)
        except BaseException:
            file.close()
            raise
        return file

    def _write(self, file: IO[bytes], piece: bytes) -> None:
        refuse_to_fill(self._folder, spare=self._spare)
        file.write(piece)


def new_file(folder: Path) -> IO[bytes]:
    """A file in a folder that has no name there, and is gone once it is closed."""
    return tempfile.TemporaryFile(dir=folder)


async def many_at_once(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """Lines as bytes, many at once."""
    waiting: list[str] = []
    async for line in lines:
        waiting.append(line)
        if len(waiting) >= LINES_AT_ONCE:
            yield "".join(waiting).encode()
            waiting.clear()
    yield "".join(waiting).encode()
