"""Task requests: sets, lists, changes and ends reminders and to-dos without a model.

Only what the person writes is read, never what they forward or quote.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.channels.channel_registry import find_reply_window
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import PRESSED_DETAIL, Message
from oldfriend.lang.command_menu import translate_command
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.message_log import get_message, list_recent_messages
from oldfriend.memory.receipts import MOVED_KEY, RECORDS_KEY, SET_KEY, find_receipt
from oldfriend.tasks.asked_task import Action, AskedTask
from oldfriend.tasks.request_sentences import list_undecided, read_requests
from oldfriend.tasks.snooze_times import find_choice
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import ANSWER_WITHIN, RECENT, DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import decide_answer
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import find_task, is_id_of
from oldfriend.tasks.time_words import MAX_REQUEST_CHARS
from oldfriend.turn.request_handlers.clock_requests import tell_guessed_zone
from oldfriend.turn.request_handlers.handled_tasks import build_handled, open_desk
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import (
    find_named,
    find_request,
)
from oldfriend.turn.request_handlers.task_events import correct_event
from oldfriend.turn.request_handlers.unintended_actions import find_unintended
from oldfriend.turn.task_changes import restore_times

_COMMAND: Final = re.compile(
    r"\s{0,9}/([a-z]{1,20})(?:@\w{1,64})?(?:\s{1,9}([^\n]+))?\s{0,9}", re.IGNORECASE
)
COMMANDS: Final[dict[str, Action]] = {
    "remind": "remind",
    "reminder": "remind",
    "todo": "todo",
    "tasks": "list",
    "reminders": "list",
    "todos": "list",
    "done": "done",
    "cancel": "cancel",
    "snooze": "snooze",
}


async def handle_task_request(context: HandlerContext) -> HandledRequest | None:
    """Handle what a message asks about reminders and to-dos."""
    text = context.text.strip()
    if not text or len(text) > 4 * MAX_REQUEST_CHARS:
        return None
    command = read_command(text)
    language = choose_language_with("tasks", context.perception.language)
    if command is not None:
        phrases = load_task_phrases(language)
        desk = await open_desk(context, phrases)
        is_stale = await is_stale_press(context, desk, *command)
        decision = desk.tell_stale() if is_stale else run_command(desk, *command)
        return build_handled(desk, [decision], is_whole=True, is_command=True)
    answered = await answer_offer(context, language, text)
    if answered is not None:
        return answered
    phrases, asked, rest = read_requests(text, (language, context.utterance.message.language, "en"))
    unintended = find_unintended(context, phrases, language)
    asked = [each for each in asked if each.action not in unintended]
    if not asked and len(text) > MAX_REQUEST_CHARS:
        return None
    desk = await open_desk(context, phrases)
    before = tuple(desk.tasks)
    answered = await answer_before(context, desk, text, asked)
    if answered is not None or not asked:
        return answered
    is_off = all(each.action == "cancel" and not desk.find(each) for each in asked)
    if is_off and names_task(desk, text):
        return None  # they are asked about
    asks_for_promises = context.perception.intent == "promises"  # which beliefs answer, too
    decisions = await decide_each(context, desk, asked)
    if not decisions:
        return None if rest else tell_nothing(desk, asked)
    is_all = len(decisions) == len(asked)
    undecided = [] if is_all else list_undecided(text, asked)
    left = text if asks_for_promises else " ".join([*rest, *undecided])
    is_whole = is_all and not rest and not asks_for_promises
    handled = build_handled(desk, decisions, is_whole=is_whole)
    return replace(
        handled,
        text="\n".join([handled.text, *list_notes(context, desk, decisions, before)]),
        rest=left,
        inferred=tuple(pair for each in decisions for pair in list_inferred(desk, each)),
    )


def list_notes(
    context: HandlerContext,
    desk: TaskDesk,
    decisions: Sequence[DeskDecision],
    before: Sequence[Task],
) -> list[str]:
    """List what is told once beside a reminder: by whose clocks, and what may hold it back."""
    notes = []
    if not before and any(each.due_at and not each.is_date_only for each, _ in decisions[0].saved):
        notes.append(tell_guessed_zone(context, desk.phrases.language))
    saved = [task for each in decisions for task, _ in each.saved if task.is_active]
    if any(is_held(context, each) for each in saved) and not any(
        is_held(context, each) for each in before
    ):
        notes.append(desk.wording.say("within_window"))
    return [each for each in notes if each]


def is_held(context: HandlerContext, task: Task) -> bool:
    """Whether a task was set for a time by which the platform may be closed to us."""
    window = find_reply_window(context.utterance.message.channel)
    return window is not None and (task.due_at or 0) > task.changed_at + window


async def decide_each(
    context: HandlerContext, desk: TaskDesk, asked: Sequence[AskedTask]
) -> list[DeskDecision]:
    """Decide each thing that is asked; words that name nothing mean the task of the last reply.

    What is undone is all that the last reply has set, moved or ended; surely "the last one" is what
    it has set.
    """
    is_any_told = any(each.is_bare or each.is_newest for each in asked)
    told, made = await find_last_told(context, desk) if is_any_told else ([], [])
    decisions: list[DeskDecision] = []
    for each in asked:
        found: DeskDecision | None = None
        if each.is_bare and each.action == "cancel":
            new = list_new(desk, decisions)
            undone = [desk.cancel(task) for task in new or made]
            undone += [] if new else await put_back(context, desk)
            saved = tuple(pair for one in undone for pair in one.saved)
            text = "\n".join(one.text for one in undone)
            found = DeskDecision(text=text, saved=saved) if undone else None
        elif each.is_newest and told == made and len(made) == 1:
            found = desk.handle_one(made[0], each)
        elif not each.is_bare or desk.find(each) == told:
            found = desk.handle(each)
        if found is not None:
            decisions.append(found)
    return decisions


async def put_back(context: HandlerContext, desk: TaskDesk) -> list[DeskDecision]:
    """Return how the tasks stand again that the companion's last message here moved or ended."""
    first, decisions = context.utterance.messages[0], list[DeskDecision]()
    async with context.db.begin_read() as tx:
        changed = (await load_last_details(tx, first)).get(MOVED_KEY)
        for task_id, change in changed.items() if isinstance(changed, dict) else ():
            task = await find_task(tx, first.person, task_id)
            former = task and restore_times(task, change, now=desk.scope.now)
            if task is not None and former is not None:
                text = desk.wording.confirm(former)
                decisions.append(DeskDecision(text=text, saved=((former, task),)))
    return decisions


