"""The harness of Matrix."""

import json
import logging
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.matrix.spec import MATRIX, MatrixSettings
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.matrix import SERVER, Homeserver, Refusal
from tests.fakes.weather import Weather

PASSWORD = "correct horse battery"
KINDS = [
    "m.room.message",
    "m.room.encrypted",
    "m.room.member",
    "m.room.name",
    "m.room.power_levels",
    "m.room.redaction",
    "m.room.encryption",
    "m.reaction",
    "m.sticker",
    "org.example.odd",
]
FIELDS = [
    "body",
    "msgtype",
    "m.relates_to",
    "m.new_content",
    "m.mentions",
    "info",
    "file",
    "url",
    "algorithm",
    "ciphertext",
    "session_id",
    "sender_key",
    "device_id",
    "membership",
    "redacts",
    "name",
    "users",
]


class MatrixHarness(ChannelHarness):
    """The fake homeserver; everybody has a direct room with the bot."""

    spec = MATRIX
    tells_deletions = True

    def __init__(self, server: Homeserver) -> None:
        """Rooms that the bot has joined, and a family."""
        self.server = server
        self.bot = server.add_user("friend", PASSWORD)
        self.began_ms = round(1_000 * time.time())
        self.secrets: tuple[str, ...] = (PASSWORD,)
        self.rooms: dict[str, str] = {}
        self.meet("ana", "ben", "eve")
        self.family = server.make_room(self.address("ana"), name="Family")
        server.join(self.family, self.address("ben"))
        server.join(self.family, self.bot)

    def meet(self, *people: str) -> None:
        """Each has a direct room with the bot."""
        for who in people:
            self.server.add_user(who)
            room = self.server.make_room(self.address(who))
            self.server.invite(room, self.address(who), self.bot, is_direct=True)
            self.server.join(room, self.bot)
            self.rooms[who] = room
        direct = {self.address(who): [room] for who, room in self.rooms.items()}
        self.server.account_data[self.bot, "m.direct"] = direct

    def open(self, folder: Path) -> BotChannel:
        """It was connected before."""
        credentials = self.log_in(folder)
        return self.spec.open_bot(credentials, MatrixSettings(quiet_s=0.0), folder)

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By a password; it was connected before."""
        self.meet(*people)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.log_in(folder) | {"allowed": ",".join(map(self.address, people))}

    def storm(self, weather: Weather) -> None:
        """Over all calls."""
        self.server.weather = weather

    def log_in(self, folder: Path) -> dict[str, str]:
        """Return the credentials, with the login in the folder, as after connecting."""
        if not (folder / "login.json").exists():
            identifier = {"type": "m.id.user", "user": self.bot}
            login = self.server.log_in(
                {"type": "m.login.password", "identifier": identifier, "password": PASSWORD}
            )
            self.secrets = (PASSWORD, login["access_token"])
            login |= {"homeserver": self.server.address, "user": self.bot, "at_ms": self.began_ms}
            (folder / "login.json").write_text(json.dumps(login))
        return {"homeserver": self.server.address, "user": self.bot, "password": PASSWORD}

    def address(self, who: str) -> str:
        """Their id."""
        return f"@{who}:{SERVER}"

    def says(self, who: str, text: str) -> str:
        """In their room."""
        return f"{self.rooms[who]} {self.server.say(self.rooms[who], self.address(who), text)}"

    def redeliver(self) -> None:
        """The same event, at another position."""
        room = next(each for each in self.rooms.values() if self.server.list_events(each))
        event = self.server.list_events(room)[-1]
        extra = {name: event[name] for name in ("event_id", "origin_server_ts")}
        self.server.put_event(room, event["sender"], event["type"], event["content"], **extra)

    @property
    def deliveries(self) -> int:
        """Events."""
        return sum(len(room.events) for room in self.server.rooms.values())

    def shown(self, who: str) -> list[str]:
        """As clients show it, edits applied."""
        texts: dict[str, str] = {}
        for event in self.server.list_events(self.rooms[who]):
            content = event["content"]
            relation = content.get("m.relates_to", {})
            if event["sender"] == self.bot and relation.get("rel_type") == "m.replace":
                texts[relation["event_id"]] = show(content["m.new_content"])
            elif event["sender"] == self.bot:
                texts[event["event_id"]] = show(content)
        return list(texts.values())

    def fail(self, trouble: Trouble) -> None:
        """By refusals, and answers that are lost on both tries of the connection."""
        match trouble:
            case "unreachable":
                self.server.refusals += [Refusal(502, "M_UNKNOWN")]
            case "unanswered":
                self.server.answers_lost = 2
            case "flood":
                self.server.refusals += [Refusal(429, "M_LIMIT_EXCEEDED", retry_after_ms=1_000)]
            case "refused":
                self.server.refusals += [Refusal(400, "M_BAD_JSON")]
            case "blocked":
                self.server.leave(self.rooms["ben"], self.address("ben"))

    def fail_reading(self) -> None:
        """The server is in trouble, twice."""
        for call in ("GET sync", "GET rooms/*/messages"):
            self.server.refused_calls.setdefault(call, []).append(Refusal(502, "M_UNKNOWN"))

    def garble(self, chance: Random) -> None:
        """An event with odd values, or with none at all."""
        content: Any = {name: odd(chance) for name in chance.sample(FIELDS, 5)}
        extra: dict[str, Any] = {}
        if chance.random() < 0.3:
            extra[chance.choice(["origin_server_ts", "unsigned"])] = odd(chance)
        if chance.random() < 0.2:
            extra["state_key"] = chance.choice(["", "odd", self.address("eve")])
        elif chance.random() < 0.1:
            content = odd(chance)
        sender = chance.choice([self.address("eve"), self.address("eve"), "", "odd", self.bot])
        self.server.put_event(self.rooms["eve"], sender, chance.choice(KINDS), content, **extra)
        for device in self.server.devices.values():
            event = {"type": chance.choice(KINDS), "sender": odd(chance), "content": content}
            self.server.deliver(device, event)

    def says_in_group(self, who: str, text: str, *, to_us: bool) -> None:
        """With a mention."""
        mentions = {"user_ids": [self.bot]} if to_us else {}
        self.server.say(self.family, self.address(who), text, **{"m.mentions": mentions})

    def edits(self, who: str, external_id: str, text: str) -> None:
        """Another event replaces it."""
        content = {
            "m.new_content": {"msgtype": "m.text", "body": text},
            "m.relates_to": {"rel_type": "m.replace", "event_id": external_id.partition(" ")[2]},
        }
        self.server.say(self.rooms[who], self.address(who), f"* {text}", **content)

    def deletes(self, who: str, external_id: str) -> None:
        """A redaction."""
        event_id = external_id.partition(" ")[2]
        self.server.redact(self.rooms[who], self.address(who), event_id)


def show(content: dict[str, Any]) -> str:
    """What people see of a message."""
    html = content.get("formatted_body")
    return content["body"] if html is None else unescape(re.sub(r"<[^>]*>", "", html))


def odd(chance: Random) -> Any:
    """A value that is not what is expected."""
    values = [None, -1, 1 << 70, "", "x" * 9, [], [{}], {}, {"event_id": 7}, {"rel_type": []}, True]
    return chance.choice([*values, {"m.in_reply_to": 3}, {"user_ids": 1}, "m.text", "m.audio"])


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A homeserver of this test."""
    logging.getLogger("nio").setLevel(logging.CRITICAL)
    server = Homeserver()
    async with server.serve():
        yield MatrixHarness(server)
