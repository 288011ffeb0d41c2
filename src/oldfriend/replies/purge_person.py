"""Purge of a person: forgets everything at their word, verifies it, and tells them what is gone."""

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import ChatId
from oldfriend.domain.job_types import Job
from oldfriend.forgetting.delete import forget
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.memory.deletion.audit_log import AuditEntry, list_purges
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.queues.scheduled_jobs import parse_job_spec
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.turn.request_handlers.own_data_requests import format_counts
from oldfriend.turn.tools.command_tools import PURGE_JOB


async def purge_person(app: AppContext, job: Job) -> None:
    """Forget everything of a person and tell them; after a crash, nothing that came later goes."""
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    before = int(str(arguments["purges"]))
    done = await find_done(app, job, before)
    if done is None:
        await forget(app, job.person, DeletionRequest(everything=True), deed="purge")
        done = await find_done(app, job, before)
        assert done is not None
    app.on_crash_point("committed")
    async with app.db.begin_write() as tx:
        message = build_notice(done, str(arguments["language"]), ChatId(str(arguments["chat"])))
        await send_unprompted(tx, app, job.person, message, now=app.clock())
    app.notifier.notify("outbox")


async def find_done(app: AppContext, job: Job, before: int) -> AuditEntry | None:
    """Return the audit entry of this purge, once there are more than at the yes."""
    assert job.person is not None
    async with app.db.begin_read() as tx:
        purges = await list_purges(tx, job.person)
    return purges[-1] if len(purges) > before else None


def build_notice(done: AuditEntry, language: str, chat: ChatId) -> UnpromptedMessage:
    """Build the message that tells what is gone, in numbers, and whether that is proved."""
    say = CommandMenu.load(language).say
    head = say["purged" if done.proved_at is not None else "purged_unproved"]
    return UnpromptedMessage(
        text="\n".join([head, *format_counts(done.counts, say), say["purged_end"]]),
        dedup_key=f"{PURGE_JOB}/{done.done_at}",
        kind=PURGE_JOB,
        reason=say["purge_reason"],
        language=language,
        chat=chat,
    )
