"""Sums are right, what is unknown is never taken for nothing, and caps hold."""

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.clock import DAY, from_micros, get_start_of_day
from oldfriend.usage.costs import SpendCap, UsageTotals, sum_usage, sum_usage_by, sum_usage_by_day
from tests.clock import FrozenClock
from tests.usage.conftest import Pay

ONE = UsageTotals(calls=1, tokens_in=100, tokens_cached=40, tokens_out=10, cost=1000)


async def test_usage_sums_are_zero_without_calls(db: Database) -> None:
    """On a database that was made just now the table is there."""
    async with db.begin_read() as tx:
        assert await sum_usage(tx, 0) == UsageTotals()
        assert await sum_usage_by(tx, "purpose", since=0) == []
        assert await sum_usage_by_day(tx, 30, now=0, zone="UTC") == []


async def test_failed_and_unpriced_calls_are_counted_separately(db: Database, pay: Pay) -> None:
    """A call that used tokens at an unknown price is unknown; one that gave nothing is failed."""
    await pay()
    await pay(cost=None)
    await pay(outcome="failed")
    await pay(outcome="refused")
    async with db.begin_read() as tx:
        spent = await sum_usage(tx, 0)

    assert spent == UsageTotals(
        calls=4,
        failed=2,
        tokens_in=200,
        tokens_cached=80,
        tokens_out=20,
        cost=1000,
        unpriced_calls=1,
        unpriced_tokens=110,
    )
    assert spent.tokens == 220


async def test_background_usage_is_summed_separately(db: Database, pay: Pay) -> None:
    """Its cap is another."""
    await pay(cost=7)
    await pay(cost=5, is_background=True)
    async with db.begin_read() as tx:
        assert (await sum_usage(tx, 0, background_only=True)).cost == 5
        assert (await sum_usage(tx, 0)).cost == 12


async def test_usage_sum_includes_only_calls_in_the_time_span(
    db: Database, clock: FrozenClock, pay: Pay
) -> None:
    """From its first moment, up to but without its last."""
    began = clock()
    await pay()
    later = clock.tick(minutes=1)
    await pay()
    async with db.begin_read() as tx:
        assert (await sum_usage(tx, began)).calls == 2
        assert (await sum_usage(tx, began + 1)).calls == 1
        assert (await sum_usage(tx, began, until=later)).calls == 1


async def test_usage_groups_are_sorted_by_cost_with_unpriced_last(db: Database, pay: Pay) -> None:
    """On every engine alike."""
    await pay(purpose="extract", model="a:x", cost=None)
    await pay(purpose="classify", model="a:x", cost=None, tokens=(900, 0, 0))
    await pay(purpose="reply", model="b:y", cost=5)
    await pay(purpose="reply", model="c:z", cost=5)
    async with db.begin_read() as tx:
        by_purpose = await sum_usage_by(tx, "purpose", since=0)
        by_model = await sum_usage_by(tx, "model", since=0)
        by_outcome = await sum_usage_by(tx, "outcome", since=0)

    assert [name for name, _ in by_purpose] == ["reply", "classify", "extract"]
    assert by_purpose[0][1].cost == 10
    assert by_purpose[1][1].unpriced_calls == 1
    assert [name for name, _ in by_model] == ["b:y", "c:z", "a:x"]
    assert [name for name, _ in by_outcome] == ["done"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid", "Asia/Kolkata"])
async def test_daily_usage_is_split_at_midnight_in_the_person_time_zone(
    db: Database, clock: FrozenClock, pay: Pay, zone: str
) -> None:
    """The last call before midnight and the first after it lie on two days."""
    midnight = get_start_of_day(clock() + DAY, zone)
    for clock.now in (midnight - DAY, midnight - 1, midnight, midnight + 5):
        await pay()
    async with db.begin_read() as tx:
        days = await sum_usage_by_day(tx, 3, now=clock(), zone=zone)
        last = await sum_usage_by_day(tx, 1, now=clock(), zone=zone)

    assert [(day, spent.calls) for day, spent in days] == [(midnight, 2), (midnight - DAY, 2)]
    assert [spent.calls for _, spent in last] == [2]
    assert from_micros(days[0][0], zone).strftime("%H:%M") == "00:00"


def test_a_cap_is_reached_by_money_or_by_tokens() -> None:
    """Without one, nothing ever is too much."""
    assert not SpendCap().is_reached_by(ONE)
    assert SpendCap(cost=1000).is_reached_by(ONE)
    assert not SpendCap(cost=1001).is_reached_by(ONE)
    assert SpendCap(tokens=110).is_reached_by(ONE)
    assert not SpendCap(cost=1001, tokens=111).is_reached_by(ONE)
    assert SpendCap(cost=0).is_reached_by(UsageTotals())


def test_spend_cap_is_reached_by_unpriced_tokens() -> None:
    """They cannot count against money; priced tokens do not count against them."""
    unpriced = UsageTotals(
        calls=1, tokens_in=100, tokens_out=10, unpriced_calls=1, unpriced_tokens=110
    )

    assert SpendCap(cost=1_000_000, unpriced_tokens=110).is_reached_by(unpriced)
    assert not SpendCap(cost=1_000_000, unpriced_tokens=111).is_reached_by(unpriced)
    assert not SpendCap(cost=1_000_000, unpriced_tokens=110).is_reached_by(ONE)


async def test_call_without_price_or_tokens_is_counted_by_estimated_tokens(
    db: Database, pay: Pay
) -> None:
    """Some providers report nothing; such calls must reach a limit, too."""
    await pay(cost=None, tokens=(0, 0, 0), text="four and twenty")
    await pay(cost=0, tokens=(0, 0, 0))
    async with db.begin_read() as tx:
        spent = await sum_usage(tx, 0)

    assert (spent.calls, spent.unpriced_calls) == (2, 1)
    assert spent.unpriced_tokens == spent.tokens > len("four and twenty") // 4
