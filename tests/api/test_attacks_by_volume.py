"""Somebody sends too much, too slowly, or takes nothing of what they are sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from oldfriend.app.app_context import AppContext
from tests.api.conftest import LONGEST_S, Browse, Site, events, opened_site, say
from tests.engines import SQLITE_ONLY

pytestmark = SQLITE_ONLY
MEGABYTE = b"x" * 1_000_000


async def without_end(count: int) -> AsyncIterator[bytes]:
    """So many megabytes, of which nobody has said how many."""
    for _ in range(count):
        yield MEGABYTE


@pytest.mark.parametrize("path", ["/chat/messages", "/chat/recordings", "/session", "/me"])
async def test_oversized_request_body_is_refused_with_and_without_length(
    browse: Browse, path: str
) -> None:
    """Whether it says how long it is or not; what was said stays as it was."""
    browser = await browse()
    headers = {"Content-Type": "application/json", "Idempotency-Key": "too much of it"}
    method = "PATCH" if path == "/me" else "POST"
    declared = await refused(browser, method, path, headers, b"x" * 40_000_000)
    chunked = await refused(browser, method, path, headers, without_end(40))
    said = await browser.get("/chat/messages")

    assert {declared, chunked} <= {0, 413}
    assert said.json()["items"] == []


async def refused(
    browser: httpx.AsyncClient,
    method: str,
    path: str,
    headers: dict[str, str],
    content: bytes | AsyncIterator[bytes],
) -> int:
    """With which status something is refused; 0: it was hung up on while it was sent."""
    try:
        answer = await browser.request(method, path, content=content, headers=headers)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        return 0
    return answer.status_code


async def test_upload_with_oversized_content_length_is_refused_before_the_body(
    site: Site, browse: Browse
) -> None:
    """It is refused by what it says of its length, before it is sent."""
    browser = await browse()
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    head = (
        f"POST /api/v1/uploads HTTP/1.1\r\nHost: localhost:{site.port}\r\n"
        f"Origin: {site.origin}\r\nX-CSRF-Token: {browser.headers['X-CSRF-Token']}\r\n"
        f"Cookie: {cookies}\r\nX-File-Name: a.zip\r\nContent-Length: {1 << 40}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("localhost", site.port)
    writer.write(head.encode())
    async with asyncio.timeout(LONGEST_S):
        first = await reader.readline()
    writer.close()

    assert b" 413 " in first
    assert (await browser.get("/uploads")).json()["items"] == []


@pytest.mark.parametrize(
    "name",
    [
        "../../../evil.txt",
        "/etc/evil.txt",
        "..%5C..%5Cevil.txt",
        "a%00/../../evil.txt",
        "%2e%2e",
        "%2E%2E%2F%2E%2E%2Fevil.txt",
        "evil%0d%0aSet-Cookie:%20x.txt",
    ],
)
async def test_uploaded_file_name_cannot_escape_the_upload_folder(
    site: Site, browse: Browse, name: str
) -> None:
    """It lies where all of them lie, whatever it is called."""
    browser = await browse()
    answer = await browser.post(
        "/uploads",
        content=b"Ana: hello\n",
        headers={"X-File-Name": name, "Content-Type": "application/octet-stream"},
    )
    data = site.app.settings.data
    written = [
        each
        for each in data.parent.rglob("*")
        if each.is_file() and "evil" in each.name and data / "brought" not in each.parents
    ]

    assert answer.status_code in {201, 422}
    assert written == []
    assert not {"/", "\\", "\r", "\n", "\0"} & set(answer.json().get("name", ""))
    assert "set-cookie" not in answer.headers


async def test_unfinished_request_head_times_out_and_others_are_served(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However diligently they send more of its head; all others are answered meanwhile."""
    monkeypatch.setattr("oldfriend.channels.http_listener.HEADER_TIMEOUT_S", 0.6)
    silent = await asyncio.open_connection("localhost", site.port)
    dripping = await asyncio.open_connection("localhost", site.port)
    dripping[1].write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
    again = await asyncio.open_connection("localhost", site.port)
    again[1].write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await again[0].readuntil(b"}")
    again[1].write(b"GET /health HTTP/1.1\r\n")
    lines = (silent, dripping, again)
    async with asyncio.timeout(LONGEST_S), asyncio.TaskGroup() as ends:
        ended = [ends.create_task(reader.read()) for reader, _ in lines]
        while not all(each.done() for each in ended):
            for _, writer in (dripping, again):
                writer.write(b"X-More: of it\r\n")
            await asyncio.wait(ended, timeout=0.1, return_when=asyncio.ALL_COMPLETED)
    for _, writer in lines:
        writer.close()
    async with site.stranger() as other:
        alive = await other.get(f"{site.origin}/health")

    assert [each.result() for each in ended] == [b"", b"", b""]
    assert alive.status_code == 200


@pytest.mark.slow
async def test_slowly_sent_request_body_times_out(
    site: Site, browse: Browse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece comes soon enough, and all of it never."""
    monkeypatch.setattr("oldfriend.api.security_middleware.RECEIVE_TIMEOUT_S", 0.6)
    browser = await browse()
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    reader, writer = await asyncio.open_connection("localhost", site.port)
    writer.write(
        f"POST /api/v1/chat/messages HTTP/1.1\r\nHost: localhost:{site.port}\r\n"
        f"Origin: {site.origin}\r\nX-CSRF-Token: {browser.headers['X-CSRF-Token']}\r\n"
        f"Cookie: {cookies}\r\nContent-Type: application/json\r\n"
        "Idempotency-Key: drop by drop\r\nContent-Length: 1000\r\n\r\n".encode()
    )
    async with asyncio.timeout(LONGEST_S), asyncio.TaskGroup() as group:
        answer = group.create_task(reader.readline())
        while not answer.done():
            writer.write(b" ")
            await asyncio.wait([answer], timeout=0.1)
    writer.close()

    assert b" 413 " in answer.result()


@pytest.mark.slow
async def test_event_stream_client_that_never_reads_blocks_nobody(app: AppContext) -> None:
    """Neither those who read it, nor the end; and nothing is heaped up for them."""
    async with opened_site(app) as site, site.browser() as browser:
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        deaf = [await asyncio.open_connection("localhost", site.port, limit=1) for _ in range(5)]
        for _, writer in deaf:
            writer.write(
                f"GET /api/v1/chat/events HTTP/1.1\r\nHost: localhost:{site.port}\r\n"
                f"Cookie: {cookies}\r\n"
                f"X-CSRF-Token: {browser.headers['X-CSRF-Token']}\r\n\r\n".encode()
            )
        async with aclosing(events(browser)) as heard:
            await anext(heard)
            for number in range(6):
                told = f"{number} " + "a very long remark " * 5_000
                assert (await say(browser, told, key=f"remark {number}")).status_code == 202
                async with asyncio.timeout(LONGEST_S):
                    while (await anext(heard)).topic != "chat.message.user_appended":
                        pass
        began = asyncio.get_running_loop().time()
        site.stop()
    took_s = asyncio.get_running_loop().time() - began
    for _, writer in deaf:
        writer.transport.abort()

    assert took_s < LONGEST_S