def list_new(desk: TaskDesk, decisions: Sequence[DeskDecision]) -> list[Task]:
    """Return the tasks that the message has set so far: they are undone before what was said."""
    new = {later.id for each in decisions for later, earlier in each.saved if earlier is None}
    return [each for each in desk.tasks if each.id in new]


async def answer_before(
    context: HandlerContext, desk: TaskDesk, text: str, asked: Sequence[AskedTask]
) -> HandledRequest | None:
    """Handle what puts right or answers what was said before, which words alone do not ask for."""
    if all(each.is_bare and each.action == "change" for each in asked):
        corrected = await correct_event_of(context, desk, text, asked)
        if corrected is not None:
            return corrected
    if any(each.action != "remind" or desk.phrases.list_cues(text) for each in asked):
        return None
    if asked:  # "at 5:30, of course" asks for nothing new
        return await answer_question(context, desk, text)
    chosen = await choose_task(context, desk, text)
    answered = chosen or await answer_question(context, desk, text)
    return answered or await take_out(context, desk, text)


async def correct_event_of(
    context: HandlerContext, desk: TaskDesk, text: str, asked: Sequence[AskedTask]
) -> HandledRequest | None:
    """Move a reminder with what it comes before, if a text puts right when that is.

    A bare time, "no, Friday", is that of the reminder; "no, two days before" is not.
    """
    if any(each.told is None or each.told.words != (each.told.offset,) for each in asked):
        return None
    told, made = await find_last_told(context, desk)
    async with context.db.begin_read() as tx:
        decision = await correct_event(tx, desk, text, told or made)
    return None if decision is None else build_handled(desk, [decision], is_whole=True)


async def take_out(context: HandlerContext, desk: TaskDesk, text: str) -> HandledRequest | None:
    """Take one thing out of the several that the last message put on the list: "no rice"."""
    named = desk.phrases.read_without(text)
    if not named:
        return None
    _, made = await find_last_told(context, desk)
    asked = AskedTask(action="cancel", ref=named)
    found = [left for each in made if (left := desk.end_part(each, asked)) is not None]
    return build_handled(desk, found, is_whole=True) if found else None


def tell_nothing(desk: TaskDesk, asked: Sequence[AskedTask]) -> HandledRequest | None:
    """Say that there is nothing that "done" or "undo" could mean; None for any other words.

    A model that answers may know more.
    """
    if len(asked) != 1 or not asked[0].is_last or asked[0].told is not None:
        return None
    name = "nothing_to_undo" if asked[0].is_bare else "not_found"
    return HandledRequest(name="tasks", text=desk.wording.say(name), is_fallback=True)


