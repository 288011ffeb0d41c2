"""Turn commit: writes what a turn decided in one transaction, or nothing.

It also writes the end of a turn that decided nothing: stopped by the person, postponed or given up.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.call_spool import MAX_BACKOFF_S, MIN_BACKOFF_S, PERMANENT_ERRORS, flush_spool
from oldfriend.app.dead_processes import reap_dead_processes
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.leases import HeldLease
from oldfriend.app.recorded_models import build_asker
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.buttons import build_button_details
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import (
    LeaseLost,
    StaleDecision,
    StoreError,
    TurnStopped,
)
from oldfriend.domain.ids import PersonId, ReceiptId, TurnId, new_id
from oldfriend.domain.job_types import Job, Lease
from oldfriend.domain.messages import Chat, Message, UnloggedMessage
from oldfriend.inbound.accept import build_addressee
from oldfriend.inbound.system_replies import STOPPED_MARKER, build_turn_target, write_marker
from oldfriend.lang.unlearned_languages import find_unlearned_language
from oldfriend.learning.learning_scheduler import enqueue_learning, enqueue_learning_for_message
from oldfriend.learning.told_expectations import close_told
from oldfriend.llm.embedding import Vectors
from oldfriend.llm.recorded_calls import MAX_GRACE_S
from oldfriend.memory.chat_history import has_earlier_messages
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.memory.deletion.audit_log import has_all_sources, has_unchanged_versions
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.message_log import (
    get_message,
    list_recent_messages,
    write_message,
)
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import (
    get_chat,
    get_companion,
    get_person_by_id,
    mark_introduced,
    set_language,
)
from oldfriend.memory.receipts import Receipt, write_receipt
from oldfriend.memory.vectors import save_message_vectors
from oldfriend.memory.working_memory import save_working_memory
from oldfriend.queues.inbox import (
    InboxPayload,
    find_draft_external_id,
    is_turn_waiting,
    list_turn_notices,
    parse_inbox_payload,
    take_first_turn,
)
from oldfriend.queues.jobs_table import compute_retry_at
from oldfriend.queues.outbox import ReplyTexts, ShownDraft, enqueue_reply
from oldfriend.queues.queue import (
    MAX_ATTEMPTS,
    ack_and_claim_new,
    check_epoch,
    delete_finished,
    fail_job,
    lock_lease,
    release_lease,
)
from oldfriend.replies.edited_requests import follow_edit
from oldfriend.replies.text_to_speech import find_audio_title
from oldfriend.turn.pipeline import build_failure_outcome
from oldfriend.turn.request_handlers.learning_requests import ReadNow
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.turn_outcome import Outcome, Utterance
from oldfriend.usage.model_calls import clear_committed_calls, load_completions_by_step
from oldfriend.usage.tool_calls import has_side_effects

MAX_EARLIER: Final = 200
"""Messages that are looked through for an earlier one in the same language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTask:
    """The jobs of one turn, in a chat whose lease is held."""

    held: HeldLease
    jobs: tuple[Job, ...]
    later_jobs: tuple[Job, ...]  # other jobs that were due when it began

    @property
    def lease(self) -> Lease:
        """The lease of the chat."""
        return self.held.lease

    @property
    def payloads(self) -> tuple[InboxPayload, ...]:
        """The payloads of the jobs."""
        return tuple(map(parse_inbox_payload, self.jobs))


