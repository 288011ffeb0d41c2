"""Uploads: uploaded files on disk, with their owner and import progress.

Each lies in a folder of its own, next to a state file with what another process needs to continue.
What happens to an upload is not known here.
"""

import asyncio
import json
import os
import shutil
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final, Literal, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.transfer.import_run import ImportResult
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.wire_format import decode_text, encode_text

Stage: TypeAlias = Literal[
    "checking",
    "ready",
    "waiting",
    "paused",
    "writing",
    "understanding",
    "reading",
    "done",
    "failed",
]
"""The progress of an upload; while "understanding", its messages are being embedded."""

UPLOADS_FOLDER: Final = "brought"
"""The folder of the uploads within the data folder."""
IMPORTED_STAGES: Final = frozenset({"understanding", "reading", "done"})
OWN_EXPORT: Final = localizable(
    "export_of_ours",
    "This is a complete Oldfriend export. It can only be restored into an empty folder, on the "
    "machine where Oldfriend runs: oldfriend --data NEWFOLDER import FILE",
)
MAX_NAME_CHARS: Final = 120
STATE_FILE: Final = "parcel.json"
PARTIAL_STATE_FILE: Final = f".{STATE_FILE}.partial"
"""No uploaded file has such a name, because sanitized names never begin with a dot."""
CHUNK_BYTES: Final = 1 << 20


@dataclass(slots=True, kw_only=True)
class Upload:
    """An uploaded file and the progress of its import."""

    id: str
    person: PersonId
    name: str
    folder: Path
    bytes: int
    at: Micros
    wanted_at: Micros  # when somebody last acted on it
    stage: Stage = "checking"
    done: int = 0
    total: int = 0
    left_s: float | None = None
    why: str = ""  # set if it failed
    attempts: int = 0  # reads without an end; each may have crashed its process
    me: str | None = None
    zone: str = "UTC"
    contents: ImportPreview | None = None
    result: ImportResult | None = None
    _task: "asyncio.Task[None] | None" = field(default=None, repr=False)

    @property
    def file(self) -> Path:
        """The path of the file."""
        return self.folder / self.name

    @property
    def is_running(self) -> bool:
        """Whether a task is working on it now."""
        return self._task is not None and not self._task.done()

    @property
    def is_in_log(self) -> bool:
        """Whether all messages are in the log, so that the file is not needed any more."""
        return self.stage in IMPORTED_STAGES

    def set_stage(self, stage: Stage, *, done: int = 0, total: int = 0) -> None:
        """Set the stage and its progress."""
        self.stage, self.done, self.total, self.left_s = stage, done, total, None

    def set_task(self, async_task: "asyncio.Task[None]") -> None:
        """Set the task that works on it."""
        self._task = async_task

    def cancel(self) -> None:
        """Cancel the task that works on it."""
        if self._task is not None:
            self._task.cancel()

    async def wait_done(self) -> None:
        """Wait until no task works on it."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def begin_attempt(self) -> None:
        """Record that it is about to be read, before that can crash this process."""
        self.attempts += 1
        self.save_state()

    def end_attempt(self) -> None:
        """Record that reading it did not crash this process."""
        if self.attempts:
            self.attempts = 0
            self.save_state()

    def save_state(self) -> None:
        """Save beside the file what another process needs to continue."""
        state = {
            "person": self.person,
            "name": self.name,
            "at": self.at,
            "wanted_at": self.wanted_at,
            "me": self.me,
            "zone": self.zone,
            "stage": self.stage,
            "attempts": self.attempts,
            "why": encode_text(self.why),
        }
        partial = self.folder / PARTIAL_STATE_FILE
        partial.write_text(json.dumps(state), "utf-8")
        partial.replace(self.folder / STATE_FILE)


def sanitize_name(name: str) -> str:
    """Return a file name without its path and without characters that a disk cannot store."""
    last = PurePosixPath(name.replace("\\", "/")).name
    printable = "".join(each for each in last if each.isprintable()).strip(". ")
    stem, dot, ending = printable.rpartition(".")
    shortened = (
        f"{stem[: MAX_NAME_CHARS // 2]}{dot}{ending[:20]}"
        if dot
        else printable[: MAX_NAME_CHARS // 2]
    )
    is_reserved = shortened.casefold() == STATE_FILE  # some file systems ignore case
    return shortened if shortened and not is_reserved else f"file {shortened}".strip()


def load_uploads(folder: Path) -> list[Upload]:
    """Load the uploads left by an earlier process; delete incomplete ones."""
    found = []
    for each in iter_folders(folder):
        upload = find_upload(each)
        if upload is None:
            shutil.rmtree(each, ignore_errors=True)
        else:
            found.append(upload)
    return found


def list_upload_folders(folder: Path, person: PersonId) -> list[Path]:
    """Return the folders of a person's uploads; of other people's, only the owner is read."""
    found = [(each, find_upload(each)) for each in iter_folders(folder)]
    return [each for each, upload in found if upload is not None and upload.person == person]


def delete_uploads(folder: Path, person: PersonId) -> list[Path]:
    """Delete a person's uploads; return those that could not be deleted."""
    folders = list_upload_folders(folder, person)
    for each in folders:
        shutil.rmtree(each, ignore_errors=True)
    return [each for each in folders if each.exists()]


