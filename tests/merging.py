"""A merge of two people as a process that dies before one of its statements.

python -m tests.merging URL FOLDER KEPT FORMER STEP merges them; with step 0 it lives, and prints
the number of statements and the seconds that the merge took.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.person_merge import merge_people
from oldfriend.memory.identities import list_usable_codes
from oldfriend.memory.people import get_person_by_id
from oldfriend.runtime.wiring import open_app

BEFORE_COMMIT, AFTER_COMMIT = -1, -2
"""Steps beside the numbers of statements, which begin with 1."""


@dataclass(slots=True)
class Countdown:
    """Counts statements, and ends this process before the chosen one."""

    step: int
    counted: int = 0

    def count(self) -> None:
        """One statement further."""
        self.counted += 1
        self.end_at(self.counted)

    def end_at(self, step: int) -> None:
        """End here if this is the step."""
        if step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class CountedTransaction:
    """A transaction whose statements are counted before they run."""

    def __init__(self, tx: Transaction, countdown: Countdown) -> None:
        """Count what this one does."""
        self._tx, self._countdown = tx, countdown

    def __getattr__(self, name: str) -> Any:
        """Return what the transaction has by this name, after counting its use."""
        self._countdown.count()
        return getattr(self._tx, name)


class CountedDatabase:
    """A database that hands out counted transactions to write in."""

    def __init__(self, db: Database, countdown: Countdown) -> None:
        """Count what is written here."""
        self._db, self._countdown = db, countdown

    def begin_write(self) -> AbstractAsyncContextManager[Any]:
        """Begin a transaction whose statements are counted."""

        @asynccontextmanager
        async def begin() -> AsyncIterator[CountedTransaction]:
            async with self._db.begin_write() as tx:
                yield CountedTransaction(tx, self._countdown)
                self._countdown.end_at(BEFORE_COMMIT)

        return begin()


async def merge(settings: Settings, two: tuple[str, str], step: int) -> None:
    """Merge two people, or die on the way or right after the commit."""
    kept, former = map(PersonId, two)
    async with open_app(settings) as app:
        async with app.db.begin_write() as tx:
            giver = await get_person_by_id(tx, kept)
            await tx.run("DELETE FROM link_code WHERE person = :person", person=kept)
        await create_code_for(app.db, app.clock, giver)
        async with app.db.begin_write() as tx:
            (code,) = await list_usable_codes(tx, now=app.clock())
        countdown, began = Countdown(step), time.monotonic()
        counted: Any = CountedDatabase(app.db, countdown)
        result = await merge_people(counted, app.clock, app.settings, code, former)
        assert result == "joined", result
        countdown.end_at(AFTER_COMMIT)
        sys.stdout.write(f"{countdown.counted} {time.monotonic() - began:.3f}\n")


if __name__ == "__main__":
    url, folder, kept, former, step = sys.argv[1:]
    chosen = Settings(data=Path(folder), database=url, zone="UTC", language="en")
    asyncio.run(merge(chosen, (kept, former), int(step)))
