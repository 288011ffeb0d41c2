"""Cleanup: removes forgotten words from files and verifies it, also after a crash.

It covers the files of the data folder, the backups made before a migration, and the bytes of the
database itself where it is a file of ours. Anything elsewhere (exports, other people's backups,
what a disk keeps of deleted files) is out of reach.
"""

import asyncio
import fcntl
import io
import json
import os
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import StoreContext
from oldfriend.app.dead_processes import drain_spools
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.app.pid_lock import is_same_file, try_lock
from oldfriend.app.spool_file import OFFLINE_FILE_PREFIX, get_offline_file_prefix
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.channels.locked_file import locked_file
from oldfriend.config.keys import find_deletion_key
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MINUTE, Clock, Micros
from oldfriend.domain.errors import ImportRefused, OldfriendError, StoreUnusable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.text_cache import clear_text_caches
from oldfriend.inbound.audio_storage import ATTACHMENTS_FOLDER, erase_files, find_audio_folder
from oldfriend.memory.deletion.audit_log import (
    Cleanup,
    CleanupResult,
    ResidualFinding,
    finish_cleanup,
    has_pending_files,
    list_cleanups,
    mark_cleanup_clean,
    save_cleanup,
)
from oldfriend.memory.deletion.verification import (
    TextFingerprints,
    collect_shared_shingles,
    list_residuals,
    parse_fingerprints_json,
)
from oldfriend.memory.identities import list_linked_people
from oldfriend.queues.jobs_table import find_first_due
from oldfriend.queues.scheduled_jobs import JobSpec, delete_partition_jobs, schedule_job
from oldfriend.transfer.formats.source import (
    SourceFile,
    detect_encoding,
    list_sources,
    open_bytes,
    wrap_read_errors,
)
from oldfriend.transfer.uploads import UPLOADS_FOLDER, delete_uploads, list_upload_folders

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


CLEAN_JOB: Final = "clean"
"""The job that finishes deletions, and its partition."""
CLEANUP_DELAY: Final = MINUTE
"""Whoever forgets has usually cleaned up by then; a worker checks only afterwards."""
LOCK_FILE: Final = "cleanup.lock"
LOCK_POLL_S: Final = 0.05
LOCK_TIMEOUT_S: Final = 60.0


async def plan_cleanup(tx: Transaction, cleanup: Cleanup, *, now: Micros) -> None:
    """Plan the cleanup of files, in the transaction that forgets."""
    await save_cleanup(tx, cleanup)
    if await find_first_due(tx, "agenda", CLEAN_JOB) is None:
        await schedule_job(
            tx, CLEAN_JOB, JobSpec(name=CLEAN_JOB), person=None, now=now, due_at=now + CLEANUP_DELAY
        )


async def run_cleanups(context: StoreContext) -> dict[str, CleanupResult]:
    """Finish every cleanup that is not verified, and return the results by audit entry id.

    Waits while another process does so. A cleanup that cannot be finished stays planned.
    """
    async with cleanup_lock(context.settings.data, timeout_s=LOCK_TIMEOUT_S):
        return await run_cleanups_locked(context)


async def resume_cleanups(context: StoreContext) -> tuple[CleanupResult, ...]:
    """Finish interrupted cleanups, unless another process does so. Raises nothing."""
    try:
        async with cleanup_lock(context.settings.data, timeout_s=0.0) as is_held:
            return tuple((await run_cleanups_locked(context)).values()) if is_held else ()
    except (OldfriendError, OSError) as error:
        log_warning("cleanup-failed", error)
        return ()


async def run_cleanup_job(context: StoreContext) -> None:
    """Finish every cleanup, as a job. Raises StoreUnusable if files remain to be cleaned."""
    done = await run_cleanups(context)
    async with context.db.begin_read() as tx:
        if await has_pending_files(tx):
            stuck = sorted({name for each in done.values() for name in each.stuck_files})
            raise StoreUnusable(f"Files are still to be cleaned: {', '.join(stuck) or 'in use'}.")


async def run_cleanups_locked(context: StoreContext) -> dict[str, CleanupResult]:
    """Finish every cleanup whose key is here; the caller holds the lock."""
    key = find_deletion_key(context.settings)
    async with context.db.begin_read() as tx:
        cleanups = await list_cleanups(tx)
    done: dict[str, CleanupResult] = {}
    for each in cleanups:
        fingerprints = None if key is None else parse_fingerprints_json(each.traces, key)
        if fingerprints is None:
            continue
        cleaned = done[each.id] = await run_cleanup(context, each, fingerprints)
        await store_cleanup_result(context.db, context.clock, each, cleaned)
    return done


