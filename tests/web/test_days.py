"""A calendar of talks and of what happened; each day opens its words."""

import pytest

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import ObjectId, SummaryId, new_id
from oldfriend.domain.memories import Summary
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.people import ensure_owner
from tests.web.conftest import Browse, Site, told


async def test_a_day_tells_what_was_said_and_happened_on_it(browse: Browse) -> None:
    """In the calendar, and with its talks; only one's own."""
    browser, omar = await browse(), await browse("Omar")
    await told(browser, "Hello. My sister Ana got married yesterday, I am so happy!")
    today = (await browser.get("/chat/messages")).json()["items"][0]
    day = today["at"][:10]
    month = (await browser.get(f"/days/months/{day[:7]}")).json()
    whole = (await browser.get(f"/days/{day}")).json()
    elsewhere = (await browser.get("/days/2001-02-03")).json()
    others = (await omar.get(f"/days/{day}")).json()

    assert [(each["day"], each["messages"]) for each in month["days"]] == [(day, 2)]
    assert (month["first"], month["today"][:7]) == (day[:7], month["month"])
    assert [(each["channel"], each["first"], each["messages"]) for each in whole["talks"]] == [
        ("web", today["id"], 2)
    ]
    assert (elsewhere["talks"], elsewhere["after"]) == ([], None)
    assert others["talks"] == []


async def test_a_day_tells_what_covers_it_in_short(site: Site, browse: Browse) -> None:
    """The closest first; what was before or comes after is of other days."""
    browser = await browse()
    begins = Micros(20_000 * DAY)  # 4 October 2024
    spans = {
        "the day": (0, 1, 1),
        "days around": (-3, 5, 2),
        "before": (-2, 0, 1),
        "after": (1, 2, 1),
    }
    async with site.house.db.writing() as tx:
        owner = await ensure_owner(tx, now=site.house.clock(), zone="UTC")
        for text, (first, until, level) in spans.items():
            summary = Summary(
                id=SummaryId(ObjectId(new_id(begins))), person=owner.id, level=level, text=text,
                language="en", topics=(), segments=(), learned_at=begins,
                from_at=begins + first * DAY, until_at=begins + until * DAY - 1,
            )  # fmt: skip
            ground = Ground(author="t")
            await decide(tx, summary, op="learned", base=0, ground=ground, now=begins)
    day = (await browser.get("/days/2024-10-04")).json()

    assert [each["text"] for each in day["told"]] == ["the day", "days around"]


@pytest.mark.parametrize("day", ["2026-02-30", "months/2026-13", "months/9999-12"])
async def test_a_day_that_is_none_is_refused(browse: Browse, day: str) -> None:
    """With what to give instead."""
    answer = await (await browse()).get(f"/days/{day}")

    assert answer.status_code == 422
    assert "detail" in answer.json()
