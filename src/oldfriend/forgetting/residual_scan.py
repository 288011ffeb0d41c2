"""Residual scan: finds and removes forgotten words that remain in files.

It covers the files of the data folder, the backups made before a migration, and the bytes of the
database itself where it is a file of ours. Anything elsewhere (exports, other people's backups,
what a disk keeps of deleted files) is out of reach.
"""

import asyncio
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.spool_file import OFFLINE_FILE_PREFIX, get_offline_file_prefix
from oldfriend.db.database import Database
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.audio_storage import ATTACHMENTS_FOLDER
from oldfriend.memory.deletion.pending_cleanups import ResidualFinding
from oldfriend.memory.deletion.text_fingerprints import TextFingerprints
from oldfriend.transfer.formats.source import (
    SourceFile,
    detect_encoding,
    list_sources,
    open_bytes,
    wrap_read_errors,
)
from oldfriend.transfer.uploads import UPLOADS_FOLDER, list_upload_folders

TYPED_FILE_PREFIX: Final = "chat-history-"
"""Prefix of the files that keep what a person typed."""
DATABASE_SUFFIXES: Final = (".db", ".db-wal", ".db-shm", ".db-journal")
_PIECE, _OVERLAP = 1 << 20, 1 << 12
_ENTRY, _LINE = "#", "+"
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]{16,}")
"""Text and what might be; it skips most vectors and numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScan:
    """How many files were scanned, and which shingles were found in them, by file name."""

    files: int
    found: Mapping[str, frozenset[int]]

    @property
    def runs(self) -> frozenset[int]:
        """Every shingle that was found anywhere."""
        return frozenset[int]().union(*self.found.values())

    def list_residuals(self, allowed: frozenset[int]) -> tuple[ResidualFinding, ...]:
        """Return the files in which something was found that is not allowed."""
        return tuple(
            ResidualFinding(place=name, what="words", count=len(runs - allowed))
            for name, runs in sorted(self.found.items())
            if runs - allowed
        )


def purge_typed_history(
    folder: Path, person: PersonId, traces: TextFingerprints | None
) -> list[Path]:
    """Remove what was forgotten (None: everything) from the file of what a person typed.

    Returns the file if that was not possible.
    """
    file = folder / f"{TYPED_FILE_PREFIX}{person}"
    if not file.is_file():
        return []
    try:
        entries = list(split_entries(file.read_text("utf-8", errors="replace")))
        write_kept_entries(
            file, entries, [each for each in entries if can_stay(parse_typed_text(each), traces)]
        )
    except OSError:
        return [file]
    return []


def purge_offline_files(
    folder: Path, person: PersonId, traces: TextFingerprints | None
) -> list[Path]:
    """Remove what was forgotten (None: everything) from a person's offline files.

    Returns the files for which that was not possible.
    """
    stuck: list[Path] = []
    for file in sorted(folder.glob(f"{get_offline_file_prefix(person)}*")):
        try:
            lines = file.read_text("utf-8", errors="replace").splitlines(keepends=True)
            kept = [
                each for each in lines if all(can_stay(text, traces) for text in parse_texts(each))
            ]
            write_kept_entries(file, lines, kept)
            if not kept:
                file.unlink()
        except OSError:
            stuck.append(file)
    return stuck


def can_stay(text: str, traces: TextFingerprints | None) -> bool:
    """Return whether a text neither is nor contains what was forgotten; None: everything was."""
    return traces is not None and not (
        traces.is_deleted_message(text) or traces.has_deleted_text(text)
    )


def parse_texts(line: str) -> list[str]:
    """Return the strings of a line of JSON; the line itself if it is truncated."""
    try:
        return [each for each in json.loads(line).values() if isinstance(each, str)]
    except (ValueError, AttributeError):
        return [line]


def write_kept_entries(file: Path, entries: Sequence[str], kept: Sequence[str]) -> None:
    """Rewrite a file if some of its entries are removed. Raises OSError."""
    if len(kept) < len(entries):
        overwrite_in_place(file, "".join(kept).encode())


def overwrite_in_place(file: Path, content: bytes) -> None:
    """Overwrite a file in place, so that its earlier bytes do not stay on the disk."""
    with file.open("r+b") as stream:
        stream.write(content.ljust(file.stat().st_size, b"\n"))
        stream.flush()
        stream.truncate(len(content))
        os.fsync(stream.fileno())


def split_entries(text: str) -> Iterator[str]:
    """Split a history file into entries: a line with a time, then the lines that were typed."""
    entry = ""
    for line in text.splitlines(keepends=True):
        if line.startswith(_ENTRY) and entry:
            yield entry
            entry = ""
        entry += line
    if entry:
        yield entry


def parse_typed_text(entry: str) -> str:
    """Return the typed text of an entry."""
    lines = [line[1:] for line in entry.splitlines() if line.startswith(_LINE)]
    return "\n".join(lines)


def delete_backups(db: Database) -> list[Path]:
    """Delete the backups made before migrations, and return those that could not be deleted."""
    stuck: list[Path] = []
    for each in db.list_backups():
        try:
            each.unlink(missing_ok=True)
        except OSError:
            stuck.append(each)
    return stuck


async def scan_files(
    db: Database, folder: Path, person: PersonId, traces: TextFingerprints
) -> FileScan:
    """Search the files of the data folder and of the database for what was deleted."""
    found: dict[str, frozenset[int]] = {}

    async def look(file: Path, piece: bytes) -> None:
        shingles = await asyncio.to_thread(find_shingles, piece, traces)
        found[file.name] = found.get(file.name, frozenset()) | shingles

    async for file, piece in db.iter_raw_bytes():
        await look(file, piece)
    for file in await asyncio.to_thread(list_scannable_files, db, folder, person):
        pieces = (
            read_upload_chunks(file)
            if folder / UPLOADS_FOLDER in file.parents
            else read_chunks(file)
        )
        while piece := await asyncio.to_thread(next_chunk, pieces):
            await look(file, piece)
    return FileScan(
        files=len(found), found={name: shingles for name, shingles in found.items() if shingles}
    )


def list_scannable_files(db: Database, folder: Path, person: PersonId) -> list[Path]:
    """Return the plain files of the data folder, and the backups of the database.

    Databases that may be open are left out: they are read in another way, or belong to another
    memory. So are the files of other people, and audio files, in which no words can be read and
    which are deleted by name. So are empty files: opening and closing one would release this
    process's locks on it.
    """
    backups = set(db.list_backups())
    is_open = set(db.list_files()) - backups
    candidates = {each for each in folder.rglob("*") if has_content(each)}
    audio_folders = set(folder.glob(f"*{ATTACHMENTS_FOLDER}"))
    own = set(list_upload_folders(folder / UPLOADS_FOLDER, person))
    return sorted(
        each
        for each in (candidates | backups) - is_open
        if each.parent.parent not in audio_folders
        and (each in backups or not each.name.endswith(DATABASE_SUFFIXES))
        and not (folder / UPLOADS_FOLDER in each.parents and each.parent not in own)
        and not is_other_persons_file(each.name, person)
    )


def has_content(path: Path) -> bool:
    """Return whether a path is a file with content; one that has disappeared is not."""
    with suppress(OSError):
        return path.is_file() and path.stat().st_size > 0
    return False


def is_other_persons_file(name: str, person: PersonId) -> bool:
    """Return whether a file belongs to another person, by the id in its name."""
    if name.startswith(TYPED_FILE_PREFIX):
        return name != f"{TYPED_FILE_PREFIX}{person}"
    return name.startswith(OFFLINE_FILE_PREFIX) and not name.startswith(
        get_offline_file_prefix(person)
    )


def read_upload_chunks(file: Path) -> Iterator[bytes]:
    """Yield the chunks of an uploaded file, and then its decoded text in UTF-8."""
    yield from read_chunks(file)
    with suppress(ImportRefused):
        for source in list_sources(file):
            with suppress(ImportRefused):
                yield from read_decoded_chunks(source)


def read_decoded_chunks(source: SourceFile) -> Iterator[bytes]:
    """Yield the text of a file in another encoding, or inside a zip. Raises ImportRefused."""
    encoding = detect_encoding(source)
    if source.member is None and encoding == "utf-8":
        return
    overlap = ""
    with wrap_read_errors(source.path), open_bytes(source) as stream:
        text = io.TextIOWrapper(stream, encoding, errors="replace")
        while piece := text.read(_PIECE):
            yield (overlap + piece).encode(errors="replace")
            overlap = piece[-_OVERLAP:]


def next_chunk(chunks: Iterator[bytes]) -> bytes:
    """Return the next chunk; empty after the last."""
    return next(chunks, b"")


def read_chunks(file: Path) -> Iterator[bytes]:
    """Yield a file in chunks, each preceded by the end of the previous one."""
    overlap = b""
    with suppress(OSError), file.open("rb") as stream:  # it has disappeared, or we may not read it
        while piece := stream.read(_PIECE):
            yield overlap + piece
            overlap = piece[-_OVERLAP:]


def find_shingles(chunk: bytes, traces: TextFingerprints) -> frozenset[int]:
    """Return the shingles that are found in some bytes."""
    found: set[int] = set()
    for run in _READABLE.findall(chunk):
        found |= traces.find_shingles(run.decode("utf-8", errors="replace"))
    return frozenset(found)
