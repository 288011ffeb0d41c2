"""Calls go out on connections that are kept; whatever a server does, each ends as it should."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from telegram._utils.types import ODVInput
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData
from telegram.request._requestparameter import RequestParameter

from oldfriend.channels.telegram import http_client as calling
from oldfriend.channels.telegram.http_client import (
    KEY_FIELD,
    MAX_CONNECTIONS,
    QUEUE_SLOT_S,
    TelegramHttpClient,
    parse_server,
)
from oldfriend.channels.telegram.http_connection import HttpResponse

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
Reply = Callable[["Far", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Far:
    """The other end: what has reached it, and how it answers the next calls."""

    replies: list[bytes | Reply] = field(default_factory=list)
    connections: int = 0
    calls: list[bytes] = field(default_factory=list)
    url: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    noted: list[tuple[str, bytes]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    inside: int = 0
    most_inside: int = 0

    def note(self, key: str, answer: HttpResponse) -> None:
        """Keep what is noted of answers."""
        self.noted.append((key, answer.body))

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one call after the other, and hang up."""
        self.connections += 1
        while head := await read_head(reader):
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            self.calls.append(head + await reader.readexactly(length))
            reply = self.replies.pop(0) if self.replies else OK
            if isinstance(reply, bytes):
                writer.write(reply)
            else:
                await reply(self, writer)
            if writer.is_closing():
                break
        writer.close()


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """The lines before what is said; nothing at the end."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def a_server(*replies: bytes | Reply) -> AsyncIterator[tuple[Far, TelegramHttpClient]]:
    """Somebody to call, and who calls them."""
    far = Far(replies=[*replies])
    async with asyncio.TaskGroup() as talks:

        def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            talks.create_task(far.talk(reader, writer))

        server = await asyncio.start_server(hear, "127.0.0.1", 0)
        far.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        calls = TelegramHttpClient(
            far.url, on_sent=far.left.append, on_unsent=far.failed.append, on_response=far.note
        )
        await calls.initialize()
        try:
            yield far, calls
        finally:
            await calls.shutdown()
            far.over.set()
            server.close()


async def call(far: Far, calls: TelegramHttpClient, **parameters: str) -> tuple[int, bytes]:
    """One call."""
    return await calls.do_request(f"{far.url}/bot1:x/aMethod", "POST", said(**parameters))


def said(**parameters: str) -> RequestData:
    """The parameters of a call, as the library hands them over."""
    return RequestData([RequestParameter.from_input(*each) for each in parameters.items()])


async def hang_up(far: Far, writer: asyncio.StreamWriter) -> None:
    """Say nothing more."""
    writer.close()


async def answer_and_hang_up(far: Far, writer: asyncio.StreamWriter) -> None:
    """Without saying that nothing more is to be said on this connection."""
    writer.write(OK)
    await writer.drain()
    writer.close()


async def never_answer(far: Far, writer: asyncio.StreamWriter) -> None:
    """Not within any time."""
    await far.over.wait()
    writer.close()


async def answer_late(far: Far, writer: asyncio.StreamWriter) -> None:
    """And count how many wait meanwhile."""
    far.inside += 1
    far.most_inside = max(far.most_inside, far.inside)
    await asyncio.sleep(0.05)
    far.inside -= 1
    writer.write(OK)


async def test_sequential_calls_reuse_one_connection() -> None:
    """What is said arrives as it was said, in any script."""
    async with a_server() as (far, calls):
        for text in ("a b&c", "漢字 😀"):
            assert await call(far, calls, text=text) == (200, b"{}")

    assert far.connections == 1
    assert b"POST /bot1:x/aMethod HTTP/1.1" in far.calls[0]
    assert far.calls[0].endswith(b"\r\n\r\ntext=a+b%26c")
    assert far.calls[1].endswith(b"text=%E6%BC%A2%E5%AD%97+%F0%9F%98%80")


async def test_closed_connection_or_one_with_unsolicited_data_is_not_reused() -> None:
    """Nor one on which something came that nobody has asked for."""
    unasked = OK + b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"
    async with a_server(answer_and_hang_up, unasked) as (far, calls):
        for _ in range(3):
            assert await call(far, calls) == (200, b"{}")
            await asyncio.sleep(0.05)

    assert far.connections == 3


async def test_chunked_and_close_delimited_responses_are_assembled() -> None:
    """Whether their length is told before, piece by piece, or by the end."""
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n1\r\n \r\n0\r\n\r\n"

    async def until_the_end(far: Far, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n{")
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(b"}")
        writer.close()

    async with a_server(chunked, until_the_end) as (far, calls):
        assert await call(far, calls) == (200, b"{} ")
        assert await call(far, calls) == (404, b"{}")
        assert await call(far, calls) == (200, b"{}")

    assert far.connections == 2


@pytest.mark.parametrize(
    "broken", [hang_up, b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", b"nonsense\r\n\r\n"]
)
async def test_broken_response_raises_network_error_without_automatic_resend(
    broken: bytes | Reply,
) -> None:
    """Nothing is sent twice by itself: nobody knows whether it was done."""

    async def break_off(far: Far, writer: asyncio.StreamWriter) -> None:
        if isinstance(broken, bytes):
            writer.write(broken)
            await writer.drain()
        writer.close()

    async with a_server(break_off) as (far, calls):
        with pytest.raises(NetworkError):
            await call(far, calls)
        assert len(far.calls) == 1

        assert await call(far, calls) == (200, b"{}")


async def test_refused_connection_raises_network_error() -> None:
    """As everything that may pass."""
    async with a_server() as (far, calls):
        pass

    with pytest.raises(NetworkError):
        await call(far, calls)


async def test_name_resolution_failure_is_reported_in_plain_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not by the number that the system has for it."""

    def is_unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", is_unknown)
    far = Far(url="http://telegram.invalid")
    calls = TelegramHttpClient(
        far.url, on_sent=far.left.append, on_unsent=far.failed.append, on_response=far.note
    )
    await calls.initialize()
    with pytest.raises(NetworkError, match="on the network") as told:
        await call(far, calls)
    await calls.shutdown()

    assert "Errno" not in str(told.value)


