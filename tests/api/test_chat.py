"""Talking in a browser: said once, answered live, heard on the pages of that person alone."""

import asyncio
from contextlib import AsyncExitStack, ExitStack, aclosing

import httpx
import pytest
from fastapi import Response

from oldfriend.api.connections import MAX_CONNECTIONS, MAX_CONNECTIONS_PER_TOKEN
from oldfriend.api.requests import MessageRequest
from oldfriend.api.routers import channel_routes, chat_routes
from oldfriend.app.app_context import AppContext
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.cli.conversation import Conversation
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import get_person, list_people
from oldfriend.memory.web_sessions import Principal
from oldfriend.persona.profile_names import update_person
from oldfriend.presenters.receipt_schemas import receipt_as_json, receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.replies.offline_spool import ConversationStore
from oldfriend.replies.reply_worker import answer_message
from tests.api.conftest import (
    Browse,
    Site,
    events,
    opened_site,
    say,
    told,
    until_topic,
)
from tests.api.test_credentials import program, token_for
from tests.app.test_turn_queue import with_model
from tests.engines import SQLITE_ONLY


async def texts(browser: httpx.AsyncClient, **params: str | int) -> list[str]:
    """What stands on a page of the talk."""
    answered = await browser.get("/chat/messages", params=params)
    return [each["text"] for each in answered.json()["items"]]


async def test_message_reply_and_learned_note_arrive_as_ordered_events(browse: Browse) -> None:
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
        "chat.session.boundary",
        "chat.message.user_appended",
        "chat.message.done",
    ]
    assert until_reply[-1].data["turn"] == accepted.json()["turn"]
    assert "Miso" in learned.data["belief"]["text"]
    assert learned.data["belief"]["words"][0]["message"] == accepted.json()["id"]


@SQLITE_ONLY
async def test_model_reply_is_streamed_as_token_events(app: AppContext) -> None:
    """Piece by piece, each from where the last one ended; then the whole."""
    model = ScriptedModel([ScriptedReply(text="Well, good morning to you.", chunk_delay_s=0.05)])
    async with opened_site(with_model(app, model)) as site, site.browser() as browser:
        heard = await told(browser, "Good morning")
    pieces = [each.data for each in heard if each.topic == "chat.message.token"]
    text = ""
    for piece in pieces:
        assert piece["start"] == len(text)
        text += piece["text"]

    assert len(pieces) > 1
    assert heard[-1].data["text"].startswith(text)
    assert heard[-1].data["turn"] == pieces[0]["turn"]


@pytest.mark.slow
@SQLITE_ONLY
async def test_receipt_separates_used_evidence_from_what_was_only_shown(
    app: AppContext,
) -> None:
    """What else the model was shown stands apart."""
    async with opened_site(app) as site, site.browser() as browser:
        await told(browser, "Remember that my sister Ana was born in Porto.")
        await told(browser, "Remember that my sister Ana repairs bicycles.")
    model = ScriptedModel([ScriptedReply(text="In Porto, you said.")])
    async with opened_site(with_model(app, model)) as site, site.browser() as browser:
        reply = (await told(browser, "Where was my sister Ana born?"))[-1].data["id"]
        receipt = (await browser.get(f"/chat/messages/{reply}/receipt")).json()
    sources = [each["text"] for each in receipt["sources"]]
    besides = [each["text"] for each in receipt["also_shown"]]

    assert sources
    assert receipt["stood_on"] == receipt["sources"], "the former name"
    assert all("Porto" in text for text in sources)
    assert any("bicycles" in text for text in besides)


