"""Notifications in a real browser: switched on by the person, shown by what keeps the page.

The scripts are those of the page; the house behind them is a stand-in that remembers what it is
asked, and a browser without a window has no push service, so what that gives is made up.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Page, expect

from oldfriend.api.page_assets import SERVICE_WORKER, STATIC_DIR
from tests.journeys.browsers import NEEDS_CHROMIUM, opened_browser

pytestmark = [NEEDS_CHROMIUM, pytest.mark.slow]
TOLD = {"title": "Oldfriend", "body": "Water the figs.", "tag": "m1"}
A_WHILE_MS = 500
SHELL = "const SHELL = {version: '1', files: [], later: []};"
PAGE = """<div id=page></div><script type=module>
  import { render } from "/static/vendor/preact.js";
  import { html } from "/static/js/html.js";
  import { NotificationsIfPossible } from "/static/js/settings/notifications.js";
  import { ready } from "/static/js/i18n.js";
  navigator.serviceWorker.register("/service-worker.js");
  ready.then(() => render(html`<${NotificationsIfPossible} />`, document.getElementById("page")));
</script>"""
KEY = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
KEYS = {"p256dh": "AAAA", "auth": "BBBB"}
PUSH_SERVICE = """([endpoint, keys]) => {
  let given = null;
  window.current = () => given && given.options.applicationServerKey;
  PushManager.prototype.getSubscription = async () => given;
  PushManager.prototype.subscribe = async (options) => (given = {
    options,
    endpoint,
    unsubscribe: async () => ((given = null), true),
    toJSON: () => ({ endpoint, expirationTime: null, keys }),
  });
}"""
SHOWN = """async () => {
  const worker = await navigator.serviceWorker.ready;
  return (await worker.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
}"""
RENEW = """async ([endpoint, keys, isGiven]) => {
  const renewed = { toJSON: () => ({ endpoint, expirationTime: null, keys }) };
  const options = { applicationServerKey: "k" };
  const oldSubscription = { endpoint: "https://push.example/a", options };
  const asked = [];
  PushManager.prototype.subscribe = async (options) => (asked.push(options), renewed);
  const event = new ExtendableEvent("pushsubscriptionchange");
  const done = new Promise((resolve) => (event.waitUntil = resolve));
  const newSubscription = isGiven ? renewed : null;
  dispatchEvent(Object.assign(event, { oldSubscription, newSubscription }));
  await done;
  return asked;
}"""
MEND = """async () => {
  const { renewSubscription } = await import("/static/js/app_shell.js");
  const { api } = await import("/static/js/api.js");
  await renewSubscription(api.notify);
}"""
SIGN_IN = """async (id) => {
  await navigator.serviceWorker.ready;
  await (await import("/static/js/session.js")).saveSession({ id, token: "t" });
}"""
KEPT = """async () => {
  const cache = await caches.open("oldfriend-1");
  return (await cache.keys()).map((each) => each.url);
}"""


class House(BaseHTTPRequestHandler):
    """A page with the switch, its scripts, what keeps it, and the routes of notifications."""

    asked: ClassVar[list[tuple[str, str, Any]]] = []
    state: ClassVar[dict[str, Any]] = {"is_on": False, "shows": "words"}

    def do_GET(self) -> None:
        """Serve a file, or what holds."""
        path = self.path.partition("?")[0]
        if path == "/service-worker.js":
            self.reply(SHELL + (STATIC_DIR / SERVICE_WORKER).read_text("utf-8"), "text/javascript")
        elif path.startswith("/static/"):
            script = STATIC_DIR / path.removeprefix("/static/")
            self.reply(script.read_text("utf-8"), "text/javascript")
        elif path == "/api/v1/proactive/push":
            self.reply(json.dumps(self.state), "application/json")
        else:
            self.reply(PAGE, "text/html")

    def do_POST(self) -> None:
        """Serve the key."""
        self.note()
        self.reply(json.dumps({"key": KEY}), "application/json")

    def do_PUT(self) -> None:
        """Take a subscription."""
        self.state.update(is_on=True, shows=self.note().get("shows", self.state["shows"]))
        self.reply(json.dumps(self.state), "application/json")

    def do_DELETE(self) -> None:
        """Let it go."""
        self.note()
        self.state.update(is_on=False, shows="words")
        self.reply("", "application/json", status=204)

    def note(self) -> Any:
        """Remember what is asked."""
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.asked.append((self.command, self.path, json.loads(sent or b"null")))
        return self.asked[-1][2]

    def reply(self, text: str, media_type: str, *, status: int = 200) -> None:
        """Serve this."""
        self.send_response(status)
        self.send_header("content-type", f"{media_type}; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def origin() -> Iterator[str]:
    """Where the page is."""
    with ThreadingHTTPServer(("127.0.0.1", 0), House) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page() -> Iterator[Page]:
    """An empty page of a new browser."""
    with opened_browser() as browser:
        yield browser.new_page()


class PushedPage:
    """A page, and the push service of its browser."""

    def __init__(self, page: Page, origin: str) -> None:
        """Open it, and find out what keeps it, as the browser has it."""
        self.page, self.origin = page, origin
        page.context.grant_permissions(["notifications"], origin=origin)
        page.goto(origin)
        page.wait_for_function("() => navigator.serviceWorker.controller")
        self.session = page.context.new_cdp_session(page)
        found: list[str] = []
        self.session.on(
            "ServiceWorker.workerRegistrationUpdated",
            lambda event: found.extend(each["registrationId"] for each in event["registrations"]),
        )
        self.session.send("ServiceWorker.enable")
        while not found:
            page.wait_for_timeout(20)
        self.worker = found[0]

    def push(self, **told: object) -> None:
        """Deliver something."""
        data = {"origin": self.origin, "registrationId": self.worker, "data": json.dumps(told)}
        self.session.send("ServiceWorker.deliverPushMessage", data)
        self.page.wait_for_timeout(A_WHILE_MS)


def test_notification_is_shown_only_while_nobody_has_the_page_before_their_eyes(
    page: Page, origin: str
) -> None:
    """Once for one message, and nothing of it is kept in a cache."""
    pushed = PushedPage(page, origin)
    pushed.push(**TOLD)
    while_open = page.evaluate(SHOWN)
    page.goto("about:blank")
    pushed.push(**TOLD)
    pushed.push(**{**TOLD, "body": "Water the figs, all of them."})
    page.goto(origin)
    shown, kept = page.evaluate(SHOWN), page.evaluate(KEPT)

    assert while_open == []
    assert shown == [{**TOLD, "body": "Water the figs, all of them."}]
    assert kept == [f"{origin}/"]


def test_person_switches_notifications_on_and_off(page: Page, origin: str) -> None:
    """Nothing is asked of the house before the browser may show any; what is shown is a choice."""
    page.goto(origin)
    page.evaluate(PUSH_SERVICE, ["https://push.example/a", KEYS])
    switch = page.get_by_role("switch", name="Notify me on this device")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(page.get_by_role("alert")).to_contain_text("Your browser blocks notifications")
    expect(switch).not_to_be_checked()
    asked_before = [*House.asked]
    page.context.grant_permissions(["notifications"], origin=origin)
    switch.click()
    expect(switch).to_be_checked()
    key = page.evaluate("current()")
    page.get_by_label("A notification shows").select_option("hint")
    expect(switch).to_be_enabled()
    switch.click()
    expect(page.get_by_label("A notification shows")).to_be_hidden()
    after = page.evaluate("current()")

    subscription = {"endpoint": "https://push.example/a", "keys": KEYS}
    path = "/api/v1/proactive/push"
    assert asked_before == []
    assert (key, after) == (KEY, None)
    assert [each for each in House.asked if each[0] != "POST"] == [
        ("PUT", path, {**subscription, "shows": "words"}),
        ("PUT", path, {**subscription, "shows": "hint"}),
        ("DELETE", path, None),
    ]


def test_device_is_told_nothing_more_once_somebody_else_signs_in(page: Page, origin: str) -> None:
    """And goes on where it is the same person again."""
    page.goto(origin)
    page.evaluate(PUSH_SERVICE, ["https://push.example/a", KEYS])
    page.evaluate(SIGN_IN, "ana")
    page.evaluate("PushManager.prototype.subscribe({applicationServerKey: 'k'})")
    page.evaluate(SIGN_IN, "ana")
    again = page.evaluate("current()")
    page.evaluate(SIGN_IN, "ben")

    assert again == "k"
    assert page.evaluate("current()") is None


@pytest.mark.parametrize("is_given", [True, False])
def test_subscription_that_the_browser_renews_is_told_to_the_house(
    page: Page, origin: str, is_given: bool
) -> None:
    """By what keeps the page; where the browser has only ended one, another is asked for."""
    PushedPage(page, origin)
    House.asked.clear()
    (worker,) = page.context.service_workers
    asked = worker.evaluate(RENEW, ["https://push.example/b", KEYS, is_given])

    told = {"was": "https://push.example/a", "endpoint": "https://push.example/b", "keys": KEYS}
    assert asked == ([] if is_given else [{"applicationServerKey": "k"}])
    assert House.asked == [("PUT", "/api/v1/proactive/push/renewal", told)]


def test_subscription_that_was_renewed_unseen_is_told_when_the_page_is_opened(
    page: Page, origin: str
) -> None:
    """Once; and none is told where the person wants none."""
    page.context.grant_permissions(["notifications"], origin=origin)
    page.goto(origin)
    page.evaluate(PUSH_SERVICE, ["https://push.example/a", KEYS])
    page.evaluate(MEND)
    switch = page.get_by_role("switch", name="Notify me on this device")
    switch.click()
    expect(switch).to_be_checked()
    House.asked.clear()
    page.evaluate(MEND)
    page.evaluate(PUSH_SERVICE, ["https://push.example/c", KEYS])
    page.evaluate("PushManager.prototype.subscribe({applicationServerKey: 'k'})")
    page.evaluate(MEND)
    page.evaluate(MEND)
    switch.click()
    expect(switch).not_to_be_checked()
    page.evaluate("PushManager.prototype.subscribe({applicationServerKey: 'k'})")
    page.evaluate(MEND)

    told = {"endpoint": "https://push.example/c", "keys": KEYS, "shows": "words"}
    assert [each for each in House.asked if each[0] == "PUT"] == [
        ("PUT", "/api/v1/proactive/push", told)
    ]


PRESS = """async ([action, message, commands]) => {
  PushManager.prototype.getSubscription = async () => ({ endpoint: "https://push.example/a" });
  const notification = { close: () => {}, data: { message, commands } };
  const event = new ExtendableEvent("notificationclick");
  const done = new Promise((resolve) => (event.waitUntil = resolve));
  dispatchEvent(Object.assign(event, { action, notification }));
  await done;
}"""
ACTIONS = """async () => {
  const [shown] = await (await navigator.serviceWorker.ready).getNotifications();
  return shown.actions.map(({ action, title }) => ({ action, title }));
}"""


def test_reminder_has_its_buttons_and_a_press_is_told_to_the_house(page: Page, origin: str) -> None:
    """With the address that only this browser knows; a press beside them opens the chat."""
    pushed = PushedPage(page, origin)
    page.goto("about:blank")
    pushed.push(**TOLD, buttons=[["Erledigt", "/done 12"], ["In 10 Minuten", "/snooze 12 10m"]])
    page.goto(origin)
    actions = page.evaluate(ACTIONS)
    House.asked.clear()
    (worker,) = page.context.service_workers
    worker.evaluate(PRESS, ["1", "m1", ["/done 12", "/snooze 12 10m"]])

    told = {
        "endpoint": "https://push.example/a",
        "message": "m1",
        "command": "/snooze 12 10m",
    }
    assert actions == [
        {"action": "0", "title": "Erledigt"},
        {"action": "1", "title": "In 10 Minuten"},
    ]
    assert House.asked == [("POST", "/api/v1/proactive/push/press", told)]