async def commit_turn(
    app: AppContext,
    turn_task: TurnTask,
    utterance: Utterance,
    outcome: Outcome,
    vectors: Vectors | None,
    *,
    may_redo: bool,
) -> tuple[Job, ...]:
    """Write everything that the turn decided, and return the jobs left in the partition.

    Raises StaleDecision if something that it rests on has changed, TurnStopped, LeaseLost.
    """
    now = app.clock()
    async with app.db.begin_write() as tx:
        chat = await get_chat(tx, utterance.person.id, utterance.message.chat)
        reply = await write_and_enqueue_reply(tx, app, chat, turn_task, utterance, outcome, now=now)
        await raise_if_forgotten(
            tx, utterance, outcome, may_redo=may_redo
        )  # the person is locked now
        await check_epoch(tx, turn_task.lease)  # another worker may have answered
        await save_receipt(tx, build_receipt(utterance, reply, outcome, now=now))
        if vectors is not None:
            seqs, model = [each.seq for each in utterance.messages], app.embedder.model
            await save_message_vectors(tx, utterance.person.id, model, seqs, vectors)
        elif outcome.is_informative:
            await plan_embedding(tx, now=now)
        if outcome.is_informative and not utterance.is_in_group:
            await close_told(
                tx,
                utterance.person,
                utterance.messages,
                model=app.embedder.model,
                vectors=vectors,
                now=now,
            )
        await save_decisions(tx, utterance, outcome, reply, now=now, may_redo=may_redo)
        if outcome.language and outcome.language != utterance.person.language:
            await set_language(tx, utterance.person.id, outcome.language)
        await plan_learning(tx, app, utterance, outcome, now=now)
        if outcome.reply.is_introduction and not await mark_introduced(
            tx, utterance.companion.id, now=now
        ):
            raise StaleDecision("The companion has been introduced by another turn.")
        await lock_lease(tx, turn_task.lease)  # no more jobs arrive from here on
        notices = await list_turn_notices(tx, turn_task.lease.partition, turn_task.payloads[0].turn)
        await raise_if_stopped_or_edited(tx, notices, utterance, may_redo=may_redo)
        await follow_edits(tx, app, notices, utterance)
        rest = await acknowledge(tx, app.clock, turn_task, notices)
        app.on_crash_point("committing")
        await tx.notify()
    app.on_crash_point("committed")
    app.notifier.notify()
    return rest


async def plan_learning(
    tx: Transaction, app: AppContext, utterance: Utterance, outcome: Outcome, *, now: Micros
) -> None:
    """Schedule learning from an utterance: later, with more of them, or at once if asked to."""
    person = utterance.person.id
    is_asked = any(isinstance(each, ReadNow) for each in outcome.changes)
    if is_asked and app.settings.memory.forms:
        await enqueue_learning(tx, person, now=now, due_at=now, cut_reason="asked")
    await enqueue_learning_for_message(
        tx,
        app.settings,
        person,
        utterance.message.session,
        now=now,
        dropped=outcome.reply.dropped_message_ids,
    )


async def save_decisions(
    tx: Transaction,
    utterance: Utterance,
    outcome: Outcome,
    reply: Message,
    *,
    now: Micros,
    may_redo: bool,
) -> None:
    """Store the notes, the changes and the working memory that a turn decided."""
    for note in outcome.notes:
        await learn_note(tx, note.text, source=note.source, author=note.author, now=now)
    scope = ChangeScope(
        person=utterance.person, message=utterance.message, now=now, may_redo=may_redo
    )
    for change in outcome.changes:
        await change.apply(tx, scope)
    if outcome.working_memory is not None:
        session, working = utterance.message.session, outcome.working_memory.with_reply(reply.id)
        await save_working_memory(tx, utterance.person.id, session, working, now=now)


async def commit_with_retry(
    db: Database,
    turn_task: TurnTask,
    write: Callable[[], Awaitable[tuple[Job, ...]]],
    *,
    retry_for_s: float,
    stopping: asyncio.Event | None,
) -> tuple[Job, ...]:
    """Commit what a turn decided, retrying while the database cannot be written.

    Raises what the commit raises, and StoreError once ``retry_for_s`` is over or the process stops.
    """
    clock = asyncio.get_running_loop().time
    deadline, pause_s = clock() + retry_for_s, MIN_BACKOFF_S
    is_unsure = False
    while True:
        try:
            if is_unsure and not await is_turn_unanswered(db, turn_task):
                await turn_task.held.release()
                raise LeaseLost("It was committed, or finished by another process.")
            return await write()
        except PERMANENT_ERRORS:
            raise
        except StoreError:
            is_over = clock() + pause_s > deadline
            if is_over or (stopping is not None and stopping.is_set()):
                raise
        is_unsure = True
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, MAX_BACKOFF_S)


