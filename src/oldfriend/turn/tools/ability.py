"""What is a tool of ours? A name and a form for the model, a class, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.domain.json import JsonValue
from oldfriend.ledger.tools import ToolClass
from oldfriend.llm.model import Tool

Arguments: TypeAlias = Mapping[str, JsonValue]

NAMES: Final = ("current_time", "note")
"""Of all tools, so that what a message needs can be judged before they are at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """One thing that the companion can do besides talking.

    ``use`` gets arguments that fit the tool's parameters, and returns what the model is told.
    It raises an OldfriendError where it cannot do what was asked.
    """

    tool: Tool
    kind: ToolClass
    use: Callable[[Arguments], Awaitable[str]]
