"""A Slack on this machine: the Web API and Socket Mode, strict where the real one is strict.

Each method takes one kind of token, reads take no JSON, blocks are checked, a conversation takes a
message a second, and an envelope that nobody acknowledges is sent again.
"""

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from aiohttp import WSMsgType, web

from tests.fakes.weather import Weather, fine

BOT_TOKEN, APP_TOKEN = "xoxb-1-bot-secret", "xapp-1-app-secret"
BOT_USER, BOT_ID, TICKET = "U0BOT", "B0BOT", "ticket-secret"
READS: Final = frozenset(
    {
        "conversations.history",
        "conversations.info",
        "conversations.replies",
        "files.getUploadURLExternal",
        "files.info",
        "users.conversations",
        "users.info",
    }
)
LONGEST_TEXT, LONGEST_UPDATE, LONGEST_SECTION = 40_000, 4_000, 3_000
INLINE: Final = {"text", "link"}
CONTAINERS: Final = {
    "rich_text_section": INLINE,
    "rich_text_quote": INLINE,
    "rich_text_preformatted": INLINE,
    "rich_text_list": {"rich_text_section"},
}
STYLES: Final = {"bold", "italic", "strike", "code"}
Fields = dict[str, Any]


class Refused(Exception):
    """The API refuses a call."""

    def __init__(self, code: str, *, status: int = 200, retry_after_s: int | None = None) -> None:
        super().__init__(code)
        self.code, self.status, self.retry_after_s = code, status, retry_after_s


@dataclass(slots=True)
class Fault:
    """What goes wrong with the next calls of a method."""

    method: str
    times: int = 1
    code: str = "internal_error"
    status: int = 500
    is_done: bool = False  # the call is carried out, and then fails
    retry_after_s: int | None = None


