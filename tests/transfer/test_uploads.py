"""Files that were handed over come through reloads and restarts, and never fill the disk."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import InvalidInput, NotFound, StoreFull
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import list_messages
from oldfriend.runtime.import_jobs import MAX_TOTAL_BYTES, MAX_UPLOADS, ImportWorker
from oldfriend.transfer.uploads import FairQueue, Upload
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY, both_engines

engine = both_engines


CHAT = b"03/05/2024, 18:30 - Ana: We moved to Lisbon!\n03/05/2024, 18:31 - Nora: I was born here.\n"
LONGEST_S = 10.0

pytestmark = pytest.mark.usefixtures("settings_folder")


@dataclass(kw_only=True)
class Hall:
    """A house in which files are handed over."""

    app: AppContext
    chat_context: ChatContext
    porter: ImportWorker
    shifts: list[asyncio.Event] = field(default_factory=list)

    async def hand_over(self, content: bytes = CHAT, *, pieces: int = 1) -> Upload:
        """Hand over one file."""

        async def sent() -> AsyncIterator[bytes]:
            for _ in range(pieces):
                await asyncio.sleep(0)
                yield content

        return await self.porter.receive(
            self.chat_context.person.id, "chat.txt", sent(), zone="UTC", now=self.app.clock()
        )

    def bring(self, parcel: Upload) -> None:
        """Have it brought in."""
        self.porter.start_import(parcel, me="Nora", zone="UTC", now=self.app.clock())

    @asynccontextmanager
    async def open(self) -> AsyncIterator[asyncio.TaskGroup]:
        """Have a shift begin, and all of them end."""
        async with asyncio.TaskGroup() as group:
            self.begin_shift(group)
            yield group
            self.shifts[-1].set()

    def begin_shift(self, task_group: asyncio.TaskGroup) -> None:
        """Reload: another shift begins, and the one before it is told to end."""
        for each in self.shifts:
            each.set()
        self.shifts.append(asyncio.Event())
        task_group.create_task(self.porter.run(self.app, self.shifts[-1]))

    async def messages(self) -> int:
        """How many are in the log."""
        async with self.app.db.begin_read() as tx:
            return len(await list_messages(tx, self.chat_context.person.id))


@pytest.fixture
def folder(app: AppContext) -> Path:
    """Where the files lie."""
    return app.settings.data / "brought"


@pytest.fixture
def hall(app: AppContext, chat_context: ChatContext, folder: Path) -> Hall:
    """A house in which files are handed over."""
    return Hall(app=app, chat_context=chat_context, porter=ImportWorker(folder))


async def reached(parcel: Upload, *stages: str) -> str:
    """The first of some stages that is reached, seen as soon as it is."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            if parcel.stage in stages:
                return parcel.stage
            await asyncio.sleep(0)


async def tried(*those: Awaitable[Upload]) -> list[Upload | InvalidInput]:
    """What comes of some attempts that are made at once."""
    came: list[Upload | InvalidInput] = []

    async def attempt(one: Awaitable[Upload]) -> None:
        try:
            came.append(await one)
        except InvalidInput as error:
            came.append(error)

    async with asyncio.TaskGroup() as group:
        for each in those:
            group.create_task(attempt(each))
    return came


async def gone(parcel: Upload) -> None:
    """Return once its file is deleted."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            if not parcel.folder.exists():
                return
            await asyncio.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["waiting", "writing", "understanding", "reading"])
async def test_upload_import_continues_across_a_worker_reload(hall: Hall, stage: str) -> None:
    """At once, wherever it is; what is in the log already is not tried again."""
    parcel = await hall.hand_over()
    async with hall.open() as group:
        await reached(parcel, "ready")
        hall.bring(parcel)
        await reached(parcel, stage, "done")
        hall.begin_shift(group)
        end = await reached(parcel, "done", "failed")

    assert (end, parcel.why) == ("done", "")
    assert await hall.messages() == 2
    await gone(parcel)


async def test_upload_check_is_resumed_after_a_worker_reload(hall: Hall) -> None:
    """The new shift does not wait for somebody to ring."""
    async with hall.open() as group:
        parcel = await hall.hand_over()
        await asyncio.sleep(0.001)
        hall.begin_shift(group)
        end = await reached(parcel, "ready", "failed")

    assert end == "ready"


@pytest.mark.slow
@SQLITE_ONLY
async def test_old_upload_is_deleted_unless_its_import_was_started_or_paused(
    hall: Hall, folder: Path, clock: FrozenClock
) -> None:
    """Only what nobody has asked for, or what is over."""
    wanted, paused, left = [await hall.hand_over() for _ in range(3)]
    hall.bring(wanted)
    hall.bring(paused)
    hall.porter.pause(paused, now=clock())
    clock.tick(minutes=2 * 24 * 60)
    hall.porter = ImportWorker(folder)
    wanted, still = [
        hall.porter.get(hall.chat_context.person.id, each.id) for each in (wanted, paused)
    ]
    async with hall.open():
        await reached(wanted, "done", "failed")
        (unwanted,) = [
            each
            for each in hall.porter.list_uploads(hall.chat_context.person.id)
            if each.id == left.id
        ]
        await reached(unwanted, "ready")
    async with hall.open():
        await asyncio.sleep(0.2)

    assert wanted.stage == "done"
    assert await hall.messages() == 2
    assert (still.stage, still.file.exists()) == ("paused", True)
    assert not left.folder.exists()


@SQLITE_ONLY
async def test_concurrent_uploads_respect_count_size_and_free_space_limits(
    hall: Hall, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of how many there may be, how much they hold, and how much of the disk is left alone."""
    many = await tried(*(hall.hand_over() for _ in range(MAX_UPLOADS + 5)))
    for each in hall.porter.list_uploads(hall.chat_context.person.id)[1:]:
        await hall.porter.discard(each)
    monkeypatch.setattr("oldfriend.runtime.import_jobs.MAX_TOTAL_BYTES", 3 * len(CHAT))
    large = await tried(hall.hand_over(), hall.hand_over(pieces=2))
    full = ImportWorker(folder, spare=1 << 62)
    hall.porter = full
    with pytest.raises(StoreFull, match="Free some space"):
        await hall.hand_over()

    assert MAX_TOTAL_BYTES > 1 << 30
    assert sum(isinstance(each, InvalidInput) for each in many) == 5
    assert sum(isinstance(each, InvalidInput) for each in large) == 1
    assert len(list(folder.iterdir())) == 2


