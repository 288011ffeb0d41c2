"""A Discord on this machine: its REST API and its gateway, as strict as the real one.

It refuses what Discord refuses: a wrong token, an empty or too long message, a button without a
label, a request for more than a hundred messages; and it tells a session only what its intents ask
for. Who is not connected is told nothing, now or later.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.weather import Weather, fine

TOKEN = "MTA.fake-discord-token.AAA-secret-0123456789"
BOT = {"id": "100", "username": "oldfriend", "global_name": "Oldfriend", "bot": True}
GUILDS, GUILD_MESSAGES, GUILD_REACTIONS = 1 << 0, 1 << 9, 1 << 10
DIRECT_MESSAGES, DIRECT_REACTIONS = 1 << 12, 1 << 13
MESSAGE_CONTENT = 1 << 15
LONGEST, LONGEST_NONCE, LONGEST_LABEL, LONGEST_CUSTOM_ID, MOST_BUTTONS = 2_000, 25, 80, 100, 5
GUILD = "900"

REFUSALS = {
    "unreachable": (503, "Service Unavailable", 0),
    "refused": (400, "Invalid Form Body", 50035),
    "blocked": (403, "Cannot send messages to this user", 50007),
}

Fields = dict[str, Any]


class Refused(Exception):
    """The API refuses a request."""

    def __init__(self, status: int, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class FakeDiscord:
    """Everything on this Discord."""

    def __init__(self) -> None:
        """Nobody is here yet."""
        self.url = ""
        self.channels: dict[str, Fields] = {}
        self.messages: dict[str, list[Fields]] = {}
        self.users: dict[str, Fields] = {}
        self.files: dict[str, bytes] = {}
        self.nonces: dict[tuple[str, str], Fields] = {}
        self.troubles: deque[str] = deque()
        self.typing: list[str] = []
        self.toasts: list[str] = []
        self.sessions: dict[web.WebSocketResponse, int] = {}  # with their intents
        self.requests: list[str] = []
        self.last: tuple[str, Fields] | None = None
        self.knows_nonces = True
        self.weather: Weather = fine
        self.told = 0  # events
        self.read_troubles = 0  # how many of the next looks into a history fail
        self.held: dict[str, asyncio.Event] = {}  # channels whose history is told only later
        self._seq = 0
        self._id = 0

    # What people do.

    def meets(self, number: int, name: str) -> str:
        """Somebody opens a chat with the bot; its channel."""
        user, channel = str(200 + number), str(300 + number)
        self.users[user] = {"id": user, "username": name.lower(), "global_name": name}
        self.channels[channel] = {"id": channel, "type": 1, "recipients": [self.users[user]]}
        self.messages[channel] = []
        return channel

    def opens(self, channel: str, name: str) -> None:
        """A channel of a server."""
        self.channels[channel] = {"id": channel, "type": 0, "name": name, "guild_id": GUILD}
        self.messages[channel] = []

    def says(self, user: str, channel: str, text: str, **more: Any) -> str:
        """Somebody says something; its id."""
        return str(self._post(self.users[user], channel, text, **more)["id"])

    def edits(self, channel: str, message: str, text: str) -> None:
        """Somebody changes what they have said."""
        said = self._find(channel, message)
        said.update(content=text, edited_timestamp="2026-11-29T12:00:00+00:00")
        self.tell("MESSAGE_UPDATE", self._event(said))

    def deletes(self, channel: str, message: str) -> None:
        """Somebody deletes what they have said."""
        self.messages[channel].remove(self._find(channel, message))
        self.tell("MESSAGE_DELETE", {"id": message, **self._where(channel)})

    def reacts(self, user: str, channel: str, message: str, emoji: str) -> None:
        """Somebody reacts to a message."""
        emoji_fields = {"id": None, "name": emoji}
        about = {"user_id": user, "message_id": message, "emoji": emoji_fields}
        self.tell("MESSAGE_REACTION_ADD", {**about, **self._where(channel)})

    def presses(self, user: str, channel: str, message: str, custom_id: str) -> None:
        """Somebody presses a button."""
        who = {"user": self.users[user]}
        press = {
            "id": self._next(),
            "application_id": BOT["id"],
            "token": "interaction-token",
            "type": 3,
            "data": {"component_type": 2, "custom_id": custom_id},
            "message": self._find(channel, message),
            **(who if self.channels[channel]["type"] == 1 else {"member": who}),
            **self._where(channel),
        }
        self.tell("INTERACTION_CREATE", press)

    def tell(self, name: str, data: Any) -> None:
        """Tell every session that has asked for such events."""
        self.last = (name, data)
        self.told += 1
        self._seq += 1
        frame = json.dumps({"op": 0, "t": name, "s": self._seq, "d": data})
        for socket, intents in list(self.sessions.items()):
            if is_wanted(name, data, intents):
                asyncio.get_running_loop().create_task(send(socket, frame))

    async def drop(self) -> None:
        """End every connection, as a restart of Discord's does."""
        for socket in list(self.sessions):
            await socket.close(code=1001)

    def keep(self, content: bytes, mime: str = "audio/ogg", **more: Any) -> Fields:
        """Keep a file; how a message tells of it."""
        key = self._next()
        self.files[key] = content
        url = f"{self.url}/cdn/{key}"
        return {"id": key, "url": url, "size": len(content), "content_type": mime, **more}

    # What tests look at.

    def shown(self, channel: str) -> list[Fields]:
        """What stands from the bot in a channel."""
        return [each for each in self.messages[channel] if each["author"] == BOT]

    # What the server does.

    def _post(self, author: Fields, channel: str, text: str, **more: Any) -> Fields:
        said: Fields = {
            "id": self._next(),
            "channel_id": channel,
            "type": 0,
            "author": author,
            "content": text,
            "attachments": [],
            "edited_timestamp": None,
            "mentions": [
                BOT if found == BOT["id"] else self.users[found]
                for found in re.findall(r"<@!?(\d+)>", text)
                if found == BOT["id"] or found in self.users
            ],
            **more,
        }
        self.messages[channel].append(said)
        self.tell("MESSAGE_CREATE", self._event(said))
        return said

    def _event(self, said: Fields) -> Fields:
        """As the gateway tells of it: with the server that it is on, and blind without mention."""
        channel = said["channel_id"]
        return {**blind(said, self.channels[channel]), **self._where(channel)}

    def _where(self, channel: str) -> Fields:
        guild = self.channels[channel].get("guild_id")
        return {"channel_id": channel} | ({"guild_id": guild} if guild else {})

    def _find(self, channel: str, message: str) -> Fields:
        for each in self.messages.get(channel, []):
            if each["id"] == message:
                return each
        raise Refused(404, "Unknown Message", 10008)

    def _next(self) -> str:
        self._id = max(self._id + 1, (int(time.time() * 1000) - 1_420_070_400_000) << 22)
        return str(self._id)

    def _channel(self, request: web.Request) -> str:
        channel = request.match_info["channel"]
        if channel not in self.channels:
            raise Refused(404, "Unknown Channel", 10003)
        return channel

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request of the API."""
        self.requests.append(f"{request.method} {request.path}")
        is_open = "/interactions/" in request.path or "/webhooks/" in request.path
        try:
            is_ours = request.headers.get("Authorization") == f"Bot {TOKEN}"
            name = request.match_info.route.name if is_open or is_ours else "refuse"
            mishap = self.weather()
            name = "fail" if mishap == "unreachable" else name
            answer = reply(await getattr(self, f"do_{name}")(request))
        except Refused as refused:
            return reply({"message": refused.message, "code": refused.code}, refused.status)
        if mishap == "unanswered" and request.transport is not None:
            request.transport.abort()
        return answer

    async def do_fail(self, _: web.Request) -> None:
        raise Refused(*REFUSALS["unreachable"])

    async def do_refuse(self, _: web.Request) -> None:
        raise Refused(401, "401: Unauthorized")

    async def do_me(self, _: web.Request) -> Fields:
        return {**BOT, "discriminator": "0", "avatar": None}

    async def do_application(self, _: web.Request) -> Fields:
        team = {"id": BOT["id"], "name": "Oldfriend", "icon": None, "description": "", "flags": 0}
        team |= {"owner": {"id": "1", "username": "x", "discriminator": "0", "avatar": None}}
        return {**team, "bot_public": True, "bot_require_code_grant": False, "verify_key": "00"}

    async def do_channel(self, request: web.Request) -> Fields:
        return self.channels[self._channel(request)]

    async def do_open(self, request: web.Request) -> Fields:
        who = (await request.json())["recipient_id"]
        for channel in self.channels.values():
            if who in [each["id"] for each in channel.get("recipients", ())]:
                return channel
        raise Refused(400, "Invalid Recipient(s)", 50033)

    async def do_history(self, request: web.Request) -> list[Fields]:
        channel, limit = self._channel(request), int(request.query.get("limit", 50))
        if self.read_troubles:
            self.read_troubles -= 1
            raise Refused(*REFUSALS["unreachable"])
        if not 1 <= limit <= 100:
            raise Refused(400, "Invalid Form Body", 50035)
        if channel in self.held:
            await self.held[channel].wait()
        after = int(request.query.get("after", 0))
        found = [each for each in self.messages[channel] if int(each["id"]) > after]
        return [blind(each, self.channels[channel]) for each in found[:limit]][::-1]

    async def do_message(self, request: web.Request) -> Fields:
        return self._find(self._channel(request), request.match_info["message"])

    async def do_send(self, request: web.Request) -> Fields | web.Response:
        channel = self._channel(request)
        body, files = await read_body(request)
        trouble = self.troubles.popleft() if self.troubles else ""
        if trouble in REFUSALS:
            raise Refused(*REFUSALS[trouble])
        if trouble == "flood":
            flood = {"message": "You are being rate limited.", "retry_after": 1.0, "global": False}
            headers = {"Via": "1.1 google", "Content-Type": "application/json"}
            return web.Response(body=json.dumps(flood).encode(), status=429, headers=headers)
        check_message(body, has_file=bool(files))
        nonce = str(body.get("nonce", ""))
        if len(nonce) > LONGEST_NONCE:
            raise Refused(400, "Invalid Form Body", 50035)
        known = self.nonces.get((channel, nonce)) if body.get("enforce_nonce") else None
        if known is not None:
            return known
        attachments = [self.keep(each) for each in files]
        content, rows = str(body.get("content", "")), body.get("components", [])
        said = self._post(BOT, channel, content, components=rows, attachments=attachments)
        if self.knows_nonces and nonce:
            self.nonces[channel, nonce] = said
        if trouble == "unanswered":
            assert request.transport is not None
            request.transport.abort()
        return said

    async def do_edit(self, request: web.Request) -> Fields:
        said = self._find(self._channel(request), request.match_info["message"])
        body, _ = await read_body(request)
        check_message(body, has_file=False)
        if said["author"] != BOT:
            raise Refused(403, "Cannot edit a message authored by another user", 50005)
        said.update(body)
        return said

    async def do_typing(self, request: web.Request) -> None:
        self.typing.append(self._channel(request))

    async def do_callback(self, request: web.Request) -> None:
        body, _ = await read_body(request)
        if body["type"] not in {4, 6, 7}:
            raise Refused(400, "Invalid Form Body", 50035)

    async def do_followup(self, request: web.Request) -> Fields:
        body, _ = await read_body(request)
        check_message(body, has_file=False)
        self.toasts.append(str(body["content"]))
        return {"id": self._next()}

    async def do_file(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["file"]])

    async def gateway(self, request: web.Request) -> web.StreamResponse:
        """One connection: hello, identify, ready; then what happens."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 41_250}, "s": None})
        try:
            async for frame in socket:
                if frame.type != WSMsgType.TEXT:
                    break
                await self._take(socket, json.loads(frame.data))
        finally:
            self.sessions.pop(socket, None)
        return socket

    async def _take(self, socket: web.WebSocketResponse, told: Fields) -> None:
        match told["op"]:
            case 1:
                await socket.send_json({"op": 11, "d": None, "s": None})
            case 2 if told["d"]["token"] != TOKEN:
                await socket.close(code=4004)
            case 2:
                ready = {
                    "v": 10,
                    "user": BOT,
                    "guilds": [{"id": GUILD, "unavailable": True}],
                    "session_id": self._next(),
                    "resume_gateway_url": self.url.replace("http", "ws") + "/gateway",
                    "application": {"id": BOT["id"], "flags": 0},
                }
                self._seq += 1
                self.sessions[socket] = told["d"]["intents"]
                await socket.send_json({"op": 0, "t": "READY", "s": self._seq, "d": ready})
            case 6:
                await socket.send_json({"op": 9, "d": False, "s": None})


