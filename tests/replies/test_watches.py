"""A page or price is watched until it changes, and that is told once (ACCEPTANCE L12, L21)."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import DAY, SECOND
from oldfriend.domain.messages import Message
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, update_message_text
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.message_log import list_messages
from oldfriend.queues.queue import update_ready_at
from oldfriend.replies.edited_requests import apply_edit
from oldfriend.tasks.task_store import list_tasks
from oldfriend.watches.amounts import find_amount, parse_amount
from oldfriend.watches.watch import STATUSES, Watch
from oldfriend.watches.watch_edits import add_watch
from oldfriend.watches.watch_store import list_watches
from oldfriend.web.web_access import WebClient
from tests.clock import FrozenClock
from tests.fakes.web_sites import WebSites, page, web_sites
from tests.learning.test_learning_scheduler import with_model
from tests.proactive.lived_time import at, choose, list_unasked, live_until, run_due, tell

NOON = at("2026-11-24T12:00")
SHOP = (
    "<html><head><title>Kettle</title></head><body><article><p>A fine kettle for tea that boils "
    "water for two, all year.</p><p>Price: {} €</p></article></body></html>"
)


@pytest.fixture
def engine() -> str:
    """One is enough here; the store's own tests run on both."""
    return "sqlite"


@pytest.fixture
async def web() -> AsyncIterator[WebSites]:
    """A shop."""
    async with web_sites({"shop.example": page(SHOP.format("59,90"))}) as served:
        yield served


def online(app: AppContext, web: WebSites) -> AppContext:
    """A house that may read pages, and keeps none."""
    settings = replace(app.settings, web=replace(app.settings.web, pages=True))
    client = WebClient(fetcher=web.fetcher(), now=lambda: app.clock() / SECOND)
    return replace(app, settings=settings, web=client)


async def watches(app: AppContext, chat_context: ChatContext) -> list[Watch]:
    """All watches, whatever became of them."""
    async with app.db.begin_read() as tx:
        return await list_watches(tx, chat_context.person.id, statuses=STATUSES)


@pytest.mark.parametrize(
    ("text", "condition", "threshold"),
    [
        ("Tell me when http://shop.example/ changes.", "changes", None),
        ("Let me know when the price at http://shop.example/ drops below 50 €", "below", 50.0),
        ("/watch http://shop.example/ below 49.90", "below", 49.9),
        ("Watch http://shop.example/", "changes", None),
        ("Sag mir Bescheid, wenn sich http://shop.example/ ändert.", "changes", None),
        ("Sag mir, wenn der Preis auf http://shop.example/ unter 50 € fällt", "below", 50.0),
        ("Avísame cuando cambie http://shop.example/", "changes", None),
        ("Préviens-moi quand http://shop.example/ change", "changes", None),
        ("如果 http://shop.example/ 有变化就告诉我", "changes", None),
    ],
)
async def test_watch_is_started_in_words(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    web: WebSites,
    text: str,
    condition: str,
    threshold: float | None,
) -> None:
    """In five languages and by command, confirmed from what is stored (ACCEPTANCE L9)."""
    given = await tell(online(app, web), clock, chat_context, NOON, text)

    (watch,) = await watches(app, chat_context)
    assert (watch.url, watch.condition) == ("http://shop.example/", condition)
    assert watch.threshold == threshold
    assert "http://shop.example/" in given.reply.text


@pytest.mark.parametrize(
    ("text", "is_reminder"),
    [("周六早上八点苹果店有货时提醒我", True), ("苹果店有货时提醒我", False)],
)
async def test_what_is_asked_for_at_a_time_of_day_is_a_reminder(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, text: str, is_reminder: bool
) -> None:
    """Also where a thing is named that a page may tell of."""
    await tell(app, clock, chat_context, NOON, text)
    async with app.db.begin_read() as tx:
        tasks = await list_tasks(tx, chat_context.person.id)

    assert bool(tasks) is is_reminder


