"""How present a belief still is: less with time, more with repetition, whoever scores."""

import math
from itertools import pairwise
from typing import get_args

import pytest

from oldfriend.config import settings_schema as sections
from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, MemoryState, StoredBelief
from oldfriend.memory.evidence import SPACING_EFFECT_DAYS
from oldfriend.search.scorers import (
    MAX_RETENTION,
    SCORERS,
    Decay,
    Scorer,
    ScorerName,
    act_r,
    dual_trace,
    typed_decay,
)

NOW = 1_700_000_000_000_000
HABIT, EVENT = Decay(90, 0.45), Decay(14, 0.0)
EACH_SCORER = pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)


def said(*days_ago: float) -> MemoryState:
    """A habit that was spoken of so many days ago, the oldest first."""
    gaps = [before - after for before, after in pairwise(days_ago)]
    standing = EvidenceStats(
        strength=1 + sum(1 - math.exp(-gap / SPACING_EFFECT_DAYS) for gap in gaps),
        confidence=1.0,
        times_seen=len(days_ago),
        first_seen=NOW - round(days_ago[0] * DAY),
        last_seen=NOW - round(days_ago[-1] * DAY),
    )
    memory = StoredBelief(
        id=MemoryId(ObjectId("m")),
        person=PersonId("p"),
        kind="pattern",
        text="x",
        language="en",
        pattern="behavior",
        learned_at=NOW,
    )
    return MemoryState(memory=memory, stats=standing, base_seq=1)


def test_every_scorer_can_be_chosen_in_the_settings() -> None:
    """Whoever chooses by name must be able to choose any."""
    assert tuple(SCORERS) == sections.SCORER_NAMES == get_args(ScorerName)


@EACH_SCORER
def test_belief_just_said_has_full_retention(scorer: Scorer) -> None:
    """So that scorers differ in how things fade, not in where they begin."""
    assert scorer(said(0), HABIT, NOW) == pytest.approx(1.0)
    assert scorer(said(0), HABIT, NOW - DAY) == pytest.approx(1.0)  # a clock that went back


@EACH_SCORER
@pytest.mark.parametrize("decay", [HABIT, EVENT])
def test_retention_decreases_with_time_down_to_the_floor(scorer: Scorer, decay: Decay) -> None:
    """It never comes back by itself."""
    left = [scorer(said(days), decay, NOW) for days in (0, 1, 10, 100, 1_000, 1_000_000)]

    assert left == sorted(left, reverse=True)
    assert left[-1] == pytest.approx(decay.floor, abs=0.01)


@EACH_SCORER
def test_repetition_increases_retention_up_to_the_maximum(scorer: Scorer) -> None:
    """ACCEPTANCE J3."""
    often = said(*range(600, 10, -10))

    assert scorer(said(10), HABIT, NOW) < scorer(said(40, 10), HABIT, NOW)
    assert scorer(said(40, 10), HABIT, NOW) < scorer(often, HABIT, NOW) <= MAX_RETENTION


def test_immediate_repetition_does_not_increase_retention() -> None:
    """ACCEPTANCE G6: it is coming back to it after a while that counts."""
    assert dual_trace(said(30, 30), HABIT, NOW) == pytest.approx(dual_trace(said(30), HABIT, NOW))
    assert dual_trace(said(60, 30), HABIT, NOW) > dual_trace(said(30, 30), HABIT, NOW)


def test_dual_trace_is_the_mean_of_slow_and_fast_decay() -> None:
    """ACCEPTANCE G21: half of it is the fast one, which is nearly gone after two months."""
    after_60_days = dual_trace(said(60), Decay(90, 0.0), NOW)
    slow, fast = 0.5 ** (60 / 90), 0.5 ** (60 / 14)

    assert after_60_days == pytest.approx(math.log2(1 + (slow + fast) / 2))


@pytest.mark.parametrize("days_ago", [(50,), (50, 3), (300, 1)])
def test_act_r_matches_the_formula_when_all_times_are_known(days_ago: tuple[int, ...]) -> None:
    """ln Σ t^-½, as a likelihood beside that of what was just said once."""
    activation = math.log(sum((days + 1) ** -0.5 for days in days_ago))
    likely = [1 / (1 + math.exp(-2 - each)) for each in (activation, 0.0)]

    assert act_r(said(*days_ago), Decay(90, 0.0), NOW) == pytest.approx(likely[0] / likely[1])


@pytest.mark.parametrize(
    "days_ago", [range(100, 0, -7), (200, 150, 90, 5), (90, 88, 80, 60, 1), (365, 30, 29, 28)]
)
def test_act_r_approximates_unknown_times_within_tolerance(days_ago: tuple[int, ...]) -> None:
    """Between the first and the last they count as evenly spread: it costs less than a tenth."""
    exact = math.log(sum((days + 1) ** -0.5 for days in days_ago))
    likely = [1 / (1 + math.exp(-2 - each)) for each in (exact, 0.0)]

    guessed = act_r(said(*days_ago), Decay(90, 0.0), NOW)
    assert guessed == pytest.approx(min(likely[0] / likely[1], MAX_RETENTION), abs=0.1)


def test_three_scorers_give_different_values() -> None:
    """For something said often, and last a long time ago, each has its own answer."""
    known = said(400, 380, 300, 200)

    assert (
        len({round(each(known, HABIT, NOW), 3) for each in (typed_decay, dual_trace, act_r)}) == 3
    )