@SQLITE_ONLY
async def test_receipt_is_the_same_in_api_why_command_and_chat(app: AppContext) -> None:
    """The API, `oldfriend why` to read and for programs, and /why in a chat."""
    for text in ("Zerbinette is my cat, she hates thunder.", "My cat saw the vet on Tuesday."):
        diary = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="diary")
        await answer_message(app, diary, MessageSubmission(text=text))
    model = ScriptedModel(
        [ScriptedReply(text="Zerbinette, she hates thunder. See you on Tuesday!")]
    )
    app = with_model(app, model)
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    given = await answer_message(
        app, chat_context, MessageSubmission(text="What is the name of my cat?")
    )
    async with app.db.begin_read() as tx:
        told_of = await resolve_receipt(tx, given.receipt)
    async with opened_site(app) as site, site.browser() as browser:
        path = f"/chat/messages/{given.reply.id}/receipt"
        on_page = (await browser.get(path)).json()
    why, typed = receipt_as_json(told_of), list[str]()

    async def speak(text: str) -> None:
        typed.append(text)

    await Conversation(ConversationStore(app, chat_context), typed.append, speak).handle_line(
        "/why"
    )
    because = [each["text"] for each in on_page["sources"]]
    besides = [each["text"] for each in on_page["also_shown"]]

    assert because == ["Zerbinette is my cat, she hates thunder."]
    assert "My cat saw the vet on Tuesday." in besides
    assert [each["text"] for each in why["evidence"]] == because
    assert [each["text"] for each in why["also_in_mind"]] == besides
    assert typed == [receipt_as_text(told_of)] == [on_page["as_text"]]
    stands, _, also = typed[0].partition("Also in mind:")
    assert [each in stands for each in (*because, *besides)] == [True] + [False] * len(besides)
    assert all(each in also for each in besides)


@SQLITE_ONLY
async def test_receipt_marks_a_reply_based_on_the_user_core_block(app: AppContext) -> None:
    """Of who they are, nothing is believed that could be shown."""
    async with opened_site(app) as site, site.browser() as browser:
        await told(browser, "Hello")
        await browser.put("/persona/user", json={"text": "I live in Ghent."})
        reply = (await told(browser, "Where do I live?"))[-1].data
        receipt = (await browser.get(f"/chat/messages/{reply['id']}/receipt")).json()

    assert "Ghent" in reply["text"]
    assert (receipt["is_written"], receipt["sources"]) == (True, [])


@SQLITE_ONLY
async def test_message_resent_with_the_same_key_is_stored_once(browse: Browse) -> None:
    """A page that lost the connection cannot know whether it was heard."""
    browser = await browse()
    first = await say(browser, "hello", key="the first try")
    second = await say(browser, "hello", key="the first try")

    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    assert (await texts(browser)).count("hello") == 1


@SQLITE_ONLY
async def test_reconnecting_event_stream_receives_missed_messages(
    site: Site, browse: Browse
) -> None:
    """Also what was said elsewhere, through another process that knows of no pages."""
    browser = await browse()
    first = await told(browser, "hello")
    chat_context = await open_local_chat(
        site.app.db, site.app.clock, site.app.settings, person=None, channel="terminal"
    )
    await answer_message(site.app, chat_context, MessageSubmission(text="I am in the terminal now"))
    heard = await until_topic(events(browser, after=first[-1].id), "chat.message.done")
    known = {first[-1].data["id"]}

    assert [each.data["channel"] for each in heard if "channel" in each.data][-1] == "terminal"
    assert not known & {each.data.get("id") for each in heard}


@pytest.mark.slow
@SQLITE_ONLY
async def test_event_stream_with_too_many_missed_messages_asks_for_a_reload(
    site: Site, browse: Browse
) -> None:
    """Instead of hearing ten years one by one."""
    browser = await browse()
    chat_context = await open_local_chat(
        site.app.db, site.app.clock, site.app.settings, person=None, channel="terminal"
    )
    for number in range(101):
        await answer_message(site.app, chat_context, MessageSubmission(text=f"number {number}"))
    heard = await until_topic(events(browser, after="0.0.0"), "chat.history.changed")

    said, *_ = (await browser.get("/chat/messages")).json()["position"].split(".")

    assert len(heard) == 2
    assert heard[-1].id is not None
    assert heard[-1].id.split(".")[0] == said  # what is learned of it may have come since