async def test_nothing_is_watched_while_pages_are_off(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It says how to switch them on."""
    given = await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ changes.")

    assert "`pages = true`" in given.reply.text
    assert await watches(app, chat_context) == []


@pytest.mark.parametrize(
    "url", ["http://192.168.1.1/admin", "http://10.0.0.7/", "http://printer.local/x"]
)
async def test_address_of_a_private_network_is_refused_at_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites, url: str
) -> None:
    """Not at each reading."""
    given = await tell(online(app, web), clock, chat_context, NOON, f"/watch {url}")

    assert f"{url} is an address of a private network" in given.reply.text
    assert await watches(app, chat_context) == []


async def test_price_that_falls_is_told_once_and_the_watch_ends(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """Also where it is never to speak first: it was asked for. Not at night."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ drops below 50 €")
    await choose(app, chat_context, level="off")
    await live_until(app, clock, NOON + DAY)
    assert await list_unasked(app, chat_context) == []
    async with app.db.begin_read() as tx:
        said = [each.text for each in await list_messages(tx, chat_context.person.id)]
    assert (
        sum("the price is 59.90 now; I'll tell you when it is below 50" in each for each in said)
        == 1
    )
    web.sites = {"shop.example": page(SHOP.format("49,50"))}
    await live_until(app, clock, NOON + 9 * DAY)

    (told,) = await list_unasked(app, chat_context)
    assert "On http://shop.example/ the price is 49.50 now, below 50." in told.text
    assert [each.status for each in await watches(app, chat_context)] == ["fired"]


async def test_model_keeps_nothing_back_that_was_asked_for(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """Its veto is for what it says of its own accord; the plain words are sent."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ drops below 60 €")
    await live_until(with_model(app, "main", ScriptedModel(["NO_REPLY"])), clock, NOON + DAY)

    (said,) = await list_unasked(app, chat_context)
    assert "the price is 59.90 now, below 60." in said.text


async def test_new_watch_is_told_of_although_none_was_wanted_before(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """Which is said: whoever asks wants to hear of it."""
    app = online(app, web)
    await choose(app, chat_context, muted=frozenset({"watch"}))
    given = await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ changes.")
    assert "From now on you will again" in given.reply.text
    await live_until(app, clock, NOON + DAY)
    web.sites = {"shop.example": page(SHOP.format("49,50"))}
    await live_until(app, clock, NOON + 3 * DAY)

    assert [
        each.text.count("reads differently") for each in await list_unasked(app, chat_context)
    ] == [1]


async def test_page_that_changes_is_told(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """What stood there at first is no change."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ changes.")
    await live_until(app, clock, NOON + DAY)
    assert await list_unasked(app, chat_context) == []
    web.sites = {"shop.example": page(SHOP.format("61"))}
    await live_until(app, clock, NOON + 2 * DAY)

    (said,) = await list_unasked(app, chat_context)
    assert "http://shop.example/ reads differently now." in said.text


async def test_page_that_is_gone_is_given_up_and_said(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """After several looks."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://gone.example/ changes.")
    await live_until(app, clock, NOON + 4 * DAY)

    (said,) = await list_unasked(app, chat_context)
    assert "I watch it no more" in said.text


async def test_look_that_comes_too_early_is_made_later(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """A clock that was put back ends no watch."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ drops below 99 €")
    clock.now = NOON - DAY
    async with app.db.begin_write() as tx:
        await tx.run("UPDATE job SET due_at = :now WHERE queue = 'agenda'", now=clock())
        await update_ready_at(tx, "agenda", f"watches/{chat_context.person.id}")
    while await run_due(app):
        pass
    await live_until(app, clock, NOON + DAY)

    assert [each.status for each in await watches(app, chat_context)] == ["fired"]


