"""How is a file of old chats brought in that somebody hands over, whether they look on or leave?

What is handed over is a parcel: it lies in the data folder until all of it is in the log, or a day
has passed in which nobody wanted it. Bringing it in goes on where it was when the process ends, or
somebody pauses it. It does not know how the parcel came here.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from oldfriend.app.catching_up import Progress as Reading
from oldfriend.app.catching_up import read_planned
from oldfriend.app.embedding import make_up, plan_embedding
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.tending import tend
from oldfriend.app.house import House
from oldfriend.app.parcels import Parcel, lying_in, plain_name
from oldfriend.app.running.telling import tell_trouble
from oldfriend.app.sparing import SPARE_BYTES, refuse_to_fill
from oldfriend.app.waking import Bell, ring_when
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import (
    ImportRefused,
    InvalidInput,
    NotFound,
    OldfriendError,
    StoreUnusable,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.vectors import count_findable
from oldfriend.transfer.importing import Brought, Progress, bring_in
from oldfriend.transfer.inspecting import Preview, inspect
from oldfriend.transfer.restoring import is_our_export

MOST_BYTES: Final = 2 << 30
MOST_LYING: Final = 4 << 30
"""Bytes of one person's that may lie here at once."""
MOST_PARCELS: Final = 20
MOST_LOOKS: Final = 2
"""So many files are looked through at once: each takes a thread."""
PIECE_BYTES: Final = 1 << 20
UNWANTED_AFTER: Final = DAY
SWEEP_S: Final = 600.0
OURS: Final = saying(
    "export_of_ours",
    "This is a whole export of Oldfriend. It can only be brought back into an empty folder, where "
    "Oldfriend runs: oldfriend --data NEWFOLDER import FILE",
)  # fmt: skip