async def test_messages_events_and_beliefs_of_another_person_are_not_accessible(
    browse: Browse,
) -> None:
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
        await omar.get(f"/chat/messages/{reply}/recording"),
        await omar.post(f"/chat/messages/{reply}/retry"),
        await omar.post(f"/memories/{memory}/verdict", json={"verdict": "reject"}),
        await omar.patch(f"/memories/{memory}", json={"text": "nothing"}),
        await omar.patch(f"/chat/messages/{reply}", json={"text": "nothing"}),
        await omar.post(f"/chat/messages/{reply}/stop"),
    ]
    lists = [
        await omar.get(path)
        for path in (
            "/chat/messages",
            "/learned",
            "/memories",
            "/memories?q=safe",
            "/chat/search?q=Xylophone",
            "/forget/done",
        )
    ]
    to_omar = await told(omar, "What opens the safe?")

    assert {each.status_code for each in asked} == {404}
    assert position == "0.0.0"
    assert not [each for each in lists if "Xylophone" in each.text]
    assert not [each for each in to_omar if "Xylophone" in str(each.data)]


@SQLITE_ONLY
async def test_message_history_is_paged_across_all_channels(site: Site, browse: Browse) -> None:
    """Each page goes on where the one before ended, and nothing comes twice."""
    browser = await browse()
    for channel in ("web", "terminal", "web"):
        chat_context = await open_local_chat(
            site.app.db, site.app.clock, site.app.settings, person=None, channel=channel
        )
        await answer_message(site.app, chat_context, MessageSubmission(text=f"hello on {channel}"))
    pages, before = [], None
    while before is not None or not pages:
        page = (
            await browser.get(
                "/chat/messages", params={"limit": 4} | ({"before": before} if before else {})
            )
        ).json()
        pages.insert(0, [each["text"] for each in page["items"]])
        before = page["earlier"]

    assert [len(page) for page in pages] == [2, 4]
    assert [text for page in pages for text in page] == await texts(browser)


@SQLITE_ONLY
async def test_own_message_can_be_edited_and_reply_has_a_receipt(
    browse: Browse,
) -> None:
    """What the page offers beside each message."""
    browser = await browse()
    await told(browser, "My sister Ana was born in Porto.")
    heard = await told(browser, "Where was Ana born?")
    reply = heard[-1].data
    receipt = (await browser.get(f"/chat/messages/{reply['id']}/receipt")).json()
    said = receipt["sources"][0]
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
async def test_event_stream_connections_are_limited(site: Site, browse: Browse) -> None:
    """And whoever closes one can open another."""
    browser = await browse()
    async with site.app.db.begin_read() as tx:
        owner = await get_person(tx, None)
    with ExitStack() as open_pages:
        for _ in range(MAX_CONNECTIONS):
            open_pages.enter_context(site.room.connect(owner.id))
        refused = await browser.get("/chat/events")
    async with aclosing(events(browser)) as heard:
        first = await anext(heard)

    assert refused.status_code == 429
    assert first.topic == "chat.connection.ready"


@SQLITE_ONLY
async def test_concurrent_event_streams_stay_within_token_and_person_limits(
    site: Site, browse: Browse
) -> None:
    """With one token, and of one person in all; nothing stays taken when they are closed."""
    browser = await browse()
    token = await token_for(browser, "read")
    async with program(site, token["token"]) as client, AsyncExitStack() as open_pages:
        by_token = await burst(client, 3 * MAX_CONNECTIONS_PER_TOKEN, open_pages)
        of_person = await burst(browser, MAX_CONNECTIONS + 10, open_pages)
    async with aclosing(events(browser)) as heard:
        first = await anext(heard)

    assert (by_token, by_token + of_person) == (MAX_CONNECTIONS_PER_TOKEN, MAX_CONNECTIONS)
    assert first.topic == "chat.connection.ready"


