"""How much of a model's attention may each section of a prompt take? Token budgets.

What overflows goes in this order: what was recalled, then the oldest of the recent messages, then
the older summaries (ACCEPTANCE J14). Who the companion and the person are in people's words, and
what the person has just said, are never cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Preset = Literal["small", "normal", "large"]
Priority = Literal["mandatory", "high", "medium", "low"]
"""Which sections get room first (ACCEPTANCE W22); the recent messages come after "high"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens for each section, and thereby for all of them."""

    name: Preset
    system: int  # the rules and tools, the state of things, the notes
    summaries: int  # what was talked about, and who the person is; else room for a long message
    recent: int
    snippets: int  # what was recalled

    @property
    def known(self) -> int:
        """What the profile, what is open and who is named may take of the room for summaries."""
        return self.summaries // 2

    @property
    def total(self) -> int:
        """Tokens of a whole prompt."""
        return self.system + self.summaries + self.recent + self.snippets


BUDGETS: Mapping[Preset, Budget] = {
    # For models that run at home: half of what is normal, but the rules stay as long as they are.
    "small": Budget(name="small", system=1_500, summaries=450, recent=1_350, snippets=700),
    # ACCEPTANCE J13.
    "normal": Budget(name="normal", system=1_500, summaries=2_000, recent=3_000, snippets=1_500),
    # Four times the normal.
    "large": Budget(name="large", system=4_000, summaries=8_000, recent=12_000, snippets=8_000),
}


def fitting(costs: Sequence[int], budget: int) -> list[int]:
    """The places of what fits, first come first served; what is too long lets later ones in."""
    places: list[int] = []
    for place, cost in enumerate(costs):
        if cost <= budget:
            places.append(place)
            budget -= cost
    return places


def fitting_in_a_row(costs: Sequence[int], budget: int) -> int:
    """How many of the first fit together, with none left out in between."""
    return sum(1 for total in accumulate(costs) if total <= budget)
