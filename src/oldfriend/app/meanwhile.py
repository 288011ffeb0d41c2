"""How does a talk go on while its store cannot be written, and how does it get there later?

In memory: with a copy of what can still be read, or with nothing but the talk itself. Once the
store can be written again, everything that was said and answered is written down there, in order
and with its times, in one transaction, so that it is there once. What was not written down by the
end of the talk lies in a file, and whoever talks is told where; or that it is lost, where no file
can be written either.

For talks that somebody looks at. Whoever brings words from a platform that delivers again is
simply not told that they have arrived: ``accept`` raises.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from oldfriend.app.accepting import Line, open_line
from oldfriend.app.coming_home import Road, come_back
from oldfriend.app.house import House
from oldfriend.app.safekeeping import put_into_safety
from oldfriend.app.waking import Waking
from oldfriend.db.copying import count_rows, slices_of, write_rows
from oldfriend.db.database import Database, TableShape
from oldfriend.domain.errors import (
    OldfriendError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnusable,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Message
from oldfriend.memory.changes import list_changes, revision_of
from oldfriend.memory.log import list_written_since
from oldfriend.memory.shelf import Shelf

MAY_PASS: Final = (StoreFull, StoreUnusable, StoreBusy)
"""What keeps a store from being written for a while: a full disk, rights, a server that is away."""
MOST_COPIED: Final = 20_000
"""Messages; who has more talks on without what came before."""
LEFT_THERE: Final = frozenset({"lane", "letter", "letter_key", "pace", "attachment"})
"""What is to be done stays where it is: nothing may be done twice. Sounds are large."""
OF_TURNS: Final = ("model_call", "tool_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A talk in memory, and from where on it is not kept anywhere else."""

    house: House
    line: Line
    after_seq: int
    after_change: int
    rewritten: int  # how often something had been forgotten by then

    async def close(self) -> None:
        """Let it go."""
        await self.house.waking.close()
        await self.house.db.close()


Reach: TypeAlias = Callable[[], Awaitable[tuple[House, Line]]]
"""Opens the store, and the line in it. Raises StoreError."""


class TalkPlace:
    """Where a talk is: in its store, or aside while that cannot be written."""

    def __init__(self, house: House, line: Line, *, reach: Reach | None = None) -> None:
        """Begin in the store; or aside, where that could not be opened and ``reach`` may do so."""
        self._reach = reach
        self._home = None if reach else (house, line)
        nothing = Aside(house=house, line=line, after_seq=0, after_change=0, rewritten=0)
        self._aside = nothing if reach else None
        self.file: Path | None = None  # in which the talk lies meanwhile
        self.trouble: OldfriendError | None = None  # why it could not come home the last time

    @property
    def is_aside(self) -> bool:
        """Whether what is said is not kept now."""
        return self._aside is not None

    @property
    def house(self) -> House:
        """Where the next words go."""
        return self._here[0]

    @property
    def line(self) -> Line:
        """On which line."""
        return self._here[1]

    async def go_aside(self) -> None:
        """Go on in memory."""
        assert self._home is not None
        self._aside = await go_on_aside(*self._home)

    async def come_home(self) -> list[Message] | None:
        """Go on in the store, with everything said aside; None where it still cannot be written."""
        assert self._aside is not None
        try:
            if self._home is None:
                assert self._reach is not None
                self._home = await self._reach()
            written = await bring_home(self._aside, *self._home)
        except OldfriendError as error:
            self.trouble = error
            return None
        aside, self._aside = self._aside, None
        self._leave_no_file()
        if self._reach is None:
            await aside.close()
        return written

    async def put_into_safety(self) -> int:
        """Write what is in memory alone into a file, if that can be; how many messages it is."""
        aside = self._aside
        if aside is None:
            return 0
        async with aside.house.db.reading() as tx:
            chat, person = aside.line.chat.id, aside.line.person.id
            told = await list_written_since(tx, person, chat, after=aside.after_seq)
        folder = aside.house.settings.data
        self.file = await asyncio.to_thread(put_into_safety, folder, told)
        return len(told)

    def _leave_no_file(self) -> None:
        """Take away the file, once what is in it is in the store."""
        if self.file is not None:
            with suppress(OSError):
                self.file.unlink(missing_ok=True)
        self.file = None

    @property
    def _here(self) -> tuple[House, Line]:
        if self._aside is not None:
            return self._aside.house, self._aside.line
        assert self._home is not None
        return self._home


async def go_on_aside(house: House, line: Line) -> Aside:
    """The same talk in memory, with what can be read of the person's store."""
    db = house.in_memory()
    shelf = Shelf(house.embedder.model, limit_bytes=house.settings.search.memory_mb << 20)
    aside = replace(house, db=db, shelf=shelf, waking=Waking(db), is_kept=False)
    try:
        await copy_life(house.db, db, line.person.id)
    except StoreError:
        person = None if line.person.is_owner else line.person.name
        line = await open_line(aside, person=person, channel=line.chat.channel)
    async with db.reading() as tx:
        told = await list_written_since(tx, line.person.id, line.chat.id, after=0)
        changes = await list_changes(tx, line.person.id)
        revision = await revision_of(tx, line.person.id)
    return Aside(
        house=aside, line=line, after_seq=max((each.seq for each in told), default=0),
        after_change=max((each.seq for each in changes), default=0), rewritten=revision.rewritten,
    )  # fmt: skip


async def copy_life(source: Database, target: Database, person: PersonId) -> None:
    """Copy what is kept of a person. Raises StoreError where it cannot be read, or is too much."""
    async with source.reading() as old, target.writing() as new:
        tables = [table for table in await old.tables() if table.name not in LEFT_THERE]
        messages = next(each for each in tables if each.name == "message")
        if await count_rows(old, messages, of=owner_column(messages, person)) > MOST_COPIED:
            raise StoreFull("There is too much of it to be copied into memory.")
        for table in tables:
            async for rows in slices_of(old, table, of=owner_column(table, person)):
                await write_rows(new, table, rows)


def owner_column(table: TableShape, person: PersonId) -> tuple[str, str] | None:
    """Which rows of a table are a person's; None: they are nobody's."""
    if table.name == "person":
        return "id", person
    return ("person", person) if "person" in table.columns else None


async def bring_home(aside: Aside, house: House, line: Line) -> list[Message]:
    """Write into the store what was said and answered aside; what was written. Raises StoreError.

    In one transaction, so that it is there once.
    """
    person = aside.line.person.id
    async with aside.house.db.reading() as old:
        told = await list_written_since(old, person, aside.line.chat.id, after=aside.after_seq)
        changes = [
            each for each in await list_changes(old, person) if each.seq > aside.after_change
        ]
        async with house.db.writing() as tx:
            road = Road(old=old, new=tx, person=person, line=line)
            written = await come_back(road, house, told, changes, rewritten=aside.rewritten)
    house.waking.ring()
    return written
