"""Notifications by the API: each browser for itself, and no address or key is ever shown."""

from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.memory.people import ensure_owner
from oldfriend.memory.push_subscriptions import print_endpoint
from oldfriend.replies.reply_worker import answer_message
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.web.web_access import WebClient
from tests.api.conftest import Browse, opened_site
from tests.clock import FrozenClock
from tests.fakes.push_service import Browser, PushService
from tests.fakes.web_sites import web_sites

pytestmark = pytest.mark.usefixtures("settings_folder")
OFF = {"is_on": False, "shows": "words"}
MILK = UnpromptedMessage(
    text="You wanted to buy milk.",
    dedup_key="task/1",
    kind="reminder",
    reason="You asked me to remind you.",
    language="en",
)


async def test_browser_is_told_until_it_asks_for_none(
    app: AppContext, clock: FrozenClock, settings_folder
) -> None:
    """By the running program; another browser of the same person stays silent."""
    service = PushService(clock, [Browser("a"), Browser("b")])
    one = service.browsers[0]
    async with web_sites(service.sites) as web:
        app = replace(app, web=WebClient(fetcher=web.fetcher()))
        async with (
            opened_site(app) as site,
            site.browser() as browser,
            site.browser() as other,
        ):
            before = (await browser.get("/proactive/push")).json()
            had_key = [*settings_folder.rglob("keys.toml")]
            one.server_key = (await browser.post("/proactive/push/key")).json()["key"]
            again = (await other.post("/proactive/push/key")).json()["key"]
            on = await browser.put("/proactive/push", json=one.subscription(shows="hint"))
            state = await browser.get("/proactive/push")
            of_other = (await other.get("/proactive/push")).json()
            await tell(app, MILK)
            await service.has_shown.wait()
            off = await browser.delete("/proactive/push")
            after = (await browser.get("/proactive/push")).json()
            seen = on.text + state.text + str(await browser.get("/sessions"))

    assert before == of_other == after == OFF
    assert had_key == []
    assert again == one.server_key
    assert on.json() == state.json() == {"is_on": True, "shows": "hint"}
    assert off.status_code == 204
    assert [each["body"] for each in one.shown] == ["I have something to tell you."]
    assert service.faults == []
    assert one.endpoint not in seen
    async with app.db.begin_read() as tx:
        stored = str(await tx.rows("SELECT * FROM push_subscription"))
    assert "push.example" not in stored


async def test_browser_that_has_a_new_subscription_is_told_there(
    app: AppContext, clock: FrozenClock, browse: Browse
) -> None:
    """Asked by what has no secret of the page: its cookie and the address of before prove it."""
    del clock
    one, two, three = Browser("a"), Browser("b"), Browser("c")
    browser, other = await browse(), await browse()
    await browser.put("/proactive/push", json=one.subscription(shows="hint"))
    no_secret = {"X-CSRF-Token": ""}
    path = "/proactive/push/renewal"
    refused = [
        await browser.put(path, json=two.subscription(was=three.endpoint), headers=no_secret),
        await other.put(path, json=two.subscription(was=one.endpoint), headers=no_secret),
        await browser.put("/proactive/push", json=two.subscription(), headers=no_secret),
    ]
    renewed = await browser.put(path, json=two.subscription(was=one.endpoint), headers=no_secret)
    again = await browser.put(path, json=three.subscription(was=one.endpoint), headers=no_secret)
    state = (await browser.get("/proactive/push")).json()
    async with app.db.begin_read() as tx:
        stored = await tx.rows("SELECT print FROM push_subscription")

    assert [each.status_code for each in refused] == [401] * 3
    assert (renewed.status_code, again.status_code) == (200, 401)
    assert state == {"is_on": True, "shows": "hint"}
    assert [each[0] for each in stored] == [print_endpoint(two.endpoint)]


async def tell(app: AppContext, message: UnpromptedMessage) -> None:
    """Say something to the owner unasked."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    await answer_message(app, chat_context, MessageSubmission(text="Hello."))
    async with app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        await send_unprompted(tx, app, owner.id, message, now=app.clock())
    app.notifier.notify()


UNFIT = [
    {"endpoint": "http://push.example/a"},
    {"endpoint": "https://192.168.0.1/a"},
    {"endpoint": "https://localhost/a"},
    {"keys": {"p256dh": "AAAA", "auth": "AAAA"}},
    {"shows": "everything"},
    {"expirationTime": None},
]


async def test_what_cannot_be_a_subscription_and_programs_are_refused(browse: Browse) -> None:
    """Before anything is stored or asked; a token has no session that could end it."""
    browser = await browse()
    fit = Browser().subscription()
    refused = [await browser.put("/proactive/push", json={**fit, **each}) for each in UNFIT]
    wanted = {"name": "script", "scope": "admin"}
    token = (await browser.post("/tokens", json=wanted)).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    by_program = [
        await browser.get("/proactive/push", headers=headers),
        await browser.put("/proactive/push", headers=headers, json=fit),
        await browser.post("/proactive/push/key", headers=headers),
    ]

    assert [each.status_code for each in refused] == [422] * len(UNFIT)
    assert refused[1].json()["code"] == "push_unfit"
    assert [each.status_code for each in by_program] == [409] * 3
    assert (await browser.get("/proactive/push")).json() == OFF
