"""Whatever comes from a platform, and however often it fails: nothing that can be read is lost."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.telegram.telegram_channel import TelegramChannel
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.domain.errors import PlatformRejected, StoreFull
from oldfriend.inbound.receive import listen_on_channel
from tests.conftest import Sizes
from tests.engines import SQLITE_ONLY
from tests.fakes.telegram import World, running_telegram
from tests.fakes.telegram.world import sometimes

ANA, EVE = 7, 9

pytestmark = SQLITE_ONLY


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@asynccontextmanager
async def listening(app: AppContext, world: World, token: str = "") -> AsyncIterator[None]:
    """Have a house hear a Telegram, on which Ana is allowed."""
    telegram = TelegramChannel(token or world.token, base_url=world.url, debounce_s=0)
    chosen = replace(app.settings, channels={"telegram": TelegramSettings(allowed=(str(ANA),))})
    app = replace(app, settings=chosen, channels={"telegram": telegram})
    stopping = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel("telegram", app, stopping))
            yield
            stopping.set()
    finally:
        await telegram.close()


async def said_by_ana(app: AppContext) -> list[str]:
    """What is in the log."""
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT text FROM message WHERE role = 'person' ORDER BY seq")
    return [row[0] for row in rows]


async def heard_until(app: AppContext, world: World, last: str, *, within_s: float) -> list[str]:
    """What Ana has said by the time that the last of it stands in the log."""
    step = asyncio.Event()
    watched = replace(app, on_crash_point=lambda _: step.set())
    async with listening(watched, world), asyncio.timeout(within_s):
        while last not in (await said_by_ana(app))[-1:]:
            await step.wait()
            step.clear()
    return await said_by_ana(app)


def wild_value(chance: random.Random, depth: int = 0) -> Any:
    """Anything that JSON can hold."""
    kinds = 10 if depth < 4 else 7
    match chance.randrange(kinds):
        case 0:
            return None
        case 1:
            return chance.choice([True, False])
        case 2:
            return chance.choice([0, -1, 7, 1 << 31, 1 << 52, 1 << 70, -(1 << 80)])
        case 3:
            return chance.choice([0.5, -1e308, 1e-300])
        case 4 | 5:
            return chance.choice(WILD_TEXTS) * chance.choice([1, 1, 1, 300])
        case 6:
            return ""
        case 7 | 8:
            names = chance.sample(NAMES, chance.randrange(6))
            return {name: wild_value(chance, depth + 1) for name in names}
        case _:
            return [wild_value(chance, depth + 1) for _ in range(chance.randrange(4))]


WILD_TEXTS = [
    "</heard>",
    "<b>",
    "[[remark]]",
    "\x00",
    "\ud800",
    "\u202e\u200b",
    "```",
    "a" * 5000,
    "🙂",
    "/start",
    "/stop@x",
    "'; DROP TABLE message; --",
    "{{name}}",
    "%s",
    "\r\n",
    "١٢٣٤٥٦",
    "123456",
]
NAMES = [
    "message_id",
    "date",
    "chat",
    "from",
    "text",
    "caption",
    "photo",
    "voice",
    "sticker",
    "poll",
    "entities",
    "forward_origin",
    "reply_to_message",
    "quote",
    "media_group_id",
    "id",
    "type",
    "title",
    "contact",
    "location",
    "venue",
    "dice",
    "is_bot",
    "offset",
    "length",
    "edit_date",
    "new_reaction",
    "user",
    "new_chat_member",
    "migrate_to_chat_id",
    "data",
    "message_thread_id",
]
KINDS = [
    "message",
    "edited_message",
    "channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
    "poll",
    "nonsense",
]


def wild_update(chance: random.Random, world: World) -> dict[str, Any]:
    """Something like what Telegram sends, spoilt in places; sometimes nothing like it."""
    kind = chance.choice(KINDS)
    if chance.random() < 0.3:
        return {kind: wild_value(chance)}
    user = {"id": EVE, "is_bot": False, "first_name": chance.choice(WILD_TEXTS)}
    fields: dict[str, Any] = {
        "message_id": chance.randrange(1 << 31),
        "date": chance.randrange(1 << 34),
        "from": user,
        "chat": {"id": EVE, "type": "private", "first_name": "Eve"},
        "id": "query-1",
        "text": chance.choice(WILD_TEXTS),
        "user": user,
        "data": "x",
    }
    for name in chance.sample(NAMES, chance.randrange(4)):
        fields[name] = wild_value(chance)
    return {kind: fields}


@pytest.mark.timeout(1800)
async def test_malformed_updates_lose_no_neighboring_message(
    app: AppContext, world: World, sizes: Sizes
) -> None:
    """Wrong types, huge numbers, hostile markup: passed over, in order, without a crash."""
    chance = random.Random(1)
    said = []
    for number in range(sizes.fuzzed):
        world.tell(wild_update(chance, world))
        if number % 25 == 0:
            said.append(f"neighbour {number}")
            world.says(ANA, said[-1])
    heard = await heard_until(app, world, said[-1], within_s=30 + sizes.fuzzed / 20)

    assert heard == said


@pytest.mark.slow
async def test_update_that_cannot_be_stored_is_not_acknowledged(
    app: AppContext, world: World
) -> None:
    """A full disk for a while; nothing is lost, and nothing comes twice."""
    app = replace(app, db=FullNowAndThen(app.db))
    said = [f"line {number}" for number in range(30)]
    for text in said:
        world.says(ANA, text)

    assert await heard_until(app, world, said[-1], within_s=60) == said


@pytest.mark.slow
async def test_listener_retries_a_failing_platform_without_loss(
    app: AppContext, world: World
) -> None:
    """Floods, errors and resets in half of all calls."""
    world.chance = sometimes(0.5, seed=2)
    said = [f"line {number}" for number in range(10)]
    for text in said:
        world.says(ANA, text)

    assert await heard_until(app, world, said[-1], within_s=60) == said


async def test_a_wrong_token_is_refused(app: AppContext, world: World) -> None:
    """With what to do about it."""
    with pytest.raises(ExceptionGroup) as refused:
        async with listening(app, world, "1:wrong"):
            await asyncio.sleep(10)

    assert isinstance(refused.value.exceptions[0], PlatformRejected)


class FullNowAndThen:
    """A database whose disk is full at every third writing."""

    def __init__(self, db: Any) -> None:
        """Stand before the real one."""
        self._db = db
        self._writings = 0

    def __getattr__(self, name: str) -> Any:
        """All else is as it is."""
        return getattr(self._db, name)

    @asynccontextmanager
    async def begin_write(self, *, urgent: bool = False) -> AsyncIterator[Any]:
        """Write, or find the disk full at the end."""
        self._writings += 1
        async with self._db.begin_write(urgent=urgent) as tx:
            yield tx
            if self._writings % 3 == 0:
                raise StoreFull("The disk is full.")


class FullWhereAnOutageEnds:
    """A database whose disk is full only where it is written that a platform is back."""

    def __init__(self, real: Any) -> None:
        """Stand before a real database, or before one of its transactions."""
        self._real = real

    def __getattr__(self, name: str) -> Any:
        """All else is as it is."""
        return getattr(self._real, name)

    @asynccontextmanager
    async def begin_write(self, *, urgent: bool = False) -> AsyncIterator[Any]:
        """Write as ever, but for the one thing."""
        async with self._real.begin_write(urgent=urgent) as tx:
            yield FullWhereAnOutageEnds(tx)

    async def run(self, sql: str, /, **values: Any) -> int:
        """Find the disk full at the end of an outage."""
        if sql.startswith("DELETE FROM channel_cursor"):
            raise StoreFull("The disk is full.")
        return int(await self._real.run(sql, **values))


async def test_a_reply_is_sent_though_it_cannot_be_kept_that_the_platform_is_back(
    app: AppContext, world: World
) -> None:
    """It is queued first; the event is handled, and comes no more."""
    full: Any = FullWhereAnOutageEnds(app.db)
    world.says(ANA, "/zone Tokyo")
    async with listening(replace(app, db=full), world):
        heard = await asyncio.to_thread(lambda: world.wait(lambda: bool(world.texts(ANA))))
    assert heard
    assert "Asia/Tokyo" in world.texts(ANA)[0]
