"""Reminders and to-dos over the API: added, listed, done, put off; everybody's own."""

import re
from typing import Any

import pytest
from httpx import AsyncClient

from tests.api.conftest import Browse, Site, events, told, until_topic
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY


async def test_task_is_added_once_listed_put_off_and_done(browse: Browse) -> None:
    """ACCEPTANCE L1, L3, L5."""
    owner = await browse()
    wanted = {"text": "Call mum", "due": "2035-11-24T10:00", "rrule": "FREQ=WEEKLY;BYDAY=SA"}
    made = await owner.post("/tasks", json=wanted)
    again = await owner.post("/tasks", json=wanted)
    await owner.post("/tasks", json={"text": "Fix the bike"})
    (call, bike) = (await owner.get("/tasks")).json()["items"]
    moved = await owner.patch(
        f"/tasks/{call['id']}", json={"action": "snooze", "due": "2035-11-24T11:00"}
    )
    done = await owner.patch(f"/tasks/{bike['id'][:8]}", json={"action": "done"})

    assert (made.status_code, again.status_code, len(again.json()["items"])) == (201, 201, 1)
    assert (call["text"], call["kind"], call["rrule"]) == ("Call mum", "reminder", wanted["rrule"])
    assert call["due"].startswith("2035-11-24T10:00")
    assert (bike["kind"], bike["due"]) == ("todo", None)
    assert moved.json()["due"].startswith("2035-11-24T11:00")
    assert done.json()["status"] == "done"
    assert len((await owner.get("/tasks")).json()["items"]) == 1
    assert len((await owner.get("/tasks", params={"ended": True})).json()["items"]) == 2


async def test_tasks_of_others_and_wrong_times_are_refused(browse: Browse) -> None:
    """ACCEPTANCE L5: own tasks only, no patterns in ids."""
    owner, omar = await browse(), await browse("Omar")
    (task,) = (await owner.post("/tasks", json={"text": "Secret"})).json()["items"]
    refused = [
        await omar.patch(f"/tasks/{task['id']}", json={"action": "done"}),
        await omar.patch("/tasks/%25", json={"action": "done"}),
        await owner.patch(f"/tasks/{task['id']}", json={"action": "snooze"}),
        await owner.post("/tasks", json={"text": "Late", "due": "2001-01-01T10:00"}),
        await owner.post("/tasks", json={"text": "Often", "rrule": "FREQ=DAILY"}),
    ]

    assert [each.status_code for each in refused] == [404, 404, 422, 422, 422]
    assert (await omar.get("/tasks")).json()["items"] == []
    assert (await owner.get("/tasks")).json()["items"][0]["status"] == "open"


async def test_words_are_read_as_in_a_chat_and_answered(browse: Browse) -> None:
    """The committed time, or what is asked about it; a to-do where no time is told."""
    owner = await browse()
    asked = (
        await owner.post("/tasks", json={"words": "Remind me to call mum on 24 November 2035 at 8"})
    ).json()
    (asking,) = asked["items"]
    answered = (await owner.post("/tasks", json={"words": "in the morning"})).json()
    todo = (await owner.post("/tasks", json={"words": "fix the bike"})).json()
    chinese = (await owner.post("/tasks", json={"words": "每天上午10点提醒我吃药"})).json()
    neither = await owner.post("/tasks", json={})

    assert asked["answer"] == asking["question"]
    assert "in the morning or in the evening" in asked["answer"]
    assert answered["answer"].startswith("I'll remind you on Sat 24 November 2035, 08:00")
    assert answered["items"][0]["status"] == "open"
    assert todo["answer"] == "On your list: “fix the bike”."
    assert "每天上午10点" in {each["repeats"] for each in chinese["items"]}
    assert neither.status_code == 422


