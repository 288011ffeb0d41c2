"""Token budgets: how many tokens each section of a prompt may use.

What overflows is dropped in this order: recalled snippets, then the oldest of the recent messages,
then the older summaries. What people wrote about the companion and the person, and what the person
has just said, are never cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Preset = Literal["small", "normal", "large"]
Priority = Literal["mandatory", "high", "medium", "low"]
"""Which sections get tokens first; the recent messages come after "high"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBudget:
    """The tokens of each section, and of all together."""

    name: Preset
    system: int  # the rules and tools, the current state, the notes
    summaries: int  # summaries and profile; else reserve for a long message
    recent: int
    snippets: int  # recalled items

    @property
    def profile(self) -> int:
        """What the profile, recent changes and open items may use of the summaries' tokens."""
        return self.summaries // 4

    @property
    def total(self) -> int:
        """The tokens of a whole prompt."""
        return self.system + self.summaries + self.recent + self.snippets


BUDGETS: Mapping[Preset, PromptBudget] = {
    # For local models: half of normal, but the rules have a fixed length.
    "small": PromptBudget(name="small", system=1_500, summaries=450, recent=1_350, snippets=700),
    "normal": PromptBudget(
        name="normal", system=1_500, summaries=2_000, recent=3_000, snippets=1_500
    ),
    # About four times as much as normal.
    "large": PromptBudget(
        name="large", system=4_000, summaries=8_000, recent=12_000, snippets=8_000
    ),
}


def select_fitting(costs: Sequence[int], budget: int) -> list[int]:
    """Return the indexes of the items that fit, in order; after one that is too long others may
    fit.
    """
    indexes: list[int] = []
    for index, cost in enumerate(costs):
        if cost <= budget:
            indexes.append(index)
            budget -= cost
    return indexes


def count_fitting_prefix(costs: Sequence[int], budget: int) -> int:
    """Return how many of the first items fit together, with none left out in between."""
    return sum(1 for total in accumulate(costs) if total <= budget)
