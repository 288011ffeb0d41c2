"""What models have cost, as it is asked on the command line."""

import asyncio
from pathlib import Path

import pytest

from oldfriend.app.accepting import open_line
from oldfriend.app.choices.settings import read_settings
from oldfriend.app.wiring import open_house
from oldfriend.domain.clock import DAY, system_clock
from oldfriend.ledger.calls import Asker, record_call
from oldfriend.llm.model import Call
from tests.cli.conftest import Call as CallCommand
from tests.ledger.conftest import call_of


@pytest.fixture
def pay(tmp_path: Path):
    """Keep calls that were made so many days ago."""

    async def keep(calls: tuple[Call, ...], days_ago: int, is_background: bool) -> None:
        settings = read_settings({}, data=str(tmp_path / "data"))
        async with open_house(settings) as house:
            line = await open_line(house, person=None, channel="terminal")
            asker = Asker(person=line.person.id, is_background=is_background)
            now = system_clock() - days_ago * DAY
            async with house.db.writing() as tx:
                for call in calls:
                    await record_call(tx, asker, call, step=0, request="hash", now=now)

    def pay(*calls: Call, days_ago: int = 0, is_background: bool = False) -> None:
        asyncio.run(keep(calls, days_ago, is_background))

    return pay


def test_without_calls_it_says_so(call: CallCommand) -> None:
    """And what may be spent today."""
    call("say", "hello")
    said = call("cost")

    assert said.code == 0
    assert "No model was called in the last 30 days." in said.stdout
    assert "in the background: $1.00 of $1.00." in said.stdout
    assert "Today for everything: no limit." in said.stdout


def test_what_it_cost_is_added_up_by_purpose(call: CallCommand, pay) -> None:
    """Unknown stays unknown; what failed is counted."""
    pay(
        call_of(purpose="reply", cost=1_230_000), call_of(purpose="reply", outcome="failed"),
        call_of(purpose="extract", cost=None), call_of(purpose="summary", cost=0),
        call_of(purpose="classify", cost=1_500, tokens=(12_000, 0, 5)),
    )  # fmt: skip
    rows = [line.split() for line in call("cost").stdout.splitlines()]

    assert ["purpose", "calls", "failed", "tokens", "in", "cached", "tokens", "out", "cost"] in rows
    assert ["reply", "2", "1", "100", "40", "10", "$1.23"] in rows
    assert ["classify", "1", "0", "12,000", "0", "5", "$0.0015"] in rows
    assert ["extract", "1", "0", "100", "40", "10", "unknown"] in rows
    assert ["summary", "1", "0", "100", "40", "10", "$0.00"] in rows
    together = ["together", "5", "1", "12,300", "120", "35", "$1.23", "and", "1", "call", "unknown"]
    assert together in rows


def test_by_model_and_by_day(call: CallCommand, pay) -> None:
    """The dearest model first, the last day first."""
    pay(call_of(model="a:cheap", cost=10), call_of(model="b:dear", cost=20))
    pay(call_of(model="a:cheap", cost=5), days_ago=3)
    models = call("cost", "--by", "model", "--json").json
    days = call("cost", "--by", "day", "--json").json

    assert [each["model"] for each in models["sums"]] == ["b:dear", "a:cheap"]
    assert [each["calls"] for each in days["sums"]] == [2, 1]
    assert days["sums"][0]["day"] > days["sums"][1]["day"]
    assert days["total"]["dollars"] == pytest.approx(35 / 1_000_000)


def test_only_the_days_that_are_asked_for_count(call: CallCommand, pay) -> None:
    """One day is today."""
    pay(call_of(cost=10))
    pay(call_of(cost=5), days_ago=3)

    assert call("cost", "--days", "1", "--json").json["total"]["calls"] == 1
    assert call("cost", "--days", "2", "--json").json["total"]["calls"] == 1
    assert call("cost", "--days", "5", "--json").json["total"]["calls"] == 2
    assert "today" in call("cost", "--days", "1").stdout


def test_what_is_left_of_the_caps_is_said(
    call: CallCommand, pay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money and tokens, and that calls at an unknown price are not in it."""
    monkeypatch.setenv("OLDFRIEND_BUDGET_ALL_PER_DAY", "2")
    monkeypatch.setenv("OLDFRIEND_BUDGET_ALL_TOKENS_PER_DAY", "1000")
    pay(call_of(cost=250_000, tokens=(500, 0, 100)))
    pay(call_of(cost=900_000, tokens=(300, 0, 0)), call_of(cost=None, tokens=(200, 0, 0)),
        is_background=True)  # fmt: skip
    text = call("cost").stdout
    today = call("cost", "--json").json["today"]

    expected = "in the background: $0.10 of $1.00 (1 call at an unknown price not counted)."
    assert expected in text
    assert "for everything: $0.85 of $2.00, 0 of 1,000 tokens (1 call" in text
    assert today["background"]["dollars_left"] == 0.1
    assert not today["background"]["is_used_up"]
    assert today["everything"]["tokens_left"] == 0
    assert today["everything"]["is_used_up"]


def test_what_is_all_unknown_is_null_for_a_program(call: CallCommand, pay) -> None:
    """Zero would be a lie."""
    pay(call_of(cost=None))
    total = call("cost", "--json").json["total"]

    assert total["dollars"] is None
    assert total["unknown_calls"] == 1


@pytest.mark.parametrize(
    "arguments", [("--by", "colour"), ("--days", "0"), ("--days", "x"), ("--days", "99999999")]
)
def test_wrong_usage_is_told(call: CallCommand, arguments: tuple[str, ...]) -> None:
    """With two."""
    ended = call("cost", *arguments)

    assert ended.code == 2
    assert ended.stderr
