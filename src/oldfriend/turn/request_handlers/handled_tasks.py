"""Handled tasks: the tasks that a message may be about, and what was done with them as a reply."""

from collections.abc import Sequence

from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.messages import PRESSED_DETAIL
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import TaskPhrases
from oldfriend.tasks.task_store import list_tasks
from oldfriend.turn.request_handlers.handler import HandledRequest, HandlerContext, list_told
from oldfriend.turn.task_changes import SaveTask


async def open_desk(context: HandlerContext, phrases: TaskPhrases) -> TaskDesk:
    """Load a person's tasks; for a press of a button also those delivered long ago."""
    message, person = context.utterance.message, context.utterance.person
    is_press = PRESSED_DETAIL in message.details
    async with context.db.begin_read() as tx:
        tasks = await list_tasks(tx, person.id, now=None if is_press else context.clock())
    scope = DeskScope(
        person=person.id,
        zone=message.zone,
        now=context.clock(),
        language=choose_language_with(
            "tasks", context.perception.fixed_language or phrases.language
        ),
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
        said_at=message.at,
    )
    return TaskDesk(scope, phrases, tasks)


def build_handled(
    desk: TaskDesk, decisions: Sequence[DeskDecision], *, is_whole: bool, is_command: bool = False
) -> HandledRequest:
    """Build what was handled from the decisions."""
    text = "\n".join(each.text for each in decisions)
    saved = [task for each in decisions for task, _ in each.saved]
    asking = [each for each in saved if each.is_active and each.question is not None]
    return HandledRequest(
        name="tasks",
        text=text,
        records=tuple(
            dict.fromkeys((*(each.id for each in saved), *list_told_tasks(desk.tasks, text)))
        ),
        changes=tuple(
            SaveTask(task=task, earlier=earlier)
            for each in decisions
            for task, earlier in each.saved
        ),
        items=tuple(item for each in decisions for item in list_items(each)),
        buttons=desk.wording.build_choice_buttons(asking[0]) if len(asking) == 1 else (),
        is_whole_message=is_whole,
        is_command=is_command,
    )


def list_told_tasks(tasks: Sequence[Task], text: str) -> tuple[str, ...]:
    """Return the ids of the tasks of which a text tells."""
    return list_told(((each.id, each.text) for each in tasks), text)


def list_items(decision: DeskDecision) -> list[ReceiptItem]:
    """Return the earlier messages that asked for the tasks that were changed."""
    return [
        ReceiptItem(
            kind="message", object=earlier.message, version=1, used=True, score=0.0, reasons=()
        )
        for _, earlier in decision.saved
        if earlier is not None and earlier.message is not None
    ]
