"""Dead processes: releases their leases and enters their model calls into the ledger."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import StoreContext
from oldfriend.app.call_spool import (
    FinishedCall,
    flush_spool,
    parse_finished_calls,
    parse_interrupted_calls,
    write_spooled_call,
)
from oldfriend.app.event_log import log_event
from oldfriend.app.notifications import Notifier
from oldfriend.app.process_registry import (
    OtherProcessFile,
    ProcessFolder,
    erase_in_other,
    open_other,
    remove_other,
)
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND, Clock, system_clock
from oldfriend.queues.queue import release_partitions_of_dead_owner

ABANDONED_AFTER_S: Final = 86_400.0
"""How long an unlocked file is kept if it is uncertain whether locks are visible here."""

MAX_TRIES: Final = 3
"""How often a file is read again if its process replaces it in the meantime."""


async def reap_dead_processes(context: StoreContext, *, include_living: bool = False) -> None:
    """Take over what dead processes of this data folder have left. Raises StoreError.

    With ``include_living`` also the finished calls that living processes could not store.
    """
    if context.process_folder is None:
        return
    for path in context.process_folder.list_others():
        with open_other(path, include_living=include_living) as found:
            if found is not None and found.header.store == context.process_folder.header.store:
                await reap_process(
                    context.db, context.clock, context.notifier, context.process_folder, found
                )


async def drain_spools(context: StoreContext) -> list[Path]:
    """Enter every finished call into the ledger, and erase its content from the process files.

    This includes the files of living processes. Returns the files for which that was not possible.
    Raises StoreError.
    """
    await flush_spool(context.db, context.spool)
    if context.process_folder is None:
        return []
    stuck: list[Path] = []
    for path in context.process_folder.list_others():
        try:
            if not await drain_other_spool(
                context.db, context.clock, context.notifier, context.process_folder, path
            ):
                stuck.append(path)
        except OSError:
            stuck.append(path)
    with suppress(OSError):
        context.process_folder.remove_unfinished()
    return stuck


async def drain_other_spool(
    db: Database, clock: Clock, notifier: Notifier, processes: ProcessFolder, path: Path
) -> bool:
    """Drain the file of one other process and return whether that succeeded. Raises OSError."""
    for _ in range(MAX_TRIES):
        with open_other(path, include_living=True) as found:
            if found is None or found.header.store != processes.header.store:
                return True
            await reap_process(db, clock, notifier, processes, found)
            finished = {each.id for each in parse_finished_calls(found.lines)}
            if erase_in_other(found, finished):
                return True
    return False


async def reap_process(
    db: Database,
    clock: Clock,
    notifier: Notifier,
    processes: ProcessFolder,
    found: OtherProcessFile,
) -> None:
    """Take over what one process has left: its finished calls and, if it is dead, its leases."""
    calls = [each for each in list_calls(found) if each.id not in processes.settled]
    is_dead = found.is_dead_for(processes.header)
    if calls or is_dead:
        async with db.begin_write() as tx:
            for each in calls:
                await write_spooled_call(tx, each)
            released = 0
            if is_dead:
                released = await release_partitions_of_dead_owner(
                    tx, found.header.process, now=clock()
                )
        processes.settled.update(each.id for each in calls)
        log_event(
            "dead-process-released",
            process=found.header.process,
            calls=len(calls),
            partitions=released,
        )
        if released:
            notifier.notify()
    if is_dead or is_abandoned(found):
        with suppress(OSError):
            remove_other(found)


def list_calls(found: OtherProcessFile) -> list[FinishedCall]:
    """Return the finished calls of a process, and if it is dead also the interrupted ones."""
    finished = parse_finished_calls(found.lines)
    return finished if found.is_locked else [*finished, *parse_interrupted_calls(found.lines)]


def is_abandoned(found: OtherProcessFile) -> bool:
    """Return whether a file has been unlocked for so long that its process will not return."""
    if found.is_locked:
        return False
    with suppress(OSError):
        return found.path.stat().st_mtime < system_clock() / SECOND - ABANDONED_AFTER_S
    return False
