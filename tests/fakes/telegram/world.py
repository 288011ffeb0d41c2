"""What is true on this Telegram? Users, chats, messages, and what the bot has not heard of yet.

Tests talk to it directly; the program under test reaches it by HTTP alone.
"""

import random
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.telegram.markup import units

TOKEN = "123456:AAFakeTokenOfAFakeBot_0123456789abc"
BOT = {"id": 123456, "is_bot": True, "first_name": "Oldfriend", "username": "oldfriend_bot"}

ENTITIES = {"mention": r"(?<!\w)@\w{5,}", "bot_command": r"(?<!\S)/\w+(?:@\w+)?"}

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How a call goes wrong, once or by chance."""

    status: int = 500  # 0: the connection is reset; if it is done, in the middle of the answer
    retry_after: int | None = None
    delay_s: float = 0.0
    is_done: bool = False  # what was asked for is done all the same; only the answer is lost
    is_cut: bool = True  # a reset that is done: in the middle of the answer, and not before it
    description: str = "Internal Server Error"


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message of the bot as people see it."""

    id: int
    chat: int
    text: str
    html: str
    reply_to: int | None = None
    topic: int | None = None
    kind: str = "text"
    file: bytes = b""
    edits: int = 0
    buttons: list[tuple[str, str]] = field(default_factory=list)  # what they say, and send
    at: float = field(default_factory=time.monotonic)


