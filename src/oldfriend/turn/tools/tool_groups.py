"""Tool groups: tools that a model is offered once it asks for their kind.

What stands in every prompt is paid for with every message, so only few tools do. The others are
named by one tool, `more_tools`, which adds those of a group for the rest of the turn; what is sent
before that is the same in each turn, so that providers can keep it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from oldfriend.llm.model import ToolDefinition
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolGroup

MORE_TOOLS: Final = "more_tools"


TASKS_GROUP: Final = ToolGroup(name="tasks", section="group_tasks")
RECORDS_GROUP: Final = ToolGroup(name="records", section="group_records")
MEMORY_GROUP: Final = ToolGroup(name="memory", section="group_memory")
WEB_GROUP: Final = ToolGroup(name="web", section="group_web")


def build_more_tools(
    prompt: Prompt,
    groups: Mapping[ToolGroup, Sequence[BoundTool]],
    open_group: Callable[[str], None],
) -> BoundTool:
    """Build the tool that offers those of a group."""
    names = {group.name: tools for group, tools in groups.items()}

    async def use(arguments: ToolArguments) -> str:
        name = str(arguments["kind"])
        open_group(name)
        offered = ", ".join(tool.definition.name for tool in names[name])
        return prompt.render("more_tools_now", names=offered)

    listed = "; ".join(f"{group.name}: {group.describe(prompt)}" for group in groups)
    return BoundTool(
        definition=ToolDefinition(
            name=MORE_TOOLS,
            description=prompt.render("more_tools", names=listed),
            parameters={
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": list(names)}},
                "required": ["kind"],
                "additionalProperties": False,
            },
        ),
        kind="read",
        run=use,
        is_recorded=False,
    )