async def test_question_about_a_time_offers_its_choices(browse: Browse) -> None:
    """Chosen by what each says, in whatever language the reminder was asked for."""
    owner = await browse()
    for words in (
        "Remind me to call mum on 24 November 2035 at 8",
        "Erinnere mich am 25. November 2035 um 7 an die Wäsche",
    ):
        await owner.post("/tasks", json={"words": words})
    asking = (await owner.get("/tasks")).json()["items"]
    offered = [[each["label"] for each in task["choices"]] for task in asking]
    chosen = [
        await owner.patch(
            f"/tasks/{task['id']}",
            json={"action": "answer", "words": task["choices"][1]["answer"]},
        )
        for task in asking
    ]
    again = await owner.patch(
        f"/tasks/{asking[0]['id']}", json={"action": "answer", "words": "08:00"}
    )

    assert offered == [["08:00", "20:00"], ["07:00", "19:00"]]
    assert [each.json()["due"][:16] for each in chosen] == ["2035-11-24T20:00", "2035-11-25T19:00"]
    assert [each.json()["status"] for each in chosen] == ["open", "open"]
    assert [each.json()["choices"] for each in chosen] == [[], []]
    assert again.status_code == 422


async def test_choice_is_a_button_below_the_question_in_the_talk(browse: Browse) -> None:
    """Once it was answered otherwise, a press changes nothing."""
    owner = await browse()
    for words in (
        "Remind me to call mum on 24 November 2035 at 8",
        "Remind me to jog tomorrow at 7",
    ):
        await told(owner, words)
    items = (await owner.get("/chat/messages")).json()["items"]
    shown = [each for each in items if each["buttons"]]
    evening = shown[0]["buttons"][1]
    await told(owner, "in the morning")
    for message in shown:
        command = message["buttons"][1]["command"]
        path = f"/chat/messages/{message['id']}/press"
        position = (await owner.get("/chat/messages")).json()["position"]
        await owner.post(path, json={"command": command})
        await until_topic(events(owner, after=position), "chat.message.done")
    tasks = {each["text"]: each for each in (await owner.get("/tasks")).json()["items"]}

    assert evening["label"] == "20:00"
    assert tasks["call mum"]["due"].startswith("2035-11-24T20:00")
    assert "T07:00" in tasks["jog"]["due"]


async def test_task_is_put_off_by_a_choice_and_put_back(browse: Browse) -> None:
    """The way back stands for a while on the page; what is on the list cannot be put back."""
    owner = await browse()
    made = await owner.post("/tasks", json={"text": "Call mum", "due": "2035-11-24T10:00"})
    (task,) = made.json()["items"]
    path = f"/tasks/{task['id']}"
    later = await owner.patch(path, json={"action": "snooze", "later": "tomorrow"})
    cancelled = await owner.patch(path, json={"action": "cancel"})
    back = await owner.patch(path, json={"action": "reopen"})
    again = await owner.patch(path, json={"action": "reopen"})

    assert later.json()["is_date_only"]
    assert later.json()["due"] < task["due"]
    assert cancelled.json()["status"] == "cancelled"
    assert (back.json()["status"], back.json()["due"]) == ("open", later.json()["due"])
    assert again.status_code == 422


async def test_calendar_feed_is_read_by_its_secret_alone_until_it_is_revoked(
    browse: Browse, site: Site
) -> None:
    """Only a hash is kept; it opens nothing else, and another one ends it."""
    owner, omar = await browse(), await browse("Omar")
    await owner.post("/tasks", json={"text": "Call mum", "due": "2035-11-24T10:00"})
    await omar.post("/tasks", json={"text": "Secret", "due": "2035-11-24T10:00"})
    assert (await owner.get("/tasks/feed")).json() == {"made": None, "path": None}
    first = (await owner.post("/tasks/feed", json={})).json()["path"]
    second = (await owner.post("/tasks/feed", json={})).json()["path"]
    async with site.stranger() as stranger:
        feed = await stranger.get(f"{site.origin}{second}")
        secret = second.removeprefix("/calendar/").removesuffix(".ics")
        as_token = await stranger.get("/tasks", headers={"Authorization": f"Bearer {secret}"})
        own = await omar.get("/tasks/calendar.ics")

        assert feed.status_code == 200
        assert feed.headers["content-type"].startswith("text/calendar")
        assert "SUMMARY:Call mum" in feed.text
        assert "Secret" not in feed.text
        assert "SUMMARY:Secret" in own.text
        assert as_token.status_code == 401
        assert (await stranger.get(f"{site.origin}{first}")).status_code == 404
        assert (await owner.get("/tokens")).json()["items"] == []
        assert (await owner.delete("/tasks/feed")).status_code == 204
        assert (await stranger.get(f"{site.origin}{second}")).status_code == 404
        guesses = [await stranger.get(f"{site.origin}/calendar/guess{n}.ics") for n in range(40)]
        assert guesses[-1].status_code == 429


