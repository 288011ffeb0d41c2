"""How is a file of old chats brought in that somebody hands over, whether they look on or leave?

What is handed over is a parcel: it lies in the data folder until all of it is in the log, or a day
has passed in which nobody wanted it. Bringing it in goes on where it was when the process ends, or
somebody pauses it. It does not know how the parcel came here.
"""

import asyncio
import json
import os
import secrets
import shutil
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from oldfriend.app.catching_up import Progress as Reading
from oldfriend.app.catching_up import read_planned
from oldfriend.app.embedding import make_up
from oldfriend.app.forgotten import forgotten_of
from oldfriend.app.forming.tending import tend
from oldfriend.app.house import House
from oldfriend.app.jobs import plan_embedding
from oldfriend.app.running.telling import tell_trouble
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
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.vectors import count_findable
from oldfriend.transfer.importing import Brought, Progress, bring_in
from oldfriend.transfer.inspecting import Preview, inspect
from oldfriend.transfer.restoring import is_our_export

Stage: TypeAlias = Literal[
    "checking", "ready", "waiting", "paused", "writing", "understanding", "reading", "done",
    "failed",
]  # fmt: skip
"""How far a parcel has come. Understanding: what is written becomes findable by meaning."""

MOST_BYTES: Final = 2 << 30
LONGEST_NAME: Final = 120
MOST_PARCELS: Final = 20
UNWANTED_AFTER: Final = DAY
SWEEP_S: Final = 600.0
NOTE: Final = "parcel.json"
OURS: Final = (
    "This is a whole export of Oldfriend. It can only be brought back into an empty folder, where "
    "Oldfriend runs: oldfriend --data NEWFOLDER import FILE"
)


@dataclass(slots=True, kw_only=True)
class Parcel:
    """A file that was handed over, and how far it has come."""

    id: str
    person: PersonId
    name: str
    folder: Path
    bytes: int
    at: Micros
    stage: Stage = "checking"
    done: int = 0
    total: int = 0
    left_s: float | None = None
    why: str = ""  # it failed
    me: str | None = None
    zone: str = "UTC"
    contents: Preview | None = None
    brought: Brought | None = None
    _task: "asyncio.Task[None] | None" = field(default=None, repr=False)

    @property
    def file(self) -> Path:
        """Where it lies."""
        return self.folder / self.name

    @property
    def is_under_way(self) -> bool:
        """Whether something is done about it now."""
        return self._task is not None and not self._task.done()

    def reach(self, stage: Stage, *, done: int = 0, total: int = 0) -> None:
        """Take note of how far it is."""
        self.stage, self.done, self.total, self.left_s = stage, done, total, None

    def begin(self, task: "asyncio.Task[None]") -> None:
        """Take note of who is at it."""
        self._task = task

    def interrupt(self) -> None:
        """Have whoever is at it leave it where it is."""
        if self._task is not None:
            self._task.cancel()

    def note(self) -> None:
        """Keep beside the file what another process must know to go on."""
        kept = {
            "person": self.person, "name": self.name, "at": self.at, "me": self.me,
            "zone": self.zone, "stage": self.stage,
        }  # fmt: skip
        partial = self.folder / f"{NOTE}.partial"
        partial.write_text(json.dumps(kept), "utf-8")
        partial.replace(self.folder / NOTE)


