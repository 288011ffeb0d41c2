"""Task tools: a model sets, lists and changes reminders and to-dos.

It only decides changes, which the turn's commit makes; what is confirmed is worded from what will
be stored. A reminder is set only for words that the person said in the last message: what stands in
memory, in results or in forwarded text sets nothing.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from oldfriend.domain.clock import Micros, parse_timestamp
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.llm.model import ToolDefinition
from oldfriend.search.tokenizer import collect_terms
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import ACTIONS, build_task, decide, revise
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import get_task, list_tasks
from oldfriend.turn.note_extraction import find_own_words
from oldfriend.turn.task_changes import SaveTask, apply_to_list, list_saved
from oldfriend.turn.tools.tool import (
    BoundTool,
    ToolArguments,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from oldfriend.turn.tools.tool_groups import TASKS_GROUP

Use: TypeAlias = Callable[[ToolArguments], Awaitable[ToolOutput]]
MAX_CHANGES: Final = 5
DUE: Final = {"type": "string", "description": "ISO 8601, by the person's clock"}
LAST_ASKED: Final = (
    AskedTask(action="done", is_last=True),
    AskedTask(action="change", is_last=True),
)
"""How the task that was delivered last and the one that was changed last are asked for."""
WORDS: Final = {"type": "string", "description": "The person's words in the last message asking it"}


async def open_desk(context: ToolContext) -> TaskDesk:
    """Load the person's tasks."""
    message = context.utterance.message
    async with context.search_deps.db.begin_read() as tx:
        stored = await list_tasks(tx, context.utterance.person.id, now=context.clock())
    scope = DeskScope(
        person=context.utterance.person.id,
        zone=message.zone,
        now=context.clock(),
        language=context.utterance.system_language,
        chat=message.chat,
        message=message.id,
        message_seq=message.seq,
    )
    return TaskDesk(
        scope, load_task_phrases(scope.language), apply_to_list(stored, context.decided)
    )


