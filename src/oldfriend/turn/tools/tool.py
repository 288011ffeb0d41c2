"""Tool: its spec, the context that it may use in a turn, and its form when bound to that turn."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from oldfriend.domain.clock import Clock
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import ToolDefinition
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.usage.tool_calls import ToolEffect

ToolArguments: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may use in the turn that it is bound to."""

    prompt: Prompt  # what the model is told about the tool
    clock: Clock
    utterance: Utterance
    noted_text: str | None = None  # what a rule has noted from the same message


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTool:
    """One thing that the companion can do besides talking.

    ``run`` takes arguments that fit the tool's schema and returns the result for the model. It
    raises an OldfriendError if it cannot do what was asked.
    """

    definition: ToolDefinition
    kind: ToolEffect
    run: Callable[[ToolArguments], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is registered; ``build`` binds it to a turn under the same name."""

    name: str
    build: Callable[[ToolContext], BoundTool]
