"""Turn dependencies: the memory, model, tools, tool call store and limits that a turn uses."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from oldfriend.domain.clock import Clock
from oldfriend.llm.model import LanguageModel
from oldfriend.prompts.token_budget import BUDGETS, PromptBudget
from oldfriend.turn.recalled import SearchDeps
from oldfriend.turn.request_handlers.handler import RequestHandler
from oldfriend.turn.tools.tool import ToolCallStore, ToolSpec

MAX_TOOL_CALLS = 15
"""The most tool calls per turn."""

FindTool: TypeAlias = Callable[[str], Awaitable[ToolSpec | None]]
"""Waits a while for a tool that is not there yet, and returns it."""


async def find_no_tool(name: str) -> ToolSpec | None:
    """Wait for none."""
    del name
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """The limits of one turn."""

    budget: PromptBudget = BUDGETS["normal"]
    max_tool_calls: int = MAX_TOOL_CALLS
    tool_timeout_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDependencies:
    """What one turn works with."""

    search_deps: SearchDeps
    model: LanguageModel | None  # None: the offline companion answers
    call_store: ToolCallStore
    clock: Clock
    tools: tuple[ToolSpec, ...]  # what the model may call
    handlers: tuple[RequestHandler, ...]  # what is done without a model
    find_tool: FindTool = find_no_tool  # by its name, where the person has agreed to its use
    limits: TurnLimits = field(default_factory=TurnLimits)
    small_model: LanguageModel | None = None  # analyzes messages; None: rules do
    unavailable_reason: str | None = None  # why the model may not be used now
