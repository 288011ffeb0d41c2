"""A calendar of talks and of what happened; each day opens its words."""

import pytest

from tests.web.conftest import Browse, told


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


@pytest.mark.parametrize("day", ["2026-02-30", "months/2026-13", "months/9999-12"])
async def test_a_day_that_is_none_is_refused(browse: Browse, day: str) -> None:
    """With what to give instead."""
    answer = await (await browse()).get(f"/days/{day}")

    assert answer.status_code == 422
    assert "detail" in answer.json()
