"""Failed events: dead letters of what platforms told and an error of ours kept from being handled.

Each holds the whole event, so that it can be handled once the error is mended. It is listed,
retried and dropped like any failed job, and forgotten with whose it is. Of strangers nothing is
kept.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Final

from oldfriend.app.event_log import format_location
from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    ChatAvailability,
    ChatMoved,
    IncomingMessage,
    MembershipChange,
    MessageDeletion,
    MessageUndelivered,
    Reaction,
    UnreadableUpdate,
)
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.memory.chat_history import find_edit_time
from oldfriend.memory.groups import find_group
from oldfriend.memory.identities import find_identity
from oldfriend.queues.jobs_table import (
    delete_jobs,
    list_partition_jobs,
    list_person_jobs,
    move_to_dead_letters,
    schedule_retry,
)
from oldfriend.queues.outbox import list_chat_people
from oldfriend.queues.queue import lock_partition, update_ready_at
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job

EVENT_JOB: Final = "event"
"""The job that handles an event which could not be handled when it came."""
MAX_KEPT: Final = 1000
"""Failed events of one channel; beyond, an event is only logged."""
EVENT_TYPES: Final[dict[str, type[ChannelEvent]]] = {
    each.__name__: each
    for each in (
        IncomingMessage,
        Reaction,
        ButtonPress,
        MessageDeletion,
        MessageUndelivered,
        ChatAvailability,
        MembershipChange,
        ChatMoved,
        UnreadableUpdate,
    )
}


async def keep_event(
    db: Database, clock: Clock, event: ChannelEvent, error: Exception, *, owner: PersonId
) -> bool:
    """Keep an event as a dead letter, once however often it comes; False: too many are kept.

    Of the error its type and place are kept, since its text may quote anybody. Raises StoreError.
    """
    channel, now = get_channel(event), clock()
    arguments = {"channel": channel, "type": type(event).__name__, "event": asdict(event)}
    spec = JobSpec(name=EVENT_JOB, arguments=json.loads(json.dumps(arguments)))
    partition = build_partition(channel)
    async with db.begin_write() as tx:
        await lock_partition(tx, "agenda", partition)
        kept = await list_partition_jobs(tx, "agenda", partition)
        if any(each.person == owner and parse_job_spec(each) == spec for each in kept):
            return True
        if len(kept) >= MAX_KEPT:
            return False
        job = await schedule_job(tx, partition, spec, person=owner, now=now)
        assert job is not None
        reason = f"{type(error).__name__}: at {format_location(error)}"
        await schedule_retry(
            tx, job, attempts=1, error=reason, now=now, due_at=None, has_ended=True
        )
        await move_to_dead_letters(tx, job, error=reason, now=now)
        await update_ready_at(tx, "agenda", partition)
    return True


async def find_owner(db: Database, event: ChannelEvent) -> PersonId | None:
    """Return whose event it is: of who is known, of a group, or of whose chat it is about."""
    async with db.begin_read() as tx:
        match event:
            case UnreadableUpdate():
                return None
            case ChatMoved():
                address = event.old_address
            case _ if not event.chat_ref.is_private:
                group = await find_group(tx, event.chat_ref.channel, event.chat_ref.group_address)
                return None if group is None else group.id
            case IncomingMessage() | Reaction() | ButtonPress():
                person = await find_identity(tx, event.chat_ref.channel, event.sender.address)
                return None if person is None else person.id
            case _:
                address = event.chat_ref.address
        people = await list_chat_people(tx, get_channel(event), address)
    return people[0] if people else None


def get_channel(event: ChannelEvent) -> str:
    """Return the channel of an event."""
    return (
        event.channel if isinstance(event, ChatMoved | UnreadableUpdate) else event.chat_ref.channel
    )


def build_partition(channel: str) -> str:
    """Return the partition of a channel's failed events."""
    return f"{EVENT_JOB}/{channel}"


def parse_event(job: Job) -> ChannelEvent:
    """Return the event that a job holds. Raises InvalidInput."""
    arguments = parse_job_spec(job).arguments
    known = EVENT_TYPES.get(str(arguments.get("type")))
    if known is None:
        raise InvalidInput(f"Job {job.seq} in {job.partition} holds no event that is known.")
    from pydantic import TypeAdapter

    return TypeAdapter(known).validate_python(arguments.get("event"))


async def load_event(db: Database, job: Job) -> ChannelEvent | None:
    """Return the event that a job holds, or of an edit the newest of its message that failed.

    None for an edit whose message was edited since. Raises InvalidInput, StoreError.
    """
    event = parse_event(job)
    if not isinstance(event, IncomingMessage) or not event.is_edit:
        return event
    assert job.person is not None
    same = MessageDeletion(chat_ref=event.chat_ref, external_id=event.external_id)
    async with db.begin_read() as tx:
        kept = await list_partition_jobs(tx, job.queue, job.partition)
        newest = max(
            (
                each
                for each in kept
                if get_fields(each).get("is_edit") and is_of_message(each, same)
            ),
            key=lambda each: each.seq,
            default=job,
        )
        event = parse_event(newest)
        assert isinstance(event, IncomingMessage)
        edited_at = await find_edit_time(
            tx,
            job.person,
            event.chat_ref.channel,
            event.chat_ref.address,
            (event.external_id, event.edit_id),
        )
    return None if (edited_at or 0) > newest.enqueued_at else event


async def has_failed_event(
    tx: Transaction, person: PersonId, is_named: Callable[[Job], bool]
) -> bool:
    """Tell whether a failed event of a person is one that is named."""
    return any(map(is_named, await list_person_jobs(tx, person)))


async def delete_withdrawn_events(db: Database, deletion: MessageDeletion) -> None:
    """Delete what is kept of a message that its author has deleted on the platform."""
    channel = deletion.chat_ref.channel
    async with db.begin_read() as tx:
        kept = await list_partition_jobs(tx, "agenda", build_partition(channel))
    withdrawn = [each for each in kept if is_of_message(each, deletion)]
    if not withdrawn:
        return
    async with db.begin_write() as tx:
        await lock_partition(tx, "agenda", build_partition(channel))
        await delete_jobs(tx, withdrawn)
        await update_ready_at(tx, "agenda", build_partition(channel))


def is_of_message(job: Job, deletion: MessageDeletion) -> bool:
    """Tell whether a failed event is of a message, and not that it was deleted."""
    fields = get_fields(job)
    chat_ref = fields.get("chat_ref")
    return (
        parse_job_spec(job).arguments.get("type") != MessageDeletion.__name__
        and fields.get("external_id") == deletion.external_id
        and isinstance(chat_ref, dict)
        and chat_ref.get("address") == deletion.chat_ref.address
    )


def is_forgotten_event(
    job: Job, *, since: Micros, until: Micros, external_ids: Collection[str]
) -> bool:
    """Tell whether a job holds an event of a time, its end excluded, or of one of some messages."""
    if job.queue != "agenda" or not job.partition.startswith(f"{EVENT_JOB}/"):
        return False
    fields = get_fields(job)
    at = fields.get("at")
    came_at = at if isinstance(at, int) else job.enqueued_at
    return since <= came_at < until or str(fields.get("external_id")) in external_ids


def get_fields(job: Job) -> dict[str, JsonValue]:
    """Return the fields of the event that a job holds."""
    fields = parse_job_spec(job).arguments.get("event")
    return fields if isinstance(fields, dict) else {}