def names_task(desk: TaskDesk, text: str) -> bool:
    """Whether a text that most likely cancels something shares a word with a task."""
    language = desk.phrases.language
    found = find_request(text, language, "reminder_cancel")
    known = {each.id: each.text for each in desk.tasks}
    return found is not None and bool(find_named(found.said, known, language))


def list_inferred(desk: TaskDesk, decision: DeskDecision) -> list[tuple[str, str]]:
    """Return the words of times whose hour was inferred, with the time that is stored."""
    return [
        (task.time_words, desk.wording.format_task_time(task))
        for task, _ in decision.saved
        if task.is_active and task.status != "asking" and is_hour_inferred(desk, task)
    ]


def is_hour_inferred(desk: TaskDesk, task: Task) -> bool:
    """Whether the words of a task's time leave its hour, or the half of the day, open."""
    told = desk.phrases.read_time(task.time_words)
    if task.due_at is None or task.is_date_only or told is None or told.amount is not None:
        return False
    if told.clock is None:
        return bool(told.words)
    part = told.part.entry["part"] if told.part else None
    day_part = told.day.entry.get("part") if told.day else None
    return desk.resolver.is_open_hour(told.clock, part or day_part)


def read_command(text: str) -> tuple[Action, str] | None:
    """Return the command of a message and what follows it."""
    match = _COMMAND.fullmatch(translate_command(text))
    action = COMMANDS.get(match[1].lower()) if match else None
    return None if match is None or action is None else (action, (match[2] or "").strip())


async def is_stale_press(
    context: HandlerContext, desk: TaskDesk, action: Action, words: str
) -> bool:
    """Tell whether a button was pressed below a reminder that is not the last of its task."""
    message = context.utterance.message
    pressed = message.details.get(PRESSED_DETAIL)
    if pressed is None:
        return False
    try:
        async with context.db.begin_read() as tx:
            shown = await get_message(tx, message.person, MessageId(pressed))
    except NotFound:
        return True
    if action == "remind":
        return find_offered(desk, words) is None
    found = desk.find(AskedTask(action=action, ref=words.partition(" ")[0]))
    return [each.delivered_at for each in found] != [shown.at]


def run_command(desk: TaskDesk, action: Action, words: str) -> DeskDecision:
    """Decide what a command asks for."""
    phrases = desk.phrases
    asked: AskedTask | None = AskedTask(action=action, what=words, ref=words)
    if action == "remind":
        offered = find_offered(desk, words)
        chosen = None if offered is None else decide_answer(desk, *offered)
        if chosen is not None:
            return chosen
        asked = phrases.read_command_reminder(words)
    elif action in {"todo", "done", "cancel"} and not words:
        asked = (
            AskedTask(action="list") if action != "done" else AskedTask(action="done", is_last=True)
        )
    elif action == "snooze":
        ref, _, time_words = words.partition(" ")
        choice, named = find_choice(time_words), desk.find(AskedTask(action="cancel", ref=ref))
        if choice is not None and len(named) == 1:
            return desk.put_off(named[0], choice)
        told = phrases.read_time(words)
        if named and told is not None and phrases.is_only_time(time_words) and time_words:
            told = phrases.read_time(time_words)
        else:
            ref, time_words = "", words
        asked = AskedTask(
            action="snooze",
            ref=ref,
            is_last=not ref,
            is_again=True,
            told=told,
            time_words=time_words,
        )
    found = None if asked is None else desk.handle(asked)
    return found or DeskDecision(text=desk.wording.say("not_found"))


def find_offered(desk: TaskDesk, words: str) -> tuple[Task, str] | None:
    """Return the task whose question a button answers, and the answer; None if it is no more."""
    ref, _, answer = words.partition(" ")
    for task in desk.tasks:
        if is_id_of(task, {ref}) and answer in dict(desk.wording.list_choices(task)).values():
            return task, answer
    return None


async def find_last_told(context: HandlerContext, desk: TaskDesk) -> tuple[list[Task], list[Task]]:
    """Return the tasks that the companion's last message here tells of, and those that it set."""
    first = context.utterance.messages[0]
    async with context.db.begin_read() as tx:
        details = await load_last_details(tx, first)
    told, made = details.get(RECORDS_KEY), details.get(SET_KEY)
    return (
        [each for each in desk.tasks if isinstance(told, list) and each.id in told],
        [
            each
            for each in desk.tasks
            if isinstance(made, list) and each.id in made and each.delivered_at is None
        ],
    )


async def load_last_details(tx: Transaction, first: Message) -> Mapping[str, JsonValue]:
    """Return what the receipt of the companion's last message before another tells."""
    last = await list_recent_messages(
        tx, first.person, first.chat, limit=1, before=first.seq, role="companion"
    )
    receipt = await find_receipt(tx, first.person, last[0].id) if last else None
    return receipt.details if receipt else {}


