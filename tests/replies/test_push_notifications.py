"""Notifications: each browser that wants them is told once, by what the push service can take."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import DAY
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_web_chat
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.push_subscriptions import (
    PushSubscription,
    ShownPart,
    find_push_subscription,
    print_endpoint,
    save_push_subscription,
)
from oldfriend.memory.web_sessions import (
    end_other_web_sessions,
    end_web_session,
    hash_secret,
    open_web_session,
)
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.push_notifications import RETRY_AFTER, ensure_push_key
from oldfriend.replies.reply_worker import answer_message
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.web.web_access import WebClient
from oldfriend.web.web_push import compute_public_key, parse_address, seal
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.fakes.push_service import Browser, PushService
from tests.fakes.web_sites import WebSites, web_sites

engine = both_engines
pytestmark = pytest.mark.usefixtures("settings_folder")
MILK = UnpromptedMessage(
    text="You wanted to buy milk.",
    dedup_key="task/1",
    kind="reminder",
    reason="You asked me to remind you.",
    language="en",
)


@dataclass(slots=True)
class Home:
    """A person, their browsers, and the service that reaches these."""

    app: AppContext
    chat_context: ChatContext
    clock: FrozenClock
    service: PushService
    web: WebSites
    first: Browser = field(init=False)

    def __post_init__(self) -> None:
        """The first browser is the one that most tests are about."""
        self.first = self.service.browsers[0]

    async def subscribe(self, browser: Browser, *, shows: ShownPart = "words") -> str:
        """Sign a browser in and have it told; the digest of its session."""
        key = ensure_push_key(self.app.settings)
        browser.server_key = compute_public_key(key)
        told = browser.subscription()
        address = parse_address(told["endpoint"], told["keys"]["p256dh"], told["keys"]["auth"])
        person, session = self.chat_context.person.id, hash_secret(f"session {browser.name}")
        async with self.app.db.begin_write() as tx:
            secret = f"session {browser.name}"
            await open_web_session(tx, person, secret, "page", now=self.clock())
            subscription = PushSubscription(
                session=session,
                person=person,
                print=print_endpoint(browser.endpoint),
                sealed=seal(address, key, label=session),
                shows=shows,
            )
            await save_push_subscription(tx, subscription, now=self.clock())
        return session

    async def tell(self, unprompted: UnpromptedMessage = MILK) -> Message:
        """Say something unasked."""
        async with self.app.db.begin_write() as tx:
            sent = await send_unprompted(
                tx, self.app, self.chat_context.person.id, unprompted, now=self.clock()
            )
        assert sent is not None
        return sent

    async def work(self) -> None:
        """Do the work that is due now."""
        while True:
            async with self.app.db.begin_write() as tx:
                lease = await claim_jobs(tx, "agenda", owner="me", now=self.clock(), lease_s=60)
            if lease is None:
                return
            await run_jobs(self.app, lease, asyncio.Event())

    async def is_subscribed(self, session: str) -> bool:
        """Whether a browser is still to be told."""
        async with self.app.db.begin_read() as tx:
            found = await find_push_subscription(
                tx, self.chat_context.person.id, session, now=self.clock()
            )
        return found is not None

    async def log(self) -> list[str]:
        """What the companion has said."""
        async with self.app.db.begin_read() as tx:
            messages = await list_messages(tx, self.chat_context.person.id)
        return [each.text for each in messages if each.role == "companion"]


@asynccontextmanager
async def opened_home(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, *names: str
) -> AsyncIterator[Home]:
    """Somebody who has said something, and a push service for some browsers."""
    service = PushService(clock, [Browser(name) for name in names or ("a",)])
    async with web_sites(service.sites) as web:
        told = replace(app, web=WebClient(fetcher=web.fetcher()))
        home = Home(told, chat_context, clock, service, web)
        await answer_message(home.app, chat_context, MessageSubmission(text="Hello."))
        yield home
    assert service.faults == []


@pytest.fixture
async def home(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> AsyncIterator[Home]:
    """With one browser."""
    async with opened_home(app, chat_context, clock) as opened:
        yield opened


def shown(*texts: str) -> list[dict[str, Any]]:
    """What a browser was shown, without tags."""
    return [{"title": "Oldfriend", "body": text} for text in texts]


def untagged(browser: Browser) -> list[dict[str, Any]]:
    """The same of a browser."""
    return [{k: v for k, v in each.items() if k != "tag"} for each in browser.shown]


async def test_each_browser_is_told_once_what_is_said_unasked(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Encrypted for it alone; one may show only that there is something."""
    async with opened_home(app, chat_context, clock, "a", "b") as home:
        one, other = home.service.browsers
        await home.subscribe(one)
        await home.subscribe(other, shows="hint")
        sent = await home.tell()
        await home.work()
        await home.work()

    assert untagged(one) == shown("You wanted to buy milk.")
    assert untagged(other) == shown("I have something to tell you.")
    assert one.shown[0]["tag"] == other.shown[0]["tag"] == sent.id
    assert {each["urgency"] for each in home.service.taken} == {"high"}
    assert not any("milk" in each for each in home.web.requests)


