"""Telegram calls, and what it tells is durable before it is answered; nobody else is let in."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from oldfriend.channels import http_listener
from oldfriend.channels.channel import ChannelEvent, HandleEvent, IncomingMessage, UnreadableUpdate
from oldfriend.channels.telegram import webhook
from oldfriend.channels.telegram.telegram_channel import TelegramChannel
from oldfriend.channels.telegram.webhook import WebhookAddress, derive_secret
from oldfriend.domain.errors import PlatformRejected, PlatformUnavailable, StoreFull
from tests.fakes.platform import MemoryCursors
from tests.fakes.telegram import World, running_telegram

ANA = 7
SECRET = "X-Telegram-Bot-Api-Secret-Token"
JSON = "application/json"


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
def hook() -> WebhookAddress:
    """A place on this machine that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return WebhookAddress(url=f"http://127.0.0.1:{port}/api/telegram", host="127.0.0.1", port=port)


class Ear:
    """Hears what is told; may be unable to keep it for a while."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.heard: list[ChannelEvent] = []
        self.fails = 0
        self._told = asyncio.Condition()

    async def __call__(self, what: ChannelEvent) -> None:
        """Keep it, or fail."""
        if self.fails:
            self.fails -= 1
            raise StoreFull("The disk is full.")
        async with self._told:
            self.heard.append(what)
            self._told.notify_all()

    @property
    def texts(self) -> list[str]:
        """What was said."""
        return [each.text for each in self.heard if isinstance(each, IncomingMessage)]

    async def comes_to_say(self, words: str) -> None:
        """Wait until this was told."""
        async with asyncio.timeout(20), self._told:
            await self._told.wait_for(lambda: words in self.texts)

    async def comes_to(self, count: int) -> None:
        """Wait until so much was told."""
        async with asyncio.timeout(20), self._told:
            await self._told.wait_for(lambda: len(self.heard) >= count)


@asynccontextmanager
async def hearing(telegram: TelegramChannel, receive: HandleEvent) -> AsyncIterator[None]:
    """A bot that listens meanwhile."""
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(telegram.listen(receive, MemoryCursors()))
        try:
            yield
        finally:
            listening.cancel()
    await telegram.close()


@asynccontextmanager
async def called(
    world: World, hook: WebhookAddress, receive: HandleEvent
) -> AsyncIterator[httpx.AsyncClient]:
    """A bot that Telegram calls; whoever else wants to may call as well."""
    telegram = TelegramChannel(world.token, base_url=world.url, webhook=hook)
    async with hearing(telegram, receive), httpx.AsyncClient() as client:
        await is_called(world)
        yield client


async def is_called(world: World) -> None:
    """Wait until Telegram knows whom to call."""
    assert await asyncio.to_thread(world.wait, lambda: world.webhook is not None)


def update(number: int = 1, **said: Any) -> dict[str, Any]:
    """What Telegram would tell of a message."""
    chat = {"id": ANA, "type": "private", "first_name": "Ana"}
    message = {"message_id": number, "date": 1_700_000_000, "chat": chat, "from": {**chat}, **said}
    return {"update_id": 5_000 + number, "message": message}


async def test_webhook_delivers_updates_in_order_and_answers_503_until_stored(
    world: World, hook: WebhookAddress
) -> None:
    """Again and again until it is kept; then once."""
    ear = Ear()
    ear.fails = 2
    async with called(world, hook, ear):
        for words in ("one", "two", "three"):
            world.says(ANA, words)
        await ear.comes_to(3)
        world.wait(lambda: world.hooked.count(200) == 3)

    assert ear.texts == ["one", "two", "three"]
    assert world.hooked == [503, 503, 200, 200, 200]


async def test_webhook_requires_secret_path_method_and_json(
    world: World, hook: WebhookAddress
) -> None:
    """With the secret, at the one address, by POST, as JSON."""
    ear, secret = Ear(), {SECRET: derive_secret(world.token)}
    async with called(world, hook, ear) as client:
        told = update(text="hi")
        answers = [
            await client.post(hook.url, json=told),
            await client.post(hook.url, json=told, headers={SECRET: "x"}),
            await client.post(hook.url, json=told, headers={SECRET.encode(): "\u00fc".encode()}),
            await client.post(hook.url.removesuffix("/telegram"), json=told, headers=secret),
            await client.get(hook.url, headers=secret),
            await client.post(hook.url, content=b"x=1", headers={**secret, "content-type": "x/y"}),
            await client.post(hook.url, content=b"{", headers={**secret, "content-type": JSON}),
        ]
        assert ear.heard == []
        right = await client.post(hook.url, json=told, headers=secret)
        again = await client.post(hook.url, json=told, headers=secret)
        odd = await client.post(hook.url, json={"update_id": 9, "message": 4}, headers=secret)

    assert [each.status_code for each in answers] == [401, 401, 401, 404, 405, 415, 400]
    assert answers[4].headers["allow"] == "POST"
    assert [right.status_code, again.status_code, odd.status_code] == [200, 200, 200]
    assert ear.texts == ["hi"]
    assert isinstance(ear.heard[1], UnreadableUpdate)


async def test_webhook_rejects_oversized_and_slow_bodies(
    world: World, hook: WebhookAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither more than a megabyte, told or not, nor for longer than it may take."""
    monkeypatch.setattr(http_listener, "BODY_TIMEOUT_S", 0.3)
    head = (
        f"POST /api/telegram HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"x-telegram-bot-api-secret-token: {derive_secret(world.token)}\r\n"
    ).encode()
    ear = Ear()

    async def answer_to(*pieces: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(hook.host, hook.port)
        for piece in pieces:
            writer.write(piece)
        with suppress(ConnectionError):
            await writer.drain()
        async with asyncio.timeout(10):
            line = await reader.readline()
        writer.close()
        return line

    chunk = b"%x\r\n%s\r\n" % (200_000, b"x" * 200_000)
    async with called(world, hook, ear):
        announced = await answer_to(head, b"content-length: 1000001\r\n\r\n")
        chunked = await answer_to(head, b"transfer-encoding: chunked\r\n\r\n", *[chunk] * 6)
        slow = await answer_to(head, b"content-length: 10\r\n\r\n", b"{")

    assert b" 413 " in announced
    assert b" 413 " in chunked
    assert b" 408 " in slow
    assert ear.heard == []


async def test_webhook_delivers_album_pieces_with_their_album_id(
    world: World, hook: WebhookAddress
) -> None:
    """Each is durable before the next is told: whoever keeps them puts them together."""
    ear = Ear()
    picture = {"photo": [{"file_id": "a"}], "media_group_id": "x"}
    async with called(world, hook, ear):
        world.says(ANA, **picture)
        world.says(ANA, **picture, caption="us in Faro")
        world.says(ANA, "and then?")
        await ear.comes_to(3)
    first, words, then = ear.heard

    assert isinstance(first, IncomingMessage)
    assert isinstance(words, IncomingMessage)
    assert isinstance(then, IncomingMessage)
    assert (first.text, first.album_id, first.is_readable) == ("[photo]", "x", False)
    assert (words.text, words.album_id, words.is_readable) == ("us in Faro", "x", True)
    assert (then.text, then.album_id) == ("and then?", "")


async def test_switching_between_polling_and_webhook_loses_no_update(
    world: World, hook: WebhookAddress
) -> None:
    """Nothing that happens between is lost; what is told again is known by its key."""
    ear = Ear()
    async with called(world, hook, ear):
        world.says(ANA, "one")
        await ear.comes_to(1)
    world.says(ANA, "two")
    async with hearing(TelegramChannel(world.token, base_url=world.url), ear):
        await ear.comes_to(2)
    assert world.webhook is None
    async with called(world, hook, ear):
        world.says(ANA, "three")
        await ear.comes_to_say("three")

    assert list(dict.fromkeys(ear.texts)) == ["one", "two", "three"]


async def test_occupied_port_or_foreign_webhook_url_is_reported(
    world: World, hook: WebhookAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is taken, or somebody else is called instead."""
    telegram = TelegramChannel(world.token, base_url=world.url, webhook=hook)
    with (
        socket.create_server((hook.host, hook.port)),
        pytest.raises(PlatformUnavailable, match="webhook_port"),
    ):
        await telegram.listen(Ear(), MemoryCursors())
    monkeypatch.setattr(webhook, "CHECK_INTERVAL_S", 0.2)

    async def take_away() -> None:
        await is_called(world)
        world.webhook = {"url": "https://elsewhere.example/api"}

    async with asyncio.TaskGroup() as group:
        group.create_task(take_away())
        with pytest.raises(PlatformRejected, match=r"elsewhere\.example"):
            await telegram.listen(Ear(), MemoryCursors())
    await telegram.close()


def test_webhook_secret_is_valid_and_does_not_reveal_the_token() -> None:
    """And tells nothing of the token."""
    secret = derive_secret("123:abc")

    assert secret == derive_secret("123:abc") != derive_secret("123:abd")
    assert len(secret) <= 256
    assert secret.isalnum()
    assert "abc" not in json.dumps(secret)
