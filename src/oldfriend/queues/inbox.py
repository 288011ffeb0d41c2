"""Inbox: messages that are waiting for an answer, one partition per chat.

A message that joins a turn which is still waiting for more delays that whole
turn a little. The messages of a turn are one job group; later changes to them (edits, stops) are
another. A job refers to a message in the log and does not hold its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal, TypeAlias, cast, get_args

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId, TurnId
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.queues.dedup_keys import expire_keys
from oldfriend.queues.jobs_table import (
    MAX_CLAIMED_JOBS,
    build_payload_error,
    delete_jobs,
    find_first_job,
    find_job,
    get_int_field,
    get_text_field,
    is_due,
    list_group_jobs,
    list_last_jobs,
    update_payload,
)
from oldfriend.queues.queue import (
    enqueue,
    get_last_claimed_seq,
    lock_partition,
    reschedule_jobs,
    update_ready_at,
)

MIN_FRAGMENT_CHARS = 4_000
"""A text of this length may have been split by its channel."""
MAX_FRAGMENT_GAP = 3 * SECOND // 2
MAX_BURST_CHARS = 50_000
MAX_BURST = 10 * SECOND
"""Messages that never pause are answered after this long all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstItem:
    """What debouncing needs to know of a message."""

    sender: str | None  # who sent it; in a group not the person whose memory it goes into
    number: int | None  # the channel's own message number, where it has one
    chars: int
    at: Micros  # of arrival
    is_alone: bool = False  # a turn of its own, which waits for no more


def is_possible_fragment(item: BurstItem) -> bool:
    """Return whether the rest of this text may still arrive."""
    return item.number is not None and item.chars >= MIN_FRAGMENT_CHARS


def is_continuation(before: BurstItem, after: BurstItem) -> bool:
    """Return whether one fragment continues where the other was split."""
    return (
        is_possible_fragment(before)
        and before.sender == after.sender
        and before.number is not None
        and after.number == before.number + 1
        and after.at - before.at < MAX_FRAGMENT_GAP
    )


def can_join(item: BurstItem, *, debounce_s: float) -> bool:
    """Return whether messages like this one are ever joined."""
    if item.is_alone:
        return False
    return debounce_s > 0 or item.number is not None


def is_same_burst(burst: Sequence[BurstItem], item: BurstItem, *, debounce_s: float) -> bool:
    """Return whether a message belongs to the turn that the given burst, in order, has begun.

    ``debounce_s`` is the pause that ends a burst; with 0 each message is a turn of its own.
    """
    first, last = burst[0], burst[-1]
    if first.is_alone:
        return False
    if len(burst) >= MAX_CLAIMED_JOBS or sum(p.chars for p in burst) + item.chars > MAX_BURST_CHARS:
        return False
    is_in_burst = (
        first.sender == item.sender
        and item.at - last.at < debounce_s * SECOND
        and item.at - first.at < MAX_BURST
    )
    return is_in_burst or is_continuation(last, item)


def compute_due_at(burst: Sequence[BurstItem], *, debounce_s: float) -> Micros:
    """Return when a turn stops waiting for more messages."""
    first, last = burst[0], burst[-1]
    if first.is_alone:
        return first.at
    quiet = min(last.at + round(debounce_s * SECOND), first.at + MAX_BURST)
    rest = last.at + MAX_FRAGMENT_GAP if is_possible_fragment(last) else last.at
    return max(quiet, rest)


def join_texts(items: Sequence[tuple[BurstItem, str]]) -> str:
    """Join the texts of a turn: fragments seamlessly, messages by line breaks."""
    text = items[0][1] if items else ""
    for (before, _), (after, after_text) in pairwise(items):
        text += after_text if is_continuation(before, after) else f"\n{after_text}"
    return text


