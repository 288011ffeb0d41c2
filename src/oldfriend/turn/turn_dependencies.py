"""Turn dependencies: the memory, model, tool call store and limits that a turn uses."""

from dataclasses import dataclass, field

from oldfriend.domain.clock import Clock
from oldfriend.llm.model import LanguageModel
from oldfriend.prompts.token_budget import BUDGETS, PromptBudget
from oldfriend.turn.retrieval import SearchDeps
from oldfriend.turn.tools.registry import TOOLS
from oldfriend.turn.tools.tool import ToolCallStore, ToolSpec

MAX_TOOL_CALLS = 15
"""The most tool calls per turn."""


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
    tools: tuple[ToolSpec, ...] = TOOLS  # what the model may call
    limits: TurnLimits = field(default_factory=TurnLimits)
    small_model: LanguageModel | None = None  # analyzes messages; None: rules do
    unavailable_reason: str | None = None  # why the model may not be used now
