"""How is one readable file a database? It is loaded into memory, and written anew at each commit.

What runs is SQLite, over memory. A commit first puts the whole file in the place of the one before
it, durably, and only then lets others in this process see it: what cannot be written was not done.
Transactions that are ready together share one such writing; one that changes nothing writes
nothing.
"""

import glob
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.database import ByHand
from oldfriend.db.json.file import WholeFile, refuse_missing
from oldfriend.db.json.loading import Imprint, load
from oldfriend.db.json.lock import Held, hold, lock_of, moving_to_sqlite
from oldfriend.db.json.page import Page
from oldfriend.db.json.reading import Text
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.db.sqlite.connection import make_private_folder, refuse_half_characters
from oldfriend.db.sqlite.in_memory import MemoryDatabase, Reading, apply_all, made_new
from oldfriend.db.sqlite.writing import Writing
from oldfriend.domain.errors import StoreFull

TOO_LARGE: Final = 32 << 20
"""Bytes, of some 22,000 messages: 0.16 s for each writing, 2 s to open, and 370 MB of memory."""
PIECE: Final = 1 << 20
INTO_THE_NEXT: Final = 1 << 12


class JsonDatabase:
    """An open json store. Made by ``open_json``."""

    def __init__(self, file: WholeFile, held: Held, made: apsw.Connection) -> None:
        """Take over the file, the right to use it, and what was in it as a database."""
        self.path = file.path
        self.backup_made: Path | None = None
        self.by_hand: ByHand | None = None
        self.most_bytes: int | None = TOO_LARGE
        self._file = file
        self._held = held
        self._memory = MemoryDatabase(made, file.path, keep=self.keep)
        self._page = Page(self._memory.connection)

    def reading(self) -> Reading:
        """A snapshot to read from."""
        return self._memory.reading()

    def writing(self, *, first: bool = False) -> Writing:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error."""
        return self._memory.writing(first=first)

    async def wait_for_others(self) -> None:
        """Wait for ever: nobody else can write."""
        await self._memory.wait_for_others()

    async def wipe_log(self) -> bool:
        """Nothing: there is no log of writes."""
        return True

    async def write_anew(self) -> bool:
        """False: each commit has done it already."""
        return False

    def files(self) -> tuple[Path, ...]:
        """The file, what is written before it takes its place, the lock, and the copies."""
        return (self.path, self._file.partial, lock_of(self.path), *self.backups())

    def backups(self) -> tuple[Path, ...]:
        """The copies of the file as it was before it was migrated."""
        return tuple(sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.before-*")))

    async def bytes_held(self) -> AsyncIterator[tuple[Path, bytes]]:
        """The bytes of the file, piece by piece, each a little into the next."""
        content = self.path.read_bytes()
        for start in range(0, len(content), PIECE):
            yield self.path, content[start : start + PIECE + INTO_THE_NEXT]

    async def size(self) -> int:
        """How many bytes the file has."""
        return self.path.stat().st_size

    async def check(self) -> list[str]:
        """What is wrong with what is in memory, or in the file; empty when both are sound."""
        wrong = await self._memory.check()
        if self._page.is_kept and self.path.read_bytes() != self._page.content():
            wrong.append("the file is not as it was written")
        return wrong

    async def close(self) -> None:
        """Let go of everything."""
        await self._memory.close()
        self._held.let_go()

    def keep(self) -> None:
        """Write the file as the transaction that is open will leave it. Raises StoreError."""
        self._page.catch_up()
        if not self._page.is_kept:
            content = self._page.content()
            refuse_too_large(self.path, len(content))
            self._file.replace(content)
        self._page.kept()

    def is_as(self, content: bytes) -> None:
        """Know what the file holds; as long as it is to hold the same, it is not written."""
        if self._page.content() == content:
            self._page.kept()


def refuse_too_large(path: Path, size: int) -> None:
    """Raise StoreFull for what would take too long to write each time."""
    if size > TOO_LARGE:
        raise StoreFull(
            f"{path} would grow beyond {TOO_LARGE >> 20} MB, which is too much to be written anew "
            "each time. What was saved before is safe; this was not saved. Move to SQLite, where "
            f"nothing is lost and size does not matter: {moving_to_sqlite(path)}"
        )


def open_json(
    path: Path, *, imprint: Imprint, create: bool = True,
    migrations: tuple[Migration, ...] | None = None,
) -> JsonDatabase:  # fmt: skip
    """Open the file, making or migrating it first where that is needed.

    Raises StoreNotFound, StoreBusy where another process uses it, StoreUnusable, StoreDamaged,
    SchemaTooNew.
    """
    known = migrations or load_migrations()
    refuse_half_characters(path)
    path = path.resolve()
    if create:
        make_private_folder(path.parent)
    else:
        refuse_missing(path)
    held = hold(path)
    try:
        return open_held(WholeFile(path), held, known, imprint)
    except BaseException:
        held.let_go()
        raise


def open_held(
    file: WholeFile, held: Held, known: tuple[Migration, ...], imprint: Imprint
) -> JsonDatabase:  # fmt: skip
    """Open a file that nobody else uses."""
    content = file.read()
    if content is None:
        database = JsonDatabase(file, held, made_new(known))
        database.keep()
        return database
    loaded = load(Text(file.path, content), known, imprint)
    missing = [step for step in known if step.version > loaded.schema.version]
    backup = back_up(file.path, loaded.schema.version, content) if missing else None
    apply_all(loaded.connection, missing, loaded.schema)
    database = JsonDatabase(file, held, loaded.connection)
    database.by_hand, database.backup_made = loaded.by_hand, backup
    if missing:
        database.keep()
    else:
        database.is_as(content)
    return database


def back_up(path: Path, version: int, content: bytes) -> Path:
    """Copy the file beside itself before it is migrated."""
    copy = WholeFile(path.with_name(f"{path.name}.before-{version + 1}"))
    copy.read()
    copy.replace(content)
    return copy.path