async def is_turn_unanswered(db: Database, turn_task: TurnTask) -> bool:
    """Return whether a turn is still unanswered, which a broken connection leaves open."""
    async with db.begin_read() as tx:
        return await is_turn_waiting(
            tx, "inbox", turn_task.lease.partition, turn_task.payloads[0].turn
        )


async def raise_if_stopped_or_edited(
    tx: Transaction, notices: Sequence[Job], utterance: Utterance, *, may_redo: bool
) -> None:
    """Raise TurnStopped or StaleDecision for notices that arrived during the decision.

    After an edit the turn is decided again, unless something was shown or done already.
    """
    person, turn = get_turn_key(utterance)
    payloads = [parse_inbox_payload(each) for each in notices]
    if any(payload.kind == "stop" for payload in payloads):
        raise TurnStopped("The person said stop.")
    is_edited = any(tells_newer(each, utterance) for each in notices)
    if is_edited and may_redo and not await has_side_effects(tx, person, turn):
        raise StaleDecision("What was said has been edited.")


async def follow_edits(
    tx: Transaction, app: AppContext, notices: Sequence[Job], utterance: Utterance
) -> None:
    """Follow edits of what was answered already."""
    for each in notices:
        if tells_newer(each, utterance):
            await follow_edit(tx, app, utterance.person.id, parse_inbox_payload(each))


def tells_newer(notice: Job, utterance: Utterance) -> bool:
    """Tell whether a notice is about words that a turn has not read."""
    payload = parse_inbox_payload(notice)
    answered = {each.id: each.version for each in utterance.messages}
    return payload.version > answered.get(payload.message, payload.version)


async def raise_if_forgotten(
    tx: Transaction, utterance: Utterance, outcome: Outcome, *, may_redo: bool
) -> None:
    """Raise StaleDecision if something was forgotten while the reply was decided.

    Raises TurnStopped if the message itself was forgotten, or if the reply was shown already and
    rests on what was forgotten.
    """
    person = utterance.person.id
    if (await get_memory_version(tx, person)).rewritten == utterance.deletion_count:
        return
    if not await has_all_sources(tx, person, {each.id for each in utterance.messages}):
        raise TurnStopped("What was said has been forgotten.")
    if may_redo:
        raise StaleDecision("Something has been forgotten that the reply may rest on.")
    is_kept = await has_all_sources(tx, person, outcome.seen_ids)
    if not (is_kept and await has_unchanged_versions(tx, person, outcome.read_messages)):
        raise TurnStopped("Something that the reply rests on has been forgotten.")


async def acknowledge(
    tx: Transaction, clock: Clock, turn_task: TurnTask, notices: Sequence[Job]
) -> tuple[Job, ...]:
    """Delete the jobs and the notices about them, and return the jobs left in the partition.

    If there are none, the lease is released. It was checked in this transaction.
    """
    now = clock()
    done = {job.seq: job for job in (*turn_task.jobs, *notices)}
    rest = tuple(each for each in turn_task.later_jobs if each.seq not in done)
    if rest:
        await delete_finished(tx, list(done.values()), now=now)
    else:
        rest = await ack_and_claim_new(tx, turn_task.lease, list(done.values()), now=now)
    if rest:
        await turn_task.held.renew_if_due(tx)
    return rest


async def verify_and_acknowledge(
    tx: Transaction, clock: Clock, turn_task: TurnTask
) -> tuple[Job, ...]:
    """Check the lease, then acknowledge the jobs and their notices. Raises LeaseLost."""
    await lock_lease(tx, turn_task.lease)
    notices = await list_turn_notices(tx, turn_task.lease.partition, turn_task.payloads[0].turn)
    return await acknowledge(tx, clock, turn_task, notices)


