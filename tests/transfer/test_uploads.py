"""Files that were handed over come through reloads and restarts, and never fill the disk."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.errors import InvalidInput, NotFound, StoreFull
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.messages import list_messages
from oldfriend.runtime.import_jobs import MAX_TOTAL_BYTES, MAX_UPLOADS, ImportWorker
from oldfriend.transfer.uploads import Upload
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
    line: ChatContext
    porter: ImportWorker
    shifts: list[asyncio.Event] = field(default_factory=list)

    async def hand_over(self, content: bytes = CHAT, *, pieces: int = 1) -> Upload:
        """Hand over one file."""

        async def sent() -> AsyncIterator[bytes]:
            for _ in range(pieces):
                await asyncio.sleep(0)
                yield content

        return await self.porter.receive(
            self.line.person.id, "chat.txt", sent(), zone="UTC", now=self.app.clock()
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

    def begin_shift(self, group: asyncio.TaskGroup) -> None:
        """Reload: another shift begins, and the one before it is told to end."""
        for each in self.shifts:
            each.set()
        self.shifts.append(asyncio.Event())
        group.create_task(self.porter.run(self.app, self.shifts[-1]))

    async def messages(self) -> int:
        """How many are in the log."""
        async with self.app.db.begin_read() as tx:
            return len(await list_messages(tx, self.line.person.id))


@pytest.fixture
def folder(app: AppContext) -> Path:
    """Where the files lie."""
    return app.settings.data / "brought"


@pytest.fixture
def hall(app: AppContext, line: ChatContext, folder: Path) -> Hall:
    """A house in which files are handed over."""
    return Hall(app=app, line=line, porter=ImportWorker(folder))


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
async def test_an_import_goes_on_through_a_reload(hall: Hall, stage: str) -> None:
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


async def test_a_file_being_looked_at_is_looked_at_after_a_reload(hall: Hall) -> None:
    """The new shift does not wait for somebody to ring."""
    async with hall.open() as group:
        parcel = await hall.hand_over()
        await asyncio.sleep(0.001)
        hall.begin_shift(group)
        end = await reached(parcel, "ready", "failed")

    assert end == "ready"


@pytest.mark.slow
@SQLITE_ONLY
async def test_what_somebody_wants_is_not_put_away_with_time(
    hall: Hall, folder: Path, clock: FrozenClock
) -> None:
    """Only what nobody has asked for, or what is over."""
    wanted, paused, left = [await hall.hand_over() for _ in range(3)]
    hall.bring(wanted)
    hall.bring(paused)
    hall.porter.pause(paused, now=clock())
    clock.tick(minutes=2 * 24 * 60)
    hall.porter = ImportWorker(folder)
    wanted, still = [hall.porter.get(hall.line.person.id, each.id) for each in (wanted, paused)]
    async with hall.open():
        await reached(wanted, "done", "failed")
        (unwanted,) = [
            each for each in hall.porter.list_uploads(hall.line.person.id) if each.id == left.id
        ]
        await reached(unwanted, "ready")
    async with hall.open():
        await asyncio.sleep(0.2)

    assert wanted.stage == "done"
    assert await hall.messages() == 2
    assert (still.stage, still.file.exists()) == ("paused", True)
    assert not left.folder.exists()


@SQLITE_ONLY
async def test_many_at_once_do_not_get_past_the_limits(
    hall: Hall, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of how many there may be, how much they hold, and how much of the disk is left alone."""
    many = await tried(*(hall.hand_over() for _ in range(MAX_UPLOADS + 5)))
    for each in hall.porter.list_uploads(hall.line.person.id)[1:]:
        await hall.porter.discard(each)
    monkeypatch.setattr("oldfriend.runtime.import_jobs.MAX_TOTAL_BYTES", 3 * len(CHAT))
    large = await tried(hall.hand_over(), hall.hand_over(pieces=2))
    full = ImportWorker(folder, spare=1 << 62)
    hall.porter = full
    with pytest.raises(StoreFull, match="Make room"):
        await hall.hand_over()

    assert MAX_TOTAL_BYTES > 1 << 30
    assert sum(isinstance(each, InvalidInput) for each in many) == 5
    assert sum(isinstance(each, InvalidInput) for each in large) == 1
    assert len(list(folder.iterdir())) == 2


@SQLITE_ONLY
async def test_what_another_process_has_deleted_is_not_here_any_more(hall: Hall) -> None:
    """It is neither listed nor brought in."""
    parcel = await hall.hand_over()
    for each in parcel.folder.iterdir():
        each.unlink()
    parcel.folder.rmdir()

    assert hall.porter.list_uploads(parcel.person) == []
    with pytest.raises(NotFound, match="not here any more"):
        hall.porter.get(parcel.person, parcel.id)
