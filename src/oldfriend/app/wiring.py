"""How does everything fit together? The one module that names concrete engines and models."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from oldfriend.app.settings import Settings, sqlite_path
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, system_clock
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.shelf import Shelf
from oldfriend.turn.recall import Looking


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything that a running Oldfriend shares."""

    db: Database
    embedder: Embedder
    shelf: Shelf
    clock: Clock
    settings: Settings
    backup_made: Path | None = None  # of the database as it was before it was migrated just now

    @property
    def looking(self) -> Looking:
        """What recall needs."""
        return Looking(db=self.db, shelf=self.shelf, embedder=self.embedder)


@asynccontextmanager
async def open_house(
    settings: Settings, *, create: bool = True, clock: Clock = system_clock
) -> AsyncIterator[House]:
    """Open the database and set everything up; close it on leaving.

    Raises StoreError when the database cannot be used, InvalidInput for a wrong address.
    """
    from oldfriend.db.sqlite.database import open_sqlite
    from oldfriend.llm.adapters.minilm import MiniLM

    db = open_sqlite(sqlite_path(settings.database), create=create)
    embedder = MiniLM()
    try:
        yield House(
            db=db,
            embedder=embedder,
            shelf=Shelf(embedder.model),
            clock=clock,
            settings=settings,
            backup_made=db.backup_made,
        )
    finally:
        await db.close()


def reading_of_minilm() -> Callable[[str], Sequence[int]]:
    """How the local model reads a text, for running other graphs of it beside ours."""
    from oldfriend.llm.adapters.minilm import LONGEST_INPUT, SHIPPED
    from oldfriend.llm.adapters.wordpiece import WordPiece

    vocabulary = (SHIPPED / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return partial(WordPiece(vocabulary).ids, limit=LONGEST_INPUT)
