"""Wyoming server: answers what voice assistants have heard, such as Home Assistant's, over TCP.

An event is a line of JSON, with more JSON or bytes after it as far as the line says. The protocol
knows no secrets: who may connect is a matter of addresses, and whoever speaks there is one person.
What they say is answered by the same turn as on any channel.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from ipaddress import ip_address, ip_network
from typing import Any, Final

from wyoming.asr import Transcript
from wyoming.event import Event, Eventable, async_write_event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Attribution, Describe, HandleModel, HandleProgram, Info
from wyoming.ping import Ping, Pong

from oldfriend import __version__
from oldfriend.api.connections import ConnectionHub
from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import run_with_watcher
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.channels.channel import VOICE_CHANNEL
from oldfriend.config.settings_schema import ServeSettings
from oldfriend.domain.errors import InvalidInput, OldfriendError, PlatformRejected
from oldfriend.inbound.accept import (
    MessageSubmission,
    accept_message,
    ensure_local_chat,
)
from oldfriend.lang.language_pack import LANGUAGES
from oldfriend.memory.people import get_companion_name, get_person, lock_person
from oldfriend.openai_api.companion_replies import TurnReply, raise_if_full
from oldfriend.openai_api.error_json import ApiRefusal
from oldfriend.openai_api.reply_response import ProgramGone, ignore_text
from oldfriend.openai_api.token_access import Caller
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, choose_language, load_phrases
from oldfriend.replies.text_to_speech import extract_speakable

MAX_LINE_BYTES: Final = 1 << 14
MAX_DATA_BYTES: Final = 1 << 16
"""JSON after a line, such as what was heard; sound comes as bytes, and is of no use here."""
MAX_PAYLOAD_BYTES: Final = 1 << 16
MAX_CONTEXT_CHARS: Final = 1 << 12
MAX_SPOKEN_CHARS: Final = 4_000
MAX_CONNECTIONS: Final = 16
IDLE_TIMEOUT_S: Final = 300.0
EVENT_TIMEOUT_S: Final = 10.0
"""Seconds from the first byte of an event to its last."""
WRITE_TIMEOUT_S: Final = 10.0
CALLER: Final = "wyoming"
"""What stands for the token that other programs have, where their connections are counted."""


ATTRIBUTION: Final = Attribution(name="Oldfriend", url="")


class WyomingServer:
    """Serves voice assistants at the address in the settings."""

    def __init__(self, hub: ConnectionHub) -> None:
        """Take the hub, by whose workers replies are written."""
        self._hub = hub
        self._connections: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None]] = set()  # those that wait for their next event
        self._listening = asyncio.Lock()  # an earlier generation of workers may not have closed yet

    async def run(self, app: AppContext, stopping: asyncio.Event) -> None:
        """Serve until told to stop, then finish the replies that were begun.

        Raises PlatformRejected where nobody can be listened to.
        """
        async with asyncio.TaskGroup() as tasks:
            async with self._listening:
                server = await self._listen(app.settings.serve, tasks, stopping)
                try:
                    await stopping.wait()
                finally:
                    server.close()
            for each in self._idle:
                each.cancel()

    async def _listen(
        self, serve_settings: ServeSettings, tasks: asyncio.TaskGroup, stopping: asyncio.Event
    ) -> asyncio.Server:
        """Listen at the address in the settings. Raises PlatformRejected."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = writer.get_extra_info("peername")  # None if it is gone already
            is_allowed = bool(peer) and may_connect(peer[0], serve_settings.wyoming_clients)
            if not is_allowed or len(self._connections) >= MAX_CONNECTIONS:
                log_warning("wyoming-refused", open=len(self._connections))
                writer.transport.abort()
                return
            task = tasks.create_task(self._serve(reader, writer, stopping))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        host, port = serve_settings.wyoming_host, serve_settings.wyoming_port or 0
        try:
            server = await asyncio.start_server(accept, host, port, limit=MAX_LINE_BYTES)
        except OSError as error:
            raise PlatformRejected(
                f"{host} port {port} cannot be listened at ({error.strerror}). Choose another: "
                "serve.wyoming_host and serve.wyoming_port in oldfriend.toml."
            ) from error
        log_event("wyoming-listening", host=host, port=server.sockets[0].getsockname()[1])
        return server

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stopping: asyncio.Event
    ) -> None:
        """Answer what comes on one connection; an error ends that one only."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._answer_events(reader, writer, tasks, stopping)
        except* (ProgramGone, OSError, TimeoutError) as group:
            log_event("wyoming-closed", why=type(group.exceptions[0]).__name__)
        except* Exception as group:
            log_warning("wyoming-failed", group.exceptions[0])
        finally:
            writer.close()

    async def _answer_events(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        tasks: asyncio.TaskGroup,
        stopping: asyncio.Event,
    ) -> None:
        """Answer one event after the other; the next is read meanwhile, or the end noticed."""
        connection = asyncio.current_task()
        assert connection is not None
        upcoming = tasks.create_task(read_event(reader))
        while not stopping.is_set():
            self._idle.add(connection)
            try:
                event = await upcoming
            finally:
                self._idle.discard(connection)
            if event is None:
                return
            upcoming = tasks.create_task(read_event(reader))
            answer = await self._answer(event, upcoming)
            if answer is not None:
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    await async_write_event(answer.event(), writer)
        upcoming.cancel()

    async def _answer(
        self, event: Event, upcoming: "asyncio.Task[Event | None]"
    ) -> Eventable | None:
        """Return the answer to an event; None if it needs none."""
        if Describe.is_type(event.type):
            return await self._describe()
        if Ping.is_type(event.type):
            return Pong(text=event.data.get("text"))
        if Transcript.is_type(event.type):
            return await self._handle(parse_transcript(event), upcoming)
        return None

    async def _describe(self) -> Info:
        """Tell what can be asked here, and in which languages."""
        app = self._hub.app
        async with app.db.begin_read() as tx:
            companion = await get_companion_name(tx)
        model = HandleModel(
            name="oldfriend",
            attribution=ATTRIBUTION,
            installed=True,
            description="The companion with its memory",
            version=__version__,
            languages=[*(LANGUAGES if app.models else OFFLINE_LANGUAGES)],
        )
        program = HandleProgram(
            name=companion,
            attribution=ATTRIBUTION,
            installed=True,
            description="A companion that remembers",
            version=__version__,
            models=[model],
        )
        return Info(handle=[program])

    async def _handle(
        self, heard: Transcript, upcoming: "asyncio.Task[Event | None]"
    ) -> Handled | NotHandled:
        """Have what was heard answered by a turn of the companion. Raises ProgramGone."""
        if not heard.text.strip():
            return refuse(heard, "unheard_nothing")
        try:
            reply = await self._begin(heard)
        except (OldfriendError, ApiRefusal) as error:
            log_warning("wyoming-not-taken-in", error)
            return refuse(heard, "not_taken_in")
        try:
            async with asyncio.timeout(self._hub.app.settings.limits.turn_timeout_s):
                finished = await run_with_watcher(
                    raise_when_gone(upcoming), reply.write(ignore_text)
                )
        except ProgramGone:
            await reply.abandon()
            raise
        except (OldfriendError, ApiRefusal, TimeoutError) as error:
            log_warning("wyoming-not-answered", error)
            return refuse(heard, "not_answered")
        text = extract_speakable(finished.text) or finished.text
        return Handled(text=text, context=heard.context)

    async def _begin(self, heard: Transcript) -> TurnReply:
        """Log what was heard, and return the reply that is about to be written.

        Raises ApiRefusal, InvalidInput, NotFound, StoreError.
        """
        if len(heard.text) > MAX_SPOKEN_CHARS:
            raise InvalidInput(f"Nobody says more than {MAX_SPOKEN_CHARS:,} characters in one go.")
        hub, app = self._hub, self._hub.app
        async with app.db.begin_write() as tx:
            person = await get_person(tx, app.settings.serve.wyoming_person)
            await lock_person(tx, person.id)  # so that nobody renames them in the meantime
            chat_context = await ensure_local_chat(tx, person, VOICE_CHANNEL, now=app.clock())
        caller = Caller(person=person, digest=CALLER)
        raise_if_full(hub, caller)
        submission = MessageSubmission(text=heard.text, language=heard.language)
        accepted = await accept_message(app, chat_context, submission, claim_now=hub.has_capacity)
        assert accepted is not None  # it has no key that could be known already
        return TurnReply(hub=hub, caller=caller, chat_context=chat_context, accepted=accepted)


def parse_transcript(event: Event) -> Transcript:
    """Return what was heard, if anything, in a language of ours or none."""
    text, language, context = (event.data.get(each) for each in ("text", "language", "context"))
    code = language[:2].lower() if isinstance(language, str) else ""
    is_small = isinstance(context, dict) and len(json.dumps(context)) <= MAX_CONTEXT_CHARS
    return Transcript(
        text=text if isinstance(text, str) else "",
        language=code if code in LANGUAGES else None,
        context=context if is_small else None,
    )


def refuse(heard: Transcript, phrase: str) -> NotHandled:
    """Say why there is no reply, in the language that was heard."""
    text = load_phrases(choose_language(heard.language)).phrases[phrase]
    return NotHandled(text=text, context=heard.context)


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """Return the next event without its bytes; None at the end, and for what is no event.

    The package's own reader knows no limits of size and time.
    """
    try:
        async with asyncio.timeout(IDLE_TIMEOUT_S):
            first = await reader.readexactly(1)
        async with asyncio.timeout(EVENT_TIMEOUT_S):
            head = parse_object(first + await reader.readuntil())
            rest = await reader.readexactly(parse_length(head, "data_length", MAX_DATA_BYTES))
            await reader.readexactly(parse_length(head, "payload_length", MAX_PAYLOAD_BYTES))
            data = {**(head.get("data") or {}), **(parse_object(rest) if rest else {})}
            return Event(type=str(head["type"]), data=data)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            log_event("wyoming-broken-off", bytes=len(error.partial))
    except (
        asyncio.LimitOverrunError,
        LookupError,
        OSError,
        RecursionError,
        TimeoutError,
        TypeError,
        ValueError,
    ) as error:
        log_event("wyoming-unreadable", why=type(error).__name__)
    return None


def parse_length(head: Mapping[str, Any], name: str, most: int) -> int:
    """Return how many bytes of a part follow a line. Raises ValueError."""
    found = head.get(name) or 0
    if not isinstance(found, int) or not 0 <= found <= most:
        raise ValueError(name)
    return found


def parse_object(encoded: bytes) -> dict[str, Any]:
    """Return a JSON object. Raises TypeError, ValueError, RecursionError."""
    found = json.loads(encoded)
    if not isinstance(found, dict):
        raise TypeError
    return found


async def raise_when_gone(upcoming: "asyncio.Task[Event | None]") -> None:
    """Raise ProgramGone if the connection ends before another event comes."""
    if await asyncio.shield(upcoming) is None:
        raise ProgramGone


def may_connect(address: str, networks: Sequence[str]) -> bool:
    """Tell whether an address lies in one of some networks."""
    try:
        ip = ip_address(address.partition("%")[0])  # an IPv6 zone
    except ValueError:
        return False
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return any(ip in ip_network(each, strict=False) for each in networks)
