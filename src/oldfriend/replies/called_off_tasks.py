"""Called-off tasks: what is told to be off is left out once, or asked about, where it is listed.

"Football practice is cancelled tomorrow" is read like the end of a plan. A series goes on after
that day; what comes once is taken off at the person's yes. A model is left to ask by itself.
"""

from dataclasses import replace
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.lang.language_pack import list_languages
from oldfriend.learning.rule_extraction.datetimes import due_in
from oldfriend.learning.rule_extraction.promises import find_ending
from oldfriend.learning.rule_extraction.rule_loader import RuleBook, load_rule_book
from oldfriend.learning.rule_extraction.sentences import Sentence, statements_in
from oldfriend.tasks.recurrence import find_next
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.turn.request_handlers.cancel_all_requests import ask_to_cancel
from oldfriend.turn.request_handlers.handled_tasks import build_handled, open_desk
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)

NAME: Final = "called off"


async def handle_called_off(context: HandlerContext) -> HandledRequest | None:
    """Leave out once, or ask about, the one task that a message tells to be off."""
    message = context.utterance.message
    is_read = message.trust == "person" and message.language in list_languages("rules")
    if context.model_name is not None or not is_read or not context.text.strip():
        return None
    book = load_rule_book(message.language)
    desk = await open_desk(context, load_task_phrases(message.language))
    sentences = [
        each
        for each in statements_in(replace(message, text=context.text), book)
        if not each.is_question
    ]
    ended = [
        (task, sentence)
        for task in desk.tasks
        for sentence in sentences
        if is_called_off(task, sentence, book)
    ]
    if len(ended) != 1:
        return None
    ((task, _),) = ended
    if task.rrule is not None:
        decision = leave_out(desk, task)
        handled = build_handled(desk, [decision], is_whole=len(sentences) == 1)
        return replace(handled, name=NAME)
    line = desk.wording.list_tasks([task]).splitlines()[1]
    say = CommandMenu.load(context.perception.reply_language).say
    return replace(ask_to_cancel(context, [(task.id, line)], say), name=NAME)


def is_called_off(task: Task, sentence: Sentence, book: RuleBook) -> bool:
    """Whether a sentence tells that a task is off: by its words, on the day that it is due.

    Of a series the day has to be told.
    """
    if task.language != book.language or task.status == "delivered":
        return False
    if find_ending((task.text, task.due_at), sentence, book) != "cancels":
        return False
    told = due_in(sentence.plain, sentence.message, book)
    if told is None or task.due_at is None:
        return task.rrule is None
    days = (from_micros(each, task.zone).date() for each in (told.begins, told.at))
    return from_micros(task.due_at, task.zone).date() in days


def leave_out(desk: TaskDesk, task: Task) -> DeskDecision:
    """Let a series go on without the time that is due next."""
    assert task.rrule is not None
    assert task.due_at is not None
    start = from_micros(task.starts_at or task.due_at, task.zone).replace(tzinfo=None)
    due_at = find_next(task.rrule, start, task.zone, after=task.due_at)
    if due_at is None:
        return desk.cancel(task)
    later = replace(task, due_at=due_at, changed_at=desk.scope.now)
    when = desk.wording.format_task_time(later)
    return desk.replace(task, later, desk.wording.say("left_out", text=task.text, when=when))


CALLED_OFF: Final = RequestHandler(name=NAME, handle=handle_called_off)