async def run_cleanup(
    context: StoreContext, cleanup: Cleanup, traces: TextFingerprints
) -> CleanupResult:
    """Clean the files, then search all tables and files for what was deleted.

    SQLite overwrites deleted content, but not where a row stood before it was moved: so the
    database file is always rewritten, whatever can be found in it.
    """
    async with context.db.begin_read() as tx:
        shared = await list_shared_channels(tx, cleanup.person)
    stuck = await asyncio.to_thread(
        clean_files, context.db, context.settings, cleanup, traces, shared
    )
    stuck += await drain_spools(context)
    is_rewritten = cleanup.is_clean or await context.db.vacuum()
    is_log_empty = await context.db.truncate_wal()
    clear_text_caches(cleanup.person)
    await drain_spools(context)  # calls may have ended in the meantime
    searched = await scan_files(context.db, context.settings.data, cleanup.person, traces)
    async with context.db.begin_read() as tx:
        residuals = await list_residuals(tx, cleanup.person, traces)
        allowed = frozenset[int]()
        if searched.runs:
            allowed = await collect_shared_shingles(tx, cleanup.person, searched.runs, traces)
    return CleanupResult(
        begun_at=cleanup.begun_at,
        residuals=(*residuals, *searched.list_residuals(allowed)),
        stuck_files=tuple(sorted({each.name for each in stuck})),
        files_scanned=searched.files,
        is_log_empty=is_log_empty,
        is_clean=not stuck and (not context.db.list_files() or (is_rewritten and is_log_empty)),
    )


def clean_files(
    db: Database,
    settings: Settings,
    cleanup: Cleanup,
    traces: TextFingerprints,
    shared: Collection[str],
) -> list[Path]:
    """Remove forgotten words from files or delete them, and return the files that remain.

    If everything is forgotten, so are pending uploads and what channels keep of sent messages.
    """
    folder, person = settings.data, cleanup.person
    fingerprints = None if cleanup.is_everything else traces
    stuck = [
        *purge_typed_history(folder, person, fingerprints),
        *purge_offline_files(folder, person, fingerprints),
    ]
    if (audio_folder := find_audio_folder(settings)) is not None:
        names = (name for file_name in cleanup.sounds for name in (file_name, f"{file_name}.part"))
        stuck += erase_files([audio_folder / person / name for name in names])
    stuck += delete_backups(db)
    if cleanup.is_everything:
        stuck += delete_uploads(folder / UPLOADS_FOLDER, person)
        stuck += clear_channel_records(folder, shared)
    return stuck


async def list_shared_channels(tx: Transaction, person: PersonId) -> frozenset[str]:
    """Return the channels on which anybody else is known."""
    linked = {name: await list_linked_people(tx, name) for name in CHANNELS}
    return frozenset(
        name for name, people in linked.items() if any(each.id != person for each, _ in people)
    )


def clear_channel_records(folder: Path, shared: Collection[str]) -> list[Path]:
    """Empty the files that tell when whom was written to; return those that could not be.

    Nobody can be told apart in these files, so one that others need is kept: it holds hashes and
    times alone, and drops them by itself within days.
    """
    stuck: list[Path] = []
    for spec in (each for name, each in CHANNELS.items() if name not in shared):
        for file in (folder / spec.name / name for name in spec.record_files):
            try:
                if has_content(file):
                    with locked_file(file):
                        overwrite_in_place(file, b"")
            except OSError:
                stuck.append(file)
    return stuck


async def store_cleanup_result(
    db: Database, clock: Clock, cleanup: Cleanup, cleaned: CleanupResult
) -> None:
    """Record the result of a cleanup. Retention by age needs no verification."""
    now = clock()
    async with db.begin_write() as tx:
        if cleaned.is_verified or (cleaned.is_clean and cleanup.what == "retain"):
            proved_at = now if cleaned.is_verified else None
            await finish_cleanup(tx, cleanup, proved_at=proved_at)
        elif cleaned.is_clean:
            await mark_cleanup_clean(tx, cleanup)
        if not await has_pending_files(tx):
            await delete_partition_jobs(tx, CLEAN_JOB)
    if cleaned.is_clean:
        log_event("cleanup-finished", left=len(cleaned.residuals), files=cleaned.files_scanned)
    else:
        log_warning(
            "cleanup-incomplete", stuck=len(cleaned.stuck_files), files=cleaned.files_scanned
        )


@asynccontextmanager
async def cleanup_lock(folder: Path, *, timeout_s: float) -> AsyncIterator[bool]:
    """Keep other processes from cleaning up at the same time, and yield whether that worked.

    Without the lock, or after the timeout, both processes clean the same files: that only costs
    time.
    """
    path, file = folder / LOCK_FILE, find_locked_file(folder / LOCK_FILE)
    for _ in range(round(timeout_s / LOCK_POLL_S)):
        if file is not None:
            break
        await asyncio.sleep(LOCK_POLL_S)
        file = find_locked_file(path)
    try:
        yield file is not None
    finally:
        if file is not None:
            with suppress(OSError):  # the folder may be gone by now
                path.unlink()
            os.close(file)


def find_locked_file(path: Path) -> int | None:
    """Return the file, opened and locked by this process; None if that is not possible."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    if try_lock(file, fcntl.LOCK_EX) and is_same_file(file, path):
        return file
    os.close(file)
    return None