def iter_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders that may hold an upload."""
    yield from sorted(folder.iterdir()) if folder.is_dir() else ()


def find_upload(folder: Path) -> Upload | None:
    """Load an upload as an earlier process left it; None if it is incomplete."""
    try:
        return load_upload(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def load_upload(folder: Path) -> Upload:
    """Load an upload as an earlier process left it; interrupted work is queued again."""
    state = json.loads((folder / STATE_FILE).read_text("utf-8"))
    name = sanitize_name(str(state["name"]))
    stage: Stage = "checking"
    if state["stage"] in {"waiting", "paused", "failed"}:
        stage = state["stage"]
    return Upload(
        id=folder.name,
        person=PersonId(state["person"]),
        name=name,
        folder=folder,
        bytes=(folder / name).stat().st_size,
        at=Micros(int(state["at"])),
        wanted_at=Micros(int(state["wanted_at"])),
        me=state["me"],
        zone=str(state["zone"]),
        stage=stage,
        attempts=int(state.get("attempts", 0)),
        why=decode_text(state.get("why", "")),
    )


async def rechunk(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the same bytes in chunks large enough for one write."""
    buffer = bytearray()
    async for chunk in chunks:
        buffer += chunk
        if len(buffer) >= CHUNK_BYTES:
            yield bytes(buffer)
            buffer.clear()
    if buffer:
        yield bytes(buffer)


def fsync_file(file: IO[bytes]) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


class FairQueue:
    """Slots that people wait for; the last one is reserved for the owner."""

    def __init__(self, slots: int) -> None:
        """Start with all slots free."""
        self._slots = slots
        self._busy: dict[PersonId, bool] = {}  # who has a slot, and whether they are the owner
        self._waiting: dict[PersonId, deque[asyncio.Future[None]]] = {}  # longest waiting first
        self._owners: set[PersonId] = set()

    @asynccontextmanager
    async def turn(self, person: Person) -> AsyncIterator[None]:
        """Wait for a person's turn and hold it: one at a time, behind all who waited longer."""
        turn = asyncio.get_running_loop().create_future()
        if person.is_owner:
            self._owners.add(person.id)
        self._waiting.setdefault(person.id, deque()).append(turn)
        self._give_turns()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._drop_cancelled()
            else:
                self._release(person.id)  # granted at the moment of the cancellation
            raise
        try:
            yield
        finally:
            self._release(person.id)

    def _give_turns(self) -> None:
        """Grant free slots; a person with more tasks waiting goes to the end of the queue."""
        self._drop_cancelled()
        for person in list(self._waiting):
            if self._is_free_for(person):
                waiting = self._waiting.pop(person)
                turn = waiting.popleft()
                if waiting:
                    self._waiting[person] = waiting
                self._busy[person] = person in self._owners
                turn.set_result(None)

    def _is_free_for(self, person: PersonId) -> bool:
        if person in self._busy:
            return False
        guests = sum(not is_owner for is_owner in self._busy.values())
        return person in self._owners or guests < self._slots - 1

    def _drop_cancelled(self) -> None:
        """Drop turns whose waiters were cancelled."""
        for person, waiting in list(self._waiting.items()):
            active = deque(each for each in waiting if not each.cancelled())
            if active:
                self._waiting[person] = active
            else:
                del self._waiting[person]

    def _release(self, person: PersonId) -> None:
        """Release a slot."""
        del self._busy[person]
        self._give_turns()
