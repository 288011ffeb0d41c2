"""A calendar of talks and of what happened; each day opens its words."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.ids import MemoryId, ObjectId, SummaryId, new_id
from oldfriend.domain.memories import StoredBelief, Summary
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


async def test_year_counts_months_and_a_day_lists_its_messages(browse: Browse) -> None:
    """Of what was said and what happened; only one's own."""
    browser, omar = await browse(), await browse("Omar")
    await told(browser, "Hello. My sister Ana got married yesterday, I am so happy!")
    day = (await browser.get("/chat/messages")).json()["items"][0]["at"][:10]
    year = (await browser.get(f"/days/years/{day[:4]}")).json()
    said = (await browser.get(f"/days/{day}/messages")).json()
    before = (await browser.get(f"/days/years/{int(day[:4]) - 1}")).json()
    others = [
        (await omar.get(path)).json()
        for path in (f"/days/years/{day[:4]}", f"/days/{day}/messages")
    ]

    assert [(each["month"], each["messages"]) for each in year["months"]] == [(day[:7], 2)]
    assert (year["first"], year["latest"]) == (int(day[:4]), day[:7])
    assert [each["role"] for each in said["items"]] == ["person", "companion"]
    assert not said["has_more"]
    assert before["months"] == []
    assert others[0]["months"] == others[1]["items"] == []
    assert (await browser.get("/days/years/0")).status_code == 422


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

    assert [each["text"] for each in day["summaries"]] == ["one and two", "three"]
    assert day["told"] == day["summaries"]


