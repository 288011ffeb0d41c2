"""The talk in a browser by windows: around a message, on either side, by its words; its ends."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.event_stream import EventFeed
from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import HOUR
from oldfriend.domain.errors import ModelRefusal
from oldfriend.domain.memories import Mood
from oldfriend.inbound.accept import MessageSubmission, accept_message, open_local_chat
from oldfriend.learning.learning_progress import find_learning_progress
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.change_feed import FeedPosition, list_journal_after
from oldfriend.memory.mood import MOOD_TTL, set_mood
from oldfriend.memory.people import get_person
from oldfriend.memory.segments import cut_segment, list_uncut_spans, set_segment_status
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.journal_schemas import JournalEntrySchema
from oldfriend.replies.reply_worker import answer_message
from tests.api.conftest import Browse, Site, events, opened_site, say, told, until_topic
from tests.app.test_turn_queue import with_model
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY


async def talked(site: Site, count: int) -> list[str]:
    """So many things said in a terminal, each answered; their words."""
    chat_context = await open_local_chat(
        site.app.db, site.app.clock, site.app.settings, person=None, channel="terminal"
    )
    said = [f"Thing {number} is in box {number}." for number in range(count)]
    for text in said:
        await answer_message(site.app, chat_context, MessageSubmission(text=text))
    return said


async def window(browser: httpx.AsyncClient, **params: object) -> tuple[list[dict[str, str]], ...]:
    """What stands in a window."""
    page = (await browser.get("/chat/messages", params=params)).json()  # type: ignore[arg-type]
    return page["items"], page["earlier"], page["later"]


async def test_history_window_around_a_found_message_pages_both_ways_without_gaps(
    site: Site, browse: Browse
) -> None:
    """Found by its words; the windows on both sides leave nothing out and repeat nothing."""
    await talked(site, 8)
    browser = await browse()
    found = (await browser.get("/chat/search", params={"q": "THING box 3."})).json()["items"]
    (mine,) = [each for each in found if each["role"] == "person"]
    around, earlier, later = await window(browser, around=mine["id"], limit=4)
    before, *_ = await window(browser, before=earlier, limit=200)
    after, _, end = await window(browser, after=later, limit=200)
    everything, *_ = await window(browser, limit=200)

    assert mine["text"] == "Thing 3 is in box 3."
    assert [each["id"] for each in around].index(mine["id"]) == 2
    assert [*before, *around, *after] == everything
    assert end is None


@SQLITE_ONLY
async def test_message_search_ignores_case_and_order_and_escapes_wildcards(
    site: Site, browse: Browse
) -> None:
    """Any case, any order, all of them; what has a meaning for the database has none here."""
    chat_context = await open_local_chat(
        site.app.db, site.app.clock, site.app.settings, person=None, channel="terminal"
    )
    for text in ("Ärger mit dem Zug nach Köln.", "Ganz 100% sicher_", "我喜欢喝茶。"):
        await answer_message(site.app, chat_context, MessageSubmission(text=text))
    browser = await browse()

    async def found(words: str) -> set[str]:
        page = (await browser.get("/chat/search", params={"q": words})).json()
        return {each["text"] for each in page["items"] if each["role"] == "person"}

    assert await found("köln ärger") == {"Ärger mit dem Zug nach Köln."}
    assert await found("0%") == {"Ganz 100% sicher_"}
    assert await found("r_") == {"Ganz 100% sicher_"}
    assert await found("喝茶") == {"我喜欢喝茶。"}
    assert await found("köln nowhere") == set()
    assert await found("   ") == set()


@SQLITE_ONLY
async def test_failed_reply_is_listed_as_unanswered_and_can_be_retried(app: AppContext) -> None:
    """In the same turn, with a receipt of its own; what was answered is not."""
    model = ScriptedModel(
        [
            ScriptedReply(error=ModelRefusal("not that")),
            ScriptedReply(text="Here I am."),
        ]
    )
    async with opened_site(with_model(app, model)) as site, site.browser() as browser:
        asked = (await told(browser, "Are you there?"))[-1].data
        page = (await browser.get("/chat/messages")).json()
        (mine, trouble) = page["items"]
        position = page["position"]
        again = await browser.post(f"/chat/messages/{mine['id']}/retry")
        heard = await until_topic(events(browser, after=position), "chat.message.done")
        after = (await browser.get("/chat/messages")).json()
        receipt = (await browser.get(f"/chat/messages/{mine['turn']}/receipt")).json()
        once_more = await browser.post(f"/chat/messages/{mine['id']}/retry")

    assert asked["id"] == trouble["id"]
    assert page["unanswered"] == [{"turn": mine["turn"], "ending": "failed"}]
    assert again.status_code == 202
    assert heard[-1].data["text"] == "Here I am."
    assert heard[-1].data["turn"] == mine["turn"]
    assert after["unanswered"] == []
    assert receipt["reply"]["text"] == "Here I am."
    assert once_more.status_code == 422


@SQLITE_ONLY
async def test_stopped_reply_is_listed_as_unanswered_and_can_be_retried(app: AppContext) -> None:
    """Also after the page was loaded anew."""
    model = ScriptedModel(
        [ScriptedReply(text="Well " * 40, chunk_delay_s=0.1), ScriptedReply(text="After all.")]
    )
    async with opened_site(with_model(app, model)) as site, site.browser() as browser:
        position = (await browser.get("/chat/messages")).json()["position"]
        mine = (await say(browser, "Tell me.")).json()
        await until_topic(events(browser, after=position), "chat.message.token")
        await browser.post(f"/chat/messages/{mine['id']}/stop")
        await until_topic(events(browser, after=position), "chat.message.stopped")
        page = (await browser.get("/chat/messages")).json()
        await browser.post(f"/chat/messages/{mine['id']}/retry")
        heard = await until_topic(events(browser, after=page["position"]), "chat.message.done")

    assert page["unanswered"] == [{"turn": mine["turn"], "ending": "stopped"}]
    assert heard[-1].data["text"] == "After all."


@SQLITE_ONLY
async def test_message_leased_during_shutdown_is_released_for_the_next_worker(
    app: AppContext,
) -> None:
    """No lane is taken that nobody works on: whoever comes next answers at once."""
    room, stopping = ConnectionHub(app, port=0), asyncio.Event()
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="web"
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(room.run(app, stopping))
        await asyncio.sleep(0)
        accepted = await accept_message(
            app, chat_context, MessageSubmission(text="hello"), claim_now=room.has_capacity
        )
        assert accepted is not None
        assert accepted.lease is not None
        stopping.set()
    await room.start_reply(accepted)
    async with asyncio.timeout(5):
        replied = await answer_message(app, chat_context, MessageSubmission(text="anybody there?"))

    assert not room.has_capacity
    assert replied.reply.text


@SQLITE_ONLY
async def test_expired_mood_is_reported_once_in_the_event_stream(
    app: AppContext, clock: FrozenClock
) -> None:
    """Nothing is written when it does; the page hears it with the next beat."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="web"
    )
    await answer_message(app, chat_context, MessageSubmission(text="What a day that was."))
    async with app.db.begin_write() as tx:
        person = await get_person(tx, None)
        (uncut,) = await list_uncut_spans(tx, person.id)
        segment = await cut_segment(tx, person.id, uncut, cut_by="asked", now=clock())
        await set_mood(tx, segment, Mood(phrase="glad", energy=7))
        await set_segment_status(tx, segment, "done", now=clock())
    me = Principal(person=person, digest="p", expires_at=clock() + HOUR)
    watch = EventFeed(ConnectionHub(app, port=0), me, FeedPosition())
    ready = await watch.build_ready_event()
    unchanged = [each async for each in watch.iter_mood_events()]
    clock.tick(minutes=MOOD_TTL // 60_000_000 + 1)
    passed = [each async for each in watch.iter_mood_events()]
    again = [each async for each in watch.iter_mood_events()]

    assert ready.data["mood"] == {"phrase": "glad", "energy": 7, "signal": None}
    assert unchanged == again == []
    assert [(each.topic, each.data) for each in passed] == [("chat.mood.update", {"mood": None})]


@pytest.mark.parametrize("reads", [True, False])
@SQLITE_ONLY
async def test_learning_progress_is_reported_only_while_segments_wait(
    app: AppContext, clock: FrozenClock, reads: bool
) -> None:
    """While something waits to be read, and no longer."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="web"
    )
    await answer_message(app, chat_context, MessageSubmission(text="My sister Ana lives in Porto."))
    segments = await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    if reads:
        for segment in segments:
            await consolidate_segment(app, chat_context.person.id, segment.id, extractor="rules")
    async with app.db.begin_read() as tx:
        progress = await find_learning_progress(tx, chat_context.person.id, now=clock())

    if reads:
        assert progress is None
    else:
        assert progress is not None
        assert (progress.read, progress.total, progress.is_reflecting) == (0, len(segments), False)
        assert progress.resumes_at is None


@SQLITE_ONLY
async def test_journal_entry_by_reflection_or_tick_names_its_source(app: AppContext) -> None:
    """Reflection, or the slow tick; of what was told it says nothing of the kind."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="web"
    )
    await answer_message(
        app, chat_context, MessageSubmission(text="Remember that my cat is called Miso.")
    )
    async with app.db.begin_read() as tx:
        told_of, *_ = await list_journal_after(tx, chat_context.person.id, after=0, limit=5)

    def source(author: str) -> str | None:
        return JournalEntrySchema.from_domain(
            replace(told_of, author=author), (), zone="UTC"
        ).source

    assert source("reflect/1") == "reflection"
    assert source("tick/3") == "slow tick"
    assert source(told_of.author) is None