class World:
    """Everything on this Telegram."""

    def __init__(self) -> None:
        """Nobody is here yet."""
        self.token = TOKEN
        self.url = ""  # of the API, without "/bot"
        self.changed = threading.Condition(threading.RLock())
        self.updates: deque[Fields] = deque()
        self.shown: list[Shown] = []
        self.drafts: dict[int, list[str]] = defaultdict(list)
        self.actions: list[tuple[int, str]] = []
        self.acknowledged: set[str] = set()
        self.toasts: dict[str, str] = {}  # what was said to who pressed, by the query
        self.commands: dict[tuple[str, str], list[Fields]] = {}  # by kind of chat and language
        self.calls: list[tuple[str, Fields]] = []
        self.files: dict[str, bytes] = {}
        self.blocked: set[int] = set()
        self.gone: set[int] = set()
        self.moved: dict[int, int] = {}
        self.groups: dict[int, Fields] = {}
        self.topics: dict[int, dict[int, str]] = defaultdict(dict)
        self.kicked: set[int] = set()  # groups that the bot was put out of
        self.has_privacy = True  # in groups the bot hears only what is said to it
        self.webhook: Fields | None = None
        self.hooked: list[int] = []  # what the webhook has answered, in order; 0: nothing
        self.hook_error: str | None = None
        self.scripted: dict[str, deque[Fault]] = defaultdict(deque)
        self.chance: Callable[[str], Fault | None] = never
        self.takes_s: Callable[[str], float] = (
            at_once  # before a call is done, also where it was given up
        )
        self.limits_floods = False
        self.drafts_are_known = True
        self.poller = 0
        self._numbers: dict[int, int] = defaultdict(int)
        self._update = 1000
        self._last_sent: dict[int, deque[float]] = defaultdict(deque)

    # What people do.

    def says(
        self,
        user: int,
        text: str = "",
        *,
        chat: int | None = None,
        topic: int | None = None,
        reply_to: int | None = None,
        **more: Any,
    ) -> int:
        """Somebody sends a message; its number."""
        said = self._said(text) | self._where(chat, topic, reply_to)
        message = self._message(user, chat, said, more)
        if self._is_heard(message):
            self.tell({"message": message})
        return int(message["message_id"])

    def edits(self, user: int, number: int, text: str, *, chat: int | None = None) -> None:
        """Somebody changes what they have said."""
        edited = self._said(text) | {"edit_date": int(time.time())}
        message = {**self._message(user, chat, edited, {}), "message_id": number}
        if self._is_heard(message):
            self.tell({"edited_message": message})

    def forwards(self, user: int, text: str, *, origin: str, chat: int | None = None) -> int:
        """Somebody passes on what another has said."""
        hidden = {"type": "hidden_user", "sender_user_name": origin, "date": int(time.time())}
        return self.says(user, text, chat=chat, forward_origin=hidden)

    def sends_file(
        self, user: int, kind: str, content: bytes, *, mime: str = "audio/ogg", **more: Any
    ) -> int:
        """Somebody sends a voice note or another file."""
        file = f"file-{len(self.files)}"
        self.files[file] = content
        held = {
            "file_id": file,
            "file_unique_id": file,
            "file_size": len(content),
            "mime_type": mime,
            "duration": 3,
        }
        return self.says(user, **{kind: [held] if kind == "photo" else held}, **more)

    def presses(self, user: int, data: str, *, below: int | None = None) -> str:
        """Somebody presses a button, below one of the bot's messages; the id of the query."""
        with self.changed:
            query = f"query-{self._update}"
            message = self._message(user, None, {"text": "Which?"}, {})
            if below is not None:
                message["message_id"] = below
            self.tell(
                {
                    "callback_query": {
                        "id": query,
                        "from": user_of(user),
                        "data": data,
                        "chat_instance": "1",
                        "message": message,
                    }
                }
            )
        return query

    def reacts(self, user: int, number: int, emoji: str) -> None:
        """Somebody reacts to a message."""
        self.tell(
            {
                "message_reaction": {
                    "chat": self._chat(user, None),
                    "message_id": number,
                    "user": user_of(user),
                    "date": int(time.time()),
                    "old_reaction": [],
                    "new_reaction": [{"type": "emoji", "emoji": emoji}],
                }
            }
        )

    def blocks(self, user: int) -> None:
        """Somebody wants to hear nothing more."""
        self.blocked.add(user)
        self.tell(
            {
                "my_chat_member": {
                    "chat": self._chat(user, None),
                    "from": user_of(user),
                    "date": int(time.time()),
                    "old_chat_member": {"status": "member", "user": BOT},
                    "new_chat_member": {"status": "kicked", "user": BOT, "until_date": 0},
                }
            }
        )

    def group(self, chat: int, title: str, *, is_forum: bool = False) -> None:
        """A group that the bot is in."""
        self.groups[chat] = {"id": chat, "type": "supergroup", "title": title, "is_forum": is_forum}

    def opens_topic(self, chat: int, title: str) -> int:
        """A group gets a topic; its number, which is that of the message that opens it."""
        assert self.groups[chat]["is_forum"]
        number = self._next(chat)
        self.topics[chat][number] = title
        return number

    def comes(self, user: int, chat: int) -> None:
        """Somebody joins a group."""
        self.tell({"message": self._message(user, chat, {"new_chat_members": [user_of(user)]}, {})})

    def goes(self, user: int, chat: int) -> None:
        """Somebody leaves a group."""
        self.tell({"message": self._message(user, chat, {"left_chat_member": user_of(user)}, {})})

    def puts_out(self, user: int, chat: int) -> None:
        """Somebody takes the bot out of a group."""
        self.kicked.add(chat)
        self._tell_membership(user, chat, "member", "kicked")

    def lets_in(self, user: int, chat: int) -> None:
        """Somebody takes the bot into a group."""
        self.kicked.discard(chat)
        self._tell_membership(user, chat, "left", "member")

    def _tell_membership(self, user: int, chat: int, before: str, now: str) -> None:
        self.tell(
            {
                "my_chat_member": {
                    "chat": self.groups[chat],
                    "from": user_of(user),
                    "date": int(time.time()),
                    "old_chat_member": {"status": before, "user": BOT},
                    "new_chat_member": {"status": now, "user": BOT},
                }
            }
        )

    def migrates(self, chat: int, to: int) -> None:
        """A group becomes a supergroup."""
        with self.changed:
            self.groups[to] = {**self.groups[chat], "id": to, "type": "supergroup"}
            self.moved[chat] = to
            self.tell(
                {
                    "message": {
                        "message_id": self._next(chat),
                        "date": int(time.time()),
                        "chat": self.groups[chat],
                        "from": user_of(1),
                        "migrate_to_chat_id": to,
                    }
                }
            )

    def tell(self, what: Fields) -> int:
        """Have the bot hear of something; the number of the update."""
        with self.changed:
            self._update += 1
            self.updates.append({"update_id": self._update, **what})
            self.changed.notify_all()
            return self._update

    # What tests look at.

    @property
    def told(self) -> int:
        """How many updates there were so far."""
        return self._update

    def texts(self, chat: int) -> list[str]:
        """What the bot has said in a chat, as it reads now."""
        return [each.text for each in self.shown if each.chat == chat]

    def wait(self, is_so: Callable[[], bool], *, seconds: float = 20.0) -> bool:
        """Wait until something is so; whether it became so."""
        with self.changed:
            return self.changed.wait_for(is_so, timeout=seconds)

    def called(self, method: str) -> list[Fields]:
        """With what a method was called."""
        return [fields for name, fields in self.calls if name == method]

    # What the server asks.

    def fault_for(self, method: str) -> Fault | None:
        """What is to go wrong with this call."""
        with self.changed:
            waiting = self.scripted[method]
            return waiting.popleft() if waiting else self.chance(method)

    def show(self, chat: int, shown: Fields) -> Shown:
        """Show a message of the bot."""
        with self.changed:
            made = Shown(id=self._next(chat), chat=chat, **shown)
            self.shown.append(made)
            self.changed.notify_all()
            return made

    def flood_wait(self, chat: int) -> int | None:
        """How long a message must wait: one a second in a chat, twenty a minute in a group."""
        now, sent = time.monotonic(), self._last_sent[chat]
        while sent and now - sent[0] > 60:
            sent.popleft()
        in_last_second = sum(now - at < 1 for at in sent)
        if self.limits_floods and (in_last_second > 1 or (chat < 0 and len(sent) >= 20)):
            return 1 if chat > 0 else 3
        sent.append(now)
        return None

    def _said(self, text: str) -> Fields:
        """A text with what Telegram finds in it."""
        if not text:
            return {}
        found = [
            {"type": kind, "offset": units(text[: each.start()]), "length": units(each[0])}
            for kind, shape in ENTITIES.items()
            for each in re.finditer(shape, text)
        ]
        return {"text": text} | ({"entities": found} if found else {})

    def _where(self, chat: int | None, topic: int | None, reply_to: int | None) -> Fields:
        """Where in a chat it stands; in a topic every message replies to the one that opens it."""
        where: Fields = {}
        if topic is not None:
            assert chat is not None
            opened = {
                "message_id": topic,
                "date": 0,
                "chat": self.groups[chat],
                "from": user_of(1),
                "forum_topic_created": {"name": self.topics[chat][topic]},
            }
            where = {
                "message_thread_id": topic,
                "is_topic_message": True,
                "reply_to_message": opened,
            }
        if reply_to is not None:
            ours = next(e for e in self.shown if (e.chat, e.id) == (chat, reply_to))
            where["reply_to_message"] = {
                "message_id": reply_to,
                "date": 0,
                "from": BOT,
                "text": ours.text,
                "chat": self.groups.get(chat or 0, {"id": chat}),
            }
        return where

    def _is_heard(self, raw_message: Fields) -> bool:
        """Whether the bot is told: in groups only what is said to it, unless it may hear all."""
        place = int(raw_message["chat"]["id"])
        if place > 0 or place not in self.groups:
            return True
        if place in self.kicked:
            return False
        words = str(raw_message.get("text", raw_message.get("caption", "")))
        is_reply = raw_message.get("reply_to_message", {}).get("from") == BOT
        is_called = f"@{BOT['username']}" in words.lower()
        return not self.has_privacy or is_reply or is_called or words.startswith("/")

    def _message(self, user: int, chat: int | None, said: Fields, more: Fields) -> Fields:
        place = self._chat(user, chat)
        return {
            "message_id": self._next(place["id"]),
            "date": int(time.time()),
            "chat": place,
            "from": user_of(user),
            **said,
            **more,
        }

    def _chat(self, user: int, chat: int | None) -> Fields:
        if chat is not None:
            return self.groups[chat]
        return {"id": user, "type": "private", "first_name": f"User {user}"}

    def _next(self, chat: int) -> int:
        with self.changed:
            self._numbers[chat] += 1
            return self._numbers[chat]


def user_of(number: int) -> Fields:
    """A user as the API describes one."""
    return {
        "id": number,
        "is_bot": False,
        "first_name": f"User {number}",
        "language_code": "en",
        "username": f"user_{number}",
    }


def at_once(_: str) -> float:
    """A call is done as soon as it is there."""
    return 0.0


def never(method: str) -> Fault | None:
    """Nothing goes wrong by chance."""
    return None


def sometimes(share: float, *, seed: int = 0) -> Callable[[str], Fault | None]:
    """A share of all calls goes wrong: floods, errors, slowness, resets, lost answers."""
    dice = random.Random(seed)
    faults = [
        Fault(status=429, retry_after=1, description="Too Many Requests: retry after 1"),
        Fault(status=500),
        Fault(status=502, description="Bad Gateway"),
        Fault(status=0),
        Fault(status=200, delay_s=0.3),
    ]

    def chance(method: str) -> Fault | None:
        return dice.choice(faults) if dice.random() < share else None

    return chance
