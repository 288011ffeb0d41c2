"""Tool: a name and schema for the model, a class, and the function to run."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolSpec
from oldfriend.usage.tool_calls import ToolEffect

ToolArguments: TypeAlias = Mapping[str, JsonValue]

TOOL_NAMES: Final = ("current_time", "note")
"""The names of all tools, so that a message can be analyzed before they are built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTool:
    """One thing that the companion can do besides talking.

    ``run`` takes arguments that fit the tool's schema and returns the result for the model. It
    raises an OldfriendError if it cannot do what was asked.
    """

    definition: ToolSpec
    kind: ToolEffect
    run: Callable[[ToolArguments], Awaitable[str]]