async def test_watch_of_a_program_is_told_too(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """Where the person last wrote."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Hello there.")
    async with app.db.begin_write() as tx:
        await add_watch(tx, chat_context.person, "http://shop.example/", now=clock(), below=99.0)
    await live_until(app, clock, NOON + DAY)

    (said,) = await list_unasked(app, chat_context)
    assert "the price is 59.90 now, below 99." in said.text


async def test_watch_is_ended_and_listed(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """By its number."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ changes.")
    listed = await tell(app, clock, chat_context, NOON + 1, "/watches")
    assert "1. http://shop.example/" in listed.reply.text
    await tell(app, clock, chat_context, NOON + 2, "/watches stop 1")

    assert [each.status for each in await watches(app, chat_context)] == ["ended"]


async def test_watch_goes_with_the_message_that_asked_for_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """With its address."""
    await tell(
        online(app, web), clock, chat_context, NOON, "Tell me when http://shop.example/ changes."
    )
    (watch,) = await watches(app, chat_context)
    assert watch.message is not None
    await forget(app, chat_context.person.id, DeletionRequest(ids=(watch.message,)))

    assert await watches(app, chat_context) == []


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("only 1.299,00 €!", 1299.0),
        ("$1,299.99", 1299.99),
        ("1 299,00 €", 1299.0),
        ("12 499 €", 12499.0),
        ("€ 1 299,00", 1299.0),
        ("$5 100 ml", 5.0),
        ("2026 299 €", 299.0),
        ("EUR 5", 5.0),
        ("from 12 euros in 2026", None),
        ("no price", None),
    ],
)
def test_first_price_of_a_page_is_found(text: str, amount: float | None) -> None:
    """However it is written."""
    assert find_amount(text) == amount


def test_numbers_are_read_as_people_write_them() -> None:
    """With either sign before the decimals."""
    assert [parse_amount(each) for each in ("50", "49.90", "49,90", "1.299", "1,299.5")] == [
        50.0,
        49.9,
        49.9,
        1299.0,
        1299.5,
    ]


@pytest.mark.parametrize(
    ("words", "status", "threshold"),
    [
        ("Tell me when http://shop.example/ drops below 40 €", "active", 40.0),
        ("Tell me when http://shop.example/ changes.", "active", None),
        ("What a nice shop.", "ended", 50.0),
    ],
)
async def test_edit_of_the_message_is_followed(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    web: WebSites,
    words: str,
    status: str,
    threshold: float | None,
) -> None:
    """The watch waits for what the new words say, or ends, which is said."""
    app = online(app, web)
    await tell(app, clock, chat_context, NOON, "Tell me when http://shop.example/ drops below 50 €")
    (watch,) = await watches(app, chat_context)
    assert watch.message is not None
    async with app.db.begin_write() as tx:
        edited = await update_message_text(
            tx, clock, app.settings, chat_context.person.id, watch.message, words
        )
        followed = await apply_edit(tx, edited, now=clock())

    (watch,) = await watches(app, chat_context)
    assert (watch.status, watch.threshold) == (status, threshold)
    assert followed is not None
    assert "http://shop.example/" in followed.text


async def test_watch_that_waits_because_pages_are_off_says_so_once_and_by_day(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, web: WebSites
) -> None:
    """Rather than be silent for weeks; it goes on, and is told of again if it happens again."""
    house = online(app, web)
    await tell(house, clock, chat_context, NOON, "Tell me when http://shop.example/ changes.")
    off = replace(house.settings, web=replace(house.settings.web, pages=False))
    closed = replace(house, settings=off)
    await live_until(house, clock, at("2026-11-24T21:00"))
    await live_until(closed, clock, at("2026-11-29T12:00"))
    (told,) = await list_about(app, chat_context)
    assert "http://shop.example/" in told.text
    assert told.at == at("2026-11-25T08:00")
    assert [each.status for each in await watches(app, chat_context)] == ["active"]

    await live_until(house, clock, at("2026-12-01T12:00"))
    await live_until(closed, clock, at("2026-12-05T12:00"))
    assert len(await list_about(app, chat_context)) == 2


async def list_about(app: AppContext, chat_context: ChatContext) -> list[Message]:
    """What was said about watches apart from what they have seen."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id, limit=1_000)
    return [each for each in messages if (each.external_id or "").startswith("unprompted/watch/")]