InboxKind: TypeAlias = Literal["said", "edited", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStatus:
    """The state of a turn that is waiting for its answer."""

    is_next: bool  # nothing in its chat is answered before it
    due_at: Micros  # from when on it may be started
    has_failed: bool  # it was started before and will be retried


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPayload:
    """What a person did in a chat: the version of a message, and its turn."""

    kind: InboxKind
    message: MessageId
    version: int
    turn: TurnId
    chars: int
    number: int | None = None  # the channel's own message number, where it has one
    dedup_key: str | None = None  # identifies a redelivery
    speaker: str | None = None  # who sent it, if not the person of the partition
    is_alone: bool = False  # it joins no other message, and none joins it


async def find_joinable_turn(
    tx: Transaction, chat_id: ChatId, item: BurstItem, *, debounce_s: float
) -> TurnId | None:
    """Return the waiting turn that an arriving message joins; None if it begins a new one.

    Locks the partition, so that the turn is not started before the message is part of it.
    """
    if not can_join(item, debounce_s=debounce_s):
        return None
    await lock_partition(tx, "inbox", chat_id)
    turn_jobs = await list_open_turn_jobs(tx, chat_id, now=item.at)
    if not turn_jobs or not is_same_burst(
        [to_burst_item(job) for job in turn_jobs], item, debounce_s=debounce_s
    ):
        return None
    return parse_inbox_payload(turn_jobs[0]).turn


async def enqueue_inbox(
    tx: Transaction,
    chat_id: ChatId,
    person: PersonId,
    payload: InboxPayload,
    *,
    debounce_s: float,
    now: Micros,
    not_before: Micros = 0,
) -> Job | None:
    """Enqueue a message, edit or stop; None if its key is known. Edits and stops are not debounced.

    ``not_before`` is the earliest time of an answer, where a rate limit applies.
    """
    body: dict[str, JsonValue] = {
        "kind": payload.kind,
        "message": payload.message,
        "version": payload.version,
        "turn": payload.turn,
        "chars": payload.chars,
        "number": payload.number,
    }
    if payload.kind != "said":
        job = await enqueue(
            tx,
            "inbox",
            chat_id,
            body,
            person=person,
            now=now,
            dedup_key=payload.dedup_key,
            group=build_notice_group(payload.turn),
        )
        await tx.notify()  # also if the partition is leased: the turn's worker listens for it
        return job
    if payload.speaker is not None:
        body |= {"speaker": payload.speaker}
    if payload.is_alone:
        body |= {"alone": True}
    item = BurstItem(
        sender=payload.speaker or person,
        number=payload.number,
        chars=payload.chars,
        at=now,
        is_alone=payload.is_alone,
    )
    turn_jobs: list[Job] = []
    if can_join(item, debounce_s=debounce_s):
        await lock_partition(tx, "inbox", chat_id)
        waiting = await list_open_turn_jobs(tx, chat_id, now=now)
        turn_jobs = [job for job in waiting if parse_inbox_payload(job).turn == payload.turn]
    due = max(
        compute_due_at([*map(to_burst_item, turn_jobs), item], debounce_s=debounce_s), not_before
    )
    job = await enqueue(
        tx,
        "inbox",
        chat_id,
        body,
        person=person,
        now=now,
        due_at=due,
        dedup_key=payload.dedup_key,
        group=payload.turn,
    )
    if job is not None and turn_jobs:
        await reschedule_jobs(tx, "inbox", chat_id, from_seq=turn_jobs[0].seq, due_at=due, now=now)
    return job


async def list_open_turns(tx: Transaction) -> frozenset[TurnId]:
    """Return the turns of all chats that are waiting for their answer."""
    rows = await tx.rows(
        """SELECT DISTINCT "group" FROM job
           WHERE queue = 'inbox' AND dead_lettered_at IS NULL AND "group" IS NOT NULL"""
    )
    return frozenset(TurnId(row[0]) for row in rows)  # the group of a notice is no turn id


async def list_turn_notices(tx: Transaction, chat: str, turn_id: TurnId) -> tuple[Job, ...]:
    """Return the edits and stops that arrived for the messages of a turn."""
    return await list_group_jobs(tx, "inbox", chat, build_notice_group(turn_id))


async def record_draft_external_id(
    tx: Transaction, turn_jobs: Sequence[Job], external_id: str
) -> None:
    """Record the platform message that shows the reply while it is written."""
    await update_payload(tx, turn_jobs[0], {**turn_jobs[0].payload, "shown": external_id})


async def find_draft_external_id(tx: Transaction, turn_jobs: Sequence[Job]) -> str | None:
    """Return the external id of the message that shows the draft of a turn's reply, if any."""
    job = await find_job(tx, "inbox", turn_jobs[0].partition, turn_jobs[0].seq)
    external_id = None if job is None else job.payload.get("shown")
    return external_id if isinstance(external_id, str) else None


async def withdraw_turn(tx: Transaction, chat_id: ChatId, turn_id: TurnId, *, now: Micros) -> bool:
    """Delete a turn that was not started, or is a dead letter; False if it is running or over."""
    await lock_partition(tx, "inbox", chat_id)
    jobs = await list_group_jobs(tx, "inbox", chat_id, turn_id)
    last_claimed_seq = await get_last_claimed_seq(tx, "inbox", chat_id)
    if not jobs or any(each.seq <= last_claimed_seq and not each.is_dead_letter for each in jobs):
        return False
    await delete_jobs(tx, jobs)
    await expire_keys(tx, jobs, now=now)
    await update_ready_at(tx, "inbox", chat_id)
    await tx.notify()
    return True


async def is_turn_waiting(
    tx: Transaction, queue: QueueName, partition: str, turn_id: TurnId
) -> bool:
    """Return whether a turn is waiting for its answer and is no dead letter."""
    jobs = await list_group_jobs(tx, queue, partition, turn_id)
    return any(not job.is_dead_letter for job in jobs)


async def find_turn_status(tx: Transaction, chat_id: ChatId, turn_id: TurnId) -> TurnStatus | None:
    """Return the status of a turn in its chat; None if it is not waiting."""
    turn_jobs = await list_group_jobs(tx, "inbox", chat_id, turn_id)
    open_jobs = [each for each in turn_jobs if not each.is_dead_letter]
    if not open_jobs:
        return None
    first = await find_first_job(tx, "inbox", chat_id)
    return TurnStatus(
        is_next=first is None or first.seq >= open_jobs[0].seq,
        due_at=open_jobs[0].due_at,
        has_failed=any(each.error is not None for each in open_jobs),
    )


async def load_unanswered_turns(tx: Transaction, person: PersonId) -> dict[TurnId, bool]:
    """Return a person's unanswered turns on all channels; the value is True for dead letters."""
    rows = await tx.rows(
        """SELECT "group", max(CASE WHEN dead_lettered_at IS NULL THEN 0 ELSE 1 END) FROM job
           WHERE queue = 'inbox' AND person = :person AND payload LIKE '{"kind": "said",%'
           GROUP BY 1""",
        person=person,
    )
    return {TurnId(turn): bool(is_dead_letter) for turn, is_dead_letter in rows}


async def list_open_turn_jobs(tx: Transaction, chat_id: ChatId, *, now: Micros) -> list[Job]:
    """Return the jobs of a chat's newest turn, if it cannot have been started yet."""
    newest_first = await list_last_jobs(tx, "inbox", chat_id)
    if not newest_first:
        return []
    turn = parse_inbox_payload(newest_first[0]).turn
    turn_jobs = list(takewhile(lambda job: is_turn_message(job, turn), newest_first))[::-1]
    if not turn_jobs or any(is_due(job, now=now) for job in turn_jobs):
        return []
    is_started = turn_jobs[0].seq <= await get_last_claimed_seq(
        tx, "inbox", chat_id
    )  # started by a process whose clock is ahead
    return [] if is_started else turn_jobs


def take_first_turn(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """Return the leading jobs that are processed together: those of the first turn."""
    turn = parse_inbox_payload(jobs[0]).turn
    return tuple(takewhile(lambda job: is_turn_message(job, turn), jobs)) or jobs[:1]


def build_notice_group(turn_id: TurnId) -> str:
    """Return the group of a turn's edits and stops, which succeed or fail on their own."""
    return f"about {turn_id}"


def is_turn_message(job: Job, turn_id: TurnId) -> bool:
    """Return whether a job is a message of this turn."""
    payload = parse_inbox_payload(job)
    return payload.kind == "said" and payload.turn == turn_id


def to_burst_item(job: Job) -> BurstItem:
    """Return what debouncing needs to know of a job."""
    payload = parse_inbox_payload(job)
    return BurstItem(
        sender=payload.speaker or job.person,
        number=payload.number,
        chars=payload.chars,
        at=job.enqueued_at,
        is_alone=payload.is_alone,
    )


def parse_inbox_payload(job: Job) -> InboxPayload:
    """Parse the payload of an inbox job. Raises InvalidInput."""
    kind = get_text_field(job, "kind")
    if kind not in get_args(InboxKind):
        raise build_payload_error(job, "kind")
    return InboxPayload(
        kind=cast("InboxKind", kind),
        message=MessageId(get_text_field(job, "message")),
        version=get_int_field(job, "version"),
        turn=TurnId(get_text_field(job, "turn")),
        chars=get_int_field(job, "chars"),
        number=None if job.payload.get("number") is None else get_int_field(job, "number"),
        dedup_key=job.dedup_key,
        speaker=get_text_field(job, "speaker") if "speaker" in job.payload else None,
        is_alone=job.payload.get("alone") is True,
    )
