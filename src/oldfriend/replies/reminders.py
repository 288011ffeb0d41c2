"""Reminders and actions: each is sent or done once when it is due, and its series goes on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final
from uuid import UUID

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_asker, build_turn_dependencies
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import HOUR, MINUTE, Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.job_types import Job
from oldfriend.domain.messages import Message, Person
from oldfriend.inbound.accept import build_addressee
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.message_log import get_message, list_messages_by_seq, list_recent_messages
from oldfriend.memory.people import get_companion, get_person_by_id, lock_person
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.proactive.proactive_settings import load_proactive_settings
from oldfriend.queues.outbox import ReplyPart
from oldfriend.replies.unprompted_messages import (
    REMINDER_KEY,
    UnpromptedMessage,
    build_external_id,
    send_unprompted,
)
from oldfriend.tasks.action_phrases import load_action_phrases
from oldfriend.tasks.reminder_jobs import parse_attempt, parse_reminder_job, schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import advance, find_task, save_task
from oldfriend.tasks.task_wording import TaskWording
from oldfriend.turn.confirmed_calls import build_tool_context
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.turn.request_handlers.action_requests import keep_reading
from oldfriend.turn.request_handlers.registry import ACTING_HANDLERS
from oldfriend.turn.store_change import ChangeScope, StoreChange
from oldfriend.turn.tool_log_changes import LogHandledRequest, LogToolUse
from oldfriend.turn.tools.calculate_tool import CALCULATE
from oldfriend.turn.tools.confirmation import KeepPendingCall
from oldfriend.turn.tools.tool import ToolContext, ToolSpec
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Outcome, Utterance
from oldfriend.usage.model_calls import clear_committed_calls, load_completions_by_step
from oldfriend.usage.tool_calls import delete_read_calls
from oldfriend.usage.tool_log import LoggedToolUse, log_tool_use

MAX_RETRIES: Final = 3
RETRY_PAUSE: Final = 2 * MINUTE
LATE_AFTER: Final = 5 * MINUTE
"""What comes later than this says so."""
BLOCKED_RETRY: Final = HOUR
"""How long to wait before trying again while no chat of the person accepts messages."""
ACTION_NAME: Final = "action"
"""How the log of tools names an action at its time that failed."""
ALLOWED: Final = (LogToolUse, LogHandledRequest, KeepPendingCall)
"""The changes that an action may make: its log, and a call that waits for the person's yes."""


async def deliver_reminder(app: AppContext, job: Job) -> None:
    """Send a reminder, unless it was changed or sent meanwhile, and schedule its next time.

    All in one transaction: a crash leaves it sent and gone on, or neither.
    """
    assert job.person is not None
    task_id, due_at = parse_reminder_job(job)
    now = app.clock()
    async with app.db.begin_write() as tx:
        await lock_person(tx, job.person)
        task = await find_task(tx, job.person, task_id)
        if task is None or task.status not in {"open", "asking"} or task.due_at != due_at:
            return
        if task.kind != "action":
            await send_reminder(tx, app, task, now=now)
            app.on_crash_point("committing")
    if task.kind == "action":
        await run_action(app, task, attempt=parse_attempt(job))
        return
    app.on_crash_point("committed")
    app.notifier.notify("outbox")


async def send_reminder(tx: Transaction, app: AppContext, task: Task, *, now: Micros) -> None:
    """Send a reminder and store how it goes on; or try again later if no chat accepts it."""
    assert task.due_at is not None
    person = await get_person_by_id(tx, task.person)
    wording = TaskWording(task.language, zone=choose_zone(person, task), now=now)
    message = UnpromptedMessage(
        text=wording.remind(task, is_late=now - task.due_at > LATE_AFTER),
        dedup_key=f"{REMINDER_KEY}{task.id}/{task.due_at}",
        kind="reminder",
        reason=wording.say("reason" if task.message else "reason_program"),
        language=task.language,
        items=await list_sources(tx, task.person, task),
        records=(task.id,),
        chat=task.chat,
        buttons=wording.build_buttons(task),
    )
    sent = await send_unprompted(tx, app, task.person, message, now=now)
    if sent is None:
        await schedule_reminder(tx, task, now=now, retry_at=now + BLOCKED_RETRY)
        return
    following = advance(task, now=now)
    await save_task(tx, following)
    await schedule_reminder(tx, following, now=now)


