"""Only who knows the app secret is heard, and nothing is read before that is known."""

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest

from oldfriend.channels import http_listener
from oldfriend.channels.whatsapp import whatsapp_channel
from oldfriend.domain.errors import PlatformUnavailable
from tests.channels.whatsapp.conftest import ANA, NoCursors, listening, make_channel
from tests.fakes.whatsapp import PHONE_NUMBER_ID, VERIFY_TOKEN, WhatsApp

SIGNATURE = "X-Hub-Signature-256"


def told(text: str = "Hello") -> bytes:
    """What Meta would tell of a message."""
    said = {"from": ANA, "id": "wamid.1", "timestamp": "1700000000", "type": "text"}
    value = {
        "metadata": {"phone_number_id": PHONE_NUMBER_ID},
        "messages": [{**said, "text": {"body": text}}],
    }
    return json.dumps({"entry": [{"changes": [{"field": "messages", "value": value}]}]}).encode()


async def test_address_is_verified_by_the_word_that_we_made_up(world: WhatsApp) -> None:
    """Whoever does not know it gets nothing back."""
    asked = {"hub.mode": "subscribe", "hub.challenge": "1158201444"}
    async with listening(world), httpx.AsyncClient() as client:
        url = world.webhook_url
        right = await client.get(url, params={**asked, "hub.verify_token": VERIFY_TOKEN})
        wrong = [
            await client.get(url, params=asked),
            await client.get(url, params={**asked, "hub.verify_token": "\u00fc"}),
            await client.get(url, params={**asked, "hub.verify_token": VERIFY_TOKEN[:-1]}),
            await client.get(url, params={"hub.verify_token": VERIFY_TOKEN, "hub.challenge": "1"}),
        ]

    assert (right.status_code, right.text) == (200, "1158201444")
    assert right.headers["content-type"].startswith("text/plain")
    assert [each.status_code for each in wrong] == [403] * 4
    assert not any("1158201444" in each.text for each in wrong)


async def test_call_must_be_signed_over_its_very_bytes(world: WhatsApp) -> None:
    """Any other signature, path or method is refused, whatever is told."""
    body = told()
    signatures: list[dict[str, str | bytes]] = [
        {},
        {SIGNATURE: "sha256="},
        {SIGNATURE: world.sign(body)[:-1] + "x"},
        {SIGNATURE: world.sign(body + b" ")},
        {SIGNATURE: world.sign(body).removeprefix("sha256=")},
        {SIGNATURE: "\u00fc".encode()},
        {"X-Hub-Signature": world.sign(body)},
    ]
    async with listening(world) as companion, httpx.AsyncClient() as client:
        url = world.webhook_url
        forged = [
            await client.post(
                url,
                content=body,
                headers=[
                    (k.encode(), v if isinstance(v, bytes) else v.encode()) for k, v in each.items()
                ],
            )
            for each in signatures
        ]
        signed = {SIGNATURE: world.sign(body)}
        other = await client.post(f"{url}/x", content=body, headers=signed)
        put = await client.put(url, content=body, headers=signed)
        broken = await client.post(url, content=b"{", headers={SIGNATURE: world.sign(b"{")})
        deep = b"[" * 200_000
        nested = await client.post(url, content=deep, headers={SIGNATURE: world.sign(deep)})
        assert companion.ear.heard == []
        right = await client.post(url, content=body, headers=signed)
        again = await client.post(url, content=body, headers=signed)

    assert [each.status_code for each in forged] == [401] * len(signatures)
    assert [other.status_code, put.status_code] == [404, 405]
    assert [broken.status_code, nested.status_code] == [400, 400]
    assert [right.status_code, again.status_code] == [200, 200]
    assert companion.ear.texts == ["Hello"]


async def test_unsigned_body_is_not_parsed(
    world: WhatsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature is checked first."""
    parsed: list[bytes] = []
    loads: Callable[[bytes], object] = json.loads

    class Watched:
        @staticmethod
        def loads(body: bytes) -> object:
            parsed.append(body)
            return loads(body)

    async with listening(world), httpx.AsyncClient() as client:
        monkeypatch.setattr(http_listener, "json", Watched)
        await client.post(world.webhook_url, content=told())
        assert parsed == []
        headers = {SIGNATURE: world.sign(told())}
        await client.post(world.webhook_url, content=told(), headers=headers)

    assert parsed == [told()]


async def test_body_that_is_too_large_is_refused(
    world: WhatsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is read to its end."""
    monkeypatch.setattr(whatsapp_channel, "MAX_BODY_BYTES", 1_000)
    body = told("x" * 2_000)
    async with listening(world) as companion, httpx.AsyncClient() as client:
        answer = await client.post(
            world.webhook_url, content=body, headers={SIGNATURE: world.sign(body)}
        )

    assert answer.status_code == 413
    assert companion.ear.heard == []


async def test_port_that_is_taken_is_reported(world: WhatsApp) -> None:
    """With the settings that choose another."""
    async with listening(world) as companion:
        taken = companion.channel._settings.webhook_port
        other = make_channel(world, webhook_port=taken)
        with pytest.raises(PlatformUnavailable, match=r"whatsapp\.webhook_port"):
            await other.listen(companion.ear, NoCursors())
        await other.close()


async def test_body_without_a_possible_signature_is_not_read(world: WhatsApp) -> None:
    """Who sends none is refused by the head of the call; nothing of it is waited for or kept."""
    async with listening(world):
        address = httpx.URL(world.webhook_url)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        head = f"POST {address.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n"
        writer.write(head.encode())
        async with asyncio.timeout(10):
            answer = await reader.readline()
        writer.close()

    assert b" 401 " in answer


async def test_large_calls_are_read_a_few_at_a_time(world: WhatsApp) -> None:
    """So that strangers cannot fill the memory; calls of usual size come through meanwhile."""
    async with listening(world) as companion, httpx.AsyncClient() as client:
        address = httpx.URL(world.webhook_url)
        head = (
            f"POST {address.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n"
            f"{SIGNATURE}: {world.sign(b'')}\r\n\r\n"
        )
        writers = []
        for _ in range(whatsapp_channel.MAX_LARGE_BODIES + 4):
            _, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(head.encode())
            writers.append(writer)
        async with asyncio.timeout(10):
            body = told()
            answer = await client.post(
                str(address), content=body, headers={SIGNATURE: world.sign(body)}
            )
        for writer in writers:
            writer.close()

    assert answer.status_code == 200
    assert companion.ear.texts == ["Hello"]
