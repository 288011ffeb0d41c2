"""A number that changed clearly, or is beyond those of a year, is told (ACCEPTANCE L12, L18)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.accept import ChatContext
from oldfriend.measurements.measurement_store import Measurement, save_measurements
from oldfriend.measurements.statistics import DayValue
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.number_impulses import find_change, find_extreme, find_number_alert
from tests.clock import FrozenClock
from tests.proactive.lived_time import (
    LISBON,
    at,
    choose,
    list_decided,
    list_unasked,
    live_until,
    tell,
)

LAST = date(2026, 11, 18)


def build_weight(person: PersonId, day: date, value: float) -> Measurement:
    """A weight of a morning that a program has given."""
    return Measurement(
        id=day.isoformat(),
        person=person,
        name="weight",
        day=day,
        measured_at=at(f"{day}T07:00"),
        zone=LISBON,
        value=value,
        unit="kg",
        origin="api",
    )


async def keep_weights(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, values: Sequence[float]
) -> None:
    """Keep a weight of each of the days until the last, and plan a look at them."""
    days = [LAST - timedelta(days=each) for each in reversed(range(len(values)))]
    kept = [
        build_weight(chat_context.person.id, day, value)
        for day, value in zip(days, values, strict=True)
    ]
    async with app.db.begin_write() as tx:
        await save_measurements(tx, chat_context.person.id, kept, now=clock())
        await plan_next_look(tx, chat_context.person.id, now=clock())


async def test_clear_change_is_told_once_with_its_reason_and_its_end(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In the evening, with what it was before; "not again" ends the kind."""
    await tell(app, clock, chat_context, at("2026-11-18T08:00"), "Hello.")
    await choose(app, chat_context, level="normal")
    await keep_weights(app, chat_context, clock, [70.0, 70.4] * 14 + [73.1] * 7)
    await live_until(app, clock, at("2026-11-19T17:00"))
    (said,) = await list_unasked(app, chat_context)
    again = await tell(
        app, clock, chat_context, at("2026-11-19T17:10"), "Don't tell me that again."
    )
    await live_until(app, clock, at("2026-11-27T12:00"))

    assert said.at == at("2026-11-18T18:00")
    assert said.text == (
        "Weight: 73.1 kg on average in the last week, 70.2 kg in the four weeks before. "
        "That is clearly more."
    )
    assert "numbers" in again.reply.text
    assert [
        each.status
        for each in await list_decided(app, chat_context)
        if each.impulse.kind == "number"
    ] == ["said"]


@pytest.mark.parametrize(
    ("level", "values"), [("shy", [70.0] * 28 + [75.0] * 7), ("normal", [70.0, 72.0] * 18)]
)
async def test_little_is_said_to_the_shy_and_nothing_of_what_is_as_usual(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, level: str, values: list[float]
) -> None:
    """The usual ups and downs are no news."""
    await tell(app, clock, chat_context, at("2026-11-18T08:00"), "Hello.")
    await choose(app, chat_context, level=level)
    await keep_weights(app, chat_context, clock, values)
    await live_until(app, clock, at("2026-11-18T22:00"))

    assert await list_unasked(app, chat_context) == []


async def test_number_that_is_taken_out_meanwhile_is_not_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The rest of the numbers is as usual."""
    await tell(app, clock, chat_context, at("2026-11-18T08:00"), "Hello.")
    await choose(app, chat_context, level="normal")
    await keep_weights(app, chat_context, clock, [70.0, 70.4] * 160 + [66.0])
    async with app.db.begin_write() as tx:
        await save_measurements(
            tx,
            chat_context.person.id,
            [build_weight(chat_context.person.id, LAST, 70.1)],
            now=clock(),
        )
    await live_until(app, clock, at("2026-11-18T22:00"))

    assert await list_unasked(app, chat_context) == []


def build_days(values: Sequence[float]) -> list[DayValue]:
    """One value each day until the last."""
    first = LAST - timedelta(days=len(values) - 1)
    return [
        DayValue(day=first + timedelta(days=place), value=value)
        for place, value in enumerate(values)
    ]


def test_extreme_is_one_of_a_year_that_was_kept() -> None:
    """Not the highest of a few days, and not what was there before."""
    usual = [70.0, 70.4] * 160
    assert find_extreme(build_days([*usual, 66.0])) == ("least", 66.0, 70.0)
    assert find_extreme(build_days([*usual, 71.0])) == ("most", 71.0, 70.4)
    assert find_extreme(build_days([*usual, 70.4])) is None
    assert find_extreme(build_days([70.0, 70.4, 75.0])) is None
    assert find_extreme(build_days([70.0, 70.4] * 33 + [71.0])) is None  # two months are no year


async def test_steps_of_a_day_that_is_not_over_are_no_news(
    app: AppContext, chat_context: ChatContext
) -> None:
    """They may still grow until midnight; those of the day before are told."""
    steps = [
        replace(
            build_weight(chat_context.person.id, day, 2_000 if day == LAST else 9_000 + at % 2),
            name="steps",
            unit="",
        )
        for at, day in enumerate(LAST - timedelta(days=each) for each in reversed(range(320)))
    ]
    async with app.db.begin_write() as tx:
        await save_measurements(tx, chat_context.person.id, steps, now=app.clock())
        same_day = await find_number_alert(tx, chat_context.person.id, "steps", LAST)
        day_after = await find_number_alert(
            tx, chat_context.person.id, "steps", LAST + timedelta(days=1)
        )

    assert same_day is None
    assert day_after is not None
    assert day_after.newest.day == LAST


def test_change_needs_several_values_before_and_after() -> None:
    """A week of one value is none."""
    assert find_change(build_days([70.0] * 28 + [75.0] * 7)) == ("up", 75.0, 70.0)
    assert find_change(build_days([75.0] * 7)) is None
    assert find_change(build_days([0.0] * 35)) is None
