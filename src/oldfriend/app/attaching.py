"""Where do the sounds lie that are kept?

In files beside the database, readable by their owner alone, each written before the row that names
it is committed; what no row names an hour later is swept. On a server, which several machines may
share, they stand in the rows: a file would be there for one machine only, and would outlive a
forgetting that another machine carries out.
"""

import asyncio
import errno
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.choices.database_url import file_of, names_postgres
from oldfriend.app.choices.settings import DATABASE_FILE, Settings
from oldfriend.app.house import House
from oldfriend.db.database import Transaction
from oldfriend.domain.attachments import Attachment, AttachmentKind, file_name
from oldfriend.domain.clock import DAY, HOUR, SECOND, Micros
from oldfriend.domain.errors import StoreFull, StoreUnusable
from oldfriend.domain.ids import MessageId, PersonId, new_id
from oldfriend.domain.sounds import kind_of
from oldfriend.memory.attachments import (
    add_attachment,
    find_attachment,
    list_attachments,
    remove_spoken,
)
from oldfriend.memory.people import list_people

ATTACHMENTS: Final = "attachments"
SWEEP: Final = "sweep"
"""The job that deletes what no row names any more."""
ABANDONED: Final = HOUR
"""A file without a row may be one of a transaction that is about to commit."""
SPOKEN_LASTS: Final = 30 * DAY
"""As long as a message that is sent again is known (``queues/keys.py``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A sound that is down, and belongs to no message yet."""

    id: str
    person: PersonId
    mime: str
    size: int
    content: bytes | None  # None: it stands in a file

    @property
    def file_name(self) -> str:
        """How its file is called, where it has one."""
        return file_name(self.id, self.mime)


def folder_of(settings: Settings) -> Path | None:
    """The folder for sounds: beside the database, by its name where it has one of its own.

    None: a server keeps them.
    """
    if names_postgres(settings.database):
        return None
    file = file_of(settings.database)
    is_usual = file.name == DATABASE_FILE
    return file.with_name(ATTACHMENTS if is_usual else f"{file.name}.{ATTACHMENTS}")


async def lay_down(house: House, person: PersonId, sound: bytes, *, mime: str) -> Laid:
    """Put a sound down, durably where it is a file. Raises StoreError."""
    laid = Laid(
        id=new_id(house.clock()), person=person, mime=kind_of(sound, claimed=mime).mime,
        size=len(sound), content=sound if folder_of(house.settings) is None else None,
    )  # fmt: skip
    if (folder := folder_of(house.settings)) is not None:
        place = folder / person / laid.file_name
        await asyncio.to_thread(write_file, place, sound)
    return laid


async def attach(
    tx: Transaction, laid: Laid, message: MessageId, *, kind: AttachmentKind, voice: str = "",
    now: Micros,
) -> None:  # fmt: skip
    """Have a sound belong to a message, in the caller's transaction."""
    attachment = Attachment(
        id=laid.id, person=laid.person, message=message, kind=kind, voice=voice, mime=laid.mime,
        size=laid.size, made_at=now,
    )  # fmt: skip
    await add_attachment(tx, attachment, laid.content)


async def find_sound(
    house: House, person: PersonId, message: MessageId, kind: AttachmentKind, *,
    voice: str | None = "",
) -> bytes | None:  # fmt: skip
    """The sound of a message; None where there is none, or its file is not on this machine.

    Without a voice (None) the newest, whoever speaks.
    """
    async with house.db.reading() as tx:
        found = await find_attachment(tx, person, message, kind, voice=voice)
    if found is None:
        return None
    attachment, content = found
    folder = folder_of(house.settings)
    if content is None and folder is not None:
        content = await asyncio.to_thread(read_file, folder / person / attachment.file_name)
    return content


async def erase(settings: Settings, gone: Collection[Attachment | Laid]) -> list[Path]:
    """Delete the files of sounds that no row names; those that could not be deleted."""
    folder = folder_of(settings)
    if folder is None:
        return []
    files = [folder / each.person / each.file_name for each in gone]
    return await asyncio.to_thread(erase_files, files)


async def sweep(house: House) -> None:
    """Let go of replies that were spoken long ago, and of files that no row names."""
    now = house.clock()
    async with house.db.writing() as tx:
        people = await list_people(tx)
        for person in people:
            await remove_spoken(tx, person.id, before=now - SPOKEN_LASTS)
    folder = folder_of(house.settings)
    for person in people if folder is not None else ():
        assert folder is not None
        await sweep_folder(house, folder / person.id, person.id, before=now - ABANDONED)


async def sweep_folder(house: House, folder: Path, person: PersonId, *, before: Micros) -> None:
    """Delete the files of a person that are old, and that no row names."""
    there = await asyncio.to_thread(files_from_before, folder, before)
    async with house.db.reading() as tx:
        named = {each.file_name for each in await list_attachments(tx, person)}
    await asyncio.to_thread(erase_files, [each for each in there if each.name not in named])


def may_hold(settings: Settings) -> bool:
    """Whether there may be anything to sweep: sounds are kept, or were."""
    folder = folder_of(settings)
    keeps = settings.speech.keep_audio or settings.speech.speaker is not None
    return keeps or (folder is not None and folder.is_dir())


def files_from_before(folder: Path, before: Micros) -> list[Path]:
    """The files in a folder that are from before a moment."""
    if not folder.is_dir():
        return []
    return [each for each in folder.iterdir() if each.stat().st_mtime * SECOND < before]


def write_file(place: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all. Raises StoreError."""
    part = place.with_name(f"{place.name}.part")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(place)
        make_durable(place.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StoreFull(f"The disk is full: {place.parent} takes no more sounds.") from error
        raise StoreUnusable(f"{place} cannot be written ({error.strerror}).") from error


def make_durable(folder: Path) -> None:
    """Have the names in a folder survive a power cut, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(place: Path) -> bytes | None:
    """What is in a file; None where it is not there."""
    try:
        return place.read_bytes()
    except OSError:
        return None


def erase_files(files: Collection[Path]) -> list[Path]:
    """Overwrite files and delete them; those that could not be deleted."""
    stuck: list[Path] = []
    for each in files:
        try:
            with suppress(FileNotFoundError), each.open("r+b") as file:
                file.write(bytes(each.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            each.unlink(missing_ok=True)
        except OSError:
            stuck.append(each)
    return stuck
