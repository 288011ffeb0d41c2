"""Task events: the appointment that a reminder precedes; when it moves, the reminder moves along.

After "no, the dentist is on Friday", the reminder comes an hour before the new time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.errors import NotFound
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.memory.message_log import get_message
from oldfriend.search.tokenizer import collect_content_terms
from oldfriend.tasks.request_sentences import read_requests
from oldfriend.tasks.sentence_words import join_words, remove_words
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.tasks.time_phrases import TimeResolver
from oldfriend.tasks.time_words import TimeWord
from oldfriend.tasks.told_time import Resolved, Told, collect

MAX_CORRECTION_CHARS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """The appointment of a reminder: its time, and how much earlier the reminder comes."""

    told: Told
    at: Resolved
    lead: timedelta
    lead_words: str
    said_at: Micros


async def find_event(tx: Transaction, task: Task) -> TaskEvent | None:
    """Return the appointment that a reminder's words tell of; None if they tell of none."""
    phrases = load_task_phrases(choose_language_with("tasks", task.language))
    told = phrases.read_time(task.time_words)
    words, said_at = task.time_words, task.changed_at
    if told is None or told.words in ((), (told.offset,)):
        if task.message is None:
            return None
        try:
            message = await get_message(tx, task.person, task.message)
        except NotFound:
            return None
        phrases, asked, _ = read_requests(message.text, (phrases.language, message.language, "en"))
        found = [each for each in asked if each.what == task.text]
        if len(found) != 1:
            return None
        told, words, said_at = found[0].told, found[0].time_words, message.at
    return None if told is None else resolve_event(phrases, task, told, words, said_at)


def resolve_event(
    phrases: TaskPhrases, task: Task, told: Told, words: str, said_at: Micros
) -> TaskEvent | None:
    """Return the event that words tell, as of when they were said; None: it is in doubt."""
    if task.rrule is not None or told.every is not None:
        return None
    resolver = TimeResolver(phrases.book, said_at, task.zone)
    at, due = resolver.resolve(replace(told, offset=None)), resolver.resolve(told)
    if not isinstance(at, Resolved) or not isinstance(due, Resolved):
        return None
    lead = to_local(at.due_at, task) - to_local(due.due_at, task)
    offset = [each for each in phrases.book.find(words) if each.kind == "offset"]
    lead_words = join_words(words, offset)
    return TaskEvent(told=told, at=at, lead=lead, lead_words=lead_words, said_at=said_at)


async def correct_event(
    tx: Transaction, desk: TaskDesk, text: str, told_of: Sequence[Task]
) -> DeskDecision | None:
    """Move the one reminder whose event, or whose time before it, a text corrects.

    Without words that name it, it is the one of which the last reply told.
    """
    text = " ".join(text.split())
    words = desk.phrases.book.find(text)
    if not words or len(text) > MAX_CORRECTION_CHARS or text.endswith(("?", "？")):
        return None
    named = collect_content_terms(remove_words(text, words), desk.phrases.language)
    found: list[DeskDecision] = []
    for task in desk.tasks:
        is_named = bool(named & collect_content_terms(task.text, task.language))
        is_meant = is_named or (task in told_of and len(told_of) == 1)
        if task.status != "open" or not is_meant:
            continue
        event = await find_event(tx, task)
        if event is not None and (moved := move_event(desk, task, event, text, words, is_named)):
            found.append(moved)
    return found[0] if len(found) == 1 else None


def move_event(
    desk: TaskDesk,
    task: Task,
    event: TaskEvent,
    text: str,
    words: Sequence[TimeWord],
    is_named: bool,
) -> DeskDecision | None:
    """Move a reminder with its event, if a text puts right when that is; None: it does not."""
    resolver, phrases = desk.resolver, desk.phrases
    day = to_local(event.at.due_at, task).date()
    left = [
        each for each in words if each.kind != "day" or resolver.resolve_day(Told(day=each)) != day
    ]
    is_denied = len(left) < len(words)
    is_corrected = load_correction(phrases.language).search(text.lower()) is not None
    told = collect(left)
    kinds = {each.kind for each in left}
    if told is None or not left or not (is_denied or is_corrected):
        return None
    if kinds == {"offset"}:
        again = resolve_event(
            phrases, task, replace(event.told, offset=told.offset), text, event.said_at
        )
        return None if again is None else move_before(desk, task, again, again.at)
    if not kinds <= {"day", "clock", "part"} or not (told.day or told.clock):
        return None
    if not (is_named and is_denied) and has_other_words(phrases, text, words, task):
        return None
    near = resolver.resolve_hour_near(event.at.due_at, told) if told.day is None else None
    found = near if told.day is None else resolver.resolve(told)
    if not isinstance(found, Resolved) or found.rrule is not None:
        return DeskDecision(text=desk.wording.say("ask_when", text=task.text))
    if found.is_date_only and not event.at.is_date_only:
        hour = to_local(event.at.due_at, task).time()
        moment = datetime.combine(to_local(found.due_at, task).date(), hour)
        found = Resolved(due_at=resolver.to_micros(moment))
    return move_before(desk, task, event, found)


def has_other_words(phrases: TaskPhrases, text: str, words: Sequence[TimeWord], task: Task) -> bool:
    """Whether a correction names something else than the task, as "no, Anna comes on Friday"."""
    rest = load_correction(phrases.language).sub(" ", remove_words(text, words).lower())
    known = collect_content_terms(task.text, task.language)
    return not collect_content_terms(rest, phrases.language) <= known


def move_before(desk: TaskDesk, task: Task, event: TaskEvent, at: Resolved) -> DeskDecision:
    """Give a reminder its time before an event, and keep in its words when that is."""
    local = to_local(at.due_at, task)
    due_at = desk.resolver.to_micros(local - event.lead)
    if due_at <= desk.scope.now:
        return DeskDecision(text=desk.wording.say("ask_past", text=task.text, first="", second=""))
    moment = f"{local:%Y-%m-%d}" if at.is_date_only else f"{local:%Y-%m-%d %H:%M}"
    found = Resolved(due_at=due_at, is_date_only=at.is_date_only and task.is_date_only)
    return desk.move_to(task, found, is_snooze=False, words=f"{moment} {event.lead_words}".strip())


def to_local(at: Micros, task: Task) -> datetime:
    """Return a moment by the clocks of a task's zone."""
    return from_micros(at, task.zone).replace(tzinfo=None)


@cache
def load_correction(language: str) -> re.Pattern[str]:
    """Compile by which words of a language something is put right."""
    pack = load_language_pack(choose_language_with("restatement", language)).read("restatement")
    return re.compile(pack["correction"])
