"""How does a question reach Telegram at little cost? Over a few connections that are kept open.

Most of what a bot does is many small calls, and of a general client each takes as much of the
processor as half a turn. Files, and whatever goes by a proxy, go by the library's own client.
Knows no method of the API.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from socket import gaierror
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpx
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from typing_extensions import override

from oldfriend.channels.telegram.line import Answer, Heard, Line, unheard
from oldfriend.channels.telegram.one_by_one import OneByOne

if TYPE_CHECKING:
    from telegram._utils.types import ODVInput

AT_ONCE: Final = 64
"""Connections; a call beyond them waits for one."""
CALL_S: Final = 20.0
AT_THE_END_S: Final = 2.0
"""So long what is in the air is waited for by who is about to go."""
KEY: Final = "oldfriend_key"
"""A parameter that is not sent: by what a call is known that is not to be done twice."""
PATIENCE_S: Final = 0.5
"""So long one that says something is waited for: no chat that hangs keeps others for longer."""
LONGEST_IN_LINE_S: Final = 3.0
"""So long one waits for all who came before, however many they are and however slow."""
KEPT_S: Final = 5.0
"""A connection that was silent for so long may be cut off by whoever stands between."""
ELSEWHERE_S: Final = 0.25
"""A server has several addresses; so long after one the next is tried as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the calls go."""

    host: str
    port: int
    is_secure: bool

    @property
    def is_behind_a_proxy(self) -> bool:
        """Whether a proxy is to be asked, by the environment."""
        by = getproxies()
        stands = {"all", "https" if self.is_secure else "http"} & by.keys()
        return bool(stands) and not proxy_bypass(self.host)


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked for."""

    url: str
    body: bytes
    until: float  # by the loop's time; all of it, from standing in line to the answer


