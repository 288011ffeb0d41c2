"""How does an export get into the memory? In batches, each whole or not at all.

A killed import goes on where it stopped; importing again, or a newer export of the same chats,
adds only what is new. Vectors are made elsewhere; words are findable at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import SECOND, Clock, Micros
from oldfriend.domain.people import Companion, Person
from oldfriend.memory.batches import (
    Batch,
    Reading,
    Undone,
    advance_batch,
    begin_batch,
    find_batch,
    finish_batch,
    undo_batch,
)
from oldfriend.memory.bringing import Target, Told, bring
from oldfriend.memory.forgetting.tombstones import NOTHING, Forgotten
from oldfriend.transfer.chat_matching import chat_for
from oldfriend.transfer.formats.parsed import Format, ParsedMessage
from oldfriend.transfer.inspecting import ChatPreview, Preview

AT_ONCE = 1000
"""Messages in one transaction: a fifth of a second, in which others wait to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an import has come."""

    done: int
    total: int
    rate: float  # messages a second
    left_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What an import brought."""

    number: int | None  # by which it can be undone; None if there was nothing new
    added: int
    known: int  # were here already
    forgotten: int  # were forgotten, and stay out
    changed: int  # were here, and read otherwise now
    resumed_at: int  # messages that an earlier, interrupted run had dealt with
    read_otherwise: Batch | None  # an earlier import of this file, with others as the person


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of the file, ready to be written."""

    chat: str
    told: Told


@dataclass(slots=True)
class Import:
    """An import under way: who it is for, and the chats it has found so far."""

    format: Format
    told: Mapping[str, ChatPreview]
    person: Person
    companion: Companion
    batch: Batch
    forgotten: Forgotten = NOTHING
    changed: int = 0
    left_out: int = 0  # as they were forgotten
    targets: dict[str, Target] = field(default_factory=dict)

    async def target(self, tx: Transaction, key: str, now: Micros) -> Target:
        """The chat here that a chat of the file belongs to, and the language last spoken there."""
        if key not in self.targets:
            chat = await chat_for(
                tx, self.person, self.companion, self.told[key], channel=self.format.name,
                has_id=self.format.chats_have_ids, now=now,
            )  # fmt: skip
            self.targets[key] = Target(
                chat=chat, batch=self.batch.id, language=self.person.language or "en",
                forgotten=self.forgotten,
            )  # fmt: skip
        return self.targets[key]


async def bring_in(
    db: Database, preview: Preview, *, person: Person, companion: Companion, clock: Clock,
    progress: Callable[[Progress], None] | None = None, forgotten: Forgotten = NOTHING,
) -> Brought:  # fmt: skip
    """Write what a checked file holds and was not forgotten.

    Raises ImportRefused, StoreError, NotFound.
    """
    reading = reading_of(preview)
    async with db.writing() as tx:
        earlier = await find_batch(tx, person.id, reading.sha256, status="done")
        batch = await begin_batch(tx, person.id, reading, now=clock())
    work = Import(
        format=preview.export.format, told={chat.key: chat for chat in preview.chats},
        person=person, companion=companion, batch=batch, forgotten=forgotten,
    )  # fmt: skip
    resumed_at, began = batch.position, clock()
    for some in in_slices(items_of(preview, after=resumed_at)):
        async with db.writing() as tx:
            work.batch = await write_slice(tx, work, some, clock())
        if progress is not None:
            done = work.batch.position
            progress(progress_at(done, preview.messages, done - resumed_at, clock() - began))
    async with db.writing() as tx:
        await finish_batch(tx, work.batch, now=clock())
    left_trace = work.batch.added or work.changed
    is_like = earlier is None or earlier.reading.is_like(reading)
    return Brought(
        number=batch.number if left_trace else None, added=work.batch.added,
        known=work.batch.known - work.changed - work.left_out, forgotten=work.left_out,
        changed=work.changed, resumed_at=resumed_at,
        read_otherwise=None if is_like else earlier,
    )  # fmt: skip


async def undo(db: Database, person: Person, number: int, *, now: Micros) -> Undone:
    """Take an import back; importing the file again brings it back. Raises NotFound."""
    async with db.writing() as tx:
        return await undo_batch(tx, person.id, number, now=now)


def reading_of(preview: Preview) -> Reading:
    """The file, and how it is read: who in it is the person, and where it was said."""
    return Reading(
        file=preview.export.path.name, format=preview.export.format.name, sha256=preview.sha256,
        me=", ".join(sorted(preview.cast.me)), zone=preview.zone,
    )  # fmt: skip


def progress_at(done: int, total: int, done_now: int, took: Micros) -> Progress:
    """How far it is, at the rate of this run."""
    rate = done_now * SECOND / max(took, 1)
    return Progress(done=done, total=total, rate=rate, left_s=(total - done) / max(rate, 1e-9))


def items_of(preview: Preview, *, after: int) -> Iterator[Item]:
    """The messages of the file from a place on."""
    messages: Iterator[ParsedMessage] = preview.export.messages(lambda _: None)
    for message in islice(messages, after, None):
        spoken = preview.cast.spoken(message, preview.zone)
        yield Item(chat=message.chat, told=Told(session=message.session, spoken=spoken))


def in_slices(items: Iterable[Item]) -> Iterator[list[Item]]:
    """As many as are written at once."""
    remaining = iter(items)
    while some := list(islice(remaining, AT_ONCE)):
        yield some


async def write_slice(tx: Transaction, work: Import, items: Sequence[Item], now: Micros) -> Batch:
    """Write what is new of some messages, and note how far that is."""
    by_chat: dict[str, list[Told]] = {}
    for item in items:
        by_chat.setdefault(item.chat, []).append(item.told)
    added = 0
    for key, told in by_chat.items():
        target = await work.target(tx, key, now)
        kept = await bring(tx, target, told, now=now)
        work.targets[key] = replace(target, language=kept.language)
        work.changed += kept.changed
        work.left_out += kept.forgotten
        added += kept.added
    await advance_batch(tx, work.batch, added=added, known=len(items) - added)
    return replace(
        work.batch, position=work.batch.position + len(items), added=work.batch.added + added,
        known=work.batch.known + len(items) - added,
    )  # fmt: skip
