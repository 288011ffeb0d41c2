"""Where does a file lie that was handed over, whose is it, and how far has it come?

Each lies in a folder of its own, with a note beside it of what another process must know to go on.
It does not know what is done about it.
"""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.transfer.importing import Brought
from oldfriend.transfer.inspecting import Preview

Stage: TypeAlias = Literal[
    "checking", "ready", "waiting", "paused", "writing", "understanding", "reading", "done",
    "failed",
]  # fmt: skip
"""How far a parcel has come. Understanding: what is written becomes findable by meaning."""

BROUGHT: Final = "brought"
"""The folder of the data folder in which they lie."""
IN_THE_LOG: Final = frozenset({"understanding", "reading", "done"})
LONGEST_NAME: Final = 120
NOTE: Final = "parcel.json"


@dataclass(slots=True, kw_only=True)
class Parcel:
    """A file that was handed over, and how far it has come."""

    id: str
    person: PersonId
    name: str
    folder: Path
    bytes: int
    at: Micros
    wanted_at: Micros  # when somebody last had something done about it
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

    @property
    def is_in_log(self) -> bool:
        """Whether all of it is in the log: the file is not needed, and the house goes on."""
        return self.stage in IN_THE_LOG

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

    async def left(self) -> None:
        """Return once nobody is at it."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def note(self) -> None:
        """Keep beside the file what another process must know to go on."""
        kept = {
            "person": self.person, "name": self.name, "at": self.at, "wanted_at": self.wanted_at,
            "me": self.me, "zone": self.zone, "stage": self.stage,
        }  # fmt: skip
        partial = self.folder / f"{NOTE}.partial"
        partial.write_text(json.dumps(kept), "utf-8")
        partial.replace(self.folder / NOTE)


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
    for each in folders_in(folder):
        parcel = find_parcel(each)
        if parcel is None:
            shutil.rmtree(each, ignore_errors=True)
        else:
            found.append(parcel)
    return found


def folders_of(folder: Path, person: PersonId) -> list[Path]:
    """Where a person's parcels lie; nothing else of anybody's is looked at but whose it is."""
    found = [(each, find_parcel(each)) for each in folders_in(folder)]
    return [each for each, parcel in found if parcel is not None and parcel.person == person]


def remove_parcels(folder: Path, person: PersonId) -> list[Path]:
    """Delete a person's parcels; those that could not be deleted."""
    own = folders_of(folder, person)
    for each in own:
        shutil.rmtree(each, ignore_errors=True)
    return [each for each in own if each.exists()]


def folders_in(folder: Path) -> Iterator[Path]:
    """Where a parcel may lie."""
    yield from sorted(folder.iterdir()) if folder.is_dir() else ()


def find_parcel(folder: Path) -> Parcel | None:
    """A parcel as it was left; None: this is no whole one."""
    try:
        return parcel_in(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def parcel_in(folder: Path) -> Parcel:
    """A parcel as it was left; what was under way waits again."""
    kept = json.loads((folder / NOTE).read_text("utf-8"))
    name = plain_name(str(kept["name"]))
    stage: Stage = "checking"
    if kept["stage"] in {"waiting", "paused", "failed"}:
        stage = kept["stage"]
    return Parcel(
        id=folder.name, person=PersonId(kept["person"]), name=name, folder=folder,
        bytes=(folder / name).stat().st_size, at=Micros(int(kept["at"])),
        wanted_at=Micros(int(kept["wanted_at"])), me=kept["me"], zone=str(kept["zone"]),
        stage=stage,
    )  # fmt: skip
