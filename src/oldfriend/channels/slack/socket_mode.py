"""Socket Mode: receives Slack's envelopes over a socket that we open, so no address is public.

An envelope is acknowledged only once it is durable: what is not, Slack sends again, and a retry is
handled like any other. The envelopes of a conversation are handled in order, and those of several
at once. Before the first of a conversation comes what was missed there; and now and then all
conversations are read again, since an event may be lost while the socket stays open.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import aiohttp

from oldfriend.channels.json_fields import JsonFields, find_fields, find_text, list_json_objects
from oldfriend.channels.slack.slack_errors import SlackRefusal, SlackUnreachable
from oldfriend.channels.slack.web_api import SlackApi

HEARTBEAT_S: Final = 15.0
"""A socket that leaves a ping unanswered for half of this is closed."""
QUIET_S: Final = 15 * 60.0
"""A socket that brings nothing for so long is replaced: some go quiet and still answer pings.

As often, it is read what was missed.
"""
HELLO_TIMEOUT_S: Final = 30.0
DRAIN_TIMEOUT_S: Final = 5.0
"""How long to go on with what has come before the socket is replaced."""
MAX_UNHANDLED: Final = 500
"""Envelopes that have come and are not handled; no more are read until there are fewer."""
MAX_FRAME_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What Slack sends over a socket."""

    id: str
    kind: str  # "events_api", "interactive", "slash_commands"
    payload: JsonFields

    @property
    def event(self) -> JsonFields:
        """Return the event of an envelope of the Events API, or nothing."""
        return find_fields(self.payload, "event")

    @property
    def conversation(self) -> str:
        """Return the conversation that it belongs to, or ""."""
        places = (
            find_text(self.event, "channel"),
            find_text(find_fields(self.event, "item"), "channel"),
            find_text(find_fields(self.payload, "container"), "channel_id"),
            find_text(self.payload, "channel_id"),
        )
        return next(filter(None, places), "")

    def is_for(self, team_id: str) -> bool:
        """Tell whether it is for the bot of a workspace; the app may be in others, too.

        What is said in a channel that is shared with others names their workspace, and ours among
        the installations that may see it.
        """
        granted = list_json_objects(self.payload, "authorizations")
        named = (
            find_text(self.payload, "team_id"),
            find_text(find_fields(self.payload, "team"), "id"),
            *(find_text(each, "team_id") for each in granted),
        )
        teams = {each for each in named if each}
        is_everywhere = any(each.get("is_enterprise_install") is True for each in granted)
        return not (teams and team_id) or team_id in teams or is_everywhere


AfterAcknowledgement: TypeAlias = Callable[[], Awaitable[None]]
"""What is left to do once an envelope is acknowledged."""
HandleEnvelope: TypeAlias = Callable[[Envelope], Awaitable[AfterAcknowledgement | None]]
CatchUp: TypeAlias = Callable[[str], Awaitable[None]]