async def test_text_that_asks_to_be_reminded_is_no_to_do(browse: Browse) -> None:
    """It would never come; with a time of its own, or without asking, it is kept as it is."""
    owner = await browse()
    asked = {"text": "remind me tomorrow at 10am to call the bank"}
    reminded = (await owner.post("/tasks", json=asked)).json()
    (task,) = reminded["items"]
    german = {"text": "Erinnere mich morgen um 10 Uhr an die Bank"}
    kept = [german | {"due": "2035-11-24T10:00"}, {"text": "Remind Tom about the party"}]
    for each in kept:
        await owner.post("/tasks", json=each)
    items = (await owner.get("/tasks")).json()["items"]

    assert (task["text"], task["kind"]) == ("call the bank", "reminder")
    assert task["due"] is not None
    assert reminded["answer"].startswith("I'll remind you on")
    assert {each["text"] for each in kept} <= {each["text"] for each in items}


async def test_text_that_asks_for_two_reminders_sets_both(browse: Browse) -> None:
    """What also asks for something else is kept as it is, and does nothing."""
    owner = await browse()
    both = {"text": "remind me tomorrow at 9am to call mum and tomorrow at 10am to call dad"}
    items = (await owner.post("/tasks", json=both)).json()["items"]
    mixed = {"text": "cancel the call with mum. Remind me tomorrow at 11am to call Eva"}
    then = (await owner.post("/tasks", json=mixed)).json()["items"]

    assert [each["text"] for each in items] == ["call mum", "call dad"]
    assert sorted(each["text"] for each in then) == sorted(["call mum", "call dad", mixed["text"]])


CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody//EN
BEGIN:VEVENT
SUMMARY:Choir
DTSTART:20351124T190000
RRULE:FREQ=WEEKLY;COUNT=3
END:VEVENT
BEGIN:VEVENT
SUMMARY:Long ago
DTSTART:20010101T100000
END:VEVENT
BEGIN:VTODO
SUMMARY:Fix the bike
END:VTODO
END:VCALENDAR
"""
ICS = {"Content-Type": "text/calendar"}


async def test_calendar_file_is_shown_first_and_brought_in_once(browse: Browse) -> None:
    """With what is new, what is there already, and what is over (issue 20: ``.ics`` import)."""
    owner = await browse()
    await owner.post("/tasks", json={"text": "Fix the bike"})
    address = "/tasks/calendar.ics"
    shown = (
        await owner.post(f"{address}?preview=true", content=CALENDAR.encode(), headers=ICS)
    ).json()
    before = (await owner.get("/tasks")).json()["items"]
    brought = (await owner.post(address, content=CALENDAR.encode(), headers=ICS)).json()
    again = (await owner.post(address, content=CALENDAR.encode(), headers=ICS)).json()
    after = (await owner.get("/tasks")).json()["items"]

    assert [(each["text"], each["state"]) for each in shown["items"]] == [
        ("Choir", "new"),
        ("Fix the bike", "known"),
    ]
    assert (shown["is_preview"], len(shown["unused"]), len(before)) == (True, 1, 1)
    assert (brought["is_preview"], brought["items"]) == (False, shown["items"])
    assert {each["state"] for each in again["items"]} == {"known"}
    assert [(each["text"], each["rrule"]) for each in after] == [
        ("Choir", "FREQ=WEEKLY;COUNT=3"),
        ("Fix the bike", None),
    ]


async def test_what_is_no_calendar_or_too_large_is_refused(browse: Browse) -> None:
    """It is read in a process of its own, and nothing is stored."""
    owner = await browse()
    large = CALENDAR.encode().replace(b"Choir", b"C" * 4_100_000)
    refused = [
        await owner.post("/tasks/calendar.ics", content=each, headers=ICS)
        for each in (b"Dear diary", b"\x00\xff" * 100, b"", large)
    ]

    assert [each.status_code for each in refused] == [422] * 4
    assert (await owner.get("/tasks")).json()["items"] == []


def build_event(name: str, uid: str, at: str) -> bytes:
    """A calendar of one event."""
    return (
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\n"
        f"UID:{uid}\nSUMMARY:{name}\nDTSTART:{at}\nEND:VEVENT\nEND:VCALENDAR\n"
    ).encode()


async def bring(client: AsyncClient, content: bytes, file: str = "mine.ics") -> dict[str, Any]:
    """Bring a calendar in."""
    headers = ICS | {"X-File-Name": file}
    answer = await client.post("/tasks/calendar.ics", content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def list_dues(client: AsyncClient) -> list[tuple[str, str]]:
    """The tasks on the list, with their times without a zone."""
    items = (await client.get("/tasks")).json()["items"]
    return [(each["text"], each["due"][:16]) for each in items]


async def test_calendar_import_is_listed_and_undone_like_any_other(browse: Browse) -> None:
    """It has a number, stands in the audit log, and its undo leaves what was there before."""
    owner = await browse()
    await owner.post("/tasks", json={"text": "Tea", "due": "2035-01-01T09:00"})
    brought = await bring(owner, build_event("Choir", "choir-1", "20351124T190000"))
    listed = (await owner.get("/imports")).json()["items"]
    audit = (await owner.get("/audit?kind=import")).json()["items"]
    undone = await owner.post(f"/imports/{brought['number']}/undo")

    assert [(each["file"], each["format"], each["added"]) for each in listed] == [
        ("mine.ics", "calendar", 1)
    ]
    assert [each["what"] for each in audit] == ["calendar"]
    assert undone.json()["tasks"] == 1
    assert await list_dues(owner) == [("Tea", "2035-01-01T09:00")]
    assert (await owner.get("/imports")).json()["items"][0]["status"] == "undone"


async def test_number_of_a_second_entry_is_never_the_id_of_another(browse: Browse) -> None:
    """All come, and none again."""
    owner = await browse()
    told = [("Choir", "a#2"), ("Tea", "a"), ("Walk", "a"), ("Swim", "a#3")]
    head, tail = b"PRODID:-//Somebody//EN\n", b"END:VCALENDAR"
    events = [
        build_event(text, uid, f"20351124T{10 + hour}0000").partition(head)[2].partition(tail)[0]
        for hour, (text, uid) in enumerate(told)
    ]
    content = b"BEGIN:VCALENDAR\nVERSION:2.0\n" + head + b"".join(events) + tail + b"\n"
    first = await bring(owner, content)
    again = await bring(owner, content)

    assert [each["state"] for each in first["items"]] == ["new"] * 4
    assert {each["state"] for each in again["items"]} == {"known"}


async def test_file_name_of_a_calendar_is_kept_without_control_characters(browse: Browse) -> None:
    """And without its folder, as that of any import."""
    owner = await browse()
    headers = {**ICS, "X-File-Name": "home%2Fmi%1B%5B2J%0Ane%E2%80%AE.ics"}
    await owner.post("/tasks/calendar.ics", content=CALENDAR.encode(), headers=headers)

    assert [each["file"] for each in (await owner.get("/imports")).json()["items"]] == [
        "mi[2Jne.ics"
    ]


async def test_entry_that_the_calendar_moves_is_moved_and_its_undo_moves_it_back(
    browse: Browse,
) -> None:
    """The same id is the same entry, whatever its time and its words."""
    owner = await browse()
    first = await bring(owner, build_event("Dentist", "d-1", "20351124T190000"))
    second = await bring(owner, build_event("Dentist, new practice", "d-1", "20351125T080000"))
    moved = await list_dues(owner)
    await owner.post(f"/imports/{second['number']}/undo")
    back = await list_dues(owner)
    await owner.post(f"/imports/{first['number']}/undo")

    assert [each["state"] for each in second["items"]] == ["moved"]
    assert moved == [("Dentist, new practice", "2035-11-25T08:00")]
    assert back == [("Dentist", "2035-11-24T19:00")]
    assert await list_dues(owner) == []


async def test_what_another_import_brought_or_is_own_outlives_the_undo_of_moves(
    browse: Browse,
) -> None:
    """Whichever is undone first: only what no standing import told goes."""
    owner = await browse()
    made = await owner.post("/tasks", json={"text": "Call mum", "due": "2035-01-01T09:00"})
    own = f"{made.json()['items'][0]['id']}@oldfriend"
    times = ("20351117T190000", "20351119T190000", "20351121T190000")
    brought = [await bring(owner, build_event("Dentist", "d-1", each)) for each in times]
    moved = [await bring(owner, build_event("Call mum", own, each)) for each in times[:2]]
    for each in (brought[2], brought[1], *moved):
        await owner.post(f"/imports/{each['number']}/undo")
    dues = await list_dues(owner)
    await owner.post(f"/imports/{brought[0]['number']}/undo")

    assert dues == [("Call mum", "2035-01-01T09:00"), ("Dentist", "2035-11-17T19:00")]
    assert await list_dues(owner) == [("Call mum", "2035-01-01T09:00")]


async def test_own_calendar_that_comes_back_moves_only_what_was_changed_in_it(
    browse: Browse,
) -> None:
    """An older file undoes nothing; a series that it moves is told by its new day."""
    owner = await browse()
    for rule in ("FREQ=WEEKLY;BYDAY=MO;INTERVAL=2", "FREQ=DAILY;COUNT=5"):
        wanted = {"text": f"Tea {rule}", "due": "2035-01-01T09:00", "rrule": rule}
        await owner.post("/tasks", json=wanted)
    words = "Remind me every Monday at 9 to water the plants"
    await owner.post("/tasks", json={"words": words})
    listed = (await owner.get("/tasks")).json()["items"]
    (plants,) = [each for each in listed if each["repeats"]]
    written = (await owner.get("/tasks/calendar.ics")).content
    unchanged = await bring(owner, written)
    stamp = rb"DTSTAMP:\d{8}T\d{6}Z"
    newer = re.sub(stamp, b"DTSTAMP:20360101T000000Z", written)
    older = re.sub(stamp, b"DTSTAMP:20010101T000000Z", written)
    moved = [each.replace(b"BYDAY=MO\r\n", b"BYDAY=TU\r\n") for each in (older, newer)]
    brought = [await bring(owner, each) for each in moved]
    listed = (await owner.get("/tasks")).json()["items"]
    (told,) = [each for each in listed if each["id"] == plants["id"]]

    assert (unchanged["number"], brought[0]["number"]) == (None, None)
    assert [each["state"] for each in brought[1]["items"]].count("moved") == 2
    assert plants["repeats"] == "every Monday at 9"
    assert (told["rrule"], told["repeats"]) == ("FREQ=WEEKLY;BYDAY=TU", None)


async def test_what_the_person_changed_or_ended_stays_so_when_the_calendar_comes_again(
    browse: Browse,
) -> None:
    """A calendar is brought in again and again; it undoes nothing of the person's own."""
    owner = await browse()
    for name in ("Dentist", "Yoga"):
        await bring(owner, build_event(name, f"{name}-1", "20351124T190000"))
    ids = {each["text"]: each["id"] for each in (await owner.get("/tasks")).json()["items"]}
    await owner.patch(f"/tasks/{ids['Yoga']}", json={"action": "cancel"})
    change = {"action": "change", "due": "2035-11-24T20:30"}
    await owner.patch(f"/tasks/{ids['Dentist']}", json=change)
    again = [
        await bring(owner, build_event("Dentist", "Dentist-1", "20351124T190000")),
        await bring(owner, build_event("Yoga", "Yoga-1", "20351201T190000")),
    ]

    assert [each["number"] for each in again] == [None, None]
    assert await list_dues(owner) == [("Dentist", "2035-11-24T20:30")]


