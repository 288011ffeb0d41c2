"""Offline spool: continues a chat while the database cannot be written, and stores it afterwards.

The chat continues in memory: with a copy of what can still be read, or with nothing but the chat
itself. Once the database can be written again, everything is stored in order and with its original
times, in one transaction and only once. What could not be stored by the end of the chat is written
to a file and the person is told where; or that it is lost, if no file can be written either.

This is for interactive chats. On a platform that redelivers, receipt is simply not confirmed:
``accept`` raises.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.app.call_spool import CallSpool
from oldfriend.app.notifications import Notifier
from oldfriend.app.spool_file import write_offline_file
from oldfriend.db.database import Database, TableInfo
from oldfriend.db.table_copy import count_rows, iter_row_batches, write_rows
from oldfriend.domain.errors import (
    OldfriendError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnusable,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, open_local_chat
from oldfriend.memory.index_cache import IndexCache
from oldfriend.memory.journal import get_memory_version, list_journal
from oldfriend.memory.message_log import list_messages_after_seq
from oldfriend.replies.spool_replay import SpoolTransfer, replay_spool

TRANSIENT_ERRORS: Final = (StoreFull, StoreUnusable, StoreBusy)
"""Errors that may pass: a full disk, missing permissions, a server that is unreachable."""
MAX_COPIED_MESSAGES: Final = 20_000
"""Messages; a longer history is left out of the offline session."""
SKIPPED_TABLES: Final = frozenset(
    {"job_partition", "job", "job_key", "pace", "attachment", "cleanup"}
)
"""Queues are not copied, since nothing may be done twice; neither is audio, which is large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineSession:
    """A chat in memory, and the point from which on it is stored nowhere else."""

    app: AppContext
    chat_context: ChatContext
    after_seq: int
    after_change: int
    rewritten: int  # the count of deletions by then

    async def close(self) -> None:
        """Close the in-memory database."""
        await self.app.notifier.close()
        await self.app.db.close()


OpenStore: TypeAlias = Callable[[], Awaitable[tuple[AppContext, ChatContext]]]
"""Opens the database and the chat in it. Raises StoreError."""


class ConversationStore:
    """The current store of a chat: its database, or memory while that cannot be written."""

    def __init__(
        self, app: AppContext, chat_context: ChatContext, *, open_store: OpenStore | None = None
    ) -> None:
        """Start online; or offline, if ``open_store`` is to open the database later."""
        self._open_store = open_store
        self._online = None if open_store else (app, chat_context)
        session = OfflineSession(
            app=app, chat_context=chat_context, after_seq=0, after_change=0, rewritten=0
        )
        self._offline = session if open_store else None
        self.file: Path | None = None  # where the chat is saved in the meantime
        self.last_error: OldfriendError | None = None  # why the last attempt to store it failed

    @property
    def is_offline(self) -> bool:
        """Whether messages are kept in memory only at the moment."""
        return self._offline is not None

    @property
    def app(self) -> AppContext:
        """The app context for the next message."""
        return self._current[0]

    @property
    def chat_context(self) -> ChatContext:
        """The chat context for the next message."""
        return self._current[1]

    async def go_offline(self) -> None:
        """Continue in memory."""
        assert self._online is not None
        self._offline = await start_offline_session(*self._online)

    async def try_replay(self) -> list[Message] | None:
        """Continue in the database with what was said offline; None if it cannot be written yet."""
        assert self._offline is not None
        try:
            if self._online is None:
                assert self._open_store is not None
                self._online = await self._open_store()
            written = await replay_session(self._offline, *self._online)
        except OldfriendError as error:
            self.last_error = error
            return None
        session, self._offline = self._offline, None
        self._delete_file()
        if self._open_store is None:
            await session.close()
        return written

    async def save_to_file(self) -> int:
        """Write what is only in memory to a file if possible, and return the message count."""
        session = self._offline
        if session is None:
            return 0
        async with session.app.db.begin_read() as tx:
            chat, person = session.chat_context.chat.id, session.chat_context.person.id
            messages = await list_messages_after_seq(tx, person, chat, after=session.after_seq)
        folder = session.app.settings.data
        self.file = await asyncio.to_thread(write_offline_file, folder, messages)
        return len(messages)

    def _delete_file(self) -> None:
        """Delete the file, once its content is in the database."""
        if self.file is not None:
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
        self.file = None

    @property
    def _current(self) -> tuple[AppContext, ChatContext]:
        if self._offline is not None:
            return self._offline.app, self._offline.chat_context
        assert self._online is not None
        return self._online


async def start_offline_session(app: AppContext, chat_context: ChatContext) -> OfflineSession:
    """Open the same chat in memory, with what can be read of the person's data."""
    db = app.open_in_memory()
    index_cache = IndexCache(app.embedder.model, limit_bytes=app.settings.search.memory_mb << 20)
    offline_app = replace(
        app,
        db=db,
        index_cache=index_cache,
        notifier=Notifier(db),
        spool=CallSpool(),
        is_persisted=False,
    )
    try:
        await copy_person(app.db, db, chat_context.person.id)
    except StoreError:
        person = None if chat_context.person.is_owner else chat_context.person.name
        chat_context = await open_local_chat(
            offline_app.db,
            offline_app.clock,
            offline_app.settings,
            person=person,
            channel=chat_context.chat.channel,
        )
    async with db.begin_read() as tx:
        messages = await list_messages_after_seq(
            tx, chat_context.person.id, chat_context.chat.id, after=0
        )
        changes = await list_journal(tx, chat_context.person.id)
        revision = await get_memory_version(tx, chat_context.person.id)
    return OfflineSession(
        app=offline_app,
        chat_context=chat_context,
        after_seq=max((each.seq for each in messages), default=0),
        after_change=max((each.seq for each in changes), default=0),
        rewritten=revision.rewritten,
    )


async def copy_person(source: Database, target: Database, person: PersonId) -> None:
    """Copy a person's data. Raises StoreError if it cannot be read or is too large."""
    async with source.begin_read() as old, target.begin_write() as new:
        tables = [table for table in await old.list_tables() if table.name not in SKIPPED_TABLES]
        messages = next(each for each in tables if each.name == "message")
        if (
            await count_rows(old, messages, owner=find_owner_column(messages, person))
            > MAX_COPIED_MESSAGES
        ):
            raise StoreFull("There is too much of it to be copied into memory.")
        for table in tables:
            async for rows in iter_row_batches(old, table, owner=find_owner_column(table, person)):
                await write_rows(new, table, rows)


def find_owner_column(table: TableInfo, person: PersonId) -> tuple[str, str] | None:
    """Return the column and value that select a person's rows; None if the table is shared."""
    if table.name == "person":
        return "id", person
    return ("person", person) if "person" in table.columns else None


async def replay_session(
    offline_session: OfflineSession, app: AppContext, chat_context: ChatContext
) -> list[Message]:
    """Store what was said offline in one transaction, and return it. Raises StoreError."""
    person = offline_session.chat_context.person.id
    async with offline_session.app.db.begin_read() as old:
        messages = await list_messages_after_seq(
            old, person, offline_session.chat_context.chat.id, after=offline_session.after_seq
        )
        changes = [
            each
            for each in await list_journal(old, person)
            if each.seq > offline_session.after_change
        ]
        async with app.db.begin_write() as tx:
            transfer = SpoolTransfer(
                source=old, target=tx, person=person, chat_context=chat_context
            )
            written = await replay_spool(
                transfer,
                app.clock,
                app.settings,
                messages,
                changes,
                rewritten=offline_session.rewritten,
            )
    app.notifier.notify()
    return written