def is_wanted(name: str, data: Any, intents: int) -> bool:
    """Whether a session hears of an event."""
    in_guild = isinstance(data, dict) and "guild_id" in data
    if name.startswith("MESSAGE_REACTION"):
        return bool(intents & (GUILD_REACTIONS if in_guild else DIRECT_REACTIONS))
    if name.startswith("MESSAGE"):
        return bool(intents & (GUILD_MESSAGES if in_guild else DIRECT_MESSAGES))
    return True


def blind(said: Fields, channel: Fields) -> Fields:
    """A message as the bot may read it: on servers without words unless they name it."""
    is_open = channel["type"] == 1 or BOT in said["mentions"] or said["author"] == BOT
    return said if is_open else {**said, "content": "", "attachments": []}


def check_message(body: Fields, *, has_file: bool) -> None:
    """Refuse what Discord refuses."""
    content, rows = str(body.get("content", "")), body.get("components", [])
    buttons = [each for row in rows for each in row["components"]]
    is_fit = (
        (bool(content.strip()) or has_file)
        and len(content) <= LONGEST
        and all(1 <= len(each["label"]) <= LONGEST_LABEL for each in buttons)
        and all(1 <= len(each["custom_id"]) <= LONGEST_CUSTOM_ID for each in buttons)
        and all(1 <= len(row["components"]) <= MOST_BUTTONS for row in rows)
    )
    if not is_fit:
        raise Refused(400, "Invalid Form Body", 50035)