def add_lines(event: bytes, *lines: str) -> bytes:
    """An event with more lines."""
    return event.replace(b"END:VEVENT", "\n".join((*lines, "END:VEVENT")).encode())


async def test_one_cancelled_time_leaves_a_series_on_the_list_and_its_undo_brings_it_back(
    browse: Browse,
) -> None:
    """Told without its series, as calendars tell it: that time alone does not come."""
    owner = await browse()
    start = build_event("Choir", "c-1", "20351124T190000")
    await bring(owner, add_lines(start, "RRULE:FREQ=WEEKLY"))
    alone = add_lines(start, "RECURRENCE-ID:20351124T190000", "STATUS:CANCELLED")
    cancelled = await bring(owner, alone)
    after = await list_dues(owner)
    again = await bring(owner, alone)
    await owner.post(f"/imports/{cancelled['number']}/undo")

    assert [(each["text"], each["state"]) for each in cancelled["items"]] == [("Choir", "moved")]
    assert cancelled["unused"] == []
    assert after == [("Choir", "2035-12-01T19:00")]
    assert (again["number"], again["unused"]) == (None, [])
    assert await list_dues(owner) == [("Choir", "2035-11-24T19:00")]


async def test_older_edition_revives_nothing_that_a_newer_one_cancelled(browse: Browse) -> None:
    """A file that was kept longer comes after the cancellation."""
    owner = await browse()
    event = build_event("Dentist", "d-1", "20351124T190000")
    first, last = (add_lines(event, f"SEQUENCE:{number}") for number in (1, 2))
    await bring(owner, first)
    await bring(owner, add_lines(last, "STATUS:CANCELLED"))
    await bring(owner, first)
    after_older = await list_dues(owner)
    await bring(owner, add_lines(event, "SEQUENCE:3"))

    assert after_older == []
    assert await list_dues(owner) == [("Dentist", "2035-11-24T19:00")]


