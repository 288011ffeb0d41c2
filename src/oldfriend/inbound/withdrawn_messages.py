"""Withdrawn messages: plans what follows when a message that stood on a platform no longer does.

What its author has deleted is forgotten in every memory that has it. What the platform had accepted
of ours and did not deliver is sent again, or set aside where the owner sees it.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend.channels.channel import ChatRef, MessageDeletion, MessageUndelivered
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import SECOND, Clock, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.inbound.failed_events import delete_withdrawn_events
from oldfriend.memory.message_log import list_copies
from oldfriend.queues.outbox import list_chat_people
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job

DELETE_JOB: Final = "delete"
"""The job that forgets a message which was deleted on its platform."""
RESEND_JOB: Final = "resend"
"""The job that sends a message again which its platform did not deliver."""
RESEND_DELAY: Final = 5 * SECOND
"""Until then whoever sent it has recorded that it was accepted."""


async def plan_withdrawal(
    db: Database, clock: Clock, withdrawn: MessageDeletion | MessageUndelivered
) -> None:
    """Plan what follows from a deletion or from a delivery that failed. Raises StoreError."""
    chat_ref = withdrawn.chat_ref
    async with db.begin_write() as tx:
        if isinstance(withdrawn, MessageUndelivered):
            arguments = build_resend_arguments(withdrawn)
            for person in await list_chat_people(tx, chat_ref.channel, chat_ref.address):
                due_at = clock() + RESEND_DELAY
                await schedule(tx, clock, RESEND_JOB, person, arguments, due_at=due_at)
        else:
            copies = await list_copies(
                tx, chat_ref.channel, chat_ref.address, withdrawn.external_id
            )
            for person, message in copies:
                await schedule(tx, clock, DELETE_JOB, person, {"message": message})
    if isinstance(withdrawn, MessageDeletion):
        await delete_withdrawn_events(db, withdrawn)


async def schedule(
    tx: Transaction,
    clock: Clock,
    name: str,
    person: PersonId,
    arguments: Mapping[str, JsonValue],
    *,
    due_at: Micros | None = None,
) -> None:
    """Schedule a job in a person's memory."""
    spec, partition = JobSpec(name=name, arguments=arguments), f"{name}/{person}"
    await schedule_job(tx, partition, spec, person=person, now=clock(), due_at=due_at)


def build_resend_arguments(undelivered: MessageUndelivered) -> Mapping[str, JsonValue]:
    """Return what the job must know."""
    return {
        "channel": undelivered.chat_ref.channel,
        "address": undelivered.chat_ref.address,
        "external_id": undelivered.external_id,
        "reason": undelivered.reason,
        "may_retry": undelivered.may_retry,
    }


def parse_resend_job(job: Job) -> MessageUndelivered:
    """Return what a platform did not deliver."""
    given = parse_job_spec(job).arguments
    return MessageUndelivered(
        chat_ref=ChatRef(
            channel=str(given["channel"]), address=str(given["address"]), title="", is_private=True
        ),
        external_id=str(given["external_id"]),
        reason=str(given["reason"]),
        may_retry=given["may_retry"] is True,
    )
