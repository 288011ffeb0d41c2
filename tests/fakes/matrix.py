"""A homeserver at its strictest: tokens, transactions, positions, sizes, signatures of keys.

People write in its rooms directly, or as clients with keys of their own (``Talker``), so that what
is encrypted is so from end to end: the server holds ciphertext and the public halves of keys.
"""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from aiohttp import web
from nio import (
    AsyncClient,
    AsyncClientConfig,
    Event,
    MegolmEvent,
    RoomCreateResponse,
    RoomEncryptedAudio,
    RoomKeyRequest,
)
from nio.api import Api
from nio.store import SqliteMemoryStore
from vodozemac import Ed25519PublicKey, Ed25519Signature

from tests.fakes.weather import Weather, fine

Json: TypeAlias = dict[str, Any]
SERVER: Final = "example.org"
MAX_EVENT_BYTES: Final = 65_536
MAX_LIMIT: Final = 1_000
MEGOLM: Final = "m.megolm.v1.aes-sha2"
UPLOAD_PARTS: Final = ("device_keys", "one_time_keys", "fallback_keys")


class Refusal(Exception):
    """What the homeserver refuses."""

    def __init__(self, status: int, code: str, **fields: object) -> None:
        """Take the status and the code."""
        super().__init__(code)
        self.status, self.body = status, {"errcode": code, "error": code, **fields}


@dataclass(slots=True)
class Device:
    """A device of a user."""

    user: str
    id: str
    token: str
    inbox: list[tuple[int, Json]] = field(default_factory=list)
    one_time_keys: Json = field(default_factory=dict)
    transactions: dict[tuple[str, ...], str] = field(default_factory=dict)


@dataclass(slots=True)
class Room:
    """A room and all that happened in it, each with its position."""

    id: str
    events: list[tuple[int, Json]] = field(default_factory=list)

    def find_state(self, kind: str, key: str = "", before: int | None = None) -> Json:
        """The content of a state event; an empty one if there is none."""
        found: Json = {}
        for position, event in self.events:
            is_it = (event["type"], event.get("state_key")) == (kind, key)
            if is_it and (before is None or position < before):
                found = event["content"]
        return found

    def membership_of(self, user: str) -> str:
        """Whether somebody is in it."""
        return str(self.find_state("m.room.member", user).get("membership", "leave"))

    def list_state(self, since: int, before: int) -> list[Json]:
        """The newest state events between two positions."""
        newest = {
            (event["type"], event["state_key"]): event
            for position, event in self.events
            if "state_key" in event and since < position < before
        }
        return list(newest.values())


