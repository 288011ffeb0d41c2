"""How does an export get into the memory? In batches, each whole or not at all.

A killed import goes on where it stopped; importing again, or a newer export of the same chats,
adds only what is new. Vectors are made elsewhere; words are findable at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import SECOND, Clock, Micros
from oldfriend.domain.messages import Spoken
from oldfriend.domain.people import SESSION_IDLE, Chat, Companion, Person
from oldfriend.memory.batches import (
    Batch,
    Undone,
    advance_batch,
    begin_batch,
    finish_batch,
    undo_batch,
)
from oldfriend.memory.known import (
    KnownMessage,
    claim_version,
    ensure_session_around,
    known_messages,
)
from oldfriend.memory.log import Place, edit_message, write_messages
from oldfriend.memory.sessions import ensure_closed_session
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
    changed: int  # were here, and read otherwise now
    resumed_at: int  # messages that an earlier, interrupted run had dealt with


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of the file, ready to be written."""

    chat: str
    session: str | None
    spoken: Spoken


@dataclass(slots=True)
class Import:
    """An import under way: who it is for, and the chats it has found so far."""

    format: Format
    told: Mapping[str, ChatPreview]
    person: Person
    companion: Companion
    batch: Batch
    changed: int = 0
    chats: dict[str, Chat] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)  # last spoken in each chat

    async def chat(self, tx: Transaction, key: str, now: Micros) -> Chat:
        """The chat that a chat of the file belongs to."""
        if key not in self.chats:
            self.chats[key] = await chat_for(
                tx, self.person, self.companion, self.told[key], channel=self.format.name,
                has_id=self.format.chats_have_ids, now=now,
            )  # fmt: skip
        return self.chats[key]


async def bring_in(
    db: Database, preview: Preview, *, person: Person, companion: Companion, clock: Clock,
    progress: Callable[[Progress], None] | None = None,
) -> Brought:  # fmt: skip
    """Write what a checked file holds. Raises ImportRefused, StoreError, NotFound."""
    async with db.writing() as tx:
        batch = await begin_batch(
            tx, person.id, file=preview.export.path.name, sha256=preview.sha256,
            format_name=preview.export.format.name, now=clock(),
        )  # fmt: skip
    work = Import(
        format=preview.export.format, told={chat.key: chat for chat in preview.chats},
        person=person, companion=companion, batch=batch,
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
    return Brought(
        number=batch.number if left_trace else None, added=work.batch.added,
        known=work.batch.known - work.changed, changed=work.changed, resumed_at=resumed_at,
    )  # fmt: skip


async def undo(db: Database, person: Person, number: int, *, now: Micros) -> Undone:
    """Take an import back; importing the file again brings it back. Raises NotFound."""
    async with db.writing() as tx:
        return await undo_batch(tx, person.id, number, now=now)


def progress_at(done: int, total: int, done_now: int, took: Micros) -> Progress:
    """How far it is, at the rate of this run."""
    rate = done_now * SECOND / max(took, 1)
    return Progress(done=done, total=total, rate=rate, left_s=(total - done) / max(rate, 1e-9))


def items_of(preview: Preview, *, after: int) -> Iterator[Item]:
    """The messages of the file from a place on."""
    messages: Iterator[ParsedMessage] = preview.export.messages(lambda _: None)
    for message in islice(messages, after, None):
        spoken = preview.cast.spoken(message, preview.zone)
        yield Item(chat=message.chat, session=message.session, spoken=spoken)


def in_slices(items: Iterable[Item]) -> Iterator[list[Item]]:
    """As many as are written at once."""
    remaining = iter(items)
    while some := list(islice(remaining, AT_ONCE)):
        yield some


async def write_slice(tx: Transaction, work: Import, items: Sequence[Item], now: Micros) -> Batch:
    """Write what is new of some messages, and note how far that is."""
    added = 0
    for key in dict.fromkeys(item.chat for item in items):
        chat = await work.chat(tx, key, now)
        ours = [item for item in items if item.chat == key]
        ids = [item.spoken.external_id or "" for item in ours]
        known = await known_messages(tx, work.person.id, chat.id, ids)
        for item in ours:
            work.changed += await note_change(tx, work, item.spoken, known, now)
        new = [item for item in ours if item.spoken.external_id not in known]
        for run in runs_in(new):
            added += await write_run(tx, work, chat, run, now)
    await advance_batch(tx, work.batch, added=added, known=len(items) - added)
    return replace(
        work.batch, position=work.batch.position + len(items), added=work.batch.added + added,
        known=work.batch.known + len(items) - added,
    )  # fmt: skip


async def note_change(
    tx: Transaction, work: Import, spoken: Spoken, known: dict[str, KnownMessage], now: Micros
) -> bool:
    """Add a version to a message that is here but never read like this; whether it was so."""
    held = known.get(spoken.external_id or "")
    if held is None or spoken.text in held.texts:
        return False
    if spoken.details.get("edited", "") < held.edited:  # this export is the older one
        return False
    edited = await edit_message(tx, work.person.id, held.id, spoken.text, now=now)
    await claim_version(tx, edited, batch=work.batch.id, details=spoken.details)
    return True


def runs_in(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Stretches of one session: a given one, or without a long pause."""
    run: list[Item] = []
    for item in items:
        if run and not goes_on(run[-1], item):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def goes_on(before: Item, item: Item) -> bool:
    """Whether a message belongs to the session of the one before it."""
    if item.session is not None or before.session is not None:
        return item.session == before.session
    return abs(item.spoken.at - before.spoken.at) <= SESSION_IDLE


async def write_run(
    tx: Transaction, work: Import, chat: Chat, run: Sequence[Item], now: Micros
) -> int:
    """Write messages of one session; how many were new."""
    times = [item.spoken.at for item in run]
    given, opened_at, closed_at = run[0].session, min(times), max(times)
    if given is None:
        session = await ensure_session_around(
            tx, chat, opened_at=opened_at, closed_at=closed_at, batch=work.batch.id
        )
    else:
        session = await ensure_closed_session(
            tx, chat, external_id=given, opened_at=opened_at, closed_at=closed_at,
            batch=work.batch.id,
        )  # fmt: skip
    language = work.languages.get(chat.id) or work.person.language or "en"
    place = Place(chat=chat, session=session, batch=work.batch.id, language=language)
    written = await write_messages(tx, place, [item.spoken for item in run], now=now)
    new = [message for message in written if message is not None]
    if new:
        work.languages[chat.id] = new[-1].language
    return len(new)
