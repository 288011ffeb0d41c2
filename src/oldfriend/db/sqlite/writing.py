"""How do this process's writers take turns, and share what a commit costs?

One writes at a time. Whoever has written and finds that others wait hands the open transaction on
instead of committing it; the last one commits for all, and only then does any of them go on. So a
commit that takes milliseconds (the disk must say that it has everything) is paid for once by all
who are ready together. Each has a savepoint: what fails takes nothing of the others with it. Where
many write, it is done on a thread: meanwhile the others of this process go on.

Whoever has done something outside that nobody knows of yet comes first, and hands nothing on.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

import apsw

from oldfriend.db.sqlite.connection import our_error
from oldfriend.db.sqlite.pool import Company, Writer
from oldfriend.db.sqlite.transaction import SqliteTransaction, begin_writing, roll_back
from oldfriend.domain.errors import OldfriendError, StoreError

MOST_TOGETHER = 64
"""Other processes wait meanwhile."""
LONELY = 16
"""After so many commits that nobody joined, only each so-manieth looks whether others are ready.

Then they are done in place, too: a hop to a thread and back takes longer than a quick disk.
"""


class Writing:
    """The write lock, and a transaction that commits on leaving, or rolls back on an error."""

    def __init__(self, writer: Writer, path: Path, *, first: bool) -> None:
        """Nothing happens until it is entered."""
        self._writer = writer
        self._path = path
        self._first = first
        self._company: Company | None = None

    async def __aenter__(self) -> SqliteTransaction:
        """Wait for this process's turn, then for other processes. Raises SchemaTooNew."""
        writer = self._writer
        writer.waiting += 1
        try:
            if writer.lonely < LONELY or writer.lonely % LONELY == 0:
                await asyncio.sleep(0)  # whoever is about to write says so, before any lock is held
            await writer.turn.take(first=self._first)
        finally:
            writer.waiting -= 1
            if not (writer.turn.is_taken or writer.waiting):  # left, and was waited for
                self._commit()
        try:
            await self._begin()
        except BaseException as error:
            self._let_go()
            if isinstance(error, apsw.Error):
                raise our_error(error, self._path) from error
            raise
        return SqliteTransaction(writer.connection, self._path)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit, or have it committed, and tell the other processes; or leave no trace."""
        if kind is not None:
            self._take_back()
            self._let_go()  # whatever it gives: what is raised already says more
            return
        writer, company = self._writer, self._company
        assert company is not None
        try:
            if company.members:
                writer.connection.execute("RELEASE member")
        except apsw.Error as failure:
            self._let_go()
            raise our_error(failure, self._path) from failure
        company.members += 1
        writer.lonely = 0 if writer.waiting else writer.lonely + 1
        if self._is_to_wait(company):
            writer.turn.hand_on()
            await company.kept()
            return
        if writer.lonely < LONELY and writer.can_commit_aside:
            self._commit_aside(company)
            await company.kept()
            return
        error = self._let_go()
        if error is not None:
            raise error

    async def _begin(self) -> None:
        """Begin a transaction, or a savepoint in the one that was handed on."""
        writer = self._writer
        if writer.company is None:
            await begin_writing(writer.connection, self._path)
            writer.refuse_overtaken()
            writer.company = Company()
        else:
            writer.connection.execute("SAVEPOINT member")
        self._company = writer.company

    def _is_to_wait(self, company: Company) -> bool:
        """Whether another is to commit what was written; who comes first waits for their like."""
        waiting = self._writer.turn.hurried if self._first else self._writer.waiting
        return bool(waiting) and company.members < MOST_TOGETHER

    def _take_back(self) -> None:
        """Undo what this member has written; where that is not possible, what all have."""
        connection, company = self._writer.connection, self._writer.company
        try:
            if connection.in_transaction and company and company.members:
                connection.execute("ROLLBACK TO member")
                connection.execute("RELEASE member")
        except apsw.Error:  # closed, perhaps: then nothing of it is kept anyway
            with suppress(StoreError, apsw.Error):
                roll_back(connection, self._path)

    def _let_go(self) -> OldfriendError | None:
        """Commit for all who have written, and end the turn, whatever happens; what went wrong."""
        try:
            return self._commit()
        finally:
            self._writer.turn.hand_on()

    def _commit(self) -> OldfriendError | None:
        """Commit what the company has written, or end what nobody has written in."""
        writer, company = self._writer, self._writer.company
        writer.company = None
        try:
            if company is not None and company.members:
                writer.commit()
                return self._end(company, None)
            roll_back(writer.connection, self._path)
        except (apsw.Error, StoreError) as failure:
            return self._end(company, failure)
        return None

    def _commit_aside(self, company: Company) -> None:
        """Commit on a thread what the company has written, and end the turn when that is done."""
        writer = self._writer
        writer.company = None

        def end(committed: asyncio.Future[None]) -> None:
            try:
                self._end(company, committed.exception())
            finally:
                writer.turn.hand_on()

        writer.commit_aside().add_done_callback(end)

    def _end(self, company: Company | None, failure: BaseException | None) -> OldfriendError | None:
        """Tell the company, and the other processes, what has become of it; what went wrong."""
        writer, error = self._writer, self._told_of(failure)
        if error is not None:
            with suppress(apsw.Error, StoreError):
                roll_back(writer.connection, self._path)
        if company is not None and company.members:
            company.end(error)
            if error is None:
                writer.doorbell.ring()
        return error

    def _told_of(self, failure: BaseException | None) -> OldfriendError | None:
        """The error of ours for what went wrong."""
        if failure is None or isinstance(failure, OldfriendError):
            return failure
        if isinstance(failure, apsw.Error):
            return our_error(failure, self._path)
        return StoreError(f"What was written could not be kept ({failure!r}).")
