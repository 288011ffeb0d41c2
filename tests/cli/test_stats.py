"""What models have cost, as it is asked on the command line."""

import asyncio
from pathlib import Path

import pytest

from oldfriend.cli.stats import format_kinds
from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import DAY, system_clock
from oldfriend.inbound.accept import open_local_chat
from oldfriend.llm.model import ModelCall
from oldfriend.runtime.wiring import open_app
from oldfriend.usage.model_calls import CallContext, record_call
from tests.cli.conftest import Call as CallCommand
from tests.usage.conftest import call_of


@pytest.fixture
def pay(tmp_path: Path):
    """Keep calls that were made so many days ago."""

    async def keep(calls: tuple[ModelCall, ...], days_ago: int, is_background: bool) -> None:
        settings = load_settings({}, data=str(tmp_path / "data"))
        async with open_app(settings) as app:
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person=None, channel="terminal"
            )
            asker = CallContext(person=chat_context.person.id, is_background=is_background)
            now = system_clock() - days_ago * DAY
            async with app.db.begin_write() as tx:
                for call in calls:
                    await record_call(tx, asker, call, step=0, request_hash="hash", now=now)

    def pay(*calls: ModelCall, days_ago: int = 0, is_background: bool = False) -> None:
        asyncio.run(keep(calls, days_ago, is_background))

    return pay


def test_cost_without_model_calls_says_so_and_shows_the_limits(call: CallCommand) -> None:
    """And what may be spent today."""
    call("say", "hello")
    said = call("cost")

    assert said.code == 0
    assert "No model was called in the last 30 days." in said.stdout
    assert "Left today for background work: $1.00 of $1.00." in said.stdout
    assert "Daily limit for everything: none." in said.stdout


def test_cost_sums_calls_by_purpose_and_keeps_unknown_prices_apart(call: CallCommand, pay) -> None:
    """Unknown stays unknown; what failed is counted."""
    pay(
        call_of(purpose="reply", cost=1_230_000),
        call_of(purpose="reply", outcome="failed"),
        call_of(purpose="extract", cost=None),
        call_of(purpose="summary", cost=0),
        call_of(purpose="classify", cost=1_500, tokens=(12_000, 0, 5)),
    )
    rows = [line.split() for line in call("cost").stdout.splitlines()]

    assert ["purpose", "calls", "failed", "tokens", "in", "cached", "tokens", "out", "cost"] in rows
    assert ["reply", "2", "1", "100", "40", "10", "$1.23"] in rows
    assert ["classify", "1", "0", "12,000", "0", "5", "$0.0015"] in rows
    assert ["extract", "1", "0", "100", "40", "10", "unknown:", "110", "tokens"] in rows
    assert ["summary", "1", "0", "100", "40", "10", "$0.00"] in rows
    total = ["total", "5", "1", "12,300", "120", "35", "$1.23;", "unknown:", "110", "tokens"]
    assert total in rows


def test_cost_by_model_and_by_day_are_sorted(call: CallCommand, pay) -> None:
    """The dearest model first, the last day first."""
    pay(call_of(model="a:cheap", cost=10), call_of(model="b:dear", cost=20))
    pay(call_of(model="a:cheap", cost=5), days_ago=3)
    models = call("cost", "--by", "model", "--json").json
    days = call("cost", "--by", "day", "--json").json

    assert [each["model"] for each in models["sums"]] == ["b:dear", "a:cheap"]
    assert [each["calls"] for each in days["sums"]] == [2, 1]
    assert days["sums"][0]["day"] > days["sums"][1]["day"]
    assert days["total"]["dollars"] == pytest.approx(35 / 1_000_000)


def test_cost_days_limits_the_period(call: CallCommand, pay) -> None:
    """One day is today."""
    pay(call_of(cost=10))
    pay(call_of(cost=5), days_ago=3)

    assert call("cost", "--days", "1", "--json").json["total"]["calls"] == 1
    assert call("cost", "--days", "2", "--json").json["total"]["calls"] == 1
    assert call("cost", "--days", "5", "--json").json["total"]["calls"] == 2
    assert "today" in call("cost", "--days", "1").stdout


def test_cost_shows_what_is_left_of_the_daily_budgets(
    call: CallCommand, pay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money and tokens, and how many tokens were used at an unknown price."""
    monkeypatch.setenv("OLDFRIEND_BUDGET_ALL_PER_DAY", "2")
    monkeypatch.setenv("OLDFRIEND_BUDGET_ALL_TOKENS_PER_DAY", "1000")
    pay(call_of(cost=250_000, tokens=(500, 0, 100)))
    pay(
        call_of(cost=900_000, tokens=(300, 0, 0)),
        call_of(cost=None, tokens=(200, 0, 0)),
        is_background=True,
    )
    text = call("cost").stdout
    today = call("cost", "--json").json["today"]

    unknown = "price unknown: 200 tokens in 1 call"
    assert f"background work: $0.10 of $1.00, {unknown}, of at most 500,000." in text
    assert f"for everything: $0.85 of $2.00, 0 of 1,000 tokens, {unknown}" in text
    assert today["background"]["dollars_left"] == 0.1
    assert today["background"]["unpriced_tokens_left"] == 499_800
    assert not today["background"]["is_used_up"]
    assert today["everything"]["tokens_left"] == 0
    assert today["everything"]["is_used_up"]


def test_cost_json_total_is_null_if_all_prices_are_unknown(call: CallCommand, pay) -> None:
    """Zero would be a lie."""
    pay(call_of(cost=None))
    total = call("cost", "--json").json["total"]

    assert total["dollars"] is None
    assert total["unknown_calls"] == 1
    assert total["unpriced_tokens"] == 110


def test_unpriced_model_calls_exhaust_the_daily_token_budget(
    call: CallCommand, pay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default in the background; where no limit in money is wanted there is none in tokens."""
    pay(call_of(cost=None, tokens=(450_000, 0, 50_000)), is_background=True)
    today = call("cost", "--json").json["today"]

    assert today["background"]["is_used_up"]
    assert today["background"]["unpriced_tokens_left"] == 0
    assert not today["everything"]["is_used_up"]

    monkeypatch.setenv("OLDFRIEND_BUDGET_BACKGROUND_PER_DAY", "none")
    assert not call("cost", "--json").json["today"]["background"]["is_used_up"]


@pytest.mark.parametrize(
    "arguments", [("--by", "colour"), ("--days", "0"), ("--days", "x"), ("--days", "99999999")]
)
def test_cost_with_invalid_arguments_is_a_usage_error(
    call: CallCommand, arguments: tuple[str, ...]
) -> None:
    """With two."""
    ended = call("cost", *arguments)

    assert ended.code == 2
    assert ended.stderr


def test_stats_name_kinds_of_beliefs_in_the_plural_where_it_is_due() -> None:
    """One fact, four facts, two entities."""
    assert format_kinds({"fact": 4, "entity": 2, "summary": 1}) == "4 facts, 2 entities, 1 summary"
