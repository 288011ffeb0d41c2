"""Tool registry: all tools that a model may call."""

from typing import Final

from oldfriend.turn.tools.current_time import CURRENT_TIME
from oldfriend.turn.tools.note_tool import NOTE
from oldfriend.turn.tools.search_memory import SEARCH_MEMORY
from oldfriend.turn.tools.tool import ToolSpec

TOOLS: Final[tuple[ToolSpec, ...]] = (CURRENT_TIME, NOTE, SEARCH_MEMORY)