async def test_summary_of_a_day_is_marked_with_its_language_and_no_data_is_shown(
    site: Site, browse: Browse
) -> None:
    """By its words, whatever was stored as its language; what is not prose stays out."""
    browser = await browse()
    begins = Micros(20_000 * DAY)
    texts = {
        "She wants to learn to row and has bought a boat with her sister.": "en",
        "Sie hat sich ein Boot gekauft und will mit ihrer Schwester rudern lernen.": "de",
        '{"text": "She rows.", "topics": []}': "",
        "She rows rows rows rows rows rows.": "",
    }
    async with site.app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=site.app.clock(), zone="UTC")
        for place, text in enumerate(texts):
            summary = Summary(
                id=SummaryId(ObjectId(new_id(begins))),
                person=owner.id,
                level=1,
                text=text,
                language="en",
                learned_at=begins,
                from_at=Micros(begins + place),
                until_at=Micros(begins + place + 1),
            )
            await record_decision(tx, summary, op="learned", base=0, provenance=GROUND, now=begins)
    day = (await browser.get("/days/2024-10-04")).json()

    shown = {each["text"]: each["text_language"] for each in day["summaries"]}
    assert shown == {text: language for text, language in texts.items() if language}


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
            promise = StoredBelief(
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

    told = [("You will call Ana.", "active"), ("You will send the map.", "fulfilled")]
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


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Auckland"])
async def test_said_days_stay_when_the_person_changes_zones(browse: Browse, zone: str) -> None:
    """What was said in Lisbon for a day stays on it, in the calendar and in the list."""
    browser = await browse()
    await told(browser, "I promise to send Tom the photos by December 31st 2027.")
    await told(browser, "I have a dentist appointment on December 30th 2027 at 10:15.")
    shown = []
    for each in ("Europe/Lisbon", zone):
        await browser.patch("/me", json={"zone": each})
        items = (await browser.get("/memories?limit=50")).json()["items"]
        month = (await browser.get("/days/months/2027-12")).json()
        days = [await browser.get(f"/days/2027-12-{day}") for day in (29, 30, 31)]
        next_month = (await browser.get("/days/months/2028-01")).json()
        shown.append(
            (
                [(day["day"], [due["id"] for due in day["due"]]) for day in month["days"]],
                [[due["id"] for due in day.json()["due"]] for day in days],
                next_month["days"],
                {item["id"]: (item["due_at"], item["zone"]) for item in items if item["due_at"]},
            )
        )
    months, days, after, due = shown[0]

    assert shown[1] == shown[0]
    assert [day for day, _ in months] == ["2027-12-30", "2027-12-31"]
    assert days == [[], months[0][1], months[1][1]]
    assert after == []
    assert {at[:16] for at, _ in due.values()} >= {"2027-12-31T23:59"}
    assert {said for _, said in due.values()} == {"Europe/Lisbon"}


async def test_days_to_come_show_reminders_series_and_goals(browse: Browse) -> None:
    """In the month and on the day, as "what's on" tells it; only one's own."""
    browser, omar = await browse(), await browse("Omar")
    once = {"text": "Call Mira", "due": "2035-12-03T17:00"}
    series = {"text": "Yoga", "due": "2035-12-06T18:00", "rrule": "FREQ=WEEKLY;BYDAY=TH"}
    for made in (once, series):
        assert (await browser.post("/tasks", json=made)).status_code == 201
    goal = {"text": "Read ten books", "deadline": "2035-12-13"}
    assert (await browser.post("/goals", json=goal)).status_code == 201
    month = (await browser.get("/days/months/2035-12")).json()
    day = (await browser.get("/days/2035-12-13")).json()
    far = (await browser.get("/days/months/8000-01")).json()
    others = (await omar.get("/days/months/2035-12")).json()

    planned = {
        each["day"][8:]: [item["text"] for item in each["planned"]] for each in month["days"]
    }
    assert planned == {
        "03": ["Call Mira"],
        "06": ["Yoga"],
        "13": ["Yoga", "Read ten books"],
        "20": ["Yoga"],
        "27": ["Yoga"],
    }
    assert month["last"] == "2036-01"  # there is Yoga then, too
    yoga, books = day["planned"]
    assert (yoga["kind"], yoga["at"][:16]) == ("task", "2035-12-13T18:00")
    assert (books["kind"], books["at"]) == ("goal", None)
    assert {item["text"] for each in far["days"] for item in each["planned"]} <= {"Yoga"}
    assert others["days"] == []


async def test_entry_of_several_days_stands_on_each_of_them(browse: Browse) -> None:
    """Told as whole days, in the list and in the calendar; the same file changes nothing twice."""
    browser = await browse()
    content = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\nUID:c\n"
        "SUMMARY:Conference\nDTSTART;VALUE=DATE:20351205\nDTEND;VALUE=DATE:20351210\n"
        "END:VEVENT\nBEGIN:VEVENT\nUID:t\nSUMMARY:Talk\nDTSTART:20351206T100000Z\n"
        "DTEND:20351206T113000Z\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    headers = {"Content-Type": "text/calendar"}
    address = "/tasks/calendar.ics"
    first = (await browser.post(address, content=content, headers=headers)).json()
    again = (await browser.post(address, content=content, headers=headers)).json()
    conference, talk = (await browser.get("/tasks")).json()["items"]
    month = (await browser.get("/days/months/2035-12")).json()
    day = (await browser.get("/days/2035-12-08")).json()
    exported = (await browser.get(address)).text

    assert {each["state"] for each in again["items"]} == {"known"}
    assert [each["is_all_day"] for each in first["items"]] == [True, False]
    assert (conference["is_all_day"], conference["until"]) == (True, "2035-12-09")
    assert (talk["is_all_day"], talk["until"][:16]) == (False, "2035-12-06T11:30")
    planned = {
        each["day"][8:]: [
            (item["text"], item["at"] and item["at"][11:16]) for item in each["planned"]
        ]
        for each in month["days"]
    }
    assert planned == {
        "05": [("Conference", None)],
        "06": [("Conference", None), ("Talk", "10:00")],
        "07": [("Conference", None)],
        "08": [("Conference", None)],
        "09": [("Conference", None)],
    }
    assert (day["planned"][0]["is_all_day"], day["planned"][0]["until"]) == (True, "2035-12-09")
    assert "DTSTART;VALUE=DATE:20351205" in exported
    assert "DTEND;VALUE=DATE:20351210" in exported