async def test_read_timeout_raises_timed_out_and_drops_the_connection() -> None:
    """As long as was asked for; the connection is not used for anything else."""
    async with a_server(never_answer) as (far, calls):
        with pytest.raises(TimedOut):
            await calls.do_request(f"{far.url}/bot1:x/a", "POST", None, read_timeout=0.1)
        assert await call(far, calls) == (200, b"{}")

    assert far.connections == 2


async def times_out(far: Far, calls: TelegramHttpClient, key: str) -> None:
    """One call that is never answered."""
    with pytest.raises(TimedOut):
        await call(far, calls, **calls.build_key_field(key))


async def test_call_timeout_includes_the_time_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks knows how long it takes at most, whoever was before them."""
    monkeypatch.setattr(calling, "CALL_TIMEOUT_S", QUEUE_SLOT_S + 0.2)
    async with a_server(never_answer, never_answer) as (far, calls):
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as both:
            for key in ("first", "second"):
                both.create_task(times_out(far, calls, key))
        taken_s = asyncio.get_running_loop().time() - began

    assert len(far.calls) == 2
    assert taken_s < 2 * QUEUE_SLOT_S


async def test_invalid_request_does_not_use_up_a_connection_slot() -> None:
    """However often it is tried."""
    async with a_server() as (far, calls):
        for _ in range(MAX_CONNECTIONS + 1):
            with pytest.raises(ValueError, match="ascii"):
                await calls.do_request(f"{far.url}/bot1:\N{SNOWMAN}/a", "POST", said(a="b"))
        async with asyncio.timeout(2):
            assert await call(far, calls) == (200, b"{}")

    assert len(far.calls) == 1


async def test_concurrent_connections_are_limited() -> None:
    """All others wait for their turn."""
    late = [answer_late] * (MAX_CONNECTIONS + 20)
    async with a_server(*late) as (far, calls), asyncio.TaskGroup() as everybody:
        for _ in late:
            everybody.create_task(call(far, calls))

    assert far.most_inside == far.connections == MAX_CONNECTIONS


async def test_environment_proxy_is_used_unless_no_proxy_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the environment says; hosts that need none are reached without it."""
    async with a_server() as (far, _):
        monkeypatch.setenv("http_proxy", far.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        calls = TelegramHttpClient(
            "http://telegram.invalid",
            on_sent=far.left.append,
            on_unsent=far.failed.append,
            on_response=far.note,
        )
        answered = await calls.do_request("http://telegram.invalid/bot1:x/a", "POST", said(a="b"))
        await calls.shutdown()

        assert answered == (200, b"{}")
        assert far.calls[0].startswith(b"POST http://telegram.invalid/bot1:x/a")
    monkeypatch.setenv("no_proxy", "telegram.invalid")
    assert not parse_server("http://telegram.invalid").has_proxy


async def test_idle_connection_beyond_keep_alive_is_not_reused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever stands between may have forgotten it."""
    monkeypatch.setattr(calling, "KEEP_ALIVE_S", 0.05)
    async with a_server() as (far, calls):
        for _ in range(2):
            await call(far, calls)
            await asyncio.sleep(0.1)

    assert far.connections == 2


async def test_keyed_calls_are_sent_one_after_another_and_recorded() -> None:
    """And noted before the next one is on its way; the mark stays here."""
    late = [answer_late] * 5
    async with a_server(*late) as (far, calls), asyncio.TaskGroup() as everybody:
        for number in range(5):
            everybody.create_task(call(far, calls, text="x", **calls.build_key_field(f"k{number}")))

    assert far.most_inside == 1
    assert far.noted == [(f"k{number}", b"{}") for number in range(5)]
    assert all(each.endswith(b"\r\n\r\ntext=x") for each in far.calls)
    assert KEY_FIELD.encode() not in b"".join(far.calls)


@pytest.mark.slow
async def test_hanging_keyed_call_delays_others_only_by_one_queue_slot() -> None:
    """All others are said after a moment, once for all of them."""
    async with a_server(never_answer) as (far, calls), asyncio.TaskGroup() as everybody:
        hanging = everybody.create_task(call(far, calls, **calls.build_key_field("hangs")))
        await asyncio.sleep(0.05)
        began = asyncio.get_running_loop().time()
        for number in range(20):
            assert await call(far, calls, **calls.build_key_field(f"k{number}")) == (200, b"{}")
        taken_s = asyncio.get_running_loop().time() - began
        hanging.cancel()

    assert taken_s < 2 * QUEUE_SLOT_S
    assert len(far.noted) == 20


async def test_queued_keyed_call_that_is_cancelled_is_never_sent() -> None:
    """All at once, as when a worker has lost its lanes: nothing goes out that nobody notes."""
    async with a_server(*[answer_late] * 80) as (far, calls), asyncio.TaskGroup() as everybody:
        tasks = [
            everybody.create_task(call(far, calls, **calls.build_key_field(f"k{number}")))
            for number in range(50)
        ]
        await asyncio.sleep(0.25)
        for each in tasks:
            each.cancel()
        await asyncio.sleep(0.5)

    assert len(far.calls) <= len(far.noted) + 1  # the one in the air


async def test_unkeyed_call_does_not_wait_for_queued_keyed_calls() -> None:
    """Updates are fetched while many replies wait."""
    async with a_server(*[answer_late] * 120) as (far, calls), asyncio.TaskGroup() as everybody:
        tasks = [
            everybody.create_task(call(far, calls, **calls.build_key_field(f"k{number}")))
            for number in range(MAX_CONNECTIONS + 20)
        ]
        await asyncio.sleep(0.05)
        await call(far, calls)
        before = len(far.noted)
        for each in tasks:
            each.cancel()

    assert before < MAX_CONNECTIONS // 2


async def test_cancelled_keyed_call_in_flight_completes_and_is_recorded() -> None:
    """It is noted, and its connection used again."""
    async with a_server(answer_late) as (far, calls), asyncio.TaskGroup() as everybody:
        gone = everybody.create_task(call(far, calls, **calls.build_key_field("k")))
        await asyncio.sleep(0.02)
        gone.cancel()
        await asyncio.sleep(0.1)
        await call(far, calls)

    assert far.noted == [("k", b"{}")]
    assert far.connections == 1


@pytest.mark.slow
async def test_shutdown_waits_briefly_for_calls_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody else does any more; but not for long."""
    monkeypatch.setattr(calling, "SHUTDOWN_TIMEOUT_S", 0.3)
    async with a_server(answer_late, never_answer) as (far, calls), asyncio.TaskGroup() as all_:
        for key in ("k", "hangs"):
            gone = all_.create_task(call(far, calls, **calls.build_key_field(key)))
            await asyncio.sleep(0.02 if key == "k" else QUEUE_SLOT_S / 2)
            gone.cancel()
            if key == "k":
                await calls.shutdown()
                assert far.noted == [("k", b"{}")]
        async with asyncio.timeout(1):
            await calls.shutdown()

    assert far.noted == [("k", b"{}")]
    assert len(far.calls) == 2


async def test_call_with_the_same_key_joins_the_one_in_flight() -> None:
    """Whoever took a lane over from somebody slow in this process waits for the same answer."""
    async with a_server(answer_late) as (far, calls), asyncio.TaskGroup() as everybody:
        slow = everybody.create_task(call(far, calls, **calls.build_key_field("k")))
        await asyncio.sleep(0.02)
        following = everybody.create_task(call(far, calls, **calls.build_key_field("k")))
        await asyncio.sleep(0.01)
        slow.cancel()

    assert following.result() == (200, b"{}")
    assert len(far.calls) == 1


async def test_cancelled_queued_key_is_sent_by_the_next_caller() -> None:
    """In the same moment, too; whoever stays is not taken along by whoever goes."""
    async with a_server(answer_late) as (far, calls), asyncio.TaskGroup() as everybody:
        everybody.create_task(call(far, calls, **calls.build_key_field("first")))
        await asyncio.sleep(0.02)
        gone = everybody.create_task(call(far, calls, **calls.build_key_field("k")))
        with_them = everybody.create_task(call(far, calls, **calls.build_key_field("both")))
        leaves = everybody.create_task(call(far, calls, **calls.build_key_field("both")))
        await asyncio.sleep(0.01)
        gone.cancel()
        leaves.cancel()
        await asyncio.sleep(0)
        following = everybody.create_task(call(far, calls, **calls.build_key_field("k")))

    assert with_them.result() == following.result() == (200, b"{}")
    assert sorted(key for key, _ in far.noted) == ["both", "first", "k"]


@pytest.mark.parametrize("read_timeout", [60, BaseRequest.DEFAULT_NONE])
async def test_cancelled_unkeyed_call_closes_its_connection(read_timeout: ODVInput[float]) -> None:
    """Who waits for news would be told that somebody asks already; an edit would come late."""
    hung_up = asyncio.Event()

    async def go_on_telling(far: Far, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await asyncio.sleep(0.01)
        hung_up.set()

    async with a_server(go_on_telling) as (far, calls), asyncio.TaskGroup() as everybody:
        asked = calls.do_request(f"{far.url}/bot1:x/a", "POST", None, read_timeout)
        waiting = everybody.create_task(asked)
        await asyncio.sleep(0.05)
        waiting.cancel()
        async with asyncio.timeout(2):
            await hung_up.wait()


async def test_cancellation_after_the_response_keeps_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection is free by then, or somebody else's."""

    async def go(asked: asyncio.Future[HttpResponse]) -> HttpResponse:
        await asyncio.wait({asked})
        raise asyncio.CancelledError

    async with a_server() as (far, calls):
        with monkeypatch.context() as moment:
            moment.setattr(calling, "wait_for_response", go)
            with pytest.raises(asyncio.CancelledError):
                await calls.do_request(f"{far.url}/bot1:x/a", "POST", None, read_timeout=60)
        assert await call(far, calls) == (200, b"{}")

    assert far.connections == 1


async def test_call_after_a_reset_connection_opens_a_new_one() -> None:
    """A server that restarts has ended them all; a message would be given up for the second."""
    async with a_server(answer_late, answer_late, answer_late, hang_up) as (far, calls):
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(call(far, calls))
        with pytest.raises(NetworkError):
            await call(far, calls)
        before = far.connections
        await call(far, calls)

        assert (before, far.connections) == (3, 4)
