"""Scorecard of the companion's state over 90 days, with a bad reflector and a bad reader.

For each of two who know each other, in houses of their own; then all of it is derived anew.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    Target,
    build_lower_target,
    build_upper_target,
)
from oldfriend_evals.lives.life_files import PAIRS, load_life
from oldfriend_evals.lives.replay_eval import ReplayComparison, derive_again
from oldfriend_evals.lives.state_eval import StateFindings, simulate_and_inspect
from oldfriend_evals.lives.turn_simulation import TurnSimulation
from oldfriend_evals.temporary_stores import open_temporary_store

QUICK: Final = ("en.sunil", "zh.zhihao")
TARGETS: Final[Mapping[str, Target]] = {
    "promises and expectations marked on time": build_lower_target(1.0),
    "believed otherwise when derived anew": build_upper_target(0),
    "asked when derived anew": build_upper_target(0),
}
"""What holds beside that nothing may be wrong."""


async def measure_companion_state(scope: Scope) -> list[Measure]:
    """What goes on within, in each of the lives."""
    names = QUICK if scope.quick else [name for pair in PAIRS.values() for name in pair]
    return [measure for name in names for measure in await measure_state(name)]


async def measure_state(name: str) -> list[Measure]:
    """What goes on within in one life: with things taken back, then as it is derived anew."""
    life = load_life(name)
    async with open_temporary_store() as app:
        talking, inward = await simulate_and_inspect(app, life)
    async with open_temporary_store() as first, open_temporary_store() as second:
        plain, _ = await simulate_and_inspect(first, life, regrets=False)
        again = await derive_again(plain, second)
    note = f"{len(talking.turns)} turns, {inward.thoughts} thoughts, {len(talking.asked)} calls"
    return [
        Measure(
            name=f"inner life, {name}: {what}",
            value=number,
            unit="",
            target=None if what in UNTARGETED else TARGETS.get(what, build_upper_target(0)),
            note=note,
        )
        for what, number in compute_numbers(talking, inward, again).items()
    ]


UNTARGETED: Final = frozenset(
    {
        "calls of a model on the busiest day",
        "opinions that it is known to hold",
        "ties known",
    }
)


def compute_numbers(
    talking: TurnSimulation, inward: StateFindings, again: ReplayComparison
) -> dict[str, float]:
    """The counts and shares by which it is measured."""
    due = inward.ended.total() or 1
    late = len({each.split(" ", 1)[1] for each in inward.overdue})
    return {
        **{what: len(found) for what, found in inward.faults.items()},
        "gave in to a lure": len(inward.gave_in),
        "opinions that it is known to hold": inward.opinions,
        "ties known": inward.ties / max(len(talking.living.life.truth.ties), 1),
        "ties the wrong way round": len(inward.wrong_ties),
        "promises and expectations marked on time": 1 - late / due,
        "believed otherwise when derived anew": len(again.differences),
        "asked when derived anew": again.asked,
        "calls of a model on the busiest day": max(talking.count_calls_by_day.values(), default=0),
    }
