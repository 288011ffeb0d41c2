"""Buttons on the page: shown below what the companion says there, and pressed once."""

import pytest

from oldfriend.domain.buttons import Button
from oldfriend.inbound.accept import open_web_chat
from oldfriend.memory.people import ensure_owner
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from tests.api.conftest import Browse, Site, told
from tests.fakes.push_service import Browser as PushBrowser


async def ask_on_the_page(site: Site) -> None:
    """Say something with a button, where the owner has the page."""
    app = site.app
    async with app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
    web = await open_web_chat(app.db, app.clock, owner.id)
    message = UnpromptedMessage(
        text="Call mum.",
        dedup_key="once",
        kind="reminder",
        reason="It is time.",
        language="en",
        chat=web.chat.id,
        buttons=(Button("Show them", "/tasks"),),
    )
    async with app.db.begin_write() as tx:
        assert await send_unprompted(tx, app, owner.id, message, now=app.clock()) is not None


async def test_press_on_the_page_says_the_command_once_below_its_message(
    site: Site, browse: Browse
) -> None:
    """Nobody else presses it, and it says nothing but what stands on it."""
    browser, omar = await browse(), await browse("Omar")
    await told(browser, "Hello!")
    await ask_on_the_page(site)
    items = (await browser.get("/chat/messages")).json()["items"]
    (shown,) = [each for each in items if each["text"] == "Call mum."]
    address = f"/chat/messages/{shown['id']}/press"
    foreign = await omar.post(address, json={"command": "/tasks"})
    other = await browser.post(address, json={"command": "/forget everything"})
    unasked = await browser.post(
        f"/chat/messages/{items[0]['id']}/press", json={"command": "/tasks"}
    )
    first = await browser.post(address, json={"command": "/tasks"})
    second = await browser.post(address, json={"command": "/tasks"})
    said = (await browser.get("/chat/messages")).json()["items"]

    assert shown["buttons"] == [{"label": "Show them", "command": "/tasks"}]
    assert [each.status_code for each in (foreign, other, unasked)] == [404, 422, 422]
    assert other.json()["code"] == "no_such_button"
    assert (first.status_code, second.status_code) == (202, 204)
    assert (first.json()["text"], first.json()["pressed"]) == ("/tasks", shown["id"])
    assert [each["pressed"] for each in said if each["text"] == "/tasks"] == [shown["id"]]


@pytest.mark.usefixtures("settings_folder")
async def test_press_in_a_notification_is_one_of_the_browser_that_was_told(
    site: Site, browse: Browse
) -> None:
    """Signed in, and by the address that only it knows; then the page presses no second time."""
    browser, other = await browse(), await browse()
    one, two = PushBrowser("a"), PushBrowser("b")
    await browser.put("/proactive/push", json=one.subscription())
    await other.put("/proactive/push", json=two.subscription())
    await told(browser, "Hello!")
    await ask_on_the_page(site)
    shown = (await browser.get("/chat/messages")).json()["items"][-1]
    address, no_secret = "/proactive/push/press", {"X-CSRF-Token": ""}
    press = {"endpoint": one.endpoint, "message": shown["id"], "command": "/tasks"}
    foreign = await browser.post(
        address, json=press | {"endpoint": two.endpoint}, headers=no_secret
    )
    stranger = await other.post(address, json=press, headers=no_secret)
    other_command = await browser.post(
        address, json=press | {"command": "/purge"}, headers=no_secret
    )
    pressed = [await browser.post(address, json=press, headers=no_secret) for _ in range(2)]
    again = await browser.post(f"/chat/messages/{shown['id']}/press", json={"command": "/tasks"})
    said = (await browser.get("/chat/messages")).json()["items"]

    assert [each.status_code for each in (foreign, stranger, other_command)] == [401, 401, 422]
    assert [each.status_code for each in (*pressed, again)] == [204, 204, 204]
    assert [each["pressed"] for each in said if each["text"] == "/tasks"] == [shown["id"]]


async def test_what_a_button_says_is_not_edited(site: Site, browse: Browse) -> None:
    """Nobody wrote it."""
    browser = await browse()
    await told(browser, "Hello!")
    await ask_on_the_page(site)
    shown = (await browser.get("/chat/messages")).json()["items"][-1]
    pressed = await browser.post(f"/chat/messages/{shown['id']}/press", json={"command": "/tasks"})
    address = f"/chat/messages/{pressed.json()['id']}"
    refused = await browser.patch(address, json={"text": "/forget everything"})

    assert (refused.status_code, refused.json()["code"]) == (409, "not_yours_to_change")
    said = (await browser.get("/chat/messages")).json()["items"]
    assert [each["text"] for each in said if each["id"] == pressed.json()["id"]] == ["/tasks"]


async def test_key_of_a_message_does_not_take_the_press_of_a_button(
    site: Site, browse: Browse
) -> None:
    """A program may choose any key but those of presses."""
    browser = await browse()
    await told(browser, "Hello!")
    await ask_on_the_page(site)
    shown = (await browser.get("/chat/messages")).json()["items"][-1]
    key = {"Idempotency-Key": f"press/{shown['id']}"}
    refused = [
        await browser.post("/chat/messages", json={"text": "Hello again"}, headers=key),
        await browser.post("/chat/recordings", content=b"RIFF", headers=key),
    ]
    pressed = await browser.post(f"/chat/messages/{shown['id']}/press", json={"command": "/tasks"})

    assert [each.status_code for each in refused] == [422, 422]
    assert pressed.status_code == 202