class Porter:
    """Takes parcels in, and brings in what is in them."""

    def __init__(self, folder: Path, *, spare: int = SPARE_BYTES) -> None:
        """Know the parcels that lie in a folder, of whose disk so much is left alone."""
        self._folder = folder
        self._spare = spare
        self._parcels = {each.id: each for each in lying_in(folder)}
        self._arriving: dict[str, Parcel] = {}
        self._looks = asyncio.Semaphore(MOST_LOOKS)
        self._bells: set[Bell] = set()

    async def receive(
        self, person: PersonId, name: str, pieces: AsyncIterable[bytes], *, zone: str, now: Micros
    ) -> Parcel:
        """Take a file in as it arrives, whole or not at all.

        Raises InvalidInput, StoreFull, StoreUnusable.
        """
        if len(self._held_for(person)) >= MOST_PARCELS:
            raise InvalidInput(saying(
                "too_many_files", "There are too many files here. Bring some in, or put them away.",
            ))  # fmt: skip
        number = secrets.token_hex(16)
        parcel = Parcel(
            id=number, person=person, name=plain_name(name), folder=self._folder / number, bytes=0,
            at=now, wanted_at=now, zone=zone,
        )  # fmt: skip
        self._arriving[number] = parcel
        try:
            await self._write(parcel, pieces)
            parcel.note()
            self._parcels[number] = parcel
        except BaseException as error:
            await asyncio.shield(remove(parcel.folder))
            if isinstance(error, OSError):
                raise StoreUnusable(saying(
                    "file_not_kept", f"The file could not be kept ({error.strerror}).",
                    reason=error.strerror or "",
                )) from error  # fmt: skip
            raise
        finally:
            del self._arriving[number]
        self._ring()
        return parcel

    async def _write(self, parcel: Parcel, pieces: AsyncIterable[bytes]) -> None:
        """Write a file as it arrives, for this user's eyes only."""
        parcel.folder.mkdir(mode=0o700, parents=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(parcel.file, flags, 0o600), "wb") as file:
            async for piece in gathered(pieces):
                parcel.bytes += len(piece)
                self._refuse_too_much(parcel)
                await asyncio.to_thread(file.write, piece)
            await asyncio.to_thread(keep, file)
        if not parcel.bytes:
            raise InvalidInput(saying("empty_file", "This file is empty."))

    def _refuse_too_much(self, parcel: Parcel) -> None:
        if parcel.bytes > MOST_BYTES:
            raise InvalidInput(saying(
                "file_too_large", f"It is larger than {MOST_BYTES >> 30} GB. Split it.",
                gb=MOST_BYTES >> 30,
            ))  # fmt: skip
        held = self._held_for(parcel.person)
        if sum(each.bytes for each in held if not each.is_in_log) > MOST_LYING:
            raise InvalidInput(saying(
                "too_much_lying",
                f"More than {MOST_LYING >> 30} GB would lie here. Bring some in, or put them away.",
                gb=MOST_LYING >> 30,
            ))  # fmt: skip
        refuse_to_fill(self._folder, spare=self._spare)

    def _held_for(self, person: PersonId) -> list[Parcel]:
        """A person's parcels, also those that are only arriving."""
        arriving = [each for each in self._arriving.values() if each.person == person]
        return [*self.list_of(person), *arriving]

    def list_of(self, person: PersonId) -> list[Parcel]:
        """A person's parcels, oldest first."""
        self._drop_lost()
        return sorted(
            (each for each in self._parcels.values() if each.person == person),
            key=lambda each: each.at,
        )

    def get(self, person: PersonId, name: str) -> Parcel:
        """One of a person's parcels. Raises NotFound."""
        self._drop_lost()
        parcel = self._parcels.get(name)
        if parcel is None or parcel.person != person:
            raise NotFound(saying("file_gone", "This file is not here any more. Choose it again."))
        return parcel

    def _drop_lost(self) -> None:
        """Know no more of parcels that another process has deleted."""
        for each in list(self._parcels.values()):
            if not (each.is_in_log or each.is_under_way or each.folder.is_dir()):
                del self._parcels[each.id]

    def bring(self, parcel: Parcel, *, me: str | None, zone: str, now: Micros) -> None:
        """Have a parcel brought in, or brought in further. Raises InvalidInput."""
        if parcel.is_under_way or parcel.stage in {"done", "waiting"}:
            raise InvalidInput(saying("brought_already", "It is being brought in, or was already."))
        parcel.me, parcel.zone, parcel.why, parcel.wanted_at = me, zone, "", now
        parcel.reach("waiting")
        parcel.note()
        self._ring()

    def pause(self, parcel: Parcel, *, now: Micros) -> None:
        """Leave a parcel where it is, until it is brought in further. Raises InvalidInput."""
        if parcel.stage not in {"waiting", "writing"}:
            raise InvalidInput(saying("nothing_to_pause", "There is nothing to pause."))
        parcel.interrupt()
        parcel.wanted_at = now
        parcel.reach("paused", done=parcel.done, total=parcel.total)
        parcel.note()

    async def pause_all(self, person: PersonId, *, now: Micros) -> None:
        """Write no more of a person's parcels, until they are brought in further."""
        for each in self.list_of(person):
            if each.stage in {"waiting", "writing"}:
                self.pause(each, now=now)
                await each.left()

    async def put_away(self, parcel: Parcel) -> None:
        """Forget about a parcel; what was brought in stays."""
        parcel.interrupt()
        self._parcels.pop(parcel.id, None)
        await asyncio.shield(remove(parcel.folder))

    async def put_all_away(self, person: PersonId) -> None:
        """Forget about all of a person's parcels."""
        for each in self.list_of(person):
            await self.put_away(each)

    async def carry(self, house: House, stopping: asyncio.Event) -> None:
        """Check and bring in what is here until told to stop; then leave all of it where it is."""
        bell = Bell()
        self._bells.add(bell)
        begun: set[asyncio.Task[None]] = set()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(ring_when(stopping, bell))
                while not stopping.is_set():
                    await self._sweep(house.clock())
                    for parcel in self._idle():
                        task = tasks.create_task(deal_with(house, parcel, self._looks))
                        parcel.begin(task)
                        begun.add(task)
                        task.add_done_callback(begun.discard)
                    await bell.wait(SWEEP_S)
                for task in begun:
                    task.cancel()
        finally:
            self._bells.discard(bell)
            self._ring()  # whoever carries on from here may have looked before it was left

    def _idle(self) -> list[Parcel]:
        """What somebody should be at."""
        return [
            each
            for each in self._parcels.values()
            if each.stage in {"checking", "waiting"} and not each.is_under_way
        ]

    async def _sweep(self, now: Micros) -> None:
        """Put away what nobody has wanted for a day."""
        for parcel in list(self._parcels.values()):
            is_over = parcel.stage in {"ready", "failed", "done"}
            if is_over and parcel.wanted_at + UNWANTED_AFTER < now:
                await self.put_away(parcel)

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()