async def find_meant(context: ToolContext, desk: TaskDesk, partial_id: str) -> Task:
    """Return the task with an id, or of these words, as it is by now in this turn.

    Raises NotFound, InvalidInput.
    """
    wanted = partial_id.strip().lower()
    found = [each for each in desk.tasks if wanted and each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        found = desk.find(AskedTask(action="change", ref=partial_id))
        if len(found) == 1:
            return found[0]
    async with context.search_deps.db.begin_read() as tx:
        task = await get_task(tx, desk.scope.person, wanted)
    return next((each for each in list_saved(context.decided) if each.id == task.id), task)


def check_asked(context: ToolContext, arguments: ToolArguments) -> None:
    """Raise InvalidInput unless the person asks for it in the last message."""
    if find_own_words(context.utterance, str(arguments["words"])) is None:
        raise InvalidInput("The person has not asked for that in the last message. Ask them first.")


def check_told(context: ToolContext, text: str, *, is_whole: bool = False) -> None:
    """Raise InvalidInput unless the person has just said a text, or all of its content words."""
    if not is_told(context, text, is_whole=is_whole):
        raise InvalidInput(
            "The person has not said that in the last message. Use their own words, or ask them."
        )


def check_meant(context: ToolContext, desk: TaskDesk, task: Task) -> None:
    """Raise InvalidInput unless the person named the task, or it was spoken of last."""
    last = [each for asked in LAST_ASKED for each in desk.find_last(asked)]
    if task not in last and not is_told(context, task.text):
        raise InvalidInput("The person has not named that one in the last message. Ask them.")


def is_told(context: ToolContext, text: str, *, is_whole: bool = False) -> bool:
    """Tell whether half the content words of a text, or more, are the person's last ones.

    A whole one has no others.
    """
    own = "\n".join(each.text for each in context.utterance.messages if each.trust == "person")
    language = context.utterance.message.language
    wanted, told = (collect_terms(each, language) for each in (text, own))
    least = len(wanted) if is_whole else len(wanted) / 2
    return bool(wanted) and len(wanted & told) >= least


def read_due(arguments: ToolArguments, desk: TaskDesk) -> Micros | None:
    """Return the time that is asked for. Raises InvalidInput."""
    if not arguments.get("due"):
        return None
    return parse_timestamp(str(arguments["due"]), desk.scope.zone)[0]


def build_output(context: ToolContext, decision: DeskDecision) -> ToolOutput:
    """Return what is decided; the person reads its text below the reply."""
    changes = tuple(SaveTask(task=task, earlier=earlier) for task, earlier in decision.saved)
    context.decided.extend(changes)
    records = tuple(task.id for task, _ in decision.saved)
    return ToolOutput(text=decision.text, changes=changes, records=records, summary=decision.text)


def build_set_reminder(context: ToolContext) -> BoundTool:
    """Build the tool that sets a reminder or, without a time, a to-do."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        check_told(context, str(arguments["text"]))
        desk = await open_desk(context)
        task = build_task(
            desk,
            str(arguments["text"]),
            due_at=read_due(arguments, desk),
            rrule=str(arguments.get("rrule") or "") or None,
        )
        return build_output(context, desk.add(task))

    properties: dict[str, Any] = {
        "text": {"type": "string", "description": "What to do"},
        "words": WORDS,
        "due": DUE,
        "rrule": {"type": "string", "description": "RFC 5545, if it repeats"},
    }
    return bind(
        "set_reminder",
        "Remind the person later; without due, a to-do.",
        properties,
        use,
        required=["text", "words"],
    )


def build_list_tasks(context: ToolContext) -> BoundTool:
    """Build the tool that lists what is open."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        del arguments
        desk = await open_desk(context)
        records = tuple(each.id for each in desk.tasks)
        return ToolOutput(text=desk.wording.list_tasks(desk.tasks), records=records)

    return bind("list_tasks", "The person's reminders and to-dos.", {}, use, required=[])


def build_update_task(context: ToolContext) -> BoundTool:
    """Build the tool that ends a task or gives it another time."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        desk = await open_desk(context)
        task = await find_meant(context, desk, str(arguments["id"]))
        check_meant(context, desk, task)
        action = next(each for each in ACTIONS if each == arguments["action"])
        text, rule = (str(arguments.get(each) or "").strip() for each in ("text", "rrule"))
        due_at = read_due(arguments, desk)
        if action != "change" or not (text or rule):
            return build_output(context, decide(desk, task, action, due_at=due_at))
        if text:
            check_told(context, text)
        return build_output(context, revise(desk, task, text=text, due_at=due_at, rrule=rule))

    properties: dict[str, Any] = {
        "id": {"type": "string", "description": "As list_tasks shows it"},
        "action": {"type": "string", "enum": [*ACTIONS]},
        "words": WORDS,
        "due": DUE,
        "text": {"type": "string", "description": "To change: what to do"},
        "rrule": {"type": "string", "description": "To change: RFC 5545, or once"},
    }
    return bind(
        "update_task",
        "End a reminder or to-do, or change it.",
        properties,
        use,
        required=["id", "action", "words"],
    )


def bind(
    name: str,
    description: str,
    properties: dict[str, Any],
    use: Use,
    *,
    required: list[str],
    max_uses: int | None = MAX_CHANGES,
) -> BoundTool:
    """Bind a tool that decides changes or only reads."""
    return BoundTool(
        definition=ToolDefinition(
            name=name,
            description=description,
            parameters={
                "type": "object",
                "properties": properties,
                "required": [*required],
                "additionalProperties": False,
            },
        ),
        kind="read" if name.startswith("list_") else "idempotent",
        run=use,
        max_uses=max_uses,
        is_recorded=False,
    )


TASK_TOOLS: Final = (
    ToolSpec(name="set_reminder", build=build_set_reminder, group=TASKS_GROUP),
    ToolSpec(name="list_tasks", build=build_list_tasks, group=TASKS_GROUP),
    ToolSpec(name="update_task", build=build_update_task, group=TASKS_GROUP),
)