async def test_message_is_said_before_and_whatever_the_service_answers(home: Home) -> None:
    """It is asked only afterwards; then again after growing pauses, and never by a dead letter."""
    session = await home.subscribe(home.first)
    home.service.answers = ["503 Unavailable"] * 9
    await home.tell()
    assert (await home.log())[-1] == MILK.text
    assert home.web.requests == []
    await home.work()
    for wait in RETRY_AFTER:
        home.clock.now += wait - 1
        before = len(home.web.requests)
        await home.work()
        assert len(home.web.requests) == before
        home.clock.now += 1
        await home.work()
        assert len(home.web.requests) == before + 1
    home.clock.now += DAY
    await home.work()

    async with home.app.db.begin_read() as tx:
        assert await tx.rows("SELECT 1 FROM job WHERE dead_lettered_at IS NOT NULL") == []
    assert len(home.web.requests) == 1 + len(RETRY_AFTER)
    assert home.first.shown == []
    assert await home.is_subscribed(session)


async def test_notification_that_was_refused_for_a_moment_is_shown_once(home: Home) -> None:
    """As soon as the service takes it."""
    await home.subscribe(home.first)
    home.service.answers = ["429 Too Many Requests"]
    await home.tell()
    await home.work()
    home.clock.now += RETRY_AFTER[0]
    await home.work()
    home.clock.now += DAY
    await home.work()

    assert untagged(home.first) == shown(MILK.text)


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
async def test_browser_that_is_gone_is_forgotten(home: Home, status: str) -> None:
    """Nothing is sent to it again."""
    session = await home.subscribe(home.first)
    home.service.answers = [status]
    await home.tell()
    await home.work()
    assert not await home.is_subscribed(session)
    await home.tell(replace(MILK, dedup_key="task/2"))
    home.clock.now += DAY
    await home.work()

    assert len(home.web.requests) == 1


async def test_refusal_of_one_text_neither_ends_nor_repeats_anything(home: Home) -> None:
    """A request that cannot be right is not sent again."""
    session = await home.subscribe(home.first)
    home.service.answers = ["400 Bad Request"]
    await home.tell()
    await home.work()
    home.clock.now += DAY
    await home.work()

    assert len(home.web.requests) == 1
    assert await home.is_subscribed(session)


@pytest.mark.parametrize("way", ["one", "others", "expired"])
async def test_signing_out_ends_it_also_for_what_waits(home: Home, way: str) -> None:
    """Here, from elsewhere, or by time."""
    session = await home.subscribe(home.first)
    await home.tell()
    async with home.app.db.begin_write() as tx:
        if way == "one":
            await end_web_session(tx, home.chat_context.person.id, session)
        if way == "others":
            await end_other_web_sessions(tx, home.chat_context.person.id, "another")
        if way == "expired":
            await tx.run("UPDATE web_session SET expires_at = :now", now=home.clock())
    await home.work()

    assert home.web.requests == []
    assert not await home.is_subscribed(session)


