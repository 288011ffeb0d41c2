"""Action tool: a model puts something on the list that is done at its time and told.

As with reminders it only decides the change, for words that the person said in the last message.
"""

from dataclasses import replace
from typing import Any, Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.tasks.task_edits import build_task
from oldfriend.turn.tools.task_tools import (
    DUE,
    WORDS,
    bind,
    build_output,
    check_asked,
    check_told,
    open_desk,
    read_due,
)
from oldfriend.turn.tools.tool import (
    BoundTool,
    ToolArguments,
    ToolContext,
    ToolOutput,
    ToolSpec,
)
from oldfriend.turn.tools.tool_groups import TASKS_GROUP


def build_schedule_action(context: ToolContext) -> BoundTool:
    """Build the tool that has something done later."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        check_told(context, str(arguments["text"]))
        desk = await open_desk(context)
        due_at = read_due(arguments, desk)
        if due_at is None:
            raise InvalidInput("Name when it is to be done, or ask the person.")
        rule = str(arguments.get("rrule") or "") or None
        task = build_task(desk, str(arguments["text"]), due_at=due_at, rrule=rule)
        return build_output(context, desk.add(replace(task, kind="action")))

    properties: dict[str, Any] = {
        "text": {"type": "string", "description": "What to look up, sum up or tell"},
        "words": WORDS,
        "due": DUE,
        "rrule": {"type": "string", "description": "RFC 5545, if it repeats"},
    }
    return bind(
        "schedule_action",
        "Do something later, such as a search, and tell the person.",
        properties,
        use,
        required=["text", "words", "due"],
    )


SCHEDULE_ACTION: Final = ToolSpec(
    name="schedule_action", build=build_schedule_action, group=TASKS_GROUP
)
