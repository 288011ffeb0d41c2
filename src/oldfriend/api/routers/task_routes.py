"""Task routes: reminders and to-dos."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.cursors import CursorParam, decode_offset, encode_values
from oldfriend.api.requests import TaskChangeRequest, TaskRequest
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import Person
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.people import lock_person
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.task_schemas import TaskListSchema, TaskSchema
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.request_sentences import read_requests
from oldfriend.tasks.task import ACTIVE, STATUSES
from oldfriend.tasks.task_desk import ANSWER_WITHIN, DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import add_task, answer_task, edit_task, store
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.task_store import MAX_TASKS, list_tasks

router = APIRouter(prefix="/tasks", tags=["tasks"])


@router.get("", summary="List your reminders and to-dos")
async def show_tasks(
    me: CurrentUser,
    hub: HubDep,
    ended: Annotated[bool, Query(description="Include those that are over.")] = False,
    limit: Annotated[
        int | None, Query(ge=1, le=MAX_TASKS, description="The maximum number; all without it.")
    ] = None,
    cursor: CursorParam = None,
) -> TaskListSchema:
    """List your tasks, the next due first; those without a time come last."""
    start = 0 if cursor is None else decode_offset(cursor)
    until = None if limit is None else start + limit
    async with hub.app.db.begin_read() as tx:
        tasks = await list_tasks(
            tx,
            me.person.id,
            statuses=STATUSES if ended else ACTIVE,
            now=None if ended else hub.app.clock(),
            limit=2 * MAX_TASKS if until is None else until + 1,
        )
    is_last = until is None or len(tasks) <= until
    return TaskListSchema(
        items=tuple(
            TaskSchema.from_domain(each, zone=me.person.zone) for each in tasks[start:until]
        ),
        next=None if is_last or until is None else encode_values([until]),
    )


@router.post("", status_code=201, summary="Add a reminder or a to-do")
async def create_task(made: TaskRequest, me: CurrentUser, hub: HubDep) -> TaskListSchema:
    """Add a task; without a time it is a to-do. The same one is not added twice."""
    now, answer = hub.app.clock(), None
    if (made.words is None) == (made.text is None):
        raise InvalidInput("Send either `text` or `words`.")
    words = made.words
    if made.text is not None and asks_to_remind(made, me.person):
        words = made.text
    async with hub.app.db.begin_write() as tx:
        if words is not None:
            answer = (await add_in_words(tx, me.person, words, now=now)).text
        else:
            due_at = parse_due(made.due, me.person.zone)
            await add_task(tx, me.person, made.text or "", now=now, due_at=due_at, rrule=made.rrule)
        await plan_next_look(tx, me.person.id, now=now)
    tell_of_change(me, hub)
    return replace(await show_tasks(me, hub), answer=answer)


@router.patch("/{task}", summary="End a task, or change its time")
async def change_task(
    task: str, change: TaskChangeRequest, me: CurrentUser, hub: HubDep
) -> TaskSchema:
    """Mark a task as done, cancel it, put it off (`snooze`) or change its time.

    `reopen` puts a task back that was done or cancelled; `answer` tells the time that is asked.
    """
    now = hub.app.clock()
    async with hub.app.db.begin_write() as tx:
        if change.action == "answer":
            changed, _ = await answer_task(tx, me.person, task, change.words, now=now)
        else:
            due_at = parse_due(change.due, me.person.zone)
            changed, _ = await edit_task(
                tx, me.person, task, change.action, now=now, due_at=due_at, later=change.later
            )
        await plan_next_look(tx, me.person.id, now=now)
    tell_of_change(me, hub)
    return TaskSchema.from_domain(changed, zone=me.person.zone)


def tell_of_change(me: Principal, hub: ConnectionHub) -> None:
    """Wake whatever sends reminders, and have the person's other pages read their tasks anew."""
    hub.app.notifier.notify()
    hub.note_tasks_changed(me.person.id)


def parse_due(text: str | None, zone: str) -> Micros | None:
    """Parse a time; without an offset it is in the person's zone. Raises InvalidInput."""
    return None if text is None else parse_timestamp(text, zone)[0]


def asks_to_remind(made: TaskRequest, person: Person) -> bool:
    """Whether the text of a task without a time only asks to be reminded, at one that it tells."""
    if made.text is None or made.due is not None or made.rrule is not None:
        return False
    phrases, asked, _ = read_requests(made.text, list_languages(made.text, person))
    is_timed = any(each.told and each.told.words for each in asked)
    is_only = all(each.action == "remind" for each in asked)
    return is_timed and is_only and bool(phrases.list_cues(made.text))


def list_languages(text: str, person: Person) -> tuple[str, ...]:
    """Return the languages in which words may be, the likeliest first."""
    language = detect_language(text, fallback=person.language or "en")
    return tuple(dict.fromkeys([language, person.language or language, "en"]))


async def add_in_words(tx: Transaction, person: Person, text: str, *, now: Micros) -> DeskDecision:
    """Do what words ask for, and return what is said about it."""
    await lock_person(tx, person.id)
    languages = list_languages(text, person)
    phrases, asked, _ = read_requests(text, languages)
    if not asked:
        phrases, asked = read_as_task(text, languages)
    scope = DeskScope(person=person.id, zone=person.zone, now=now, language=phrases.language)
    desk = TaskDesk(scope, phrases, await list_tasks(tx, person.id, now=now))
    answered = answer_last(desk, text)
    decisions = [answered] if answered else [desk.handle(each) for each in asked]
    found = [each for each in decisions if each is not None]
    decision = DeskDecision(
        text="\n".join(each.text for each in found) or desk.wording.say("not_found"),
        saved=tuple(pair for each in found for pair in each.saved),
        is_full=any(each.is_full for each in found),
    )
    await store(tx, decision, now=now)
    return decision


def read_as_task(text: str, languages: tuple[str, ...]) -> tuple[TaskPhrases, list[AskedTask]]:
    """Return what words add that ask for nothing: a reminder if they tell a time, else a to-do."""
    known = [load_task_phrases(choose_language_with("tasks", each)) for each in languages]
    for phrases in known:
        reminder = phrases.read_command_reminder(text)
        if reminder.told is not None and reminder.told.words and reminder.what:
            return phrases, [reminder]
    return known[0], [AskedTask(action="todo", what=" ".join(text.split()))]


def answer_last(desk: TaskDesk, text: str) -> DeskDecision | None:
    """Complete the reminder about whose time was asked last here, if this answers it."""
    since = desk.scope.now - ANSWER_WITHIN
    asking = [
        each
        for each in desk.tasks
        if each.question is not None and each.chat is None and each.changed_at >= since
    ]
    if not asking:
        return None
    return desk.answer(max(asking, key=lambda each: each.changed_at), text)
