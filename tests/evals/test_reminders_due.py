"""Reminders are delivered by workers of their own, on a clock that is faster than the machine's."""

import pytest

from oldfriend.domain.clock import MINUTE, SECOND
from oldfriend_evals import reminders_due
from oldfriend_evals.bench_measures import Scope
from oldfriend_evals.reminder_worker import build_clock
from oldfriend_evals.reminders_due import draw_dues, measure_lateness, measure_reminders


def test_drawn_times_are_multiples_of_the_step_within_the_span() -> None:
    dues = draw_dues(200, span=10 * MINUTE, step=MINUTE)

    assert {each % MINUTE for each in dues} == {0}
    assert max(dues) < 10 * MINUTE


def test_clock_of_a_worker_runs_faster_from_the_time_that_it_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("oldfriend_evals.reminder_worker.system_clock", lambda: 12 * SECOND)

    assert build_clock(10 * SECOND, 100 * SECOND, 4.0)() == 108 * SECOND


async def test_without_postgres_reminders_are_not_measured() -> None:
    scope = Scope(quick=True, locomo=None, float_model=None)
    measures = await measure_reminders(scope)

    assert [each.value for each in measures] == [None, None]
    assert "OLDFRIEND_BENCH_POSTGRES" in measures[0].note


@pytest.mark.slow
async def test_every_reminder_is_sent_and_its_lateness_counted(
    postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By all workers together."""
    monkeypatch.setattr(reminders_due, "REMINDERS", 2_400)
    monkeypatch.setattr(reminders_due, "PEOPLE", 600)
    with postgres.new_database() as url:
        measure = await measure_lateness(url, "late", share=60, step=1)

    assert measure.value is not None
    assert measure.target is not None