async def commit_stop(
    db: Database, clock: Clock, turn_task: TurnTask, utterance: Utterance
) -> tuple[Job, ...]:
    """Record that nothing was answered because the person said stop."""
    now = clock()
    async with db.begin_write() as tx:
        chat = await get_chat(tx, utterance.person.id, utterance.message.chat)
        await write_marker(tx, chat, utterance.message, STOPPED_MARKER, now=now)
        await plan_embedding(tx, now=now)  # otherwise the turn would have done it
        return await verify_and_acknowledge(tx, clock, turn_task)


async def schedule_turn_retry(app: AppContext, turn_task: TurnTask, error: Exception) -> None:
    """Retry a failed turn later; after the last attempt, tell the person."""
    now, first = app.clock(), turn_task.jobs[0]
    next_attempt_at = compute_retry_at(now, first.attempts, jitter=random.random())
    is_hopeless = first.attempts >= MAX_ATTEMPTS
    error_text = f"{type(error).__name__}: {error}"
    with suppress(LeaseLost, StoreError):  # in that case the lease expires by itself
        async with app.db.begin_write() as tx:
            if is_hopeless:
                await send_failure_notice(tx, app, turn_task, now=now)
            for job in turn_task.jobs if is_hopeless else turn_task.jobs[:1]:
                retry_at = None if is_hopeless else next_attempt_at
                await fail_job(
                    tx, turn_task.lease, job, error=error_text, now=now, retry_at=retry_at
                )
            await release_lease(tx, turn_task.lease, now=now)


async def send_failure_notice(
    tx: Transaction, app: AppContext, turn_task: TurnTask, *, now: Micros
) -> None:
    """Tell the person that there will be no answer unless somebody intervenes."""
    if turn_task.payloads[0].kind == "said":
        utterance = await load_utterance_tx(tx, app, turn_task)
        chat = await get_chat(tx, utterance.person.id, utterance.message.chat)
        await write_and_enqueue_reply(
            tx, app, chat, turn_task, utterance, build_failure_outcome(utterance), now=now
        )
        await plan_embedding(tx, now=now)


async def send_given_up_notices(app: AppContext, held: HeldLease) -> None:
    """Report turns that killed their workers and became dead letters with this claim."""
    jobs = held.lease.dead_letters
    while jobs:
        task = TurnTask(held=held, jobs=take_first_turn(jobs), later_jobs=())
        jobs = jobs[len(task.jobs) :]
        async with app.db.begin_write() as tx:
            await send_failure_notice(tx, app, task, now=app.clock())


async def write_and_enqueue_reply(
    tx: Transaction,
    app: AppContext,
    chat: Chat,
    turn_task: TurnTask,
    utterance: Utterance,
    outcome: Outcome,
    *,
    now: Micros,
) -> Message:
    """Write the reply next to what it answers, and enqueue its delivery where needed.

    If it is no answer, a marker follows it. Only a model's words can be found again: those of rules
    quote the person's, and would be found in place of them.
    """
    buttons = outcome.reply.buttons if app.has_buttons(chat.channel) else ()
    unlogged = UnloggedMessage(
        role="companion",
        speaker=utterance.companion.name,
        text=outcome.reply.text,
        at=utterance.message.at,
        zone=utterance.message.zone,
        trust="companion",
        details=build_button_details(buttons),
    )
    target = build_turn_target(chat, utterance.message, language=outcome.reply.language)
    is_searchable = outcome.reply.is_from_model and outcome.failure_kind is None
    reply = await write_message(tx, target, unlogged, now=now, is_searchable=is_searchable)
    assert reply is not None
    if outcome.failure_kind is not None:
        await write_marker(tx, chat, utterance.message, outcome.failure_kind, now=now)
    if chat.channel in app.platforms:
        parts = app.split_reply(chat.channel, reply.text, is_markdown=reply.is_markdown)
        draft = ShownDraft(
            draft_external_id=await find_draft_external_id(tx, turn_task.jobs),
            draft_send_key=str(utterance.message.turn),
        )
        await enqueue_reply(
            tx,
            chat,
            reply.id,
            ReplyTexts(parts, is_markdown=reply.is_markdown, buttons=buttons),
            now=now,
            draft=draft,
            audio_title=find_audio_title(app, reply, utterance.messages),
        )
    return reply