class Calls(BaseRequest):
    """Sends each call to Telegram on a connection that is free, or a new one."""

    def __init__(self, url: str, *, note: Callable[[str, Answer], None]) -> None:
        """Ask nothing yet; ``url``: where the Bot API is.

        ``note`` is told of the answer to a call that has a ``KEY`` in the moment it is read.
        """
        self._note = note
        self._one_by_one = OneByOne(PATIENCE_S, LONGEST_IN_LINE_S)
        self._server = server_of(url)
        self._trust = httpx.create_ssl_context()
        self._files = HTTPXRequest(
            connection_pool_size=AT_ONCE, read_timeout=CALL_S, write_timeout=CALL_S,
            connect_timeout=CALL_S, pool_timeout=CALL_S, httpx_kwargs={"verify": self._trust},
        )  # fmt: skip
        self._is_direct = not self._server.is_behind_a_proxy
        self._room = asyncio.Semaphore(AT_ONCE)
        self._free: list[tuple[Line, float]] = []
        self._in_the_air: dict[str, asyncio.Future[Answer]] = {}
        self._is_open = True

    def marks(self, key: str) -> dict[str, str]:
        """What marks a call that is not to be done twice; nothing where others send it for us."""
        return {KEY: key} if self._is_direct else {}

    def when_over(self, key: str, act: Callable[[], None]) -> None:
        """Act once no call with a key is in the air: at once, where none is."""
        if (under_way := self._in_the_air.get(key)) is None:
            act()
        else:
            under_way.add_done_callback(lambda _: act())

    @property
    @override
    def read_timeout(self) -> float:
        """How long a call may take where nothing else is said."""
        return CALL_S

    @override
    async def initialize(self) -> None:
        """Be ready to ask."""
        await self._files.initialize()

    @override
    async def shutdown(self) -> None:
        """Close all connections; what is in the air is waited for, not for long."""
        self._is_open = False
        while self._free:
            self._free.pop()[0].hang_up()
        await self._files.shutdown()
        if self._in_the_air:
            await asyncio.wait(self._in_the_air.values(), timeout=AT_THE_END_S)

    @override
    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None,
        read_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        write_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        connect_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        pool_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:  # fmt: skip
        """The status and the body of what Telegram answers. Raises TimedOut, NetworkError."""
        has_files = request_data is not None and bool(request_data.multipart_data)
        if method != "POST" or has_files or not self._is_direct:
            return await self._files.do_request(
                url, method, request_data, read_timeout, write_timeout, connect_timeout,
                pool_timeout,
            )  # fmt: skip
        fields = dict(request_data.json_parameters) if request_data else {}
        key = fields.pop(KEY, None)
        longest_s = read_timeout if isinstance(read_timeout, int | float) else CALL_S
        until = asyncio.get_running_loop().time() + longest_s
        call = Call(url, urlencode(fields).encode(), until)
        try:
            answer = await (self._ask(call) if key is None else self._say(call, key))
        except TimeoutError as error:
            raise TimedOut from error
        except gaierror as error:
            unknown = f"{self._server.host} is not found; is this machine on the network?"
            raise NetworkError(unknown) from error
        except (OSError, h11.ProtocolError) as error:
            raise NetworkError(f"{type(error).__name__}: {error}") from error
        return answer.status, answer.body

    async def _say(self, call: Call, key: str) -> Answer:
        """Ask for what is not to be done twice, one after the other.

        Of those alone that are in the air nobody knows what became of them, should we be killed.
        What is in the air already is waited for.
        """
        if (under_way := self._in_the_air.get(key)) is not None:
            return await answer_to(under_way)
        said: asyncio.Future[Answer] | None = None

        def heard(answer: Answer) -> None:
            self._note(key, answer)
            place.leave()

        def begin_at_once() -> None:
            nonlocal said
            if (line := self._find_free()) is not None:
                said = self._begin(line, call, heard, key)

        place = self._one_by_one.line_up(begin_at_once)
        try:
            async with asyncio.timeout_at(call.until):
                await place.is_called.wait()
            if said is None:
                return await self._ask(call, heard, key)
            return await answer_to(said)
        finally:
            place.give_up()

    async def _ask(self, call: Call, heard: Heard = unheard, key: str | None = None) -> Answer:
        """Ask on a connection, where there are not too many already.

        What may be done twice ends with whoever asks, so that nothing of it comes after what is
        asked next: no older words over newer ones.
        """
        async with asyncio.timeout_at(call.until):
            await self._room.acquire()
            try:
                line = self._find_free() or await self._new()
                asked = self._begin(line, call, heard, key)
            except BaseException:
                self._room.release()
                raise
        asked.add_done_callback(lambda _: self._room.release())
        try:
            return await answer_to(asked)
        except asyncio.CancelledError:
            if key is None and not asked.done():  # else somebody may have its connection already
                line.hang_up()
            raise

    def _begin(
        self, line: Line, call: Call, heard: Heard, key: str | None
    ) -> asyncio.Future[Answer]:
        """Send a call, which goes on to its end by itself.

        So it is known what became of it, also where nobody waits for it any more.
        """
        try:
            answer = line.begin(call.url, call.body, heard, until=call.until)
        except BaseException:
            line.hang_up()
            raise
        answer.add_done_callback(partial(self._take_back, line))
        if key is not None:
            self._in_the_air[key] = answer
            answer.add_done_callback(lambda _: self._in_the_air.pop(key, None))
        return answer

    def _take_back(self, line: Line, answer: asyncio.Future[Answer]) -> None:
        """Keep a connection for the next call; one on which something went wrong is closed."""
        if answer.exception() is None and line.is_free and self._is_open:
            self._free.append((line, asyncio.get_running_loop().time()))
        else:
            line.hang_up()

    def _find_free(self) -> Line | None:
        """The connection that was used last, if it can still be trusted; old ones are closed."""
        now = asyncio.get_running_loop().time()
        while self._free:
            line, since = self._free.pop()
            if line.is_free and now - since < KEPT_S:
                return line
            line.hang_up()
        return None

    async def _new(self) -> Line:
        server = self._server
        _, line = await asyncio.get_running_loop().create_connection(
            Line, server.host, server.port, ssl=self._trust if server.is_secure else None,
            happy_eyeballs_delay=ELSEWHERE_S,
        )  # fmt: skip
        return line


async def answer_to(call: asyncio.Future[Answer]) -> Answer:
    """What comes back; who waits for it may be cancelled, and it goes on. Raises as ``Line``."""
    return await asyncio.shield(call)


def server_of(url: str) -> Server:
    """Where the Bot API is that has an address."""
    parts = urlsplit(url)
    is_secure = parts.scheme != "http"
    port = parts.port or (443 if is_secure else 80)
    return Server(host=parts.hostname or "", port=port, is_secure=is_secure)