class Homeserver:
    """The server of a few people."""

    def __init__(self) -> None:
        """Nobody is here yet."""
        self.passwords: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.devices: dict[str, Device] = {}  # by token
        self.rooms: dict[str, Room] = {}
        self.account_data: dict[tuple[str, str], Json] = {}
        self.media: dict[str, bytes] = {}
        self.device_keys: dict[str, dict[str, Json]] = defaultdict(dict)
        self.signing_keys: dict[str, Json] = {}
        self.key_changes: list[tuple[int, str]] = []
        self.typing: list[tuple[str, str]] = []
        self.sends: list[tuple[str, str]] = []  # every sending, with its transaction
        self.syncs: list[str | None] = []  # the positions that were asked for
        self.refusals: list[Refusal | None] = []  # of the next sendings; None: no answer
        self.refused_calls: dict[str, list[Refusal]] = {}  # of other calls, by their shape
        self.held_keys: list[tuple[Device, Json]] | None = None  # what devices send is held
        self.weather: Weather = fine
        self.answers_lost = 0  # how many of the next sendings are done but not answered
        self.address = ""
        self._ended: dict[str, bool] = {}  # tokens, and whether softly
        self._position = 0
        self._made = 0
        self._changed = asyncio.Condition()

    # What people do.

    def add_user(self, name: str, password: str = "secret", *, shown: str = "") -> str:
        """Somebody with an account."""
        user = f"@{name}:{SERVER}"
        self.passwords[user], self.names[user] = password, shown or name.title()
        return user

    def make_room(self, creator: str, *, is_encrypted: bool = False, name: str = "") -> str:
        """A room with its creator."""
        room = Room(self._make_id("!", f":{SERVER}"))
        self.rooms[room.id] = room
        self._set_state(room, creator, "m.room.create", {"creator": creator, "room_version": "10"})
        self._set_membership(room, creator, creator, "join")
        if name:
            self._set_state(room, creator, "m.room.name", {"name": name})
        if is_encrypted:
            self._set_state(room, creator, "m.room.encryption", {"algorithm": MEGOLM})
        return room.id

    def invite(self, room_id: str, by: str, whom: str, *, is_direct: bool = False) -> None:
        """Invite somebody."""
        extra = {"is_direct": True} if is_direct else {}
        self._set_membership(self.rooms[room_id], by, whom, "invite", **extra)

    def join(self, room_id: str, user: str) -> None:
        """Join a room, invited or not."""
        self._set_membership(self.rooms[room_id], user, user, "join")

    def leave(self, room_id: str, user: str, *, by: str = "") -> None:
        """Leave a room, or be made to."""
        self._set_membership(self.rooms[room_id], by or user, user, "leave")

    def put_event(self, room_id: str, sender: str, kind: str, content: Any, **extra: Any) -> str:
        """An event, however odd."""
        event = {
            "event_id": self._make_id("$", ""),
            "type": kind,
            "sender": sender,
            "origin_server_ts": round(1_000 * time.time()),
            "content": content,
            **extra,
        }
        self.rooms[room_id].events.append((self._move(), event))
        return str(event["event_id"])

    def say(self, room_id: str, sender: str, text: str, **content: Any) -> str:
        """A message."""
        body = {"msgtype": "m.text", "body": text, **content}
        return self.put_event(room_id, sender, "m.room.message", body)

    def redact(self, room_id: str, sender: str, event_id: str) -> str:
        """Take the words of an event away."""
        for _, event in self.rooms[room_id].events:
            if event["event_id"] == event_id:
                event["content"] = {}
                event["unsigned"] = {"redacted_because": {"sender": sender}}
        content = {"redacts": event_id}
        return self.put_event(room_id, sender, "m.room.redaction", content, redacts=event_id)

    def list_events(self, room_id: str, kind: str = "m.room.message") -> list[Json]:
        """What was said in a room, without what only a client with keys can read."""
        return [event for _, event in self.rooms[room_id].events if event["type"] == kind]

    def list_texts(self, room_id: str, sender: str) -> list[str]:
        """The words of one of them, as they stand."""
        return [
            each["content"].get("body", "")
            for each in self.list_events(room_id)
            if each["sender"] == sender
        ]

    def deliver(self, device: Device, event: Any) -> None:
        """Something that another device sends."""
        device.inbox.append((self._move(), event))

    def release_keys(self) -> None:
        """Deliver what devices have sent to each other."""
        held, self.held_keys = self.held_keys or [], None
        for device, event in held:
            device.inbox.append((self._move(), event))

    def end_tokens(self, user: str, *, is_soft: bool) -> None:
        """End the tokens of somebody; unless softly, their devices are gone, too."""
        for token, device in list(self.devices.items()):
            if device.user == user:
                del self.devices[token]
                self._ended[token] = is_soft
                if not is_soft:
                    self.device_keys[user].pop(device.id, None)

    # How it works.

    def _make_id(self, sign: str, end: str) -> str:
        self._made += 1
        return f"{sign}made{self._made}{end}"

    def _move(self) -> int:
        self._position += 1
        asyncio.get_running_loop().create_task(self._wake())
        return self._position

    def stir(self) -> None:
        """Have all syncs return."""
        self._move()

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _set_state(
        self, room: Room, sender: str, kind: str, content: Json, key: str = "", **extra: Any
    ) -> None:
        self.put_event(room.id, sender, kind, content, state_key=key, **extra)

    def _set_membership(
        self, room: Room, sender: str, user: str, membership: str, **content: Any
    ) -> None:
        before = room.find_state("m.room.member", user)
        after = {"membership": membership, "displayname": self.names.get(user, user), **content}
        extra = {"unsigned": {"prev_content": before}} if before else {}
        self._set_state(room, sender, "m.room.member", after, user, **extra)

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        """Its address while it runs."""
        app = web.Application(client_max_size=1 << 24)
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        self.address = f"http://127.0.0.1:{port}"
        try:
            yield self.address
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            found = await self._route(request)
        except Refusal as refusal:
            return web.json_response(refusal.body, status=refusal.status)
        if isinstance(found, bytes):
            return web.Response(body=found, content_type="application/octet-stream")
        if found is None:  # done, and never answered
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        return web.json_response(found)

    async def _route(self, request: web.Request) -> Json | bytes | None:
        raw = request.rel_url.raw_path.split("/")[1:]
        path = [unquote(each) for each in raw]
        if path[:2] == ["_matrix", "media"] and path[3:] == ["upload"]:
            return await self._upload_media(request)
        if path[:3] != ["_matrix", "client", "v3"] and path[:4] != [
            "_matrix",
            "client",
            "v1",
            "media",
        ]:
            raise Refusal(404, "M_UNRECOGNIZED")
        body = await self._read_body(request)
        if path[3:] == ["login"] and request.method == "POST":
            return self.log_in(body)
        device = self._authorize(request)
        parts = path[3:]
        for (method, *shape), handle in self._handlers.items():
            found = match_path(shape, parts) if method == request.method else None
            if found is not None:
                if refusals := self.refused_calls.get(f"{method} {'/'.join(shape)}"):
                    raise refusals.pop(0)
                mishap = self.weather()
                if mishap == "unreachable":
                    raise Refusal(502, "M_UNKNOWN")
                answer = handle(self, device, body, dict(request.query), *found)
                done = await answer if isinstance(answer, Awaitable) else answer
                return None if mishap == "unanswered" else done
        raise Refusal(404, "M_UNRECOGNIZED")

    async def _read_body(self, request: web.Request) -> Json:
        if request.method == "GET":
            return {}
        try:
            body = json.loads(await request.read() or b"{}")
        except ValueError as error:
            raise Refusal(400, "M_NOT_JSON") from error
        if not isinstance(body, dict):
            raise Refusal(400, "M_BAD_JSON")
        return body

    def _authorize(self, request: web.Request) -> Device:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if "access_token" in request.query or not token:
            raise Refusal(401, "M_MISSING_TOKEN")
        if token not in self.devices:
            raise Refusal(401, "M_UNKNOWN_TOKEN", soft_logout=self._ended.get(token, False))
        return self.devices[token]

    def log_in(self, body: Json) -> Json:
        identifier = body.get("identifier", {})
        if body.get("type") != "m.login.password" or identifier.get("type") != "m.id.user":
            raise Refusal(400, "M_UNKNOWN")
        user = identifier["user"]
        user = user if user.startswith("@") else f"@{user}:{SERVER}"
        if user not in self.passwords or self.passwords[user] != body.get("password"):
            raise Refusal(403, "M_FORBIDDEN")
        device_id = body.get("device_id") or self._make_id("DEVICE", "")
        before = [d for d in self.devices.values() if (d.user, d.id) == (user, device_id)]
        token = self._make_id("token-", "")
        for each in before:  # a new login ends the old token of its device
            del self.devices[each.token]
            self._ended[each.token] = True
            each.token = token
        self.devices[token] = before[0] if before else Device(user, device_id, token)
        return {"user_id": user, "device_id": device_id, "access_token": token}

    def _who_am_i(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        return {"user_id": device.user, "device_id": device.id}

    # Syncing.

    def _parse_position(self, text: str) -> int:
        if not text.startswith("s") or not text[1:].isdigit() or int(text[1:]) > self._position:
            raise Refusal(400, "M_INVALID_PARAM")
        return int(text[1:])

    async def _sync(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        since = self._parse_position(query["since"]) if "since" in query else None
        self.syncs.append(query.get("since"))
        is_full = query.get("full_state") == "true" or since is None
        device.inbox = [each for each in device.inbox if since is None or each[0] > since]
        limit = json.loads(query.get("filter", "{}")).get("room", {}).get("timeline", {})
        wait_s = 0.0 if is_full else int(query.get("timeout", "0")) / 1_000
        try:
            async with asyncio.timeout(wait_s), self._changed:
                while self._position == (since or 0):
                    await self._changed.wait()
        except TimeoutError:
            pass
        if device.token not in self.devices:
            raise Refusal(401, "M_UNKNOWN_TOKEN", soft_logout=self._ended.get(device.token, False))
        return self._build_sync(device, since or 0, is_full=is_full, limit=limit.get("limit", 10))

    def _build_sync(self, device: Device, since: int, *, is_full: bool, limit: int) -> Json:
        rooms: Json = {"join": {}, "invite": {}, "leave": {}}
        for room in self.rooms.values():
            changed_at = max(
                (p for p, e in room.events if e.get("state_key") == device.user), default=0
            )
            match room.membership_of(device.user):
                case "join":
                    start = 0 if changed_at > since else since  # the past of a new room, too
                    part = build_room(room, device, start, is_full, limit)
                    if is_full or part["timeline"]["events"]:
                        rooms["join"][room.id] = part
                case "invite" if changed_at > since or is_full:
                    rooms["invite"][room.id] = {"invite_state": {"events": strip_state(room)}}
                case "leave" if changed_at > since > 0:
                    rooms["leave"][room.id] = {}
        changed = {user for position, user in self.key_changes if position > since}
        return deepcopy(
            {
                "next_batch": f"s{self._position}",
                "rooms": rooms,
                "to_device": {"events": [event for _, event in device.inbox]},
                "device_lists": {"changed": sorted(changed), "left": []},
                "device_one_time_keys_count": {"signed_curve25519": len(device.one_time_keys)},
            }
        )

    def _list_messages(
        self, device: Device, body: Json, query: Mapping[str, str], room_id: str
    ) -> Json:
        room = self._enter(device, room_id)
        start, end = self._parse_position(query["from"]), self._parse_position(query["to"])
        limit = min(int(query.get("limit", "10")), MAX_LIMIT)
        if query.get("dir") != "b":
            raise Refusal(400, "M_INVALID_PARAM")
        older = [(p, e) for p, e in room.events if end < p <= start][::-1][:limit]
        last = f"s{older[-1][0] - 1}" if older else ""
        return {
            "start": query["from"],
            **({"end": last} if last else {}),
            "chunk": deepcopy([event for _, event in older]),
        }

    # Rooms.

    def _enter(self, device: Device, room_id: str) -> Room:
        room = self.rooms.get(room_id)
        if room is None or room.membership_of(device.user) != "join":
            raise Refusal(403, "M_FORBIDDEN")
        return room

    def _create_room(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        kinds = [each["type"] for each in body.get("initial_state", [])]
        room_id = self.make_room(
            device.user, is_encrypted="m.room.encryption" in kinds, name=body.get("name", "")
        )
        for whom in body.get("invite", []):
            self.invite(room_id, device.user, whom, is_direct=bool(body.get("is_direct")))
        return {"room_id": room_id}

    def _join(self, device: Device, body: Json, query: Mapping[str, str], room_id: str) -> Json:
        room = self.rooms.get(room_id)
        if room is None or room.membership_of(device.user) not in {"invite", "join"}:
            raise Refusal(403, "M_FORBIDDEN")
        if room.membership_of(device.user) == "invite":
            self.join(room_id, device.user)
        return {"room_id": room_id}

    def _leave(self, device: Device, body: Json, query: Mapping[str, str], room_id: str) -> Json:
        if self.rooms[room_id].membership_of(device.user) not in {"invite", "join"}:
            raise Refusal(403, "M_FORBIDDEN")
        self.leave(room_id, device.user)
        return {}

    def _list_members(
        self, device: Device, body: Json, query: Mapping[str, str], room_id: str
    ) -> Json:
        room = self._enter(device, room_id)
        users = {e["state_key"] for _, e in room.events if e["type"] == "m.room.member"}
        return {
            "joined": {
                each: {"display_name": self.names.get(each, each)}
                for each in users
                if room.membership_of(each) == "join"
            }
        }

    def _get_event(
        self, device: Device, body: Json, query: Mapping[str, str], room_id: str, event_id: str
    ) -> Json:
        if not event_id.startswith("$"):
            raise Refusal(400, "M_INVALID_PARAM")
        if "\0" in event_id:
            raise Refusal(500, "M_UNKNOWN")
        found = [e for _, e in self._enter(device, room_id).events if e["event_id"] == event_id]
        if not found:
            raise Refusal(404, "M_NOT_FOUND")
        return {**deepcopy(found[0]), "room_id": room_id}

    def _send(
        self,
        device: Device,
        body: Json,
        query: Mapping[str, str],
        room_id: str,
        kind: str,
        transaction: str,
    ) -> Json | None:
        room = self._enter(device, room_id)
        self.sends.append((room_id, transaction))
        if self.refusals:
            refusal = self.refusals.pop(0)
            if refusal is None:
                return None
            raise refusal
        if len(json.dumps(body, ensure_ascii=False).encode()) > MAX_EVENT_BYTES - 1_000:
            raise Refusal(413, "M_TOO_LARGE")
        if any(isinstance(each, float) for each in walk(body)) or not body:
            raise Refusal(400, "M_BAD_JSON")
        key = ("send", room_id, kind, transaction)
        if key not in device.transactions:
            device.transactions[key] = self.put_event(room.id, device.user, kind, body)
        if self.answers_lost:
            self.answers_lost -= 1
            return None
        return {"event_id": device.transactions[key]}

    def _set_typing(
        self, device: Device, body: Json, query: Mapping[str, str], room_id: str, user: str
    ) -> Json:
        self._enter(device, room_id)
        if user != device.user or not isinstance(body.get("typing"), bool):
            raise Refusal(403, "M_FORBIDDEN")
        self.typing.append((room_id, user))
        return {}

    def _get_account_data(
        self, device: Device, body: Json, query: Mapping[str, str], user: str, kind: str
    ) -> Json:
        if user != device.user or (user, kind) not in self.account_data:
            raise Refusal(404, "M_NOT_FOUND")
        return self.account_data[user, kind]

    def _put_account_data(
        self, device: Device, body: Json, query: Mapping[str, str], user: str, kind: str
    ) -> Json:
        if user != device.user:
            raise Refusal(403, "M_FORBIDDEN")
        self.account_data[user, kind] = body
        return {}

    # Keys.

    def _upload_keys(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        if set(body) - set(UPLOAD_PARTS):
            raise Refusal(400, "M_BAD_JSON")
        keys = body.get("device_keys")
        if keys is not None:
            if (keys["user_id"], keys["device_id"]) != (device.user, device.id):
                raise Refusal(400, "M_INVALID_PARAM")
            check_signature(keys, device.user, keys["keys"][f"ed25519:{device.id}"], device.id)
            known = self.device_keys[device.user].get(device.id)
            if known is not None and known["keys"] != keys["keys"]:
                raise Refusal(400, "M_UNKNOWN")
            self.device_keys[device.user][device.id] = keys
            self.key_changes.append((self._move(), device.user))
        known = self.device_keys[device.user][device.id]
        for name, key in body.get("one_time_keys", {}).items():
            if name in device.one_time_keys:
                raise Refusal(400, "M_UNKNOWN")
            check_signature(key, device.user, known["keys"][f"ed25519:{device.id}"], device.id)
            device.one_time_keys[name] = key
        return {"one_time_key_counts": {"signed_curve25519": len(device.one_time_keys)}}

    def _query_keys(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        users = list(body["device_keys"])
        answer: Json = {"device_keys": {u: deepcopy(self.device_keys.get(u, {})) for u in users}}
        for usage in ("master", "self_signing"):
            answer[f"{usage}_keys"] = {
                user: self.signing_keys[user][f"{usage}_key"]
                for user in users
                if user in self.signing_keys
            }
        return {**answer, "failures": {}}

    def _claim_keys(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        claimed: Json = {}
        for user, wanted in body["one_time_keys"].items():
            for each in self.devices.values():
                if each.user == user and each.id in wanted and each.one_time_keys:
                    name = next(iter(each.one_time_keys))
                    claimed.setdefault(user, {})[each.id] = {name: each.one_time_keys.pop(name)}
        return {"one_time_keys": claimed, "failures": {}}

    def _send_to_devices(
        self, device: Device, body: Json, query: Mapping[str, str], kind: str, transaction: str
    ) -> Json:
        key = ("to-device", kind, transaction)
        if key in device.transactions:
            return {}
        device.transactions[key] = ""
        for user, contents in body["messages"].items():
            for each in self.devices.values():
                content = contents.get(each.id, contents.get("*"))
                if each.user != user or not content or each is device:
                    continue
                event = {"type": kind, "sender": device.user, "content": content}
                if self.held_keys is not None and kind == "m.room.encrypted":
                    self.held_keys.append((each, event))
                else:
                    each.inbox.append((self._move(), event))
        return {}

    def _upload_signing_keys(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        auth = body.pop("auth", None)
        if auth is None:
            flows = [{"stages": ["m.login.password"]}]
            raise Unauthorized({"session": "session-1", "flows": flows, "params": {}})
        is_right = (auth["session"], auth["identifier"]["user"], auth["password"]) == (
            "session-1",
            device.user,
            self.passwords[device.user],
        )
        if not is_right:
            raise Refusal(403, "M_FORBIDDEN")
        master = next(iter(body["master_key"]["keys"].values()))
        for usage in ("self_signing_key", "user_signing_key"):
            check_signature(body[usage], device.user, master, master)
        self.signing_keys[device.user] = body
        return {}

    def _upload_signatures(self, device: Device, body: Json, query: Mapping[str, str]) -> Json:
        signing = next(iter(self.signing_keys[device.user]["self_signing_key"]["keys"].values()))
        for device_id, signed in body[device.user].items():
            check_signature(signed, device.user, signing, signing)
            known = self.device_keys[device.user][device_id]
            if signed["keys"] != known["keys"]:
                raise Refusal(400, "M_INVALID_SIGNATURE")
            known["signatures"][device.user] |= signed["signatures"][device.user]
        return {"failures": {}}

    # Files.

    async def _upload_media(self, request: web.Request) -> Json:
        self._authorize(request)
        name = self._make_id("media", "")
        self.media[name] = await request.read()
        return {"content_uri": f"mxc://{SERVER}/{name}"}

    def _download(
        self, device: Device, body: Json, query: Mapping[str, str], server: str, name: str
    ) -> bytes:
        if server != SERVER or name not in self.media:
            raise Refusal(404, "M_NOT_FOUND")
        return self.media[name]

    _handlers: Final[Mapping[tuple[str, ...], Callable[..., Any]]] = {
        ("GET", "account", "whoami"): _who_am_i,
        ("GET", "sync"): _sync,
        ("POST", "createRoom"): _create_room,
        ("POST", "join", "*"): _join,
        ("POST", "rooms", "*", "join"): _join,
        ("POST", "rooms", "*", "leave"): _leave,
        ("GET", "rooms", "*", "messages"): _list_messages,
        ("GET", "rooms", "*", "joined_members"): _list_members,
        ("GET", "rooms", "*", "event", "*"): _get_event,
        ("PUT", "rooms", "*", "send", "*", "*"): _send,
        ("PUT", "rooms", "*", "typing", "*"): _set_typing,
        ("GET", "user", "*", "account_data", "*"): _get_account_data,
        ("PUT", "user", "*", "account_data", "*"): _put_account_data,
        ("POST", "keys", "upload"): _upload_keys,
        ("POST", "keys", "query"): _query_keys,
        ("POST", "keys", "claim"): _claim_keys,
        ("PUT", "sendToDevice", "*", "*"): _send_to_devices,
        ("POST", "keys", "device_signing", "upload"): _upload_signing_keys,
        ("POST", "keys", "signatures", "upload"): _upload_signatures,
        ("GET", "media", "download", "*", "*"): _download,
    }


class Unauthorized(Refusal):
    """A call that needs the password, too."""

    def __init__(self, body: Json) -> None:
        """Take what is asked for."""
        super().__init__(401, "")
        self.body = body


def match_path(shape: list[str], parts: list[str]) -> list[str] | None:
    """The parts of a path where its shape has a star; None: it has another shape."""
    if len(shape) != len(parts):
        return None
    pairs = list(zip(shape, parts, strict=True))
    is_it = all(wanted in {"*", given} for wanted, given in pairs)
    return [given for wanted, given in pairs if wanted == "*"] if is_it else None


def build_room(room: Room, device: Device, since: int, is_full: bool, limit: int) -> Json:
    """A room as a sync shows it."""
    recent = [(p, e) for p, e in room.events if p > since]
    shown = recent[-limit:]
    start = shown[0][0] if shown else 1 << 62
    sent = {event_id: key[3] for key, event_id in device.transactions.items() if event_id}
    events = [
        {
            **event,
            "unsigned": {**event.get("unsigned", {}), "transaction_id": sent[event["event_id"]]},
        }
        if event.get("event_id") in sent
        else event
        for _, event in shown
    ]
    return {
        "state": {"events": room.list_state(0 if is_full else since, start)},
        "timeline": {
            "events": events,
            "limited": len(shown) < len(recent),
            "prev_batch": f"s{max(start - 1, 0)}" if shown else f"s{since}",
        },
    }


def strip_state(room: Room) -> list[Json]:
    """The state of a room that somebody sees who is invited."""
    return [
        {name: event[name] for name in ("type", "state_key", "sender", "content")}
        for event in room.list_state(0, 1 << 62)
    ]


def walk(value: Any) -> AsyncIterator[Any]:
    """All values within a value."""
    found = [value]
    for each in found:
        found += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
    return found  # type: ignore[return-value]


def check_signature(fields: Json, user: str, key: str, key_id: str) -> None:
    """Refuse what is not signed with a key."""
    signature = fields.get("signatures", {}).get(user, {}).get(f"ed25519:{key_id}", "")
    unsigned = {k: v for k, v in fields.items() if k not in {"signatures", "unsigned"}}
    try:
        Ed25519PublicKey.from_base64(key).verify_signature(
            Api.to_canonical_json(unsigned).encode(), Ed25519Signature.from_base64(signature)
        )
    except ValueError as error:
        raise Refusal(400, "M_INVALID_SIGNATURE") from error


class Talker:
    """Somebody with a client of their own, which encrypts."""

    def __init__(self, client: AsyncClient) -> None:
        """Take a client that is logged in."""
        self.client = client
        self.heard: list[Event] = []
        self.asked_for: list[RoomKeyRequest] = []

    async def sync(self) -> None:
        """Hear what is new, and keep up the keys."""
        response = await self.client.sync(timeout=0, full_state=not self.client.next_batch or None)
        for info in response.rooms.join.values():
            self.heard += info.timeline.events
        self.asked_for += [e for e in response.to_device_events if isinstance(e, RoomKeyRequest)]
        if self.client.should_upload_keys:
            await self.client.keys_upload()
        if self.client.should_query_keys:
            await self.client.keys_query()
        if self.client.should_claim_keys:
            await self.client.keys_claim(self.client.get_users_for_key_claiming())
        await self.client.send_to_device_messages()

    async def invite_alone(self, whom: str) -> str:
        """A direct room with somebody, encrypted."""
        state = [{"type": "m.room.encryption", "content": {"algorithm": MEGOLM}}]
        made = await self.client.room_create(is_direct=True, invite=[whom], initial_state=state)
        assert isinstance(made, RoomCreateResponse), made
        await self.sync()
        return str(made.room_id)

    async def say(self, room_id: str, text: str, **content: Any) -> str:
        """Say something, encrypted."""
        body = {"msgtype": "m.text", "body": text, **content}
        sent = await self.client.room_send(
            room_id, "m.room.message", body, ignore_unverified_devices=True
        )
        return str(sent.event_id)

    def list_read(self, sender: str) -> list[str]:
        """What somebody said that could be decrypted."""
        return [
            each.source["content"].get("body", "")
            for each in self.heard
            if each.sender == sender
            and each.source["type"] == "m.room.message"
            and not isinstance(each, MegolmEvent)
        ]

    def list_audio(self) -> list[RoomEncryptedAudio]:
        """The encrypted recordings that could be read."""
        return [each for each in self.heard if isinstance(each, RoomEncryptedAudio)]


@asynccontextmanager
async def talking(server: Homeserver, user: str) -> AsyncIterator[Talker]:
    """Somebody on the server with a client."""
    config = AsyncClientConfig(store=SqliteMemoryStore, max_limit_exceeded=0, max_timeouts=0)
    client = AsyncClient(server.address, user, config=config)
    try:
        await client.login(server.passwords[user])
        talker = Talker(client)
        await talker.sync()
        yield talker
    finally:
        await client.close()
        if client.store is not None:
            client.store.database.close()
