"""What does a turn think with? Its memory, its model, its tools' desk and its limits. Values only.

The shell puts it together; a turn only uses it.
"""

from dataclasses import dataclass, field

from oldfriend.domain.clock import Clock
from oldfriend.llm.model import Model
from oldfriend.turn.budget import BUDGETS, Budget
from oldfriend.turn.recall import Looking
from oldfriend.turn.tools.desk import Desk

MOST_TOOL_CALLS = 15
"""ACCEPTANCE B9."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one turn may take."""

    budget: Budget = BUDGETS["normal"]
    tool_calls: int = MOST_TOOL_CALLS
    tool_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What one turn thinks with."""

    looking: Looking
    model: Model | None  # None: the offline companion answers
    desk: Desk
    clock: Clock
    limits: Limits = field(default_factory=Limits)
    small: Model | None = None  # judges what a message needs; None: rules do
    resting: str | None = None  # why the model may not be used now
