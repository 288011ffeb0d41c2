"""Numbers by the API: series, and new ones from programs."""

from datetime import timedelta

from oldfriend.domain.clock import from_micros
from oldfriend.memory.people import ensure_owner
from oldfriend.proactive.proactive_settings import ProactiveSettings, save_proactive_settings
from oldfriend.queues.queue import find_next_due
from tests.api.conftest import Browse, Site


async def test_program_saves_numbers_and_reads_their_series(browse: Browse) -> None:
    """A weight replaces that of its day; only one's own are shown."""
    browser, omar = await browse(), await browse("Omar")
    items = [
        {"name": "weight", "value": value, "unit": "kg", "day": day}
        for value, day in ((72.0, "2024-05-01"), (71.5, "2024-05-08"), (71.0, "2024-05-15"))
    ]
    saved = await browser.post("/measurements", json={"items": items})
    again = await browser.post("/measurements", json={"items": items[-1:]})
    series = (await browser.get("/measurements/weight?from=2024-05-02")).json()

    assert (saved.status_code, again.status_code) == (201, 201)
    assert [each["value"] for each in series["items"]] == [71.5, 71.0]
    whole = (await browser.get("/measurements/weight")).json()
    assert (whole["mean"], whole["weekly_slope"]) == (71.5, -0.5)
    assert whole["days"][0] == {"day": "2024-05-01", "value": 72.0, "second_value": None}
    assert [each["name"] for each in (await browser.get("/measurements")).json()["items"]] == [
        "weight"
    ]
    assert (await omar.get("/measurements")).json()["items"] == []
    assert (await omar.delete(f"/measurements/{series['items'][0]['id']}")).status_code == 404
    assert (await browser.delete(f"/measurements/{series['items'][0]['id']}")).status_code == 204


async def test_value_that_is_no_number_is_refused(browse: Browse) -> None:
    """As well as one without a name."""
    browser = await browse()
    for item in ({"name": "weight", "value": "heavy"}, {"value": 3}, {"name": "", "value": 3}):
        answer = await browser.post("/measurements", json={"items": [item]})
        assert answer.status_code == 422


async def test_pair_of_a_day_and_sums_are_told_by_day(browse: Browse) -> None:
    """So that a chart needs no arithmetic: means of pairs, and what adds up."""
    browser = await browse()
    items = [
        {"name": "blood_pressure", "value": 120, "second_value": 80, "day": "2024-05-01"},
        {"name": "blood_pressure", "value": 130, "second_value": 90, "day": "2024-05-01"},
        {"name": "water", "value": 0.5, "unit": "l", "day": "2024-05-01"},
        {"name": "water", "value": 250, "unit": "ml", "day": "2024-05-01"},
    ]
    await browser.post("/measurements", json={"items": items})
    (pair,) = (await browser.get("/measurements/blood_pressure")).json()["days"]
    (water,) = (await browser.get("/measurements/water")).json()["days"]

    assert (pair["value"], pair["second_value"]) == (125, 85)
    assert (water["value"], water["second_value"]) == (0.75, None)


async def test_numbers_that_changed_clearly_plan_a_word_of_it(site: Site, browse: Browse) -> None:
    """Also where a program gives them (ACCEPTANCE L12)."""
    browser, now = await browse(), site.app.clock()
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=now, zone="UTC")
        await save_proactive_settings(tx, owner.id, ProactiveSettings(level="normal"), now=now)
    today = from_micros(now, "UTC").date()
    items = [
        {
            "name": "weight",
            "value": 70 if ago > 6 else 75,
            "unit": "kg",
            "day": f"{today - timedelta(days=ago)}",
        }
        for ago in range(35)
    ]
    answer = await browser.post("/measurements", json={"items": items})
    async with site.app.db.begin_read() as tx:
        planned = await find_next_due(tx, "agenda")

    assert answer.status_code == 201, answer.text
    assert planned is not None
