"""Tool registry: every tool that a model may call."""

from typing import Final

from oldfriend.turn.tools.action_tool import SCHEDULE_ACTION
from oldfriend.turn.tools.belief_tools import BELIEF_TOOLS
from oldfriend.turn.tools.calculate_tool import CALCULATE
from oldfriend.turn.tools.current_time import CURRENT_TIME
from oldfriend.turn.tools.diary_tool import DIARY_SPEC
from oldfriend.turn.tools.goal_tools import GOAL_TOOLS
from oldfriend.turn.tools.measurement_tools import LOG_MEASUREMENT, MEASUREMENTS_TOOL
from oldfriend.turn.tools.note_tool import NOTE
from oldfriend.turn.tools.search_memory import SEARCH_MEMORY
from oldfriend.turn.tools.slash_command_tools import SLASH_COMMAND_TOOLS
from oldfriend.turn.tools.task_tools import TASK_TOOLS
from oldfriend.turn.tools.tool import ToolSpec

TOOLS: Final[tuple[ToolSpec, ...]] = (
    CURRENT_TIME,
    NOTE,
    SEARCH_MEMORY,
    *BELIEF_TOOLS,
    MEASUREMENTS_TOOL,
    LOG_MEASUREMENT,
    DIARY_SPEC,
    CALCULATE,
    *TASK_TOOLS,
    SCHEDULE_ACTION,
    *GOAL_TOOLS,
    *SLASH_COMMAND_TOOLS,
)
"""All tools that a model may call."""
