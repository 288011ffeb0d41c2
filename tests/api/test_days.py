"""A calendar of talks and of what happened; each day opens its words."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.ids import MemoryId, ObjectId, SummaryId, new_id
from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import ensure_owner
from tests.api.conftest import Browse, Site, told

GROUND = Provenance(author="t")


async def test_calendar_day_lists_own_messages_and_conversations(browse: Browse) -> None:
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


async def test_calendar_day_shows_largest_summaries_within_the_day_once(
    site: Site, browse: Browse
) -> None:
    """Each thing once: in the largest summary that is of this day alone, else in its parts."""
    browser = await browse()
    begins = Micros(20_000 * DAY)  # 4 October 2024
    spans = {
        "one": (0, 0.2, 1, ()),
        "two": (0.2, 0.4, 1, ()),
        "one and two": (0, 0.4, 2, ("one", "two")),
        "three": (0.5, 1, 1, ()),
        "before": (-2, 0, 1, ()),
        "after": (1, 2, 1, ()),
        "days around": (-2, 1, 3, ("before", "one and two", "three")),
        "long ago and since": (-9, 9, 2, ("long ago",)),
    }
    made: dict[str, SummaryId] = {}
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=site.app.clock(), zone="UTC")
        for text, (first, until, level, parts) in spans.items():
            made[text] = SummaryId(ObjectId(new_id(begins)))
            summary = Summary(
                id=made[text],
                person=owner.id,
                level=level,
                text=text,
                language="en",
                topics=(),
                segments=(),
                learned_at=begins,
                sources=tuple(made.get(each, SummaryId(ObjectId(each))) for each in parts),
                from_at=Micros(int(begins + first * DAY)),
                until_at=Micros(int(begins + until * DAY) - 1),
            )
            await record_decision(tx, summary, op="learned", base=0, provenance=GROUND, now=begins)
    day = (await browser.get("/days/2024-10-04")).json()

    assert [each["text"] for each in day["told"]] == ["one and two", "three"]


async def test_calendar_shows_commitments_on_their_due_date(site: Site, browse: Browse) -> None:
    """Open or kept, in the calendar as far as it reaches; what was taken back does not."""
    browser, omar = await browse(), await browse("Omar")
    now = site.app.clock()
    due = Micros(now + 70 * DAY)
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        for text, op, status in (
            ("Will call Ana.", "learned", "active"),
            ("Will send the map.", "fulfilled", "fulfilled"),
            ("Will sell the boat.", "rejected", "rejected"),
        ):
            promise = Memory(
                id=MemoryId(ObjectId(new_id(now))),
                person=owner.id,
                kind="commitment",
                text=text,
                language="en",
                due_at=Micros(due + len(text)),
                learned_at=now,
            )
            change = await record_decision(
                tx, promise, op="learned", base=0, provenance=GROUND, now=now
            )
            if op != "learned":
                over = replace(promise, status=status, ended_at=now)
                await record_decision(tx, over, op=op, base=change.seq, provenance=GROUND, now=now)
    day = from_micros(due).date().isoformat()
    today = from_micros(now).date().isoformat()
    this_month = (await browser.get(f"/days/months/{today[:7]}")).json()
    its_month = (await browser.get(f"/days/months/{day[:7]}")).json()
    its_day = (await browser.get(f"/days/{day}")).json()
    others = [(await omar.get(path)).json() for path in (f"/days/{day}", f"/days/months/{day[:7]}")]

    told = [("Will call Ana.", "active"), ("Will send the map.", "fulfilled")]
    assert this_month["last"] == day[:7]
    assert [each["day"] for each in its_month["days"]] == [day]
    assert [(each["text"], each["status"]) for each in its_month["days"][0]["due"]] == told
    assert [(each["text"], each["status"]) for each in its_day["due"]] == told
    assert [others[0]["due"], others[1]["days"]] == [[], []]


@pytest.mark.parametrize("day", ["2026-02-30", "months/2026-13", "months/9999-12"])
async def test_invalid_calendar_day_is_refused(browse: Browse, day: str) -> None:
    """With what to give instead."""
    answer = await (await browse()).get(f"/days/{day}")

    assert answer.status_code == 422
    assert "detail" in answer.json()