async def tell_delay(app: AppContext, job: Job, part: ReplyPart) -> ReplyPart:
    """Return a part of a reply; of a reminder that its platform held back, with when it was due.

    The message in the log stays as it was written when it was due.
    """
    now = app.clock()
    if job.person is None or part.is_audio or now - job.enqueued_at <= LATE_AFTER:
        return part
    async with app.db.begin_read() as tx:
        try:
            message = await get_message(tx, job.person, part.reply)
        except NotFound:
            return part  # forgotten meanwhile
        person = await get_person_by_id(tx, job.person)
    due_at = parse_due(message)
    if due_at is None:
        return part
    language = choose_language_with("tasks", message.language or person.language or "en")
    zone = person.zone if person.has_chosen_zone else message.zone
    wording = TaskWording(language, zone=zone, now=now)
    told = wording.say("action_late", when=wording.format_when(due_at))
    return part if told in part.text else replace(part, text=f"{part.text}\n{told}")


def parse_due(message: Message) -> Micros | None:
    """Return when the reminder was due that a message is; None for any other message."""
    begins = build_external_id(REMINDER_KEY)
    key = message.external_id or ""
    due_at = key.rpartition("/")[2]
    return int(due_at) if key.startswith(begins) and due_at.isdecimal() else None


def choose_zone(person: Person, task: Task) -> str:
    """Return by which clocks a time is told: those that the person chose, else the task's own."""
    return person.zone if person.has_chosen_zone else task.zone


