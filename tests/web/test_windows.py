"""The talk in a browser by windows: around a message, on either side, by its words; its ends."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from oldfriend.app.accepting import Said, accept, open_line
from oldfriend.app.answering import answer
from oldfriend.app.forming.progress import find_progress
from oldfriend.app.forming.tending import read, tend
from oldfriend.app.house import House
from oldfriend.domain.clock import HOUR
from oldfriend.domain.errors import ModelRefused
from oldfriend.domain.memories import Mood
from oldfriend.llm.scripted import Scripted, ScriptedModel
from oldfriend.memory.moods import LASTS, set_mood
from oldfriend.memory.people import get_person
from oldfriend.memory.segments import cut_segment, list_uncut, set_status
from oldfriend.memory.sign_in import SignedIn
from oldfriend.memory.watching import Position, list_decided
from oldfriend.web.room import Room
from oldfriend.web.showing.memories import decided_shape
from oldfriend.web.watching import Watch
from tests.app.test_lanes_of_turns import with_model
from tests.clock import FrozenClock
from tests.conftest import SQLITE_ONLY
from tests.web.conftest import Browse, Site, events, opened_site, say, told, until_topic


async def talked(site: Site, count: int) -> list[str]:
    """So many things said in a terminal, each answered; their words."""
    line = await open_line(site.house, person=None, channel="terminal")
    said = [f"Thing {number} is in box {number}." for number in range(count)]
    for text in said:
        await answer(site.house, line, Said(text=text))
    return said


async def window(browser: httpx.AsyncClient, **params: object) -> tuple[list[dict[str, str]], ...]:
    """What stands in a window."""
    page = (await browser.get("/chat/messages", params=params)).json()  # type: ignore[arg-type]
    return page["items"], page["earlier"], page["later"]


async def test_one_jumps_to_a_message_and_goes_on_from_there(site: Site, browse: Browse) -> None:
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
async def test_words_are_found_however_they_are_written(site: Site, browse: Browse) -> None:
    """Any case, any order, all of them; what has a meaning for the database has none here."""
    line = await open_line(site.house, person=None, channel="terminal")
    for text in ("Ärger mit dem Zug nach Köln.", "Ganz 100% sicher_", "我喜欢喝茶。"):
        await answer(site.house, line, Said(text=text))
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
async def test_what_failed_is_told_and_answered_when_asked_again(house: House) -> None:
    """In the same turn, with a receipt of its own; what was answered is not."""
    model = ScriptedModel([
        Scripted(error=ModelRefused("not that")), Scripted(text="Here I am."),
    ])  # fmt: skip
    async with opened_site(with_model(house, model)) as site, site.browser() as browser:
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
async def test_a_stopped_reply_is_told_as_such_and_can_be_had_after_all(house: House) -> None:
    """Also after the page was loaded anew."""
    model = ScriptedModel([Scripted(text="Well " * 40, pause_s=0.1), Scripted(text="After all.")])
    async with opened_site(with_model(house, model)) as site, site.browser() as browser:
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
async def test_what_is_said_while_the_process_ends_waits_for_the_next(
    house: House,
) -> None:
    """No lane is taken that nobody works on: whoever comes next answers at once."""
    room, stopping = Room(house, port=0), asyncio.Event()
    line = await open_line(house, person=None, channel="web")
    async with asyncio.TaskGroup() as group:
        group.create_task(room.answer_here(house, stopping))
        await asyncio.sleep(0)
        accepted = await accept(house, line, Said(text="hello"), to_answer=room.has_hands)
        assert accepted is not None
        assert accepted.claim is not None
        stopping.set()
    await room.have_answered(accepted)
    async with asyncio.timeout(5):
        replied = await answer(house, line, Said(text="anybody there?"))

    assert not room.has_hands
    assert replied.reply.text


@SQLITE_ONLY
async def test_a_mood_passes_while_the_page_stays_open(house: House, clock: FrozenClock) -> None:
    """Nothing is written when it does; the page hears it with the next beat."""
    line = await open_line(house, person=None, channel="web")
    await answer(house, line, Said(text="What a day that was."))
    async with house.db.writing() as tx:
        person = await get_person(tx, None)
        (uncut,) = await list_uncut(tx, person.id)
        segment = await cut_segment(tx, person.id, uncut, cut_by="asked", now=clock())
        await set_mood(tx, segment, Mood(phrase="glad", energy=7))
        await set_status(tx, segment, "done", now=clock())
    me = SignedIn(person=person, print="p", expires_at=clock() + HOUR)
    watch = Watch(Room(house, port=0), me, Position())
    ready = await watch.begin()
    unchanged = [each async for each in watch.passed()]
    clock.tick(minutes=LASTS // 60_000_000 + 1)
    passed = [each async for each in watch.passed()]
    again = [each async for each in watch.passed()]

    assert ready.data["mood"] == {"phrase": "glad", "energy": 7, "signal": None}
    assert unchanged == again == []
    assert [(each.topic, each.data) for each in passed] == [("chat.mood.update", {"mood": None})]


@pytest.mark.parametrize("reads", [True, False])
@SQLITE_ONLY
async def test_one_sees_how_far_it_has_come_with_reading(
    house: House, clock: FrozenClock, reads: bool
) -> None:
    """While something waits to be read, and no longer."""
    line = await open_line(house, person=None, channel="web")
    await answer(house, line, Said(text="My sister Ana lives in Porto."))
    segments = await tend(house, line.person.id, because="asked")
    if reads:
        for segment in segments:
            await read(house, line.person.id, segment.id, by="rules")
    async with house.db.reading() as tx:
        progress = await find_progress(tx, line.person.id, now=clock())

    if reads:
        assert progress is None
    else:
        assert progress is not None
        assert (progress.read, progress.of, progress.reflects) == (0, len(segments), False)
        assert progress.waits_until is None


@SQLITE_ONLY
async def test_what_it_thought_of_itself_says_from_what_it_came(house: House) -> None:
    """Reflection, or the slow tick; of what was told it says nothing of the kind."""
    line = await open_line(house, person=None, channel="web")
    await answer(house, line, Said(text="Remember that my cat is called Miso."))
    async with house.db.reading() as tx:
        told_of, *_ = await list_decided(tx, line.person.id, after=0, limit=5)

    def source(author: str) -> str | None:
        return decided_shape(replace(told_of, author=author), (), zone="UTC").source

    assert source("reflect/1") == "reflection"
    assert source("tick/2") == "slow tick"
    assert source(told_of.author) is None