@SQLITE_ONLY
async def test_upload_deleted_by_another_process_is_not_found(hall: Hall) -> None:
    """It is neither listed nor brought in."""
    parcel = await hall.hand_over()
    for each in parcel.folder.iterdir():
        each.unlink()
    parcel.folder.rmdir()

    assert hall.porter.list_uploads(parcel.person) == []
    with pytest.raises(NotFound, match="no longer here"):
        hall.porter.get(parcel.person, parcel.id)


def somebody(name: str) -> Person:
    """A person; the owner, if they are called so."""
    return Person(
        id=PersonId(name),
        name=name,
        is_owner=name == "owner",
        language=None,
        zone="UTC",
        has_chosen_zone=False,
    )


class Shop:
    """Where people have things done that take until somebody lets them end."""

    def __init__(self, task_group: asyncio.TaskGroup) -> None:
        self.queue = FairQueue(3)
        self._group = task_group
        self.begun: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def bring(self, name: str, thing: str) -> None:
        """Have somebody queue."""
        self.ends[thing] = asyncio.Event()
        self.tasks[thing] = self._group.create_task(self._do(name, thing))
        await settle()

    async def end(self, thing: str) -> None:
        """Let a thing be done."""
        self.ends[thing].set()
        await settle()

    async def _do(self, name: str, thing: str) -> None:
        async with self.queue.turn(somebody(name)):
            self.begun.append(thing)
            await self.ends[thing].wait()


async def settle() -> None:
    """Let everybody come as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def opened() -> AsyncIterator[Shop]:
    """Three at a time, two of them guests."""
    async with asyncio.TaskGroup() as group:
        shop = Shop(group)
        yield shop
        for each in shop.tasks.values():
            each.cancel()


async def test_fair_queue_serves_the_owner_without_waiting_for_guests() -> None:
    """However much guests have brought before."""
    async with opened() as shop:
        for name in ("ana", "bo", "cy"):
            for number in range(3):
                await shop.bring(name, f"{name} {number}")
        before = list(shop.begun)
        await shop.bring("owner", "mine")

    assert before == ["ana 0", "bo 0"]
    assert shop.begun[-1] == "mine"


async def test_fair_queue_alternates_between_guests() -> None:
    """Who has had one waits behind all who have had none."""
    async with opened() as shop:
        for thing in ("ana 0", "ana 1", "ana 2", "bo 0", "cy 0"):
            await shop.bring(thing.split()[0], thing)
        for thing in ("bo 0", "ana 0", "cy 0", "ana 1"):
            await shop.end(thing)

    assert shop.begun == ["ana 0", "bo 0", "cy 0", "ana 1", "ana 2"]


async def test_fair_queue_frees_the_slot_of_a_cancelled_task() -> None:
    """Whether they wait, or were given a turn in that very moment, or are at it."""
    async with opened() as shop:
        for thing in ("ana 0", "bo 0", "cy 0", "dee 0", "eve 0"):
            await shop.bring(thing.split()[0], thing)
        shop.tasks["cy 0"].cancel()  # waits
        await settle()
        shop.tasks["ana 0"].cancel()  # is at it: dee's turn comes
        await settle()
        shop.ends["bo 0"].set()
        await asyncio.sleep(0)
        shop.tasks["eve 0"].cancel()
        await settle()
        await shop.bring("fay", "fay 0")

    assert shop.begun[:3] == ["ana 0", "bo 0", "dee 0"]
    assert shop.begun[-1] == "fay 0"
