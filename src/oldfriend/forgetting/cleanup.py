"""Cleanup: removes forgotten words from files and verifies it, also after a crash."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.dead_processes import drain_spools
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.app.pid_lock import is_same_file, try_lock
from oldfriend.config.keys import find_deletion_key
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MINUTE, Clock, Micros
from oldfriend.domain.errors import OldfriendError, StoreUnusable
from oldfriend.domain.text_cache import clear_text_caches
from oldfriend.forgetting.residual_scan import (
    delete_backups,
    purge_offline_files,
    purge_typed_history,
    scan_files,
)
from oldfriend.inbound.audio_storage import erase_files, find_audio_folder
from oldfriend.memory.deletion.pending_cleanups import (
    Cleanup,
    CleanupResult,
    finish_cleanup,
    has_pending_files,
    list_cleanups,
    mark_cleanup_clean,
    save_cleanup,
)
from oldfriend.memory.deletion.text_fingerprints import TextFingerprints, parse_fingerprints_json
from oldfriend.memory.deletion.verification import collect_shared_shingles, list_residuals
from oldfriend.queues.jobs_table import find_first_due
from oldfriend.queues.scheduled_jobs import JobSpec, delete_partition_jobs, schedule_job
from oldfriend.transfer.uploads import UPLOADS_FOLDER, delete_uploads

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


async def run_cleanups(app: AppContext) -> dict[str, CleanupResult]:
    """Finish every cleanup that is not verified, and return the results by audit entry id.

    Waits while another process does so. A cleanup that cannot be finished stays planned.
    """
    async with cleanup_lock(app.settings.data, timeout_s=LOCK_TIMEOUT_S):
        return await run_cleanups_locked(app)


async def resume_cleanups(app: AppContext) -> tuple[CleanupResult, ...]:
    """Finish interrupted cleanups, unless another process does so. Raises nothing."""
    try:
        async with cleanup_lock(app.settings.data, timeout_s=0.0) as is_held:
            return tuple((await run_cleanups_locked(app)).values()) if is_held else ()
    except (OldfriendError, OSError) as error:
        log_warning("cleanup-failed", error)
        return ()


async def run_cleanup_job(app: AppContext) -> None:
    """Finish every cleanup, as a job. Raises StoreUnusable if files remain to be cleaned."""
    done = await run_cleanups(app)
    async with app.db.begin_read() as tx:
        if await has_pending_files(tx):
            stuck = sorted({name for each in done.values() for name in each.stuck_files})
            raise StoreUnusable(f"Files are still to be cleaned: {', '.join(stuck) or 'in use'}.")


async def run_cleanups_locked(app: AppContext) -> dict[str, CleanupResult]:
    """Finish every cleanup whose key is here; the caller holds the lock."""
    key = find_deletion_key(app.settings)
    async with app.db.begin_read() as tx:
        cleanups = await list_cleanups(tx)
    done: dict[str, CleanupResult] = {}
    for each in cleanups:
        fingerprints = None if key is None else parse_fingerprints_json(each.traces, key)
        if fingerprints is None:
            continue
        cleaned = done[each.id] = await run_cleanup(app, each, fingerprints)
        await store_cleanup_result(app.db, app.clock, each, cleaned)
    return done


async def run_cleanup(app: AppContext, cleanup: Cleanup, traces: TextFingerprints) -> CleanupResult:
    """Clean the files, then search all tables and files for what was deleted.

    SQLite overwrites deleted content, but not where a row stood before it was moved: so the
    database file is always rewritten, whatever can be found in it.
    """
    stuck = await asyncio.to_thread(clean_files, app.db, app.settings, cleanup, traces)
    stuck += await drain_spools(app)
    is_rewritten = cleanup.is_clean or await app.db.vacuum()
    is_log_empty = await app.db.truncate_wal()
    clear_text_caches()
    await drain_spools(app)  # calls may have ended in the meantime
    searched = await scan_files(app.db, app.settings.data, cleanup.person, traces)
    async with app.db.begin_read() as tx:
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
        is_clean=not stuck and (not app.db.list_files() or (is_rewritten and is_log_empty)),
    )


def clean_files(
    db: Database, settings: Settings, cleanup: Cleanup, traces: TextFingerprints
) -> list[Path]:
    """Remove forgotten words from files or delete them, and return the files that remain.

    If everything is forgotten, pending uploads are deleted as well.
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
        log_event("cleaned-up", left=len(cleaned.residuals), files=cleaned.files_scanned)
    else:
        log_warning("not-cleaned-up", stuck=len(cleaned.stuck_files), files=cleaned.files_scanned)


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
