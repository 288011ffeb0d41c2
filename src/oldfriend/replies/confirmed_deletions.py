"""Confirmed deletions: forgets what a person said yes to, and tells them what is gone."""

from collections.abc import Mapping
from contextlib import suppress

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.forgetting.delete import forget
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.memory.deletion.audit_log import AuditEntry, list_audit_entries, list_purges
from oldfriend.memory.deletion.selection import DeletionRequest, select_by_id
from oldfriend.queues.scheduled_jobs import parse_job_spec
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.turn.belief_changes import PURGE_JOB
from oldfriend.turn.request_handlers.own_data_requests import format_counts


async def purge_person(app: AppContext, job: Job) -> None:
    """Forget everything of a person and tell them; after a crash, nothing that came later goes."""
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    before = int(str(arguments["purges"]))
    done = await find_purge(app, job.person, before)
    if done is None:
        await forget(app, job.person, DeletionRequest(everything=True), deed="purge")
        done = await find_purge(app, job.person, before)
        assert done is not None
    say = CommandMenu.load(str(arguments["language"])).say
    head = say["purged" if done.proved_at is not None else "purged_unproved"]
    text = "\n".join([head, *format_counts(done.counts, say), say["purged_end"]])
    await tell(app, job.person, text, done, arguments, reason=say["purge_reason"])


async def forget_chosen(app: AppContext, job: Job) -> None:
    """Forget what a person chose and tell them; what is gone already is told the same."""
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    async with app.db.begin_read() as tx:
        request = await read_request(tx, job.person, arguments)
    if request is not None:
        with suppress(NotFound):  # forgotten before a crash, or elsewhere
            await forget(app, job.person, request)
    async with app.db.begin_read() as tx:
        entries = await list_audit_entries(tx, job.person)
    new = [each for each in entries[int(str(arguments["entries"])) :] if each.what == "forget"]
    if not new:
        return  # it was gone before the yes, so there is nothing to tell
    say = CommandMenu.load(str(arguments["language"])).say
    done = new[-1]
    head = say["forgotten" if done.proved_at is not None else "forgotten_unproved"]
    text = "\n".join([head, *format_counts(done.counts, say)])
    await tell(app, job.person, text, done, arguments, reason=say["forget_reason"])


async def read_request(
    tx: Transaction, person: PersonId, arguments: Mapping[str, JsonValue]
) -> DeletionRequest | None:
    """Return what is to be deleted, of which single things may be gone; None if all are."""
    chosen = arguments["ids"]
    ids: list[str] = []
    for each in map(str, chosen if isinstance(chosen, list) else []):
        try:
            await select_by_id(tx, person, each)
        except NotFound:
            continue
        ids.append(each)
    about = str(arguments["about"] or "") or None
    return DeletionRequest(ids=tuple(ids), about=about) if ids or about else None


async def find_purge(app: AppContext, person: PersonId, before: int) -> AuditEntry | None:
    """Return the audit entry of this purge, once there are more than at the yes."""
    async with app.db.begin_read() as tx:
        purges = await list_purges(tx, person)
    return purges[-1] if len(purges) > before else None


async def tell(
    app: AppContext,
    person: PersonId,
    text: str,
    done: AuditEntry,
    arguments: Mapping[str, JsonValue],
    *,
    reason: str,
) -> None:
    """Tell the person, once, what is gone and whether that is proved."""
    app.on_crash_point("committed")
    notice = UnpromptedMessage(
        text=text,
        dedup_key=f"{PURGE_JOB}/{done.done_at}",
        kind=PURGE_JOB,
        reason=reason,
        language=str(arguments["language"]),
        chat=ChatId(str(arguments["chat"])),
    )
    async with app.db.begin_write() as tx:
        await send_unprompted(tx, app, person, notice, now=app.clock())
    app.notifier.notify("outbox")