async def test_days_that_a_series_leaves_out_stand_beside_its_rule(browse: Browse) -> None:
    """The standard has them in no rule."""
    owner = await browse()
    event = build_event("Choir", "c-1", "20351124T190000")
    lines = ("RRULE:FREQ=WEEKLY", "EXDATE:20351124T190000")
    brought = await bring(owner, add_lines(event, *lines))
    (task,) = (await owner.get("/tasks")).json()["items"]
    found = [(each["rrule"], each["left_out"]) for each in (task, *brought["items"])]
    assert found == [("FREQ=WEEKLY", ["2035-11-24"])] * 2


SERIES = add_lines(
    build_event("Choir", "c-1", "20351124T180000Z"), "SEQUENCE:1", "RRULE:FREQ=WEEKLY;COUNT=3"
)
FIRST_MOVED = build_event("Choir", "c-1", "20351125T180000Z")


def join_events(*calendars: bytes) -> bytes:
    """One calendar with the events of several."""
    events = [
        each[each.index(b"BEGIN:VEVENT") : each.index(b"END:VCALENDAR")] for each in calendars
    ]
    return calendars[0].split(b"BEGIN:VEVENT")[0] + b"".join(events) + b"END:VCALENDAR\n"


async def test_moved_day_is_the_same_in_every_zone(browse: Browse) -> None:
    """Calendars tell a day in its zone, and cancel it in UTC."""
    owner = await browse()
    local = "RECURRENCE-ID;TZID=Europe/Madrid:20351124T190000"
    await bring(owner, join_events(SERIES, add_lines(FIRST_MOVED, local)))
    before = await list_dues(owner)
    utc = ("RECURRENCE-ID:20351124T180000Z", "STATUS:CANCELLED")
    await bring(owner, add_lines(FIRST_MOVED, *utc))

    assert [due[:10] for _, due in before] == ["2035-11-25", "2035-12-01"]
    assert [due[:10] for _, due in await list_dues(owner)] == ["2035-12-01"]


@pytest.mark.parametrize(
    ("later", "dues"),
    [
        (add_lines(SERIES, "STATUS:CANCELLED"), []),
        (SERIES, ["2035-11-24"]),
        (join_events(SERIES, add_lines(FIRST_MOVED, "RECURRENCE-ID:20351124T180000Z")), None),
    ],
    ids=["cancelled", "moved back", "unchanged"],
)
async def test_moved_day_ends_when_its_calendar_holds_it_no_more(
    browse: Browse, later: bytes, dues: list[str] | None
) -> None:
    """It would be told beside what took its place, or alone."""
    owner = await browse()
    moved = add_lines(FIRST_MOVED, "RECURRENCE-ID:20351124T180000Z")
    await bring(owner, join_events(SERIES, moved))
    await bring(owner, later)

    expected = ["2035-11-25", "2035-12-01"] if dues is None else dues
    assert [due[:10] for _, due in await list_dues(owner)] == expected


