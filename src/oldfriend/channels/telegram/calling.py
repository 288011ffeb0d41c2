"""How does a question reach Telegram at little cost? Over a few connections that are kept open.

Most of what a bot does is many small calls, and of a general client each takes as much of the
processor as half a turn. Files, and whatever goes by a proxy, go by the library's own client.
Knows no method of the API.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpx
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from typing_extensions import override

from oldfriend.channels.telegram.one_by_one import OneByOne

if TYPE_CHECKING:
    from telegram._utils.types import ODVInput

AT_ONCE: Final = 64
"""Connections; a call beyond them waits for one."""
CALL_S: Final = 20.0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    body: bytes


Heard: TypeAlias = Callable[[Answer], None]


def unheard(answer: Answer) -> None:
    """Nobody has to know at once."""


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

    def marks(self, key: str) -> dict[str, str]:
        """What marks a call that is not to be done twice; nothing where others send it for us."""
        return {KEY: key} if self._is_direct else {}

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
        """Close all connections."""
        while self._free:
            self._free.pop()[0].hang_up()
        await self._files.shutdown()

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
        body = urlencode(fields).encode()
        longest_s = read_timeout if isinstance(read_timeout, int | float) else CALL_S
        try:
            async with asyncio.timeout(longest_s):
                answer = await (self._ask(url, body) if key is None else self._say(url, body, key))
        except TimeoutError as error:
            raise TimedOut from error
        except (OSError, h11.ProtocolError) as error:
            raise NetworkError(f"{type(error).__name__}: {error}") from error
        return answer.status, answer.body

    async def _say(self, url: str, body: bytes, key: str) -> Answer:
        """Ask for what is not to be done twice, one after the other.

        Of those alone that are in the air nobody knows what became of them, should we be killed.
        """
        line: Line | None = None

        def heard(answer: Answer) -> None:
            self._note(key, answer)
            place.leave()

        def begin_at_once() -> None:
            nonlocal line
            if (line := self._find_free()) is not None:
                line.begin(url, body, heard)

        place = self._one_by_one.line_up(begin_at_once)
        try:
            await place.is_called.wait()
            if line is None:
                return await self._ask(url, body, heard)
            return await self._answer_on(line)
        except BaseException:  # cancelled in the moment in which it was called, too
            if line is not None:
                line.hang_up()
            raise
        finally:
            place.give_up()

    async def _ask(self, url: str, body: bytes, heard: Heard = unheard) -> Answer:
        """Ask on a connection, where there are not too many already."""
        async with self._room:
            line = self._find_free() or await self._new()
            line.begin(url, body, heard)
            return await self._answer_on(line)

    async def _answer_on(self, line: "Line") -> Answer:
        """What is answered on a connection; one on which something goes wrong is used no more."""
        try:
            answer = await line.answer()
        except BaseException:
            line.hang_up()
            raise
        if line.is_free:
            self._free.append((line, asyncio.get_running_loop().time()))
        else:
            line.hang_up()
        return answer

    def _find_free(self) -> "Line | None":
        """The connection that was used last, if it can still be trusted; old ones are closed."""
        now = asyncio.get_running_loop().time()
        while self._free:
            line, since = self._free.pop()
            if line.is_free and now - since < KEPT_S:
                return line
            line.hang_up()
        return None

    async def _new(self) -> "Line":
        server = self._server
        _, line = await asyncio.get_running_loop().create_connection(
            Line, server.host, server.port, ssl=self._trust if server.is_secure else None,
            happy_eyeballs_delay=ELSEWHERE_S,
        )  # fmt: skip
        return line


class Line(asyncio.Protocol):
    """A connection, for one call after the other."""

    def __init__(self) -> None:
        """Not connected yet."""
        self._http = h11.Connection(h11.CLIENT)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._status = 0
        self._body = bytearray()
        self._heard: Heard = unheard

    @property
    def is_free(self) -> bool:
        """Whether it can take a call."""
        is_open = self._transport is not None and not self._transport.is_closing()
        return is_open and self._answer is None and self._http.our_state is h11.IDLE

    def begin(self, url: str, body: bytes, heard: Heard) -> None:
        """Send a call; what goes wrong is raised where its answer is waited for.

        ``heard`` is told of that before anything else happens in this process.
        """
        is_free, transport = self.is_free, self._transport
        self._answer = asyncio.get_running_loop().create_future()
        if not is_free or transport is None:
            self._fail(ConnectionResetError("Telegram has hung up."))
            return
        parts = urlsplit(url)
        head = h11.Request(
            method="POST", target=parts.path,
            headers=[
                ("host", parts.netloc), ("user-agent", BaseRequest.USER_AGENT), ("accept", "*/*"),
                ("content-type", "application/x-www-form-urlencoded"),
                ("content-length", str(len(body))),
            ],
        )  # fmt: skip
        self._status, self._body, self._heard = 0, bytearray(), heard
        pieces = [self._http.send(each) for each in (head, h11.Data(body), h11.EndOfMessage())]
        transport.write(b"".join(piece for piece in pieces if piece))

    async def answer(self) -> Answer:
        """What is answered to the call that was sent. Raises OSError, h11.ProtocolError."""
        assert self._answer is not None
        answer = await self._answer
        self._answer = None
        return answer

    def hang_up(self) -> None:
        """Close it at once: nobody waits for an answer any more."""
        self._answer = None
        if self._transport is not None:
            self._transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        """Something has come; what nobody has asked for ends it."""
        if self._answer is None:
            self.hang_up()
        else:
            self._take(data)

    @override
    def eof_received(self) -> None:
        """Nothing more will come: some answers end by that."""
        if self._answer is not None:
            self._take(b"")

    @override
    def connection_lost(self, error: Exception | None) -> None:
        """It is gone, and with it the answer."""
        self._fail(ConnectionResetError(str(error or "Telegram has hung up.")))

    def _take(self, data: bytes) -> None:
        """Read on; what breaks the rules has the call fail."""
        try:
            self._http.receive_data(data)
            while not (self._answer is None or self._answer.done()):
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                self._take_event(event)
        except h11.ProtocolError as error:
            self._fail(error)

    def _take_event(self, event: object) -> None:
        assert self._answer is not None
        match event:
            case h11.Response():
                self._status = event.status_code
            case h11.Data():
                self._body += event.data
            case h11.EndOfMessage():
                self._begin_anew()
                answer = Answer(status=self._status, body=bytes(self._body))
                self._heard(answer)
                self._answer.set_result(answer)

    def _begin_anew(self) -> None:
        """Be free again, unless it is to end, or more has come than was asked for."""
        is_over = self._http.our_state is self._http.their_state is h11.DONE
        if is_over and self._http.trailing_data == (b"", False):
            self._http.start_next_cycle()

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


def server_of(url: str) -> Server:
    """Where the Bot API is that has an address."""
    parts = urlsplit(url)
    is_secure = parts.scheme != "http"
    port = parts.port or (443 if is_secure else 80)
    return Server(host=parts.hostname or "", port=port, is_secure=is_secure)
