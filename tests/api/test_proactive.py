"""Speaking first in the browser: what a person chooses, and what was decided (ACCEPTANCE L19)."""

import pytest

from oldfriend.domain.clock import HOUR
from oldfriend.memory.people import ensure_owner
from oldfriend.proactive.impulse_store import (
    add_impulses,
    list_waiting_impulses,
    record_impulse_decision,
)
from oldfriend.proactive.policy import Impulse, ProactiveDecision
from tests.api.conftest import Browse, Site

DEFAULTS = {
    "level": "shy",
    "quiet_begins": "22:00",
    "quiet_ends": "08:00",
    "digest": "off",
    "recap": "off",
    "muted": [],
}


async def test_choices_are_kept_and_only_ones_own(browse: Browse) -> None:
    """What is left out stays (ACCEPTANCE L19)."""
    browser, omar = await browse(), await browse("Omar")
    before = (await browser.get("/proactive")).json()
    put = await browser.put("/proactive", json={"level": "lively", "quiet_begins": "23:30"})
    again = (await browser.put("/proactive", json={"muted": ["thought"]})).json()

    assert before == DEFAULTS
    assert put.json() == {**DEFAULTS, "level": "lively", "quiet_begins": "23:30"}
    assert again == {**put.json(), "muted": ["thought"]}
    assert (await browser.get("/proactive")).json() == again
    assert (await omar.get("/proactive")).json() == DEFAULTS


async def test_checklist_is_kept_and_only_ones_own(browse: Browse) -> None:
    """As `/heartbeat` keeps it; an empty one is looked at no more."""
    browser, omar = await browse(), await browse("Omar")
    nothing = (await browser.get("/proactive/checklist")).json()
    lines = ["- Is an exam near?", "", "Have I called Ana?"]
    put = await browser.put("/proactive/checklist", json={"lines": lines, "minutes": 60})
    kept = (await browser.get("/proactive/checklist")).json()
    too_long = await browser.put("/proactive/checklist", json={"lines": ["a" * 201]})
    too_many = await browser.put("/proactive/checklist", json={"lines": ["a"] * 21})
    of_omar = (await omar.get("/proactive/checklist")).json()
    wordless = [
        (await browser.put("/proactive/checklist", json={"lines": [each]})).status_code
        for each in ("every: 5", "*", "##", "Is it\nnear?")
    ]
    unchanged = (await browser.get("/proactive/checklist")).json()
    off = (await browser.put("/proactive/checklist", json={"lines": []})).json()

    assert nothing == of_omar == off == {"lines": [], "minutes": 30}
    assert (
        kept == put.json() == {"lines": ["Is an exam near?", "Have I called Ana?"], "minutes": 60}
    )
    assert (too_long.status_code, too_many.status_code) == (422, 422)
    assert (wordless, unchanged) == ([422] * 4, kept)


@pytest.mark.parametrize(
    "chosen",
    [{"level": "pushy"}, {"quiet_begins": "25:00"}, {"muted": ["everything"]}, {"speed": 3}],
)
async def test_unknown_choices_are_refused(browse: Browse, chosen: dict[str, object]) -> None:
    """Nothing is guessed."""
    browser = await browse()

    assert (await browser.put("/proactive", json=chosen)).status_code == 422
    assert (await browser.get("/proactive")).json() == DEFAULTS


async def test_decisions_are_shown_with_their_reasons(site: Site, browse: Browse) -> None:
    """Each one, oldest first (ACCEPTANCE L13)."""
    browser, now = await browse(), site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        impulse = Impulse(
            person=owner.id,
            kind="promise",
            key="promise:x",
            sources=("x",),
            not_before=now,
            expires_at=now + HOUR,
            urgency=0.9,
        )
        await add_impulses(tx, owner.id, [impulse], now=now)
        for decision in (
            ProactiveDecision(verdict="wait", reason="quiet_hours", until=now + 60_000_000),
            ProactiveDecision(verdict="wait", reason="quiet_hours", until=now + 60_000_000),
            ProactiveDecision(verdict="drop", reason="expired"),
        ):
            (stored,) = await list_waiting_impulses(tx, owner.id)
            await record_impulse_decision(tx, stored, decision, now=now)
    (item,) = (await browser.get("/proactive/impulses")).json()["items"]

    said = (await browser.get("/proactive/impulses?status=said")).json()["items"]
    dropped = (await browser.get("/proactive/impulses?status=dropped")).json()["items"]

    assert (said, dropped) == ([], [item])
    assert (item["kind"], item["status"], item["sources"]) == ("promise", "dropped", ["x"])
    assert [each["text"] for each in item["decisions"]] == [
        "It was within the quiet hours.",
        "Its time was over.",
    ]
