"""Call log: moves finished model calls from the spool into the ledger.

A call is kept whole, unless something that it was shown has been forgotten in the meantime.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Final

from oldfriend.app.call_spool import CallSpool, FinishedCall
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound, SchemaTooNew, StoreCorrupt, StoreError
from oldfriend.domain.ids import PersonId
from oldfriend.llm.model import ModelCall
from oldfriend.memory.deletion.audit_log import has_deletions_after
from oldfriend.memory.deletion.concurrent_turns import has_all_sources
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.people import find_owner, get_person_by_id, lock_person
from oldfriend.usage.model_calls import CallContext, has_other_answer, record_call

MIN_BACKOFF_S: Final = 0.05
MAX_BACKOFF_S: Final = 1.0
PERMANENT_ERRORS: Final = (SchemaTooNew, StoreCorrupt)


async def save_call(tx: Transaction, asker: CallContext, finished: FinishedCall) -> str:
    """Record a finished call in the ledger once, under its id.

    If another call has answered the same request in the meantime, this one is recorded as late: the
    other answer is used, and this one was still paid for.
    """
    step, request_hash = finished.step, finished.request_hash
    call = await redact_if_forgotten(
        tx, asker.person, finished.call, since=finished.since, ended_at=finished.made_at
    )
    if call.outcome == "done" and await has_other_answer(
        tx, asker, step=step, request_hash=request_hash, excluded_call_id=finished.id
    ):
        call = replace(call, outcome="late")
    return await record_call(
        tx,
        asker,
        call,
        step=step,
        request_hash=request_hash,
        now=finished.made_at,
        call_id=finished.id,
    )


async def redact_if_forgotten(
    tx: Transaction, person: PersonId, call: ModelCall, *, since: int | None, ended_at: Micros
) -> ModelCall:
    """Return the call, without its content if what it was shown may have been forgotten since.

    This also applies if the call waited in the spool while something was forgotten: a transcript
    repeats a recording without having been shown any message. Whoever takes over the work asks
    again. Locks the person, so that nothing is forgotten at the same time.
    """
    await lock_person(tx, person)
    if since is None:
        is_kept = not await has_deletions_after(tx, person, ended_at) and await has_all_sources(
            tx, person, call.request.shown
        )
    else:
        is_kept = (await get_memory_version(tx, person)).rewritten == since
    if is_kept:
        return call
    empty = call.completion and replace(call.completion, text="", calls=(), echo=None)
    return replace(
        call,
        outcome="cut off",
        completion=empty,
        error=None,
        request=replace(call.request, shown=()),
    )


async def write_spooled_call(tx: Transaction, finished: FinishedCall) -> bool:
    """Enter a spooled call into the ledger once, or return False if its person does not exist."""
    asker = finished.asker
    if asker is None and (owner := await find_owner(tx)) is not None:
        asker = CallContext(person=owner.id)
    if asker is None:
        return False
    try:
        await get_person_by_id(tx, asker.person)
    except NotFound:
        return False
    await save_call(tx, asker, finished)
    return True


async def flush_call(db: Database, spool: CallSpool, finished: FinishedCall) -> None:
    """Move a call from the spool into the ledger. Raises StoreError; then it stays in the spool."""
    async with db.begin_write() as tx:
        await write_spooled_call(tx, finished)
    spool.mark_stored(finished.id)


async def flush_call_with_retry(
    db: Database, spool: CallSpool, finished: FinishedCall, *, retry_for_s: float = 0.0
) -> None:
    """Move a call from the spool into the ledger as soon as that is possible.

    A successful call waits up to ``retry_for_s`` for a database that cannot be written, then
    StoreError is raised. Any other call that cannot be stored stays in the spool until the database
    can be written.
    """
    clock = asyncio.get_running_loop().time
    deadline, pause_s = clock() + retry_for_s, MIN_BACKOFF_S
    while True:
        try:
            return await flush_call(db, spool, finished)
        except PERMANENT_ERRORS:
            raise
        except StoreError:
            if finished.call.outcome != "done" or not retry_for_s:
                return None
            if clock() + pause_s > deadline:
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, MAX_BACKOFF_S)


async def flush_spool(db: Database, spool: CallSpool) -> None:
    """Move everything in the spool into the ledger. Raises StoreError."""
    for spooled in list(spool.pending.values()):
        await flush_call(db, spool, spooled)


async def close_spool(db: Database, spool: CallSpool) -> None:
    """Enter what is left into the ledger, and leave what cannot be stored to a later process."""
    with suppress(StoreError):
        await flush_spool(db, spool)
    spool.close()