async def burst(client: httpx.AsyncClient, count: int, open_pages: AsyncExitStack) -> int:
    """Open many pages at once; how many are open."""

    async def open_one() -> int:
        streaming = client.stream("GET", "/chat/events")
        return (await open_pages.enter_async_context(streaming)).status_code

    async with asyncio.TaskGroup() as group:
        opening = [group.create_task(open_one()) for _ in range(count)]
    return [each.result() for each in opening].count(200)


@SQLITE_ONLY
async def test_invalid_chat_requests_are_refused_and_nothing_is_stored(browse: Browse) -> None:
    """With what to do, and nothing of it kept."""
    browser = await browse()
    answers = [
        await say(browser, "   "),
        await browser.post("/chat/messages", json={"text": "hello"}),
        await browser.post(
            "/chat/messages",
            json={"text": "hello", "zone": "Nowhere/At all"},
            headers={"Idempotency-Key": "eight or more"},
        ),
        await browser.get("/chat/messages", params={"before": "one", "after": "another"}),
        await browser.get("/chat/events", headers={"Last-Event-ID": "1.x.2"}),
        await browser.get("/memories", params={"as_of": "yesterday"}),
        await say(browser, "a" * (MAX_TEXT_CHARS + 1)),
    ]

    assert answers[-1].json()["code"] == "message_too_long"
    assert {each.status_code for each in answers} == {422}
    assert all(each.json()["detail"] for each in answers)
    assert await texts(browser) == []


@SQLITE_ONLY
async def test_open_event_stream_does_not_delay_shutdown(app: AppContext) -> None:
    """It is let go, and comes back when there is somebody again."""
    async with opened_site(app) as site, site.browser() as browser:
        heard = events(browser)
        await anext(heard)
        site.stop()
        async with asyncio.timeout(5):
            left = [each async for each in heard]

    assert left == []


async def test_message_from_the_page_does_not_change_the_persons_zone(browse: Browse) -> None:
    """On each engine: the house's zone is its own, and not that of whoever opens the page."""
    omar = await browse("Omar")
    await omar.patch("/me", json={"zone": "Asia/Tokyo"})
    await told(omar, "Remember that my cat is called Miso.")

    assert (await omar.get("/session")).json()["zone"] == "Asia/Tokyo"


async def test_chosen_zone_counts_wherever_the_page_is_open(browse: Browse) -> None:
    """That of the browser is taken only where none was chosen."""
    omar = await browse("Omar")
    await say(omar, "I am at home.")
    await omar.patch("/me", json={"zone": "Asia/Tokyo"})
    await say(omar, "I am travelling.")

    said = (await omar.get("/chat/messages")).json()["items"]
    zones = {each["text"]: each["at"][-6:] for each in said if each["role"] == "person"}
    assert zones["I am at home."] in {"+00:00", "+01:00"}  # Lisbon
    assert zones["I am travelling."] == "+09:00"


@SQLITE_ONLY
async def test_rename_during_a_request_keeps_the_same_person(site: Site) -> None:
    """A question that is under way says who asks by an id; nobody is made by an old name."""
    async with site.app.db.begin_read() as tx:
        omar = await get_person(tx, "Omar")
    me = Principal(person=omar, digest="any", expires_at=Micros(1 << 60))
    await update_person(site.app, omar.id, name="Omar K")
    said = await chat_routes.send_message(
        MessageRequest(text="hello"), me, site.room, Response(), idempotency_key="a key of mine"
    )
    await channel_routes.create_link_code(TELEGRAM, me, site.room)
    async with site.app.db.begin_read() as tx:
        people = await list_people(tx)
        kept = await get_message(tx, omar.id, MessageId(said.id))
        codes = await tx.rows("SELECT person FROM link_code")

    assert {each.name for each in people} == {"owner", "Omar K"}
    assert kept.text == "hello"
    assert codes == [(omar.id,)]
