"""How sound is its inner life over 90 days, with a bad mind to think and a bad reader? In numbers.

For each of two who know each other, in houses of their own; then all of it is derived anew.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend_evals.lives.again import Again, derived_again
from oldfriend_evals.lives.inward import Inward, lived_inwardly
from oldfriend_evals.lives.loading import PAIRS, load_life
from oldfriend_evals.lives.talking import Talking
from oldfriend_evals.measuring import Measure, Scope, Target, at_least, at_most
from oldfriend_evals.stores import temporary_house

QUICK: Final = ("en.sunil", "zh.zhihao")
TARGETS: Final[Mapping[str, Target]] = {
    "promises and expectations marked on time": at_least(1.0),
    "believed otherwise when derived anew": at_most(0),
    "asked when derived anew": at_most(0),
}
"""What holds beside that nothing may be wrong."""


async def measure_inner_life(scope: Scope) -> list[Measure]:
    """What goes on within, in each of the lives."""
    names = QUICK if scope.quick else [name for pair in PAIRS.values() for name in pair]
    return [measure for name in names for measure in await measure_within(name)]


async def measure_within(name: str) -> list[Measure]:
    """What goes on within in one life: with things taken back, then as it is derived anew."""
    life = load_life(name)
    async with temporary_house() as app:
        talking, inward = await lived_inwardly(app, life)
    async with temporary_house() as first, temporary_house() as second:
        plain, _ = await lived_inwardly(first, life, regrets=False)
        again = await derived_again(plain, second)
    note = f"{len(talking.turns)} turns, {inward.thoughts} thoughts, {len(talking.asked)} calls"
    return [
        Measure(
            name=f"inner life, {name}: {what}",
            value=number,
            unit="",
            target=None if what in UNTARGETED else TARGETS.get(what, at_most(0)),
            note=note,
        )
        for what, number in numbers_of(talking, inward, again).items()
    ]


UNTARGETED: Final = frozenset(
    {
        "calls of a model on the busiest day",
        "opinions that it is known to hold",
        "ties known",
    }
)


def numbers_of(talking: Talking, inward: Inward, again: Again) -> dict[str, float]:
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
        "calls of a model on the busiest day": max(talking.asked_by_day.values(), default=0),
    }
