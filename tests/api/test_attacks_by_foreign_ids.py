"""Somebody names what is another's beside the address: in what they ask for, send, or repeat."""

import httpx

from tests.api.conftest import Browse, events, told, until_topic
from tests.api.test_attacks import everything
from tests.api.test_imports_and_exports import CHAT, checked, until
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY
SECRET = "Xylophone"


async def test_foreign_cursors_and_ids_in_queries_leak_nothing(browse: Browse) -> None:
    """Cursors and places of the owner's, in every query that takes one."""
    owner, omar = await browse(), await browse("Omar")
    for number in range(3):
        await told(owner, f"Remember that safe number {number} opens with {SECRET} {number}.")
    page = (await owner.get("/chat/messages", params={"limit": 2})).json()
    said = [each["id"] for each in page["items"]]
    memories = (await owner.get("/memories", params={"limit": 1})).json()
    found = (await owner.get("/chat/search", params={"q": SECRET, "limit": 1})).json()
    asked = [
        *(
            ("/chat/messages", {place: each})
            for place in ("before", "after", "around")
            for each in (*said, page["earlier"])
        ),
        ("/chat/search", {"q": SECRET, "cursor": found["next"]}),
        ("/memories", {"cursor": memories["next"]}),
        ("/memories", {"q": SECRET, "cursor": memories["next"]}),
        ("/memories", {"tag": SECRET}),
        ("/people", {"q": SECRET, "cursor": memories["next"]}),
    ]
    answers = [await omar.get(path, params=params) for path, params in asked]

    assert None not in {page["earlier"], memories["next"], found["next"]}
    assert {each.status_code for each in answers} <= {200, 404, 422}
    assert [each.url for each in answers if SECRET in each.text] == []


async def test_foreign_ids_in_request_bodies_change_nothing(browse: Browse) -> None:
    """Ids of the owner's beside one's own; an import's number; all of it, and it is there still."""
    owner, omar = await browse(), await browse("Omar")
    for browser in (owner, omar):
        await told(browser, f"Remember that my cat is called {SECRET}.")
    file = (await checked(owner, CHAT.encode()))["id"]
    await owner.post(f"/uploads/{file}/import", json={"me": "Nora"})
    await until(owner, file, lambda now: now["stage"] == "done")
    (theirs, *_), (mine, *_) = [
        (await browser.get("/memories")).json()["items"] for browser in (owner, omar)
    ]
    said = (await owner.get("/chat/messages")).json()["items"][0]["id"]
    own = f"/memories/{mine['id']}"
    before = await everything(owner)
    refused = [
        await omar.post(f"{own}/merge", json={"other": theirs["id"]}),
        await omar.post(f"{own}/separate", json={"other": theirs["id"]}),
        await omar.post("/forget/preview", json={"ids": [mine["id"], theirs["id"]]}),
        await omar.post("/forget/preview", json={"ids": [said]}),
        await omar.post("/forget/preview", json={"import": 1}),
        await omar.post("/imports/1/undo"),
    ]
    seen = (await omar.post("/forget/preview", json={"about": SECRET})).json()
    gone = await omar.post(
        "/forget",
        json={"everything": True},
        headers={"If-Match": await etag_of_all(omar)},
    )

    assert {each.status_code for each in refused} <= {404, 422}
    assert not {said, theirs["id"]} & {each["id"] for each in seen["messages"] + seen["beliefs"]}
    assert gone.json()["is_proved"]
    assert await everything(owner) == before


async def etag_of_all(browser: httpx.AsyncClient) -> str:
    """The tag of a preview of forgetting everything of somebody's."""
    etag: str = (await browser.post("/forget/preview", json={"everything": True})).json()["etag"]
    return etag


async def test_idempotency_key_of_another_person_does_not_replay_their_response(
    browse: Browse,
) -> None:
    """A key that the owner has used makes Omar a token of his own, and says his own words."""
    owner, omar = await browse(), await browse("Omar")
    key = {"Idempotency-Key": "a key of the owner's"}
    wish = {"name": "script", "scope": "read"}
    first, second = [
        (await browser.post("/tokens", json=wish, headers=key)).json() for browser in (owner, omar)
    ]
    text = {"text": f"The safe opens with {SECRET}."}
    said = [
        (await browser.post("/chat/messages", json=each, headers=key)).json()
        for browser, each in ((owner, text), (omar, {"text": "Hello."}))
    ]

    assert first["token"] != second["token"]
    assert [each["text"] for each in said] == [text["text"], "Hello."]


async def test_foreign_event_stream_position_leaks_no_events(browse: Browse) -> None:
    """From the owner's position, and from the beginning, one's own news are heard."""
    owner, omar = await browse(), await browse("Omar")
    await told(owner, f"Remember that the safe opens with {SECRET}.")
    position = (await owner.get("/chat/messages")).json()["position"]
    heard = [
        await until_topic(events(omar, after=place), "chat.connection.ready")
        for place in (position, "0.0.0")
    ]
    said = await told(omar, "Hello.")

    assert SECRET not in str(heard)
    assert SECRET not in str(said)