async def deal_with(house: House, parcel: Parcel, looks: asyncio.Semaphore) -> None:
    """Do the next thing about a parcel; what goes wrong is told of it, and goes no further."""
    try:
        if parcel.stage == "checking":
            parcel.contents = await checked(house, parcel, looks)
            parcel.reach("ready")
        else:
            await bring_all(house, parcel, looks)
            parcel.reach("done")
    except OldfriendError as error:
        fail(parcel, error.says)
    except asyncio.CancelledError:
        if parcel.is_in_log:
            parcel.reach("done")
        elif parcel.stage == "writing":
            parcel.reach("waiting")
        raise
    except Exception as error:
        tell_trouble("import-failed", error)
        kind = type(error).__name__
        told = f"Something went wrong inside ({kind}). Try it once more."
        fail(parcel, saying("import_broke", told, kind=kind))


def fail(parcel: Parcel, why: str) -> None:
    """Say of a parcel why it was not brought in; it was, if the house goes on by itself."""
    if parcel.is_in_log:
        parcel.reach("done")
        return
    parcel.why = why
    parcel.reach("failed")
    with suppress(OSError):  # the disk may be why
        parcel.note()


async def bring_all(house: House, parcel: Parcel, looks: asyncio.Semaphore) -> None:
    """Write what is in a parcel, make it findable by meaning, and have it read."""
    preview = await checked(house, parcel, looks)
    parcel.reach("writing", total=preview.messages)

    def written(progress: Progress) -> None:
        parcel.done, parcel.left_s = progress.done, progress.left_s

    parcel.contents, parcel.brought = preview, await write(house, parcel.person, preview, written)
    await tend(house, parcel.person, imported=True)
    async with house.db.writing() as tx:
        await plan_embedding(tx, now=house.clock())
    parcel.reach("understanding")  # from here on the house goes on by itself
    await asyncio.shield(remove(parcel.folder))
    await understand(house, parcel)
    parcel.reach("reading")
    await read_planned(house, parcel.person, show=lambda now: show_reading(parcel, now))


async def write(
    house: House, person: PersonId, preview: Preview, progress: Callable[[Progress], None]
) -> Brought:
    """Write what a checked file holds into the log; what was forgotten stays out."""
    async with house.db.writing() as tx:
        companion = await ensure_companion(tx, now=house.clock())
        someone = await get_person_by_id(tx, person)
        forgotten = await forgotten_of(house.settings, tx, person)
    return await bring_in(
        house.db, preview, person=someone, companion=companion, clock=house.clock,
        forgotten=forgotten, progress=progress,
    )  # fmt: skip


async def understand(house: House, parcel: Parcel) -> None:
    """Make what was written findable by meaning; where that fails, the house does it later."""
    async with house.db.reading() as tx:
        findable, embedded = await count_findable(tx, parcel.person, house.embedder.model)
    parcel.reach("understanding", total=findable - embedded)

    def understood(done: int) -> None:
        parcel.done = done

    await make_up(house, parcel.person, progress=understood)


def show_reading(parcel: Parcel, progress: Reading) -> None:
    """Take note of how far the reading is."""
    parcel.done, parcel.total = progress.done, progress.total


class Left(Exception):
    """Whoever waited for a file to be checked does not any more."""


async def checked(house: House, parcel: Parcel, looks: asyncio.Semaphore) -> Preview:
    """What is in a parcel, all of it read in its turn. Raises ImportRefused."""
    async with house.db.reading() as tx:
        name = (await get_person_by_id(tx, parcel.person)).name
    has_left = False

    def tick(done: int) -> None:
        if has_left:
            raise Left
        parcel.done = done

    def look() -> Preview:
        if is_our_export(parcel.file):
            raise ImportRefused(OURS)
        return inspect(parcel.file, me=parcel.me, person=name, zone=parcel.zone, tick=tick)

    try:
        async with looks:
            return await asyncio.to_thread(look)
    finally:
        has_left = True  # a thread cannot be cancelled: it leaves at its next tick


async def gathered(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in pieces that are worth a trip to the disk."""
    held = bytearray()
    async for piece in pieces:
        held += piece
        if len(held) >= PIECE_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def keep(file: IO[bytes]) -> None:
    """Have what was written to a file on the disk."""
    file.flush()
    os.fsync(file.fileno())


async def remove(folder: Path) -> None:
    """Delete a folder with all that is in it."""
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