class SocketSession:
    """One socket, from its opening until Slack or the network ends it."""

    def __init__(
        self, api: SlackApi, handle: HandleEnvelope, catch_up: CatchUp, *, quiet_s: float = QUIET_S
    ) -> None:
        """Take what handles envelopes, and what catches up with a conversation."""
        self._api = api
        self._handle = handle
        self._catch_up = catch_up
        self._quiet_s = quiet_s
        self._waiting: dict[str, deque[Envelope]] = {}  # by conversation
        self._caught_up: set[str] = set()
        self._workers: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(MAX_UNHANDLED)

    async def run(self) -> None:
        """Receive until the socket is to be replaced.

        Raises SlackUnreachable if it does not open, SlackRefusal, and what ``handle`` raises.
        """
        url = await self._api.open_connection()
        try:
            socket = await self._api.session.ws_connect(
                url, heartbeat=HEARTBEAT_S, max_msg_size=MAX_FRAME_BYTES
            )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise SlackUnreachable(type(error).__name__) from None  # its words hold the ticket
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._receive(socket, tasks)
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group
        finally:
            with suppress(aiohttp.ClientError, OSError):
                await socket.close()

    async def _receive(
        self, socket: aiohttp.ClientWebSocketResponse, tasks: asyncio.TaskGroup
    ) -> None:
        """Hand envelopes on until the socket ends; then finish what has come, if that is quick."""
        if not await self._wait_for_hello(socket):
            raise SlackUnreachable("the socket says nothing")
        listing = tasks.create_task(self._catch_up_everywhere(socket, tasks))
        while (envelope := await self._read(socket, self._quiet_s)) is not None:
            await self._room.acquire()
            self._enqueue(envelope.conversation, envelope, socket, tasks)
        listing.cancel()
        if self._workers:
            await asyncio.wait(self._workers, timeout=DRAIN_TIMEOUT_S)
        for each in self._workers:
            each.cancel()

    async def _wait_for_hello(self, socket: aiohttp.ClientWebSocketResponse) -> bool:
        """Tell whether Slack has greeted us."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HELLO_TIMEOUT_S):
                while (found := await receive_object(socket)) is not None:
                    if found.get("type") == "hello":
                        return True
        return False

    async def _read(
        self, socket: aiohttp.ClientWebSocketResponse, timeout_s: float
    ) -> Envelope | None:
        """Return the next envelope; None if the socket is to be replaced.

        Raises SlackRefusal if Socket Mode was turned off.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while (found := await receive_object(socket)) is not None:
                    if found.get("type") == "disconnect":
                        if found.get("reason") == "link_disabled":
                            raise SlackRefusal("link_disabled")
                        return None
                    if (envelope_id := find_text(found, "envelope_id")) != "":
                        return Envelope(
                            id=envelope_id,
                            kind=find_text(found, "type"),
                            payload=find_fields(found, "payload"),
                        )
        return None

    def _enqueue(
        self,
        conversation: str,
        envelope: Envelope | None,
        socket: aiohttp.ClientWebSocketResponse,
        tasks: asyncio.TaskGroup,
    ) -> None:
        """Add an envelope to those of its conversation; without one, only catch up there."""
        waiting = self._waiting.get(conversation)
        if waiting is None:
            waiting = self._waiting[conversation] = deque()
            worker = tasks.create_task(self._work(conversation, waiting, socket))
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        if envelope is not None:
            waiting.append(envelope)

    async def _work(
        self,
        conversation: str,
        waiting: deque[Envelope],
        socket: aiohttp.ClientWebSocketResponse,
    ) -> None:
        """Handle what waits in a conversation, in order."""
        if conversation and conversation not in self._caught_up:
            await self._catch_up(conversation)
            self._caught_up.add(conversation)
        while waiting:
            envelope = waiting[0]
            follow_up = await self._handle(envelope)
            with suppress(aiohttp.ClientError, OSError):  # if it is gone, Slack sends it again
                await socket.send_str(json.dumps({"envelope_id": envelope.id}))
            waiting.popleft()
            self._room.release()
            if follow_up is not None:
                await follow_up()
        del self._waiting[conversation]

    async def _catch_up_everywhere(
        self, socket: aiohttp.ClientWebSocketResponse, tasks: asyncio.TaskGroup
    ) -> None:
        """Catch up with all conversations, whether anything comes from them or not, repeatedly."""
        while True:
            async for conversation in self._api.list_conversations():
                if conversation not in self._caught_up:
                    self._enqueue(conversation, None, socket, tasks)
            await asyncio.sleep(self._quiet_s)
            self._caught_up.clear()


async def receive_object(socket: aiohttp.ClientWebSocketResponse) -> JsonFields | None:
    """Return the next JSON object that comes; {} for anything else, None at the end."""
    message = await socket.receive()
    if message.type is aiohttp.WSMsgType.TEXT:
        try:
            found = json.loads(message.data)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    return {} if message.type is aiohttp.WSMsgType.BINARY else None