async def list_sources(tx: Transaction, person: PersonId, task: Task) -> tuple[ReceiptItem, ...]:
    """Return the message that asked for a reminder, as what it rests on."""
    if task.message is None or task.message_seq is None:
        return ()
    found = await list_messages_by_seq(tx, person, [task.message_seq])
    if not found:
        return ()
    return (
        ReceiptItem(
            kind="message",
            object=task.message,
            version=found[0].version,
            used=True,
            score=0.0,
            reasons=(),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """What came of an action."""

    text: str = ""  # empty: it failed
    outcome: Outcome | None = None
    changes: tuple[StoreChange, ...] = ()


async def run_action(app: AppContext, task: Task, *, attempt: int) -> None:
    """Do an action and tell what came of it, unless it was changed or done meanwhile.

    What is told and how the task goes on are committed together; before that, nothing is changed.
    """
    if await wait_for_morning(app, task, attempt=attempt):
        return
    utterance = await load_action_utterance(app, task)
    if utterance is None:
        return
    result = await do_action(app, utterance)
    app.on_crash_point("decided")
    now = app.clock()
    async with app.db.begin_write() as tx:
        await lock_person(tx, task.person)
        if await find_task(tx, task.person, task.id) != task:
            return
        if not result.text and attempt < MAX_RETRIES:
            retry_at = now + RETRY_PAUSE
            await schedule_reminder(tx, task, now=now, retry_at=retry_at, attempt=attempt + 1)
        else:
            await tell(tx, app, task, utterance, result, now=now)
        app.on_crash_point("committing")
    app.on_crash_point("committed")
    app.notifier.notify()


def is_late(task: Task, *, now: Micros) -> bool:
    """Whether the time of an action is over for so long that it is said."""
    return task.due_at is not None and now - task.due_at > LATE_AFTER


async def wait_for_morning(app: AppContext, task: Task, *, attempt: int) -> bool:
    """Put off an action that is late to the end of the quiet hours, and return whether it was.

    The time that the person has named is kept to, whichever it is.
    """
    now = app.clock()
    if not is_late(task, now=now):
        return False
    async with app.db.begin_write() as tx:
        await lock_person(tx, task.person)
        quiet = (await load_proactive_settings(tx, task.person)).quiet
        zone = (await get_person_by_id(tx, task.person)).zone
        if not quiet.contains(now, zone):
            return False
        retry_at = quiet.get_end(now, zone)
        await schedule_reminder(tx, task, now=now, retry_at=retry_at, attempt=attempt)
        await tx.notify()
    app.notifier.notify()
    return True


async def load_action_utterance(app: AppContext, task: Task) -> Utterance | None:
    """Return the action as if the person had just asked for it; None if who asked is forgotten."""
    now = app.clock()
    async with app.db.begin_read() as tx:
        if task.message is None:
            return None
        try:
            asked = await get_message(tx, task.person, task.message)
        except NotFound:
            return None
        last = await list_recent_messages(tx, task.person, asked.chat, limit=1)
        message = replace(
            asked,
            text=word_request(app, task),
            at=now,
            seq=max([asked.seq, *(each.seq for each in last)]) + 1,
            turn=build_turn_id(task),
            details={},
        )
        return await build_utterance(tx, app, message)


async def build_utterance(tx: Transaction, app: AppContext, message: Message) -> Utterance:
    """Build the utterance of a message that is in no log."""
    person = await get_person_by_id(tx, message.person)
    companion = await get_companion(tx)
    language = await find_chat_language(tx, person.id, message.chat)
    utterance = Utterance(
        message=message,
        person=person,
        companion=companion,
        addressee=build_addressee(companion, person, app.settings, chat_language=language),
        chat_language=language,
        is_first_in_chat=False,
        deletion_count=(await get_memory_version(tx, person.id)).rewritten,
        is_persisted=app.is_persisted,
    )
    recorded = await load_completions_by_step(tx, build_asker(utterance))
    return replace(utterance, recorded_completions=recorded)


def word_request(app: AppContext, task: Task) -> str:
    """Return what is asked: in the person's words, for rules without "tell me"."""
    return task.text if app.models else load_action_phrases(task.language).find_question(task.text)


def build_turn_id(task: Task) -> TurnId:
    """Return the turn of an action at its time, the same after a crash."""
    return TurnId(str(UUID(bytes=sha256(f"{task.id}/{task.due_at}".encode()).digest()[:16])))


async def do_action(app: AppContext, utterance: Utterance) -> ActionResult:
    """Run the turn of an action; without a text if no model answered that should have."""
    deps = restrict(await build_turn_dependencies(app, utterance), utterance)
    try:
        async with asyncio.timeout(app.settings.limits.turn_timeout_s):
            outcome = await run_turn(utterance, deps)
    except TimeoutError:
        return ActionResult()
    if outcome.failure_kind is not None:
        return ActionResult()
    changes = tuple(each for each in outcome.changes if isinstance(each, ALLOWED))
    if len(changes) < len(outcome.changes):
        return ActionResult()
    return ActionResult(text=outcome.reply.text, outcome=outcome, changes=changes)


def restrict(deps: TurnDependencies, utterance: Utterance) -> TurnDependencies:
    """Return dependencies without what would change something without being asked about."""
    context = build_tool_context(utterance, deps)
    handlers = tuple(keep_reading(each) for each in deps.handlers if each not in ACTING_HANDLERS)
    return replace(deps, tools=list_harmless(deps.tools, context), handlers=handlers)


def list_harmless(tools: Sequence[ToolSpec], context: ToolContext) -> tuple[ToolSpec, ...]:
    """Return the tools that only read, or ask before they act."""
    bound = [(spec, spec.bind(context)) for spec in tools]
    return tuple(
        spec
        for spec, tool in bound
        if tool.kind == "read" or tool.needs_confirmation or spec.name == CALCULATE.name
    )


async def tell(
    tx: Transaction,
    app: AppContext,
    task: Task,
    utterance: Utterance,
    result: ActionResult,
    *,
    now: Micros,
) -> None:
    """Tell what came of an action and store how its task goes on; later if no chat accepts it."""
    assert task.message is not None
    wording = TaskWording(task.language, zone=choose_zone(utterance.person, task), now=now)
    failed = wording.say("action_failed", text=task.text)
    head = wording.say("action_told", text=task.text)
    if is_late(task, now=now):
        head = f"{head}\n{wording.say('action_late', when=wording.format_task_time(task))}"
    told = f"{head}\n\n{result.text}"
    reply = None if result.outcome is None else result.outcome.reply
    items = () if reply is None else tuple(each for each in reply.items if each.used)
    asked = build_listed_item("message", task.message, utterance.message.version)
    message = UnpromptedMessage(
        text=told if result.text else failed,
        dedup_key=f"task/{task.id}/{task.due_at}",
        kind="action",
        reason=wording.say("reason_action"),
        language=task.language,
        items=(asked, *(each for each in items if each.object != task.message)),
        records=(task.id,),
        chat=task.chat,
        is_markdown=reply is not None and reply.is_from_model,
        buttons=() if reply is None else reply.buttons,
    )
    sent = await send_unprompted(tx, app, task.person, message, now=now)
    if sent is None:
        await schedule_reminder(tx, task, now=now, retry_at=now + BLOCKED_RETRY)
        return
    if not result.text:
        failure = LoggedToolUse(
            turn=build_turn_id(task),
            name=ACTION_NAME,
            status="failed",
            made_at=now,
            arguments={"task": task.short_id},
        )
        await log_tool_use(tx, task.person, failure)
    scope = ChangeScope(person=utterance.person, message=sent, now=now)
    for change in result.changes:
        await change.apply(tx, scope)
    await clear_calls(tx, task.person, build_turn_id(task))
    following = advance(task, now=now)
    await save_task(tx, following)
    await schedule_reminder(tx, following, now=now)


async def clear_calls(tx: Transaction, person: PersonId, turn_id: TurnId) -> None:
    """Delete the stored answers of what is told now."""
    await clear_committed_calls(tx, person, turn_id)
    await delete_read_calls(tx, person, turn_id)