async def read_body(request: web.Request) -> tuple[Fields, list[bytes]]:
    """Return the fields of a request, and its files."""
    if request.content_type != "multipart/form-data":
        found: Fields = await request.json()
        return found, []
    fields, files = {}, []
    async for part in await request.multipart():
        content = await part.read()  # type: ignore[union-attr]
        if part.name == "payload_json":  # type: ignore[union-attr]
            fields = json.loads(content)
        else:
            files.append(bytes(content))
    return fields, files


def reply(value: Any, status: int = 200) -> web.StreamResponse:
    """Answer with JSON; Discord names no character set."""
    if isinstance(value, web.StreamResponse):
        return value
    if value is None:
        return web.Response(status=204)
    headers = {"Content-Type": "application/json"}
    return web.Response(body=json.dumps(value).encode(), status=status, headers=headers)


async def send(socket: web.WebSocketResponse, frame: str) -> None:
    """Tell a session, unless it is gone."""
    with suppress(ConnectionError):
        await socket.send_str(frame)


@asynccontextmanager
async def running_discord() -> AsyncIterator[FakeDiscord]:
    """Start it on a free port."""
    world, app = FakeDiscord(), web.Application()
    v10 = "/api/v10"
    messages = f"{v10}/channels/{{channel}}/messages"
    app.add_routes([web.get("/gateway", world.gateway)])
    for method, path, name in (
        ("GET", f"{v10}/users/@me", "me"),
        ("POST", f"{v10}/users/@me/channels", "open"),
        ("GET", f"{v10}/oauth2/applications/@me", "application"),
        ("GET", f"{v10}/channels/{{channel}}", "channel"),
        ("GET", messages, "history"),
        ("POST", messages, "send"),
        ("GET", f"{messages}/{{message}}", "message"),
        ("PATCH", f"{messages}/{{message}}", "edit"),
        ("POST", f"{v10}/channels/{{channel}}/typing", "typing"),
        ("POST", f"{v10}/interactions/{{id}}/{{token}}/callback", "callback"),
        ("POST", f"{v10}/webhooks/{{id}}/{{token}}", "followup"),
    ):
        app.router.add_route(method, path, world.answer, name=name)
    app.router.add_get("/cdn/{file}", world.do_file)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    world.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield world
    finally:
        await world.drop()
        await runner.cleanup()