async def save_receipt(tx: Transaction, receipt: Receipt) -> None:
    """Store the receipt of a reply, and clear the recorded answers of its model calls."""
    await write_receipt(tx, receipt)
    await clear_committed_calls(tx, receipt.person, receipt.turn)


def build_receipt(
    utterance: Utterance, reply: Message, outcome: Outcome, *, now: Micros
) -> Receipt:
    """Build the receipt of a reply."""
    person, turn = get_turn_key(utterance)
    return Receipt(
        id=ReceiptId(new_id(now)),
        person=person,
        turn=turn,
        asked=utterance.message.id,
        asked_seq=utterance.message.seq,
        replied=reply.id,
        made_at=now,
        details=outcome.reply.details,
        items=outcome.reply.items,
    )


async def load_utterance(app: AppContext, turn_task: TurnTask) -> Utterance:
    """Load the messages of a turn with their context, and the answers recorded before a crash."""
    await app.spool.wait_for_turn(turn_task.payloads[0].turn, timeout_s=MAX_GRACE_S)
    await flush_spool(app.db, app.spool)
    await reap_dead_processes(app, include_living=turn_task.jobs[0].crashes > 0)
    async with app.db.begin_read() as tx:
        return await load_utterance_tx(tx, app, turn_task)


async def load_utterance_tx(tx: Transaction, app: AppContext, turn_task: TurnTask) -> Utterance:
    """Load the utterance of a turn within a transaction."""
    person_id = turn_task.jobs[0].person
    assert person_id is not None  # an inbox job always has a person
    person = await get_person_by_id(tx, person_id)
    messages = [await get_message(tx, person_id, payload.message) for payload in turn_task.payloads]
    companion = await get_companion(tx)
    has_earlier = await has_earlier_messages(
        tx, person_id, messages[0].chat, before=messages[0].seq
    )
    revision = await get_memory_version(tx, person_id)
    chat_language = await find_chat_language(tx, person_id, messages[0].chat)
    utterance = Utterance(
        message=messages[-1],
        earlier=tuple(messages[:-1]),
        person=person,
        companion=companion,
        addressee=build_addressee(companion, person, app.settings, chat_language=chat_language),
        chat_language=chat_language,
        is_first_in_chat=not has_earlier,
        is_first_unlearned=await is_first_in_unlearned_language(tx, messages),
        deletion_count=revision.rewritten,
        is_persisted=app.is_persisted,
    )
    recorded = await load_completions_by_step(tx, build_asker(utterance))
    return replace(utterance, recorded_completions=recorded) if recorded else utterance


async def is_first_in_unlearned_language(tx: Transaction, messages: Sequence[Message]) -> bool:
    """Return whether messages are a chat's first in a language that nothing was trained to read.

    Only the last messages before them are looked at.
    """
    first = messages[0]
    new = {find_unlearned_language(each.text) for each in messages} - {""}
    if not new:
        return False
    earlier = await list_recent_messages(
        tx, first.person, first.chat, limit=MAX_EARLIER, before=first.seq, role=first.role
    )
    return not new <= {find_unlearned_language(each.text) for each in earlier}


def get_turn_key(utterance: Utterance) -> tuple[PersonId, TurnId]:
    """Return the person and the turn of an utterance."""
    assert utterance.message.turn is not None  # accepted messages have a turn
    return utterance.person.id, utterance.message.turn
