"""Confirmed deletions: forgets what a person said yes to, and tells them what is gone."""

from collections.abc import Mapping

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ChatId, PersonId, TurnId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.forgetting.delete import forget, hash_plan
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.memory.deletion.audit_log import AuditEntry, get_audit_entry, list_purges
from oldfriend.memory.deletion.selection import DeletionRequest, PurgeEnd, select_by_id
from oldfriend.queues.jobs_table import delete_jobs
from oldfriend.queues.queue import lock_partition
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.turn.belief_changes import FORGET_NOTICE, PURGE_JOB, TELL_JOB
from oldfriend.turn.request_handlers.forget_requests import ForgettingPreview, load_preview
from oldfriend.turn.request_handlers.own_data_requests import format_counts


async def purge_person(app: AppContext, job: Job) -> None:
    """Forget everything of a person that was there at their yes, and tell them; only once."""
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    before = int(str(arguments["purges"]))
    done = await find_purge(app, job.person, before)
    if done is None:
        up_to = read_end(arguments)
        await forget(app, job.person, DeletionRequest(everything=True, up_to=up_to))
        done = await find_purge(app, job.person, before)
        assert done is not None
    say = CommandMenu.load(str(arguments["language"])).say
    head = say["purged" if done.proved_at is not None else "purged_unproved"]
    text = "\n".join([head, *format_counts(done.counts, say), say["purged_end"]])
    key = f"{PURGE_JOB}/{done.done_at}"
    await tell(app, job.person, text, arguments, key=key, reason=say["purge_reason"])


async def forget_chosen(app: AppContext, job: Job) -> None:
    """Forget what a person chose; nothing if anything else would go by now, which they are told.

    The job ends with the deletion, as it may name what is gone; another one tells what came of it.
    Raises StaleDecision.
    """
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    async with app.db.begin_read() as tx:
        request = await read_request(tx, job.person, arguments)
        if request is None:
            return
        preview = await load_preview(tx, job.person, request)
    if preview is None:
        return  # it is gone already
    if preview.digest != arguments["seen"]:
        say = CommandMenu.load(str(arguments["language"])).say
        key = f"{FORGET_NOTICE}/{job.seq}"
        text, reason = say["asked_changed"], say["forget_reason"]
        await tell(app, job.person, text, arguments, key=key, reason=reason)
        return

    async def hand_over(tx: Transaction, entry: str) -> None:
        told = {each: arguments[each] for each in ("chat", "language")}
        told |= {"asked": count_asked(preview)}
        spec = JobSpec(name=TELL_JOB, arguments={**told, "entry": entry})
        await lock_partition(tx, job.queue, job.partition)
        await delete_jobs(tx, [job])
        await schedule_job(tx, job.partition, spec, person=job.person, now=app.clock())

    seen = hash_plan(preview.plan)
    await forget(app, job.person, request, seen_digest=seen, on_deleted=hand_over)


def count_asked(preview: ForgettingPreview) -> int:
    """Count the messages in which it was asked for, which go, too, and were not shown."""
    return len({each.id for each in preview.plan.messages}) - len(preview.messages)


async def tell_forgotten(app: AppContext, job: Job) -> None:
    """Tell a person what is gone of what they chose, and whether that is proved."""
    assert job.person is not None
    arguments = parse_job_spec(job).arguments
    async with app.db.begin_read() as tx:
        done = await get_audit_entry(tx, job.person, str(arguments["entry"]))
    say = CommandMenu.load(str(arguments["language"])).say
    head = say["forgotten" if done.proved_at is not None else "forgotten_unproved"]
    asked = int(str(arguments.get("asked", 0)))
    counts = {**done.counts, "messages": done.counts.get("messages", 0) - asked, "asked": asked}
    text = "\n".join([head, *format_counts(counts, say)])
    key = f"{FORGET_NOTICE}/{arguments['entry']}"
    await tell(app, job.person, text, arguments, key=key, reason=say["forget_reason"])


async def read_request(
    tx: Transaction, person: PersonId, arguments: Mapping[str, JsonValue]
) -> DeletionRequest | None:
    """Return what is to be deleted, of which single things may be gone; None if all are."""
    ids: list[str] = []
    for each in read_texts(arguments["ids"]):
        try:
            await select_by_id(tx, person, each)
        except NotFound:
            continue
        ids.append(each)
    about = str(arguments["about"] or "") or None
    also = tuple(read_texts(arguments.get("also_about")))
    turns = frozenset(TurnId(each) for each in read_texts(arguments["turns"]))
    request = DeletionRequest(ids=tuple(ids), about=about, also_about=also, turns=turns)
    return request if ids or about else None


def read_texts(value: JsonValue) -> list[str]:
    """Return the texts of a list in a job."""
    return [str(each) for each in value] if isinstance(value, list) else []


def read_end(arguments: Mapping[str, JsonValue]) -> PurgeEnd | None:
    """Return how far a purge reaches; None: a job of an earlier version takes all."""
    match arguments:
        case {"yes": int(message), "reply": int(reply), "change": int(change), "at": int(at)}:
            return PurgeEnd(message=message, reply=reply, change=change, at=at)
        case _:
            return None


async def find_purge(app: AppContext, person: PersonId, before: int) -> AuditEntry | None:
    """Return the audit entry of this purge, once there are more than at the yes."""
    async with app.db.begin_read() as tx:
        purges = await list_purges(tx, person)
    return purges[-1] if len(purges) > before else None


async def tell(
    app: AppContext,
    person: PersonId,
    text: str,
    arguments: Mapping[str, JsonValue],
    *,
    key: str,
    reason: str,
) -> None:
    """Tell the person something once; the key begins with the kind of the message."""
    app.on_crash_point("committed")
    notice = UnpromptedMessage(
        text=text,
        dedup_key=key,
        kind=key.partition("/")[0],
        reason=reason,
        language=str(arguments["language"]),
        chat=ChatId(str(arguments["chat"])),
    )
    async with app.db.begin_write() as tx:
        await send_unprompted(tx, app, person, notice, now=app.clock())
    app.notifier.notify("outbox")