@dataclass(slots=True)
class Slack:
    """A workspace: who is in it, what was said, and what waits to be acknowledged."""

    url: str = ""
    interval_s: float = 1.0  # between two messages in a conversation
    retry_s: float = 1.0  # until an envelope that was not acknowledged is sent again
    names: dict[str, str] = field(default_factory=lambda: {BOT_USER: "Oldfriend"})
    messages: dict[str, list[Fields]] = field(default_factory=lambda: defaultdict(list))
    rooms: dict[str, str] = field(default_factory=dict)  # channels that the bot is in, by id
    scopes: str = "*"
    installed: Fields = field(default_factory=dict)  # what envelopes say of workspaces
    files: dict[str, tuple[Fields, bytes]] = field(default_factory=dict)
    file_url: str = ""  # where files are said to be; "": here
    ephemeral: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, Fields]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    weather: Weather = fine
    payloads: list[Fields] = field(default_factory=list)  # of all events
    unacknowledged: dict[str, Fields] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    connections: int = 0
    link_path: str = "/link/"  # where sockets are said to be opened
    is_mute: bool = False  # nothing comes over the sockets, though they stay open
    is_losing: bool = False  # events are lost, as after a long absence
    changed: threading.Condition = field(default_factory=threading.Condition)
    loop: asyncio.AbstractEventLoop | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _last: int = 0
    _said_at: dict[str, float] = field(default_factory=dict)

    # What people do.

    def says(
        self, user: str, text: str, *, channel: str = "", thread: str | None = None, **more: Any
    ) -> str:
        """Somebody writes, alone to the bot or in a channel; the id of the message."""
        channel = channel or self.direct(user)
        message = {"type": "message", "user": user, "text": text, "ts": self.stamp(), **more}
        if thread is not None:
            message |= {"thread_ts": thread, "parent_user_id": self.parent(channel, thread)["user"]}
            self.parent(channel, thread)["latest_reply"] = message["ts"]
            self.parent(channel, thread)["thread_ts"] = thread
        with self.changed:
            self.messages[channel].append(message)
        self.tell({**message, "channel": channel, "event_ts": message["ts"]})
        if f"<@{BOT_USER}>" in text and not channel.startswith("D"):
            told = {**message, "type": "app_mention", "channel": channel}
            self.tell({**told, "event_ts": message["ts"]})
        return str(message["ts"])

    def edits(self, timestamp: str, text: str, *, channel: str) -> None:
        """Somebody changes what they wrote."""
        message = self.find(channel, timestamp)
        message |= {"text": text, "edited": {"user": message["user"], "ts": self.stamp()}}
        self.tell(
            {
                "type": "message",
                "subtype": "message_changed",
                "channel": channel,
                "message": dict(message),
                "ts": self.stamp(),
                "hidden": True,
            }
        )

    def deletes(self, timestamp: str, *, channel: str) -> None:
        """Somebody deletes what they wrote."""
        message = self.find(channel, timestamp)
        self.messages[channel].remove(message)
        self.tell(
            {
                "type": "message",
                "subtype": "message_deleted",
                "channel": channel,
                "deleted_ts": timestamp,
                "previous_message": message,
                "ts": self.stamp(),
                "hidden": True,
            }
        )

    def reacts(self, user: str, timestamp: str, name: str, *, channel: str) -> None:
        """Somebody puts an emoji on a message."""
        item = {"type": "message", "channel": channel, "ts": timestamp}
        event = {"type": "reaction_added", "user": user, "reaction": name, "item": item}
        self.tell({**event, "event_ts": self.stamp()})

    def presses(self, user: str, timestamp: str, value: str, *, channel: str) -> None:
        """Somebody presses a button, or a forged one."""
        message = self.find(channel, timestamp)
        payload = {
            "type": "block_actions",
            "user": {"id": user},
            "container": {"type": "message", "message_ts": timestamp, "channel_id": channel},
            "channel": {"id": channel},
            "message": message,
            "actions": [{"type": "button", "action_id": "press_0", "value": value}],
        }
        self.send_envelope("interactive", payload)

    def commands(self, user: str, text: str, *, channel: str = "") -> None:
        """Somebody uses the slash command."""
        payload = {
            "command": "/oldfriend",
            "text": text,
            "user_id": user,
            "channel_id": channel or self.direct(user),
            "trigger_id": f"trigger-{next(self._numbers)}",
        }
        self.send_envelope("slash_commands", payload)

    def joins(self, user: str, channel: str, name: str = "family") -> None:
        """Somebody, or the bot, comes into a channel."""
        if user == BOT_USER:
            self.rooms[channel] = name
        event = {"type": "member_joined_channel", "user": user, "channel": channel}
        self.tell({**event, "event_ts": self.stamp()})

    def direct(self, user: str) -> str:
        """The conversation that somebody has with the bot alone."""
        channel = "D" + user[1:]
        self.rooms.setdefault(channel, "")
        self.names.setdefault(user, user.title())
        return channel

    # What can be seen.

    def texts(self, channel: str, thread: str | None = None) -> list[str]:
        """What the bot has said there, as people see it."""
        return [
            seen(each["blocks"])
            for each in list(self.messages[channel])
            if each.get("bot_id") == BOT_ID and each.get("thread_ts") in {thread, each["ts"]}
        ]

    def last(self, channel: str) -> Fields:
        """The last message of the bot there."""
        return [each for each in self.messages[channel] if each.get("bot_id") == BOT_ID][-1]

    def wait(self, condition: Callable[[], Any], *, seconds: float = 20.0) -> bool:
        """Wait until something holds; whether it does."""
        until = time.monotonic() + seconds
        while not condition() and time.monotonic() < until:
            with self.changed:
                self.changed.wait(0.02)
        return bool(condition())

    # How events get to the bot.

    def tell(self, event: Fields) -> None:
        """Send an event to the bot."""
        if self.is_losing:
            return
        payload = {"type": "event_callback", "event_id": f"Ev{next(self._numbers)}", "event": event}
        self.payloads.append(payload)
        self.send_envelope("events_api", payload)

    def send_envelope(self, kind: str, payload: Fields) -> None:
        """Send something over a socket, now or when one is open."""
        envelope_id = f"envelope-{next(self._numbers)}"
        told = {**payload, **self.installed} if isinstance(payload, dict) else payload
        envelope = {"envelope_id": envelope_id, "type": kind, "payload": told}
        envelope |= {"accepts_response_payload": kind != "events_api", "retry_attempt": 0}
        with self.changed:
            self.unacknowledged[envelope_id] = envelope
        self.run(self.push(envelope))

    def send_raw(self, text: str) -> None:
        """Send anything over the sockets."""

        async def send() -> None:
            for socket in list(self.sockets):
                await socket.send_str(text)

        self.run(send())

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask the bot to come back by another socket."""
        self.send_raw(json.dumps({"type": "disconnect", "reason": reason}))

    def drop_sockets(self) -> None:
        """Break all sockets."""

        async def drop() -> None:
            for socket in list(self.sockets):
                await socket.close()

        self.run(drop())

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in the server's thread."""
        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(work, self.loop)

    async def push(self, envelope: Fields) -> None:
        """Send an envelope until it is acknowledged, as long as a socket is open."""
        while envelope["envelope_id"] in self.unacknowledged and self.sockets:
            if not self.is_mute:
                with suppress(ConnectionError, RuntimeError):
                    await self.sockets[-1].send_str(json.dumps(envelope))
            envelope["retry_attempt"] += 1
            await asyncio.sleep(self.retry_s)

    def stamp(self) -> str:
        """The id of a new message: the time, later than all before."""
        self._last = max(self._last + 1, time.time_ns() // 1_000)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def find(self, channel: str, timestamp: str) -> Fields:
        """A message."""
        for each in self.messages[channel]:
            if each["ts"] == timestamp:
                return each
        raise Refused("message_not_found")

    def parent(self, channel: str, thread: str) -> Fields:
        """The first message of a thread."""
        return self.find(channel, thread)

    # The Web API.

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a call."""
        try:
            result = await self.carry_out(request, request.match_info["method"])
        except Refused as refused:
            headers = (
                {} if refused.retry_after_s is None else {"Retry-After": str(refused.retry_after_s)}
            )
            told = {"ok": False, "error": refused.code}
            return web.json_response(told, status=refused.status, headers=headers)
        headers = {} if self.scopes == "*" else {"x-oauth-scopes": self.scopes}
        return web.json_response({"ok": True, **result}, headers=headers)

    async def carry_out(self, request: web.Request, method: str) -> Fields:
        """Do what a call asks for, or fail as the test wants."""
        fields = await read_fields(request, method)
        self.check_token(request, method)
        with self.changed:
            self.calls.append((method, fields))
        fault = next((each for each in self.faults if each.method == method and each.times), None)
        if fault is None and (mishap := self.weather()):
            fault = Fault(method, is_done=mishap == "unanswered")
        if fault is not None:
            fault.times -= 1
            if not fault.is_done:
                raise Refused(fault.code, status=fault.status, retry_after_s=fault.retry_after_s)
        handler = getattr(self, "do_" + method.replace(".", "_").lower(), None)
        if handler is None:
            raise Refused("unknown_method")
        with self.changed:
            result: Fields = handler(fields)
            self.changed.notify_all()
        if fault is not None:  # it was done, and the answer is lost
            if request.transport is not None:
                request.transport.abort()
            raise Refused(fault.code, status=fault.status)
        return result

    def check_token(self, request: web.Request, method: str) -> None:
        """Refuse a token that is unknown, or of the other kind."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if given == wanted:
            return
        raise Refused(
            "not_allowed_token_type" if given in {BOT_TOKEN, APP_TOKEN} else "invalid_auth"
        )

    def check_room(self, channel: Any) -> str:
        """Refuse a conversation that the bot is not in."""
        if channel not in self.rooms:
            raise Refused("channel_not_found" if channel not in self.messages else "not_in_channel")
        return str(channel)

    def do_auth_test(self, _: Fields) -> Fields:
        names = {"user_id": BOT_USER, "bot_id": BOT_ID, "user": "oldfriend", "team": "Home"}
        return {**names, "team_id": "T0HOME"}

    def do_apps_connections_open(self, _: Fields) -> Fields:
        return {"url": f"{self.url.replace('http', 'ws')}{self.link_path}?ticket={TICKET}"}

    def do_chat_postmessage(self, fields: Fields) -> Fields:
        channel = self.check_room(fields.get("channel"))
        check_content(fields, longest=LONGEST_TEXT)
        check_metadata(fields.get("metadata"))
        thread = fields.get("thread_ts")
        if thread is not None and not any(e["ts"] == thread for e in self.messages[channel]):
            raise Refused("thread_not_found")
        now = time.monotonic()
        if now - self._said_at.get(channel, -self.interval_s) < 0.95 * self.interval_s:
            raise Refused("ratelimited", status=429, retry_after_s=1)
        self._said_at[channel] = now
        message = {
            "type": "message",
            "user": BOT_USER,
            "bot_id": BOT_ID,
            "ts": self.stamp(),
            "text": fields.get("text", ""),
            "blocks": fields.get("blocks", []),
            "metadata": fields.get("metadata"),
            **({} if thread is None else {"thread_ts": thread}),
        }
        self.messages[channel].append(message)
        self.tell({**message, "channel": channel, "event_ts": message["ts"]})
        return {"channel": channel, "ts": message["ts"], "message": message}

    def do_chat_update(self, fields: Fields) -> Fields:
        channel = self.check_room(fields.get("channel"))
        check_content(fields, longest=LONGEST_UPDATE)
        message = self.find(channel, str(fields.get("ts")))
        if message.get("bot_id") != BOT_ID:
            raise Refused("cant_update_message")
        message |= {"text": fields.get("text", ""), "blocks": fields.get("blocks", [])}
        return {"channel": channel, "ts": message["ts"]}

    def do_chat_postephemeral(self, fields: Fields) -> Fields:
        self.check_room(fields.get("channel"))
        self.ephemeral.append((fields["user"], fields["text"]))
        return {"message_ts": self.stamp()}

    def do_users_info(self, fields: Fields) -> Fields:
        name = self.names.get(str(fields.get("user")))
        if name is None:
            raise Refused("user_not_found")
        user = {"id": fields["user"], "name": name.lower(), "profile": {"display_name": name}}
        return {"user": {**user, **({"locale": "en-GB"} if "include_locale" in fields else {})}}

    def do_users_conversations(self, fields: Fields) -> Fields:
        prefix = {"im": "D", "mpim": "G", "public_channel": "C"}.get(str(fields.get("types")), "-")
        return {"channels": [{"id": each} for each in self.rooms if each.startswith(prefix)]}

    def do_conversations_info(self, fields: Fields) -> Fields:
        channel = self.check_room(fields.get("channel"))
        more = {"is_im": True, "user": "U" + channel[1:]} if channel.startswith("D") else {}
        return {"channel": {"id": channel, "name": self.rooms[channel], **more}}

    def do_conversations_open(self, fields: Fields) -> Fields:
        if fields.get("users") not in self.names:
            raise Refused("user_not_found")
        return {"channel": {"id": self.direct(fields["users"])}}

    def do_conversations_history(self, fields: Fields) -> Fields:
        channel = self.check_room(fields.get("channel"))
        found = [
            each
            for each in self.messages[channel]
            if each.get("thread_ts", each["ts"]) == each["ts"]
        ]
        return self.page(found[::-1], fields)

    def do_conversations_replies(self, fields: Fields) -> Fields:
        channel, thread = self.check_room(fields.get("channel")), fields.get("ts")
        found = [e for e in self.messages[channel] if thread in {e["ts"], e.get("thread_ts")}]
        if not found:
            raise Refused("thread_not_found")
        return self.page(found, fields)

    def page(self, found: list[Fields], fields: Fields) -> Fields:
        """A page of messages, without metadata unless it is asked for."""
        oldest, start = fields.get("oldest", "0"), int(fields.get("cursor") or 0)
        limit = int(fields.get("limit", 100))
        if not 1 <= limit <= 999:
            raise Refused("invalid_limit")
        kept = [each for each in found if float(each["ts"]) > float(oldest)]
        hidden = set() if fields.get("include_all_metadata") == "1" else {"metadata"}
        shown = [
            {name: value for name, value in each.items() if name not in hidden}
            for each in kept[start : start + limit]
        ]
        following = str(start + limit) if len(kept) > start + limit else ""
        return {"messages": shown, "response_metadata": {"next_cursor": following}}

    # Files.

    def do_files_info(self, fields: Fields) -> Fields:
        if fields.get("file") not in self.files:
            raise Refused("file_not_found")
        return {"file": self.files[fields["file"]][0]}

    def do_files_getuploadurlexternal(self, fields: Fields) -> Fields:
        if not int(fields.get("length") or 0) > 0:
            raise Refused("invalid_arguments")
        file_id = f"F{next(self._numbers)}"
        known = {"id": file_id, "name": fields["filename"], "length": int(fields["length"])}
        self.files[file_id] = (known, b"")
        return {"file_id": file_id, "upload_url": f"{self.url}/upload/{file_id}"}

    def do_files_completeuploadexternal(self, fields: Fields) -> Fields:
        channel = self.check_room(fields.get("channel_id"))
        for each in fields["files"]:
            known, content = self.files[each["id"]]
            if len(content) != known["length"]:
                raise Refused("file_not_found")
            shared = {"type": "message", "user": BOT_USER, "bot_id": BOT_ID, "ts": self.stamp()}
            self.messages[channel].append({**shared, "blocks": [], "files": [known]})
        return {"files": fields["files"]}

    def records(self, content: bytes, **more: Any) -> Fields:
        """A voice clip that somebody can send."""
        file_id = f"F{next(self._numbers)}"
        place = self.file_url or f"{self.url}/files/{file_id}"
        file = {"id": file_id, "mimetype": "audio/mp4", "subtype": "slack_audio"}
        file |= {"duration_ms": 61_000, "size": len(content), "url_private_download": place, **more}
        self.files[file_id] = (file, content)
        return file

    async def upload(self, request: web.Request) -> web.Response:
        """Take the content of a file."""
        known, _ = self.files[request.match_info["file"]]
        self.files[request.match_info["file"]] = (known, await request.read())
        return web.Response(text="OK")

    async def download(self, request: web.Request) -> web.Response:
        """Give a file to the bot, and a page to sign in to everybody else."""
        if request.headers.get("Authorization") != f"Bearer {BOT_TOKEN}":
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        return web.Response(body=self.files[request.match_info["file"]][1])

    # Socket Mode.

    async def link(self, request: web.Request) -> web.StreamResponse:
        """Hold a socket: greet, send what waits, and take acknowledgements."""
        if request.query.get("ticket") != TICKET:
            return web.Response(status=401)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(json.dumps({"type": "hello", "num_connections": 1}))
        self.sockets.append(socket)
        self.connections += 1
        try:
            async with asyncio.TaskGroup() as tasks:
                waiting = [
                    tasks.create_task(self.push(each))
                    for each in list(self.unacknowledged.values())
                ]
                async for message in socket:
                    if message.type is WSMsgType.TEXT:
                        self.acknowledge(json.loads(message.data))
                for each in waiting:
                    each.cancel()
        finally:
            self.sockets.remove(socket)
        return socket

    def acknowledge(self, told: Fields) -> None:
        """Take an acknowledgement; one of nothing is a fault of the bot."""
        with self.changed:
            envelope_id = str(told["envelope_id"])
            assert envelope_id.startswith("envelope-"), told
            self.unacknowledged.pop(envelope_id, None)
            self.acknowledged.append(envelope_id)
            self.changed.notify_all()


async def read_fields(request: web.Request, method: str) -> Fields:
    """The arguments of a call; those that read take no JSON."""
    if request.content_type == "application/json":
        if method in READS:
            raise Refused("invalid_arguments")
        return dict(await request.json())
    return {**request.query, **await request.post()}


def check_metadata(metadata: Any) -> None:
    """Refuse metadata that Slack would not take."""
    if metadata is None:
        return
    if not isinstance(metadata.get("event_type"), str):
        raise Refused("invalid_metadata_format")
    if not all(isinstance(each, str | int | bool) for each in metadata["event_payload"].values()):
        raise Refused("invalid_metadata_schema")


def check_content(fields: Fields, *, longest: int) -> None:
    """Refuse a message that Slack would not show."""
    text, blocks = fields.get("text", ""), fields.get("blocks", [])
    if not text and not blocks:
        raise Refused("no_text")
    if len(text) > longest:
        raise Refused("msg_too_long")
    if len(blocks) > 50 or not all(map(is_block, blocks)):
        raise Refused("invalid_blocks")
    if sum(len(seen([each])) for each in blocks) > 13_200:
        raise Refused("msg_blocks_too_long")


def is_block(block: Any) -> bool:
    """Whether Slack knows a block, and it keeps the limits."""
    match block:
        case {"type": "rich_text", "elements": [*elements]}:
            return bool(elements) and all(is_container(each) for each in elements)
        case {"type": "actions", "elements": [*buttons]}:
            ids = [each.get("action_id") for each in buttons]
            return (
                len(buttons) in range(1, 26)
                and len({*ids}) == len(ids)
                and all(map(is_button, buttons))
            )
    return False


def is_button(button: Any) -> bool:
    """Whether a button keeps the limits."""
    match button:
        case {"type": "button", "text": {"type": "plain_text", "text": str(label)}, "value": value}:
            return 1 <= len(label) <= 75 and 1 <= len(value) <= 2_000
    return False


def is_container(element: Any) -> bool:
    """Whether an element of rich text may stand where it stands, with all in it."""
    kind = element.get("type")
    inner = element.get("elements")
    if kind not in CONTAINERS or not inner:
        return False
    if kind == "rich_text_list" and (
        element.get("style") not in {"bullet", "ordered"} or not 0 <= element["indent"] <= 8
    ):
        return False
    return all(
        each.get("type") in CONTAINERS[kind]
        and (is_container(each) if "elements" in each else is_inline(each))
        for each in inner
    )


def is_inline(element: Any) -> bool:
    """Whether words or a link are as Slack takes them."""
    style = element.get("style", {})
    if element["type"] == "link" and not element.get("url", "").startswith(
        ("http://", "https://", "mailto:")
    ):
        return False
    return bool(element.get("text")) and {*style} <= STYLES


def seen(blocks: Any) -> str:
    """What people see of blocks."""
    if isinstance(blocks, list):
        return "".join(map(seen, blocks))
    if blocks.get("type") in INLINE:
        return str(blocks["text"])
    inner = seen(blocks.get("elements", [])) if blocks.get("type") != "actions" else ""
    return inner + ("\n" if str(blocks.get("type", "")).startswith("rich_text_") else "")


@contextmanager
def running_slack() -> Iterator[Slack]:
    """Start it on a free port, in a thread of its own, and stop it on leaving."""
    slack = Slack()
    started, stopping = threading.Event(), asyncio.Event()

    async def serve() -> None:
        slack.loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/api/{method}", slack.answer)
        app.router.add_get("/link/", slack.link)
        app.router.add_post("/upload/{file}", slack.upload)
        app.router.add_get("/files/{file}", slack.download)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        slack.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()
        await stopping.wait()
        for socket in list(slack.sockets):
            await socket.close()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield slack
    finally:
        assert slack.loop is not None
        slack.loop.call_soon_threadsafe(stopping.set)
        thread.join(timeout=10)