async def test_forgotten_message_is_shown_nowhere(home: Home) -> None:
    """Nor is any of its words in the queue."""
    await home.subscribe(home.first)
    sent = await home.tell()
    async with home.app.db.begin_read() as tx:
        bodies = await tx.rows("SELECT payload FROM job WHERE queue = 'agenda'")
    await forget(home.app, home.chat_context.person.id, DeletionRequest(ids=(sent.id,)))
    await home.work()

    assert home.web.requests == []
    assert not any("milk" in str(body) for (body,) in bodies)


async def test_forgetting_everything_ends_it(home: Home) -> None:
    """The browser has to ask again."""
    session = await home.subscribe(home.first)
    await forget(home.app, home.chat_context.person.id, DeletionRequest(everything=True))

    assert not await home.is_subscribed(session)


async def test_browser_has_one_subscription_whoever_signs_in_there(home: Home) -> None:
    """What is said to one person is not shown on what is another's now."""
    earlier = await home.subscribe(home.first)
    same_browser = Browser("a", home.first.auth, home.first.key)
    session = hash_secret("later")
    async with home.app.db.begin_write() as tx:
        await open_web_session(tx, home.chat_context.person.id, "later", "page", now=home.clock())
        later = PushSubscription(
            session=session,
            person=home.chat_context.person.id,
            print=print_endpoint(same_browser.endpoint),
            sealed=b"",
            shows="words",
        )
        await save_push_subscription(tx, later, now=home.clock())

    assert not await home.is_subscribed(earlier)
    assert await home.is_subscribed(session)


async def test_subscription_of_another_key_is_sent_nothing(
    home: Home,
) -> None:
    """Where the key was lost, or is on another machine only."""
    await home.subscribe(home.first)
    keyless = replace(
        home.app,
        settings=replace(home.app.settings, environment={"OLDFRIEND_PUSH_KEY": "other"}),
    )
    home.app = keyless
    await home.tell()
    await home.work()

    assert home.web.requests == []


async def test_long_text_is_cut_to_what_a_device_shows(home: Home) -> None:
    """And fits into one record in any script."""
    await home.subscribe(home.first)
    await home.tell(replace(MILK, text="牛奶" * 5_000))
    await home.work()

    (told,) = home.first.shown
    assert told["body"] == f"{'牛奶' * 149}牛…"


async def test_words_of_a_model_are_shown_without_the_signs_of_their_markup(home: Home) -> None:
    """A device draws none of them; what nobody wrote as Markdown is shown as it stands."""
    await home.subscribe(home.first)
    milk = "**Milk** from [the corner](https://example.org/shop):"
    written = f"{milk}\n\n- two\n- *oat*\n\n3. yes\n4. no"
    await home.tell(replace(MILK, text=written, is_markdown=True))
    await home.tell(replace(MILK, text="2 * milk * 3", dedup_key="task/2"))
    await home.work()

    assert [each["body"] for each in home.first.shown] == [
        "Milk from the corner:\n• two\n• oat\n3. yes\n4. no",
        "2 * milk * 3",
    ]


async def test_buttons_of_the_page_s_chat_come_with_the_words(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """The first two, as they are labelled there; a browser that shows no words has none."""
    buttons = tuple(Button(each, f"/{each.lower()} 1") for each in ("Fertig", "Bald", "Morgen"))
    async with opened_home(app, chat_context, clock, "a", "b") as home:
        one, other = home.service.browsers
        await home.subscribe(one)
        await home.subscribe(other, shows="hint")
        web = await open_web_chat(app.db, app.clock, chat_context.person.id)
        async with app.db.begin_write() as tx:
            reminder = replace(MILK, chat=web.chat.id, buttons=buttons)
            await send_unprompted(tx, app, chat_context.person.id, reminder, now=app.clock())
        await home.work()

    assert one.shown[0]["buttons"] == [["Fertig", "/fertig 1"], ["Bald", "/bald 1"]]
    assert "buttons" not in other.shown[0]