class Porter:
    """Takes parcels in, and brings in what is in them."""

    def __init__(self, folder: Path) -> None:
        """Know the parcels that lie in a folder."""
        self._folder = folder
        self._parcels = {each.id: each for each in lying_in(folder)}
        self._bells: set[Bell] = set()

    async def receive(
        self, person: PersonId, name: str, pieces: AsyncIterable[bytes], *, zone: str, now: Micros
    ) -> Parcel:
        """Take a file in as it arrives, whole or not at all. Raises InvalidInput, StoreUnusable."""
        if len(self.list_of(person)) >= MOST_PARCELS:
            raise InvalidInput("There are too many files here. Bring some in, or put them away.")
        name = plain_name(name)
        number = secrets.token_hex(16)
        parcel = Parcel(
            id=number, person=person, name=name, folder=self._folder / number, bytes=0, at=now,
            zone=zone,
        )  # fmt: skip
        try:
            parcel.bytes = await write_pieces(parcel, pieces)
            parcel.note()
        except BaseException as error:
            shutil.rmtree(parcel.folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise StoreUnusable(f"The file could not be kept ({error.strerror}).") from error
            raise
        self._parcels[parcel.id] = parcel
        self._ring()
        return parcel

    def list_of(self, person: PersonId) -> list[Parcel]:
        """A person's parcels, oldest first."""
        return sorted(
            (each for each in self._parcels.values() if each.person == person),
            key=lambda each: each.at,
        )

    def get(self, person: PersonId, name: str) -> Parcel:
        """One of a person's parcels. Raises NotFound."""
        parcel = self._parcels.get(name)
        if parcel is None or parcel.person != person:
            raise NotFound("This file is not here any more. Choose it again.")
        return parcel

    def bring(self, parcel: Parcel, *, me: str | None, zone: str) -> None:
        """Have a parcel brought in, or brought in further. Raises InvalidInput."""
        if parcel.is_under_way or parcel.stage in {"done", "waiting"}:
            raise InvalidInput("It is being brought in, or was already.")
        parcel.me, parcel.zone, parcel.why = me, zone, ""
        parcel.reach("waiting")
        parcel.note()
        self._ring()

    def pause(self, parcel: Parcel) -> None:
        """Leave a parcel where it is, until it is brought in further. Raises InvalidInput."""
        if parcel.stage not in {"waiting", "writing"}:
            raise InvalidInput("There is nothing to pause.")
        parcel.interrupt()
        parcel.reach("paused", done=parcel.done, total=parcel.total)
        parcel.note()

    def put_away(self, parcel: Parcel) -> None:
        """Forget about a parcel; what was brought in stays."""
        parcel.interrupt()
        self._parcels.pop(parcel.id, None)
        shutil.rmtree(parcel.folder, ignore_errors=True)

    async def carry(self, house: House, stopping: asyncio.Event) -> None:
        """Check and bring in what is here until told to stop; then leave all of it where it is."""
        bell = Bell()
        self._bells.add(bell)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(ring_when(stopping, bell))
                while not stopping.is_set():
                    self._sweep(house.clock())
                    for parcel in self._idle():
                        parcel.begin(tasks.create_task(deal_with(house, parcel)))
                    await bell.wait(SWEEP_S)
                for parcel in self._parcels.values():
                    parcel.interrupt()
        finally:
            self._bells.discard(bell)

    def _idle(self) -> list[Parcel]:
        """What somebody should be at."""
        return [
            each
            for each in self._parcels.values()
            if each.stage in {"checking", "waiting"} and not each.is_under_way
        ]

    def _sweep(self, now: Micros) -> None:
        """Put away what nobody has wanted for a day."""
        for parcel in list(self._parcels.values()):
            if not parcel.is_under_way and parcel.at + UNWANTED_AFTER < now:
                self.put_away(parcel)

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()


async def deal_with(house: House, parcel: Parcel) -> None:
    """Do the next thing about a parcel; what goes wrong is told of it, and goes no further."""
    try:
        if parcel.stage == "checking":
            parcel.contents = await checked(house, parcel)
            parcel.reach("ready")
        else:
            await bring_all(house, parcel)
            parcel.reach("done")
    except OldfriendError as error:
        fail(parcel, str(error))
    except asyncio.CancelledError:
        if parcel.stage in {"writing", "understanding", "reading"}:
            parcel.reach("waiting")
        raise
    except Exception as error:
        tell_trouble("import-failed", error)
        fail(parcel, f"Something went wrong inside ({type(error).__name__}). Try it once more.")


def fail(parcel: Parcel, why: str) -> None:
    """Say of a parcel why it was not brought in."""
    parcel.why = why
    parcel.reach("failed")
    with suppress(OSError):  # it may be gone, as all of it was written
        parcel.note()


async def bring_all(house: House, parcel: Parcel) -> None:
    """Write what is in a parcel, make it findable by meaning, and have it read."""
    preview = await checked(house, parcel)
    parcel.reach("writing", total=preview.messages)

    def written(progress: Progress) -> None:
        parcel.done, parcel.left_s = progress.done, progress.left_s

    parcel.contents, parcel.brought = preview, await write(house, parcel.person, preview, written)
    await tend(house, parcel.person, imported=True)
    async with house.db.writing() as tx:
        await plan_embedding(tx, now=house.clock())
    shutil.rmtree(parcel.folder, ignore_errors=True)  # from here on the house goes on by itself
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


async def checked(house: House, parcel: Parcel) -> Preview:
    """What is in a parcel, all of it read. Raises ImportRefused."""
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
        return await asyncio.to_thread(look)
    finally:
        has_left = True  # a thread cannot be cancelled: it leaves at its next tick


async def write_pieces(parcel: Parcel, pieces: AsyncIterable[bytes]) -> int:
    """Write a file as it arrives, for this user's eyes only; how long it is."""
    parcel.folder.mkdir(mode=0o700, parents=True)
    size = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(parcel.file, flags, 0o600), "wb") as file:
        async for piece in pieces:
            size += len(piece)
            if size > MOST_BYTES:
                raise InvalidInput(f"It is larger than {MOST_BYTES >> 30} GB. Split it.")
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if not size:
        raise InvalidInput("This file is empty.")
    return size


def plain_name(name: str) -> str:
    """The name of a file without where it was, and without what a disk cannot take."""
    last = PurePosixPath(name.replace("\\", "/")).name
    kept = "".join(each for each in last if each.isprintable()).strip(". ")
    stem, dot, ending = kept.rpartition(".")
    plain = f"{stem[: LONGEST_NAME // 2]}{dot}{ending[:20]}" if dot else kept[: LONGEST_NAME // 2]
    return plain if plain and plain != NOTE else f"file {plain}".strip()


def lying_in(folder: Path) -> list[Parcel]:
    """The parcels that an earlier process has left; what is no whole parcel goes."""
    found = []
    for each in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            found.append(parcel_in(each))
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(each, ignore_errors=True)
    return found


def parcel_in(folder: Path) -> Parcel:
    """A parcel as it was left; what was under way waits again."""
    kept = json.loads((folder / NOTE).read_text("utf-8"))
    name = plain_name(str(kept["name"]))
    stage: Stage = kept["stage"] if kept["stage"] in {"paused", "failed"} else "checking"
    return Parcel(
        id=folder.name, person=PersonId(kept["person"]), name=name, folder=folder,
        bytes=(folder / name).stat().st_size, at=Micros(int(kept["at"])), me=kept["me"],
        zone=str(kept["zone"]), stage="waiting" if kept["stage"] == "waiting" else stage,
    )  # fmt: skip