@pytest.mark.parametrize("is_moved", [False, True])
async def test_day_that_is_told_alone_stays_so_when_the_old_file_comes_again(
    browse: Browse, is_moved: bool
) -> None:
    """Until the calendar tells a newer edition of the series."""
    owner = await browse()
    await bring(owner, SERIES)
    day = "RECURRENCE-ID:20351124T180000Z"
    alone = (day, "SEQUENCE:2") if is_moved else (day, "SEQUENCE:2", "STATUS:CANCELLED")
    await bring(owner, add_lines(FIRST_MOVED, *alone))
    told_alone = await list_dues(owner)
    await bring(owner, SERIES)
    again = await list_dues(owner)
    await bring(owner, SERIES.replace(b"SEQUENCE:1", b"SEQUENCE:2"))

    days = ["2035-11-25"] if is_moved else []
    assert [due[:10] for _, due in told_alone] == [*days, "2035-12-01"]
    assert again == told_alone
    assert [due[:10] for _, due in await list_dues(owner)] == ["2035-11-24"]


async def test_file_without_editions_moves_what_one_with_them_told(browse: Browse) -> None:
    """Some calendars number their editions only in invitations."""
    owner = await browse()
    await bring(owner, add_lines(build_event("Dentist", "d-1", "20351124T190000"), "SEQUENCE:2"))
    await bring(owner, build_event("Dentist", "d-1", "20351125T190000"))
    assert await list_dues(owner) == [("Dentist", "2035-11-25T19:00")]


@pytest.mark.parametrize(
    "ended",
    [
        add_lines(build_event("Dentist", "d-1", "20351124T190000"), "STATUS:CANCELLED"),
        build_event("Dentist", "d-1", "20010101T190000"),
    ],
    ids=["cancelled", "past"],
)
async def test_entry_that_the_calendar_ends_leaves_the_list_and_its_undo_brings_it_back(
    browse: Browse, ended: bytes
) -> None:
    """Whether it is cancelled or moved to the past; and so does the calendar, if it holds again."""
    owner = await browse()
    event = build_event("Dentist", "d-1", "20351124T190000")
    await bring(owner, event)
    brought = await bring(owner, ended)
    gone = await list_dues(owner)
    again = await bring(owner, ended)
    await owner.post(f"/imports/{brought['number']}/undo")
    back = await list_dues(owner)
    await bring(owner, ended)
    held = await bring(owner, event)

    assert [each["state"] for each in brought["items"]] == ["ended"]
    assert (gone, brought["unused"]) == ([], [])
    assert (again["number"], again["items"], len(again["unused"])) == (None, [], 1)
    assert back == await list_dues(owner) == [("Dentist", "2035-11-24T19:00")]
    assert [each["state"] for each in held["items"]] == ["moved"]


async def test_cancelled_entry_that_was_never_brought_in_is_told_as_over(browse: Browse) -> None:
    """And so is one that the person took off, or that came already."""
    owner = await browse()
    event = build_event("Dentist", "d-1", "20351124T190000")
    await owner.post("/tasks", json={"text": "Dentist", "due": "2035-11-24T19:00"})
    brought = await bring(owner, add_lines(event, "STATUS:CANCELLED"))

    assert (brought["items"], brought["unused"]) == ([], ["Dentist: it is over"])
    assert await list_dues(owner) == [("Dentist", "2035-11-24T19:00")]


async def test_tasks_come_in_pages(browse: Browse) -> None:
    """Each once, in the order of the list; the last page says that it is the last."""
    owner = await browse()
    names = [f"task {number}" for number in range(5)]
    for number, name in enumerate(names):
        await owner.post("/tasks", json={"text": name, "due": f"2035-01-0{number + 1}T09:00"})
    found, cursor = [], ""
    for _ in range(3):
        page = (await owner.get(f"/tasks?limit=2{cursor}")).json()
        found += [each["text"] for each in page["items"]]
        cursor = f"&cursor={page['next']}"

    assert found == names
    assert page["next"] is None
    assert (await owner.get("/tasks?limit=0")).status_code == 422
