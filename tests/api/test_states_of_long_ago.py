"""A state of long ago is shown with its time, and what was said lately comes first."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.learn_now import learn_now
from tests.api.conftest import Browse
from tests.beliefs.life import tell
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY
TWO_YEARS = 730 * 24 * 60


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live in Ulm.", "In November 2023 you lived in Ulm."),
        ("Ich wohne in Ulm.", "Im November 2023 hast du in Ulm gewohnt."),
        ("Vivo en Zaragoza.", "En noviembre de 2023 vivías en Zaragoza."),
        ("J'habite à Ulm.", "En novembre 2023, tu vivais à Ulm."),
        ("我住在乌尔姆。", "2023年11月的时候，你住在乌尔姆。"),
    ],
)
async def test_home_of_long_ago_is_shown_in_the_past(
    browse: Browse,
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    said: str,
    told: str,
) -> None:
    """In the list, by itself and among what was learned lately; as of that day it was current."""
    await tell(app, chat_context, [said])
    (then,) = (await (await browse()).get("/memories", params={"kind": "fact"})).json()["items"]
    clock.tick(minutes=TWO_YEARS)
    browser = await browse()
    (now,) = (await browser.get("/memories", params={"kind": "fact"})).json()["items"]
    alone = (await browser.get(f"/memories/{now['id']}")).json()
    day = {"kind": "fact", "as_of": then["learned_at"]}
    (as_of_then,) = (await browser.get("/memories", params=day)).json()["items"]

    assert then["as_of"] is None
    assert (now["as_of"], now["sentence"]) == (then["last_seen_at"], told)
    assert alone["sentence"] == told
    assert now["text"] == then["text"]
    assert (as_of_then["as_of"], as_of_then["sentence"]) == (None, then["sentence"])


async def test_newest_and_oldest_are_by_when_something_was_said(
    browse: Browse, app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A chat of long ago that is imported today is no news, though it was learned last."""
    await tell(app, chat_context, ["I live in Ulm."])
    clock.tick(minutes=60)
    old = MessageSubmission(text="I love jazz.", at=clock() - TWO_YEARS * 60_000_000)
    await answer_message(app, chat_context, old)
    await learn_now(app, chat_context.person.id, cut_reason="asked")
    browser = await browse()

    async def keys(order: str) -> list[str]:
        """What is listed in an order."""
        params = {"sort": order, "kind": ["fact", "preference"]}
        return [
            each["key"] for each in (await browser.get("/memories", params=params)).json()["items"]
        ]

    assert await keys("newest") == ["location", "interests"]
    assert await keys("oldest") == ["interests", "location"]
    assert await keys("learned") == ["interests", "location"]


async def test_home_of_long_ago_is_told_with_its_time_wherever_it_is_shown(
    browse: Browse, app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """In the drawing of relations, below a reply and before it is forgotten, with its language."""
    await tell(app, chat_context, ["I live in Ulm."])
    clock.tick(minutes=TWO_YEARS)
    browser = await browse()
    (home,) = (await browser.get("/memories", params={"kind": "fact"})).json()["items"]
    asked = MessageSubmission(text="Where do I live?")
    reply = (await answer_message(app, chat_context, asked)).reply
    receipt = (await browser.get(f"/chat/messages/{reply.id}/receipt")).json()
    preview = (await browser.post("/forget/preview", json={"ids": [home["id"]]})).json()
    graph = (await browser.get("/people/graph")).json()
    told, ground = home["sentence"], [each for each in receipt["sources"] if each["kind"] == "fact"]

    assert told == "In November 2023 you lived in Ulm."
    assert [(each["text"], each["text_language"]) for each in ground] == [(told, "en")]
    assert [(each["sentence"], each["sentence_language"]) for each in preview["beliefs"]] == [
        (told, "en")
    ]
    assert [(each["text"], each["text_language"]) for each in graph["edges"]] == [(told, "en")]


async def test_confirmation_makes_a_memory_new_again(
    browse: Browse, app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """What is confirmed today stands before what was said since it was said."""
    await tell(app, chat_context, ["I live in Ulm."])
    clock.tick(minutes=TWO_YEARS)
    await tell(app, chat_context, ["I love jazz."])
    clock.tick(minutes=60)
    browser = await browse()
    params = {"sort": "newest", "kind": ["fact", "preference"]}
    before = (await browser.get("/memories", params=params)).json()["items"]
    await browser.post(f"/memories/{before[-1]['id']}/verdict", json={"verdict": "confirm"})
    after = (await browser.get("/memories", params=params)).json()["items"]

    assert [each["key"] for each in before] == ["interests", "location"]
    assert [each["key"] for each in after] == ["location", "interests"]


async def test_people_are_told_without_a_home_of_long_ago(
    browse: Browse, app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Their line leaves the home out; the drawing and what a deletion would take tell its time."""
    await tell(app, chat_context, ["My sister Ana lives in Lisbon.", "My partner is Ben."])
    browser = await browse()
    then = {each["name"]: each for each in (await browser.get("/people")).json()["items"]}
    clock.tick(minutes=2 * TWO_YEARS)
    browser = await browse()
    now = {each["name"]: each for each in (await browser.get("/people")).json()["items"]}
    edges = (await browser.get("/people/graph")).json()["edges"]
    wish = {"ids": [each["memory"] for each in edges]}
    preview = await browser.post("/forget/preview", json=wish)
    going = [each["sentence"] for each in preview.json()["beliefs"]]
    told = [each["text"] for each in edges]

    assert (then["Ana"]["home"], then["Ben"]["relation"]) == ("Lisbon", "your partner")
    assert (now["Ana"]["home"], now["Ana"]["relation"]) == (None, "your sister")
    assert "November 2023" in now["Ben"]["relation"]
    assert any("November 2023" in each and "Lisbon" in each for each in told)
    assert any("November 2023" in each and "Lisbon" in each for each in going)
