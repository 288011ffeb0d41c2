"""Forgetting in a browser: seen first, done exactly as it was seen, and proved."""

import httpx
import pytest

from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.replies.reply_worker import answer_message
from tests.api.conftest import Browse, Site, events, told, until_topic
from tests.engines import SQLITE_ONLY

TWO_THINGS = "I live in Porto with my sister Ana."
SAFE = "Remember that the safe opens with Xylophone."


async def previewed(browser: httpx.AsyncClient, **wish: object) -> httpx.Response:
    """What a wish would take away."""
    return await browser.post("/forget/preview", json=wish)


async def forgotten(browser: httpx.AsyncClient, etag: str | None, **wish: object) -> httpx.Response:
    """Have it done as it was seen."""
    headers = {} if etag is None else {"If-Match": etag}
    return await browser.post("/forget", json=wish, headers=headers)


async def test_forget_is_previewed_executed_and_proved(browse: Browse) -> None:
    """Words, a belief of them, and the reply that quotes them; on each engine."""
    browser = await browse()
    await told(browser, SAFE)
    reply = (await told(browser, "What opens the safe?"))[-1].data
    found = (await browser.get("/chat/search", params={"q": "xylophone remember"})).json()["items"]
    said = [each for each in found if each["role"] == "person"]
    seen = await previewed(browser, ids=[said[0]["id"]])
    shown = seen.json()
    position = (await browser.get("/chat/messages")).json()["position"]
    proof = (await forgotten(browser, seen.headers["etag"], ids=[said[0]["id"]])).json()
    heard = await until_topic(events(browser, after=position), "memory.rewritten")
    kept = (await browser.get("/chat/messages")).text + (await browser.get("/memories")).text
    done = (await browser.get("/forget/done")).json()["items"]

    assert "Xylophone" in reply["text"]
    assert [each["text"] for each in shown["messages"]] == [SAFE]
    assert "Xylophone" in shown["beliefs"][0]["text"]
    assert reply["id"] in {each["id"] for each in shown["replies"]}
    assert seen.headers["etag"] == f'"{shown["etag"]}"'
    assert proof["left"] == []
    assert proof["is_proved"]
    assert proof["counts"]["messages"] == 1
    assert heard[-1].topic == "memory.rewritten"
    assert "Xylophone" not in kept
    assert done[0]["digest"] == proof["digest"]


@pytest.mark.slow
@SQLITE_ONLY
async def test_forget_with_stale_or_missing_etag_is_refused(browse: Browse) -> None:
    """412, and nothing goes; who has not looked at all is told to."""
    browser = await browse()
    await told(browser, SAFE)
    seen = (await previewed(browser, about="Xylophone")).json()
    await told(browser, "The word Xylophone is on a note under the desk, too.")
    stale = await forgotten(browser, seen["etag"], about="Xylophone")
    blind = await forgotten(browser, None, about="Xylophone")
    still = (await browser.get("/chat/search", params={"q": "Xylophone"})).json()["items"]
    again = (await previewed(browser, about="Xylophone")).json()

    assert (stale.status_code, blind.status_code) == (412, 428)
    assert "look" in stale.json()["detail"].lower()
    assert SAFE in {each["text"] for each in still}
    assert again["counts"]["messages"] == 4  # two that were said, and the replies that quote them
    assert (await forgotten(browser, again["etag"], about="Xylophone")).json()["is_proved"]


@SQLITE_ONLY
async def test_forget_preview_accepts_day_range_or_everything_but_not_nothing(
    site: Site, browse: Browse
) -> None:
    """Days of the person's own calendar, both included; the later first makes no sense."""
    browser = await browse()
    chat_context = await open_local_chat(
        site.app.db, site.app.clock, site.app.settings, person=None, channel="terminal"
    )
    await answer_message(site.app, chat_context, MessageSubmission(text="I sold the blue boat."))
    today = (await browser.get("/chat/messages")).json()["items"][0]["at"][:10]
    span = (await previewed(browser, since=today, until=today)).json()
    nothing = await previewed(browser)
    reversed_ = await previewed(browser, since=today, until="1999-01-01")
    unknown = await previewed(browser, about="Nobody at all")
    everything = (await previewed(browser, everything=True)).json()

    assert "I sold the blue boat." in {each["text"] for each in span["messages"]}
    assert (nothing.status_code, reversed_.status_code, unknown.status_code) == (422, 422, 404)
    assert everything["counts"]["messages"] >= span["counts"]["messages"]


async def test_forgetting_a_belief_lists_source_message_and_its_other_beliefs(
    browse: Browse,
) -> None:
    """The words, and what else was read from them, to be chosen, too; the proof says so."""
    browser = await browse()
    await told(browser, TWO_THINGS)
    await browser.post("/learned/now")
    kinds = {"kind": ["fact", "event"]}
    first, other = (await browser.get("/memories", params=kinds)).json()["items"]
    seen = (await previewed(browser, ids=[first["id"]])).json()
    proof = (await forgotten(browser, seen["etag"], ids=[first["id"]])).json()
    too = (await previewed(browser, ids=[seen["read_from"][0]["id"]])).json()

    assert [each["id"] for each in seen["beliefs"]] == [first["id"]]
    assert [each["sentence"] for each in seen["beliefs"]] == [first["sentence"]]
    assert "You live in Porto." in {
        each["sentence"] for each in (*seen["beliefs"], *seen["beside"])
    }
    assert other["id"] in {each["id"] for each in seen["beside"]}
    assert [each["text"] for each in seen["read_from"]] == [TWO_THINGS]
    assert seen["near"] == proof["near"] == []
    assert proof["read_from"] == [each["id"] for each in seen["read_from"]]
    assert not any("oldfriend forget" in each for each in proof["remarks"])
    assert other["id"] in {each["id"] for each in too["beliefs"]}


@SQLITE_ONLY
async def test_forget_preview_lists_kept_belief_with_remaining_evidence_count(
    browse: Browse,
) -> None:
    """Said twice, forgotten once."""
    browser = await browse()
    await told(browser, "My sister Ana lives in Porto.")
    await told(browser, "As I told you, my sister Ana lives in Porto.")
    said = (await browser.get("/chat/search", params={"q": "As I told"})).json()["items"]
    (mine,) = [each for each in said if each["role"] == "person"]
    shown = (await previewed(browser, ids=[mine["id"]])).json()

    assert [each["id"] for each in shown["messages"]] == [mine["id"]]
    assert all(each["words_left"] >= 1 and each["text"] for each in shown["keep"])
