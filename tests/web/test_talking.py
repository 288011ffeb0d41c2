"""Talking in a browser: said once, answered live, heard on the pages of that person alone."""

import asyncio
from contextlib import ExitStack, aclosing

import httpx
from fastapi import Response

from oldfriend.app.accepting import Said, open_line
from oldfriend.app.answering import answer
from oldfriend.app.house import House
from oldfriend.app.persona.naming import change_person
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import MAX_TEXT
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.log import get_message
from oldfriend.memory.people import get_person, list_people
from oldfriend.memory.sign_in import SignedIn
from oldfriend.web.room import MOST_STREAMS
from oldfriend.web.routes import chat, telegram
from oldfriend.web.shapes.chat import Said as SaidShape
from tests.app.test_lanes_of_turns import with_model
from tests.conftest import SQLITE_ONLY
from tests.web.conftest import (
    Browse,
    Site,
    events,
    opened_site,
    say,
    told,
    until_topic,
)


async def texts(browser: httpx.AsyncClient, **params: str | int) -> list[str]:
    """What stands on a page of the talk."""
    answered = await browser.get("/chat/messages", params=params)
    return [each["text"] for each in answered.json()["items"]]


async def test_what_is_said_is_answered_and_what_was_learned_is_told(browse: Browse) -> None:
    """With its words, in this order, on each engine."""
    browser = await browse()
    position = (await browser.get("/chat/messages")).json()["position"]
    accepted = await say(browser, "Remember that my cat is called Miso.")
    async with aclosing(events(browser, after=position)) as heard:
        until_reply = await until_topic(heard, "chat.message.done")
        learned = (await until_topic(heard, "memory.note.created"))[-1]
    topics = [each.topic for each in until_reply]

    assert accepted.status_code == 202
    assert topics[0] == "chat.connection.ready"
    assert topics[-3:] == [
        "chat.session.boundary", "chat.message.user_appended", "chat.message.done",
    ]  # fmt: skip
    assert until_reply[-1].data["turn"] == accepted.json()["turn"]
    assert "Miso" in learned.data["belief"]["text"]
    assert learned.data["belief"]["words"][0]["message"] == accepted.json()["id"]


@SQLITE_ONLY
async def test_the_words_of_a_model_are_heard_as_they_come(house: House) -> None:
    """Piece by piece, each from where the last one ended; then the whole."""
    model = ScriptedModel([Scripted(text="Well, good morning to you.", pause_s=0.05)])
    async with opened_site(with_model(house, model)) as site, site.browser() as browser:
        heard = await told(browser, "Good morning")
    pieces = [each.data for each in heard if each.topic == "chat.message.token"]
    text = ""
    for piece in pieces:
        assert piece["start"] == len(text)
        text += piece["text"]

    assert len(pieces) > 1
    assert heard[-1].data["text"].startswith(text)
    assert heard[-1].data["turn"] == pieces[0]["turn"]


@SQLITE_ONLY
async def test_a_receipt_of_a_model_begins_with_what_can_be_heard_in_its_reply(
    house: House,
) -> None:
    """What else the model was shown stands apart."""
    async with opened_site(house) as site, site.browser() as browser:
        await told(browser, "Remember that my sister Ana was born in Porto.")
        await told(browser, "Remember that my sister Ana repairs bicycles.")
    model = ScriptedModel([Scripted(text="In Porto, you said.")])
    async with opened_site(with_model(house, model)) as site, site.browser() as browser:
        reply = (await told(browser, "Where was my sister Ana born?"))[-1].data["id"]
        receipt = (await browser.get(f"/chat/messages/{reply}/receipt")).json()
    stood_on = [each["text"] for each in receipt["stood_on"]]
    besides = [each["text"] for each in receipt["also_shown"]]

    assert stood_on
    assert all("Porto" in text for text in stood_on)
    assert any("bicycles" in text for text in besides)


@SQLITE_ONLY
async def test_a_receipt_says_where_they_wrote_it_themselves(house: House) -> None:
    """Of who they are, nothing is believed that could be shown."""
    async with opened_site(house) as site, site.browser() as browser:
        await told(browser, "Hello")
        await browser.put("/character/user", json={"text": "I live in Ghent."})
        reply = (await told(browser, "Where do I live?"))[-1].data
        receipt = (await browser.get(f"/chat/messages/{reply['id']}/receipt")).json()

    assert "Ghent" in reply["text"]
    assert (receipt["is_written"], receipt["stood_on"]) == (True, [])