async def choose_task(context: HandlerContext, desk: TaskDesk, text: str) -> HandledRequest | None:
    """Do what the message before asked for with the one task of several that this one names."""
    first = context.utterance.messages[0]
    async with context.db.begin_read() as tx:
        earlier = await list_recent_messages(
            tx, first.person, first.chat, limit=1, before=first.seq, role="person"
        )
    if not earlier or earlier[0].trust != "person" or first.at - earlier[0].at > RECENT:
        return None
    command = read_command(earlier[0].text)
    if command is not None:
        asked = [AskedTask(action=command[0], ref=command[1])] if command[1] else []
    elif len(earlier[0].text) > MAX_REQUEST_CHARS:
        return None
    else:
        languages = (desk.phrases.language, earlier[0].language, "en")
        _, asked, _ = read_requests(earlier[0].text, languages)
    found = (
        desk.choose(each, text) for each in reversed(asked) if each.action != "snooze" or each.told
    )
    chosen = next((each for each in found if each is not None), None)
    return None if chosen is None else build_handled(desk, [chosen], is_whole=True)


async def answer_offer(context: HandlerContext, language: str, text: str) -> HandledRequest | None:
    """Accept, change or drop the time that was offered last, as the "yes" or "no" before all says.

    What more is asked for is done, too; what is only told is left to others.
    """
    phrases = load_task_phrases(language)
    split = phrases.split_answer(text)
    if split is None or len(text) > MAX_REQUEST_CHARS:
        return None
    said, rest, is_apart = split
    is_no = said == "no"
    desk = await open_desk(context, phrases)
    task = await find_asking(context, desk, is_next=bool(rest))
    if task is None or not (task.question or "").startswith("guess"):
        return None
    if not rest or phrases.answer(rest) == "never_mind":
        whole = desk.drop_question(task) if rest or is_no else desk.answer(task, said)
    else:
        whole = desk.answer(task, rest, said_at=await find_asked_at(context, task))
    if whole is not None:
        return build_handled(desk, [whole], is_whole=True)
    _, asked, left = read_requests(rest, (language, context.utterance.message.language, "en"))
    asked = [each for each in asked if each.action in {"remind", "todo"}]
    if not asked and (is_no or not is_apart):
        return None
    if len(asked) == 1 and not asked[0].what and asked[0].told and asked[0].told.words:
        whole = desk.answer(task, asked[0].time_words)
        return None if whole is None else build_handled(desk, [whole], is_whole=not left)
    first = desk.drop_question(task) if is_no else desk.answer(task, said)
    others = [found for each in asked if (found := desk.handle(each)) is not None]
    decisions = [each for each in (first, *others) if each is not None]
    handled = build_handled(desk, decisions, is_whole=bool(asked) and not left)
    return replace(handled, rest=" ".join(left) if asked else rest)


async def answer_question(
    context: HandlerContext, desk: TaskDesk, text: str
) -> HandledRequest | None:
    """Complete the reminder about whose time was asked last in this chat, if this answers it."""
    task = await find_asking(context, desk)
    if task is None:
        return None
    said_at = await find_asked_at(context, task)
    decision = desk.answer(task, text, said_at=said_at)
    return None if decision is None else build_handled(desk, [decision], is_whole=True)


async def find_asking(
    context: HandlerContext, desk: TaskDesk, *, is_next: bool = False
) -> Task | None:
    """Return the task about whose time was asked last in this chat, if it may be answered.

    Only the next message does, or one within some minutes unless ``is_next``.
    """
    first = context.utterance.messages[0]
    asking = [each for each in desk.tasks if each.question is not None and each.chat == first.chat]
    if not asking:
        return None
    task: Task = max(asking, key=lambda each: each.changed_at)
    async with context.db.begin_read() as tx:
        earlier = await list_recent_messages(
            tx, first.person, first.chat, limit=1, before=first.seq, role=first.role
        )
    if all(each.at <= task.changed_at for each in earlier):
        return task
    return None if is_next or first.at - task.changed_at > ANSWER_WITHIN else task


async def find_asked_at(context: HandlerContext, task: Task) -> Micros | None:
    """Return when the message was said that told the words of a task's time; None: another did."""
    if task.message is None or task.status != "asking":
        return None
    try:
        async with context.db.begin_read() as tx:
            message = await get_message(tx, task.person, task.message)
    except NotFound:
        return None
    is_told_there = task.time_words.casefold() in message.text.casefold()
    return message.at if is_told_there else None


TASK_REQUESTS: Final = RequestHandler(name="tasks", handle=handle_task_request)
