"""Audio storage: where recordings and spoken replies are kept.

On a single machine they are files beside the database, readable by their owner only, each written
before the row that names it is committed; files that no row names are swept after an hour. On a
database server, which several machines may share, they are stored in the rows: a file would exist
on one machine only, and would outlive a deletion that another machine carries out.
"""

import asyncio
import errno
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.config.settings import DATABASE_FILE, Settings, is_postgres_url, parse_database_path
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.audio_formats import detect_audio_format
from oldfriend.domain.clock import DAY, HOUR, SECOND, Clock, Micros
from oldfriend.domain.errors import StoreFull, StoreUnusable
from oldfriend.domain.ids import MessageId, PersonId, new_id
from oldfriend.memory.attachments import (
    Attachment,
    AttachmentKind,
    add_attachment,
    build_file_name,
    delete_spoken_replies,
    find_attachment,
    list_attachments,
)
from oldfriend.memory.people import list_people

ATTACHMENTS_FOLDER: Final = "attachments"
SWEEP_JOB: Final = "sweep"
"""The job that deletes what no row names any more."""
ORPHAN_AGE: Final = HOUR
"""A newer file without a row may belong to a transaction that is about to commit."""
SPEECH_RETENTION: Final = 30 * DAY
"""As long as the dedup key of a message is kept (``queues/dedup_keys.py``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAudio:
    """Stored audio that belongs to no message yet."""

    id: str
    person: PersonId
    mime: str
    size: int
    content: bytes | None  # None: it is stored in a file

    @property
    def file_name(self) -> str:
        """The name of its file, if it has one."""
        return build_file_name(self.id, self.mime)


def find_audio_folder(settings: Settings) -> Path | None:
    """Return the folder for audio beside the database, named after a database of a custom name.

    Returns None if a database server stores the audio.
    """
    if is_postgres_url(settings.database):
        return None
    file = parse_database_path(settings.database)
    has_default_name = file.name == DATABASE_FILE
    return file.with_name(
        ATTACHMENTS_FOLDER if has_default_name else f"{file.name}.{ATTACHMENTS_FOLDER}"
    )


async def save_audio(
    clock: Clock, settings: Settings, person: PersonId, audio: bytes, *, mime: str
) -> StoredAudio:
    """Store audio, durably if it goes to a file. Raises StoreError."""
    stored = StoredAudio(
        id=new_id(clock()),
        person=person,
        mime=detect_audio_format(audio, claimed_mime=mime).mime,
        size=len(audio),
        content=audio if find_audio_folder(settings) is None else None,
    )
    if (folder := find_audio_folder(settings)) is not None:
        path = folder / person / stored.file_name
        await asyncio.to_thread(write_file_atomic, path, audio)
    return stored


async def attach_audio(
    tx: Transaction,
    stored_audio: StoredAudio,
    message_id: MessageId,
    *,
    kind: AttachmentKind,
    voice: str = "",
    now: Micros,
) -> None:
    """Attach stored audio to a message, in the caller's transaction."""
    attachment = Attachment(
        id=stored_audio.id,
        person=stored_audio.person,
        message=message_id,
        kind=kind,
        voice=voice,
        mime=stored_audio.mime,
        size=stored_audio.size,
        made_at=now,
    )
    await add_attachment(tx, attachment, stored_audio.content)


async def find_audio(
    db: Database,
    settings: Settings,
    person: PersonId,
    message_id: MessageId,
    kind: AttachmentKind,
    *,
    voice: str | None = "",
) -> bytes | None:
    """Return the audio of a message; None if there is none, or its file is not on this machine.

    With ``voice=None`` the newest is returned, whichever voice speaks.
    """
    async with db.begin_read() as tx:
        found = await find_attachment(tx, person, message_id, kind, voice=voice)
    if found is None:
        return None
    attachment, content = found
    folder = find_audio_folder(settings)
    if content is None and folder is not None:
        content = await asyncio.to_thread(read_file, folder / person / attachment.file_name)
    return content


async def delete_audio(
    settings: Settings, audio: Collection[Attachment | StoredAudio]
) -> list[Path]:
    """Delete the files of audio that no row names, and return those that could not be deleted."""
    folder = find_audio_folder(settings)
    if folder is None:
        return []
    files = [folder / each.person / each.file_name for each in audio]
    return await asyncio.to_thread(erase_files, files)


async def sweep_audio(db: Database, clock: Clock, settings: Settings) -> None:
    """Delete old spoken replies, and files that no row names."""
    now = clock()
    async with db.begin_write() as tx:
        people = await list_people(tx)
        for person in people:
            await delete_spoken_replies(tx, person.id, before=now - SPEECH_RETENTION)
    folder = find_audio_folder(settings)
    for person in people if folder is not None else ():
        assert folder is not None
        await sweep_audio_folder(db, folder / person.id, person.id, before=now - ORPHAN_AGE)


async def sweep_audio_folder(
    db: Database, folder: Path, person: PersonId, *, before: Micros
) -> None:
    """Delete old files of a person that no row names."""
    old_files = await asyncio.to_thread(list_files_before, folder, before)
    async with db.begin_read() as tx:
        referenced = {each.file_name for each in await list_attachments(tx, person)}
    await asyncio.to_thread(
        erase_files, [each for each in old_files if each.name not in referenced]
    )


def can_have_audio(settings: Settings) -> bool:
    """Return whether there may be anything to sweep: audio is stored now, or was before."""
    folder = find_audio_folder(settings)
    is_enabled = settings.speech.keep_audio or settings.speech.speaker is not None
    return is_enabled or (folder is not None and folder.is_dir())


def list_files_before(folder: Path, before: Micros) -> list[Path]:
    """Return the files in a folder that were last modified before a moment."""
    if not folder.is_dir():
        return []
    return [each for each in folder.iterdir() if each.stat().st_mtime * SECOND < before]


def write_file_atomic(path: Path, content: bytes) -> None:
    """Write a file atomically that only its owner can read. Raises StoreError."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StoreFull(f"The disk is full: {path.parent} takes no more recordings.") from error
        raise StoreUnusable(f"{path} cannot be written ({error.strerror}).") from error


def fsync_folder(folder: Path) -> None:
    """Sync a folder, so that the names in it survive a power cut, if the system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(path: Path) -> bytes | None:
    """Return the content of a file, or None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def erase_files(files: Collection[Path]) -> list[Path]:
    """Overwrite and delete files, and return those that could not be deleted."""
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