@SQLITE_ONLY
async def test_sent_again_it_is_said_once(browse: Browse) -> None:
    """A page that lost the connection cannot know whether it was heard."""
    browser = await browse()
    first = await say(browser, "hello", key="the first try")
    second = await say(browser, "hello", key="the first try")

    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    assert (await texts(browser)).count("hello") == 1


@SQLITE_ONLY
async def test_what_happened_meanwhile_is_told_to_whoever_comes_back(
    site: Site, browse: Browse
) -> None:
    """Also what was said elsewhere, through another process that knows of no pages."""
    browser = await browse()
    first = await told(browser, "hello")
    line = await open_line(site.house, person=None, channel="terminal")
    await answer(site.house, line, Said(text="I am in the terminal now"))
    heard = await until_topic(events(browser, after=first[-1].id), "chat.message.done")
    known = {first[-1].data["id"]}

    assert [each.data["channel"] for each in heard if "channel" in each.data][-1] == "terminal"
    assert not known & {each.data.get("id") for each in heard}


@SQLITE_ONLY
async def test_who_has_missed_too_much_reads_the_page_anew(site: Site, browse: Browse) -> None:
    """Instead of hearing ten years one by one."""
    browser = await browse()
    line = await open_line(site.house, person=None, channel="terminal")
    for number in range(101):
        await answer(site.house, line, Said(text=f"number {number}"))
    heard = await until_topic(events(browser, after="0.0.0"), "chat.history.changed")

    said, *_ = (await browser.get("/chat/messages")).json()["position"].split(".")

    assert len(heard) == 2
    assert heard[-1].id is not None
    assert heard[-1].id.split(".")[0] == said  # what is learned of it may have come since


async def test_nobody_hears_or_reads_anybody_else(browse: Browse) -> None:
    """By list, by id, by event, on each engine."""
    owner, omar = await browse(), await browse("Omar")
    position = (await omar.get("/chat/messages")).json()["position"]
    heard = await told(owner, "Remember that the safe opens with Xylophone.")
    reply = heard[-1].data["id"]
    (learned, *_) = (await owner.get("/learned")).json()["items"]
    memory = learned["belief"]["id"]
    asked = [
        await omar.get(f"/chat/messages/{reply}/receipt"),
        await omar.get(f"/memories/{memory}"),
        await omar.get(f"/memories/{memory}/history"),
        await omar.post("/forget/preview", json={"ids": [memory]}),
        await omar.post("/forget", json={"ids": [reply]}, headers={"If-Match": "any"}),
        await omar.get("/chat/messages", params={"around": reply}),
        await omar.get(f"/chat/messages/{reply}/sound"),
        await omar.post(f"/chat/messages/{reply}/retry"),
        await omar.post(f"/memories/{memory}/verdict", json={"verdict": "reject"}),
        await omar.patch(f"/memories/{memory}", json={"text": "nothing"}),
        await omar.patch(f"/chat/messages/{reply}", json={"text": "nothing"}),
        await omar.post(f"/chat/messages/{reply}/stop"),
    ]
    lists = [await omar.get(path) for path in ("/chat/messages", "/learned", "/memories",
                                               "/memories?q=safe", "/chat/search?q=Xylophone",
                                               "/forget/done")]  # fmt: skip
    to_omar = await told(omar, "What opens the safe?")

    assert {each.status_code for each in asked} == {404}
    assert position == "0.0.0"
    assert not [each for each in lists if "Xylophone" in each.text]
    assert not [each for each in to_omar if "Xylophone" in str(each.data)]


@SQLITE_ONLY
async def test_history_is_read_page_by_page_on_all_channels(site: Site, browse: Browse) -> None:
    """Each page goes on where the one before ended, and nothing comes twice."""
    browser = await browse()
    for channel in ("web", "terminal", "web"):
        line = await open_line(site.house, person=None, channel=channel)
        await answer(site.house, line, Said(text=f"hello on {channel}"))
    pages, before = [], None
    while before is not None or not pages:
        page = (await browser.get(
            "/chat/messages", params={"limit": 4} | ({"before": before} if before else {})
        )).json()  # fmt: skip
        pages.insert(0, [each["text"] for each in page["items"]])
        before = page["earlier"]

    assert [len(page) for page in pages] == [2, 4]
    assert [text for page in pages for text in page] == await texts(browser)


