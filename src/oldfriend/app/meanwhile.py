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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from oldfriend.app.accepting import Line, hearer_of, open_line
from oldfriend.app.forming.tending import note_talk
from oldfriend.app.house import House
from oldfriend.app.jobs import plan_embedding
from oldfriend.app.safekeeping import put_into_safety
from oldfriend.app.waking import Waking
from oldfriend.db.copying import count_rows, slices_of, write_rows
from oldfriend.db.database import Database, TableShape, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    OldfriendError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnusable,
)
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.memories import Change, Memory
from oldfriend.domain.messages import Message, Spoken
from oldfriend.memory.changes import list_changes
from oldfriend.memory.log import Place, list_recent, list_written_since, write_message
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import get_companion, lock_person, mark_introduced
from oldfriend.memory.receipts import Receipt, find_receipt, write_receipt
from oldfriend.memory.sessions import session_at
from oldfriend.memory.shelf import Shelf
from oldfriend.turn.perceive import perceive

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
        self._aside = (
            Aside(house=house, line=line, after_seq=0, after_change=0) if reach else None
        )  # fmt: skip
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
    aside = replace(house, db=db, shelf=shelf, waking=Waking(db))
    try:
        await copy_life(house.db, db, line.person.id)
    except StoreError:
        person = None if line.person.is_owner else line.person.name
        line = await open_line(aside, person=person, channel=line.chat.channel)
    async with db.reading() as tx:
        told = await list_written_since(tx, line.person.id, line.chat.id, after=0)
        changes = await list_changes(tx, line.person.id)
    return Aside(
        house=aside, line=line, after_seq=max((each.seq for each in told), default=0),
        after_change=max((each.seq for each in changes), default=0),
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

    What is there already is passed over: that an earlier attempt failed may have been an error.
    """
    now = house.clock()
    person = aside.line.person.id
    async with aside.house.db.reading() as old:
        told = await list_written_since(old, person, aside.line.chat.id, after=aside.after_seq)
        decided = await list_changes(old, person)
        changes = [each for each in decided if each.seq > aside.after_change]
        async with house.db.writing() as tx:
            await lock_person(tx, line.person.id)
            new = await without_known(tx, line, told)
            written = await write_again(tx, house, line, new, now=now)
            for receipt in [await find_receipt(old, person, turn) for turn in turns_of(new)]:
                await write_receipt_again(tx, line, receipt, written)
            await learn_again(tx, changes, written, now=now)
            await copy_calls(old, tx, person, line.person.id, set(turns_of(new)))
            await follow_up(old, tx, house, written, now=now)
    house.waking.ring()
    return list(written.values())


async def without_known(tx: Transaction, line: Line, told: Sequence[Message]) -> list[Message]:
    """What is not in the store yet, of what was said in turns of which nothing is."""
    recent = await list_recent(tx, line.person.id, line.chat.id, limit=len(told) + 50)
    known = {(each.role, each.at, each.text) for each in recent}
    answered = {each.turn for each in told if (each.role, each.at, each.text) in known}
    return [each for each in told if each.turn not in answered]


def turns_of(messages: Sequence[Message]) -> list[TurnId]:
    """The turns that messages belong to, each once, in order."""
    return list(dict.fromkeys(each.turn for each in messages if each.turn is not None))


async def write_again(
    tx: Transaction, house: House, line: Line, told: Sequence[Message], *, now: Micros
) -> dict[MessageId, Message]:
    """Write messages as they were said; by the ids that they had aside."""
    hearer = hearer_of(await get_companion(tx), line.person, house.settings)
    written: dict[MessageId, Message] = {}
    for each in told:
        session = await session_at(tx, line.chat, each.at)
        place = Place(chat=line.chat, session=session, turn=each.turn, language=each.language)
        spoken = Spoken(
            role=each.role, speaker=each.speaker, text=each.text, at=each.at, zone=each.zone,
            trust=each.trust, details=each.details,
        )  # fmt: skip
        tells = each.role == "person" and not perceive(each.text, hearer).only_asks
        message = await write_message(tx, place, spoken, now=now, findable=tells)
        assert message is not None  # it has no name by which it could be known
        written[each.id] = message
    return written


async def write_receipt_again(
    tx: Transaction, line: Line, receipt: Receipt | None, written: dict[MessageId, Message]
) -> None:
    """Write why a reply was given, about the messages as they are called now."""
    if receipt is None:
        return
    asked, replied = written[receipt.asked], written[receipt.replied]
    items = tuple(
        replace(item, object=written[MessageId(item.object)].id)
        if MessageId(item.object) in written
        else item
        for item in receipt.items
    )
    again = replace(
        receipt, person=line.person.id, asked=asked.id, asked_seq=asked.seq, replied=replied.id,
        items=items,
    )  # fmt: skip
    await write_receipt(tx, again)


async def learn_again(
    tx: Transaction, changes: Sequence[Change], written: dict[MessageId, Message], *, now: Micros
) -> None:
    """Keep the notes that were made; all else is learned when the talk is read."""
    for each in changes:
        sources = [written[cause.message] for cause in each.causes if cause.message in written]
        if isinstance(each.after, Memory) and each.after.kind == "note" and each.op == "learned":
            for source in sources:
                await learn_note(tx, each.after.text, source=source, author=each.author, now=now)


async def copy_calls(
    old: Transaction, tx: Transaction, aside: PersonId, person: PersonId, turns: set[TurnId]
) -> None:
    """Keep what models and tools were asked meanwhile, and what it has cost."""
    for table in [each for each in await old.tables() if each.name in OF_TURNS]:
        turn, whose = table.columns.index("turn"), table.columns.index("person")
        async for rows in slices_of(old, table, of=("person", aside)):
            new = [(*row[:whose], person, *row[whose + 1 :]) for row in rows if row[turn] in turns]
            await write_rows(tx, table, new)


async def follow_up(
    old: Transaction, tx: Transaction, house: House, written: dict[MessageId, Message], *,
    now: Micros,
) -> None:  # fmt: skip
    """Have what was written embedded, and read once it is ripe; nobody is introduced twice."""
    if not written:
        return
    last = list(written.values())[-1]
    companion = await get_companion(tx)
    if companion.introduced_at is None and (await get_companion(old)).introduced_at is not None:
        await mark_introduced(tx, companion.id, now=now)
    await plan_embedding(tx, now=now)
    await note_talk(tx, house, last.person, last.session, now=now)
    await tx.wake()