@SQLITE_ONLY
async def test_search_lists_own_words_before_replies_and_no_reply_that_only_quotes_them(
    app: AppContext,
) -> None:
    """What a reply says of its own accord is found still, on a page of its own, too."""
    replies = (
        "You said: “Leeds is where I was born” – I keep that.",
        "Leeds is where I was born. Noted.",
        "“Leeds is where I was born”, you said. It has a museum, two rivers and a market hall.",
        "Here is a list of what Leeds has.",
    )
    model = ScriptedModel([ScriptedReply(text=each) for each in replies])
    async with opened_site(with_model(app, model)) as site, site.browser() as browser:
        for text in ("Leeds is where I was born.", "Tell me what you know.", "More?", "Leeds?"):
            await told(browser, text)
        found = (await browser.get("/chat/search", params={"q": "leeds"})).json()["items"]
        first = (await browser.get("/chat/search", params={"q": "leeds", "limit": 1})).json()
        after = {"q": "leeds", "cursor": first["next"]}
        rest = (await browser.get("/chat/search", params=after)).json()
        every = {"q": "leeds", "quotations": True}
        all_of_it = (await browser.get("/chat/search", params=every)).json()["items"]

    texts = ["Leeds?", "Leeds is where I was born.", *replies[:0:-1]]
    assert [each["text"] for each in found] == texts
    assert [each["text"] for each in (*first["items"], *rest["items"])] == texts
    assert rest["next"] is None
    assert [each["text"] for each in all_of_it] == [*texts, replies[0]]