@SQLITE_ONLY
async def test_one_can_say_it_in_other_words_and_see_why_it_was_answered_so(
    browse: Browse,
) -> None:
    """What the page offers beside each message."""
    browser = await browse()
    await told(browser, "My sister Ana was born in Porto.")
    heard = await told(browser, "Where was Ana born?")
    reply = heard[-1].data
    receipt = (await browser.get(f"/chat/messages/{reply['id']}/receipt")).json()
    said = receipt["stood_on"][0]
    edited = await browser.patch(
        f"/chat/messages/{receipt['asked']['id']}", json={"text": "Where was my sister born?"}
    )
    stopped = await browser.post(f"/chat/messages/{receipt['asked']['id']}/stop")
    not_mine = await browser.patch(f"/chat/messages/{reply['id']}", json={"text": "no"})

    assert said["text"] == "My sister Ana was born in Porto."
    assert said["channel"] == "web"
    assert receipt["reply"]["text"] == reply["text"]
    assert edited.json()["version"] == 2
    assert stopped.status_code == 204
    assert not_mine.status_code == 409


@SQLITE_ONLY
async def test_there_are_so_many_open_pages_and_no_more(site: Site, browse: Browse) -> None:
    """And whoever closes one can open another."""
    browser = await browse()
    async with site.house.db.reading() as tx:
        owner = await get_person(tx, None)
    with ExitStack() as open_pages:
        for _ in range(MOST_STREAMS):
            open_pages.enter_context(site.room.seat(owner.id))
        refused = await browser.get("/chat/events")
    async with aclosing(events(browser)) as heard:
        first = await anext(heard)

    assert refused.status_code == 429
    assert first.topic == "chat.connection.ready"


@SQLITE_ONLY
async def test_what_makes_no_sense_is_refused_in_words(browse: Browse) -> None:
    """With what to do, and nothing of it kept."""
    browser = await browse()
    answers = [
        await say(browser, "   "),
        await browser.post("/chat/messages", json={"text": "hello"}),
        await browser.post(
            "/chat/messages", json={"text": "hello", "zone": "Nowhere/At all"},
            headers={"Idempotency-Key": "eight or more"},
        ),
        await browser.get("/chat/messages", params={"before": "one", "after": "another"}),
        await browser.get("/chat/events", headers={"Last-Event-ID": "1.x.2"}),
        await browser.get("/memories", params={"as_of": "yesterday"}),
        await say(browser, "a" * (MAX_TEXT + 1)),
    ]  # fmt: skip

    assert answers[-1].json()["code"] == "message_too_long"
    assert {each.status_code for each in answers} == {422}
    assert all(each.json()["detail"] for each in answers)
    assert await texts(browser) == []


@SQLITE_ONLY
async def test_an_open_page_does_not_keep_the_process_from_ending(house: House) -> None:
    """It is let go, and comes back when there is somebody again."""
    async with opened_site(house) as site, site.browser() as browser:
        heard = events(browser)
        await anext(heard)
        site.stop()
        async with asyncio.timeout(5):
            left = [each async for each in heard]

    assert left == []


async def test_who_lives_in_a_zone_stays_there_when_they_speak(browse: Browse) -> None:
    """On each engine: the house's zone is its own, and not that of whoever opens the page."""
    omar = await browse("Omar")
    await omar.patch("/me", json={"zone": "Asia/Tokyo"})
    await told(omar, "Remember that my cat is called Miso.")

    assert (await omar.get("/session")).json()["zone"] == "Asia/Tokyo"


@SQLITE_ONLY
async def test_who_is_renamed_while_they_speak_is_still_who_speaks(site: Site) -> None:
    """A question that is under way says who asks by an id; nobody is made by an old name."""
    async with site.house.db.reading() as tx:
        omar = await get_person(tx, "Omar")
    me = SignedIn(person=omar, print="any", expires_at=Micros(1 << 60))
    await change_person(site.house, omar.id, name="Omar K")
    said = await chat.say(
        SaidShape(text="hello"), me, site.room, Response(), idempotency_key="a key of mine"
    )
    await telegram.new_code(me, site.room)
    async with site.house.db.reading() as tx:
        people = await list_people(tx)
        kept = await get_message(tx, omar.id, MessageId(said.id))
        codes = await tx.rows("SELECT person FROM link_code")

    assert {each.name for each in people} == {"owner", "Omar K"}
    assert kept.text == "hello"
    assert codes == [(omar.id,)]
