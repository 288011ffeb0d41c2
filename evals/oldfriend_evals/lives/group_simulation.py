"""Simulation of a group: several who know each other live with one store.

Day by day, also the silent ones, on which nothing is done but what is done once a day. Each has a
clock of their own, and is read by a model of their own. Judges nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import count, takewhile

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, parse_timestamp
from oldfriend.llm.model import LanguageModel
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.simulation import Simulation, begin_life


async def simulate_group(
    app: AppContext,
    lives: Sequence[Life],
    *,
    models: Mapping[str, LanguageModel],
    last: date | None = None,
) -> list[Simulation]:
    """Live several lives in one house, to their end or to a day; whoever has no model by rules.

    ``models`` are by the name of the person.
    """
    livings = [await begin_life(app, life, model=models.get(life.person)) for life in lives]
    for day in list_days(lives):
        if last is None or day <= last:
            for living in livings:
                await spend_day(living, day)
    return livings


def list_days(lives: Sequence[Life]) -> list[date]:
    """All days from the first to the last on which any of them says something."""
    first = min(life.days[0].date for life in lives)
    last = max(life.days[-1].date for life in lives)
    days = (first + timedelta(days=number) for number in count())
    return list(takewhile(lambda day: day <= last, days))


async def spend_day(living: Simulation, date_: date) -> None:
    """Spend a day, silently where nothing is said on it."""
    day = next((day for day in living.life.days if day.date == date_), None)
    if day is not None:
        await living.spend(day)
        return
    start, _ = parse_timestamp(str(date_), living.life.zone)
    living.calendar.reach(start + DAY // 2)
    await living.close(date_)
