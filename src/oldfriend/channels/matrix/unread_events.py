"""Unread events: messages of encrypted rooms that wait for their keys."""

import asyncio
import json
import time
from collections import Counter, OrderedDict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from oldfriend.channels.channel import Cursors
from oldfriend.channels.json_fields import JsonFields, find_fields, find_text
from oldfriend.channels.matrix.cross_signing import write_private_file
from oldfriend.domain.clock import SECOND

KEY_WAIT_S: Final = 5.0
"""How long the key of a message may come after it, before the sender is told."""
MAX_UNREAD: Final = 500
MAX_UNREAD_AGE_S: Final = 7 * 86_400.0
"""How long a message waits for its key."""


@dataclass(slots=True, kw_only=True)
class UnreadEvent:
    """An event whose key we do not have."""

    room_id: str
    source: JsonFields
    is_due: bool = False  # its key has had its time
    is_shown: bool = False  # it was passed on as something that cannot be read
    heard_s: float = field(default_factory=time.time)


class UnreadEvents:
    """The events that wait for their keys; those of people whom we know outlive the process."""

    def __init__(self, file: Path) -> None:
        """Load what waits."""
        self._file = file
        self._is_changed = False
        self.waiting: OrderedDict[str, UnreadEvent] = OrderedDict()
        self._since: dict[str, float] = {}  # in this process, by the event's id
        try:
            for each in json.loads(file.read_text("utf-8")):
                event = UnreadEvent(**each)
                self.waiting[find_text(event.source, "event_id")] = event
        except (OSError, ValueError, TypeError):
            self.waiting.clear()
        self._since = dict.fromkeys(self.waiting, time.monotonic())

    @property
    def wait_s(self) -> float | None:
        """How long until the sender of an event may have to be told; None if nobody has to."""
        return KEY_WAIT_S if any(not each.is_due for each in self.waiting.values()) else None

    def add(self, event: UnreadEvent) -> bool:
        """Let an event wait; False if it does already."""
        event_id = find_text(event.source, "event_id")
        if event_id in self.waiting:
            return False
        self.waiting[event_id] = event
        self._since[event_id] = time.monotonic()
        self._is_changed = True
        if len(self.waiting) > MAX_UNREAD:
            self.remove(self._choose_surplus())
        return True

    def _choose_surplus(self) -> str:
        """Return the oldest event of who has the most in the room with the most."""
        rooms = Counter(each.room_id for each in self.waiting.values())
        room_id = rooms.most_common(1)[0][0]
        senders = {
            event_id: find_text(each.source, "sender")
            for event_id, each in self.waiting.items()
            if each.room_id == room_id
        }
        sender = Counter(senders.values()).most_common(1)[0][0]
        return next(event_id for event_id, each in senders.items() if each == sender)

    def remove(self, event_id: str) -> None:
        """Let an event wait no longer."""
        self._since.pop(event_id, None)
        self._is_changed |= self.waiting.pop(event_id, None) is not None

    def drop_old(self) -> None:
        """Give up the events whose keys have not come for days."""
        oldest = time.time() - MAX_UNREAD_AGE_S
        for event_id, each in list(self.waiting.items()):
            if each.heard_s < oldest:
                self.remove(event_id)

    async def drop_forgotten(self, cursors: Cursors) -> None:
        """Give up what came before everything of its sender, or of its room, was forgotten."""
        addresses = {
            address
            for each in self.waiting.values()
            for address in (find_text(each.source, "sender"), each.room_id)
        }
        if not addresses:
            return
        times = await cursors.find_forgotten_times(addresses)
        for event_id, each in list(self.waiting.items()):
            places = (find_text(each.source, "sender"), each.room_id)
            if each.heard_s * SECOND < max(times.get(address, 0) for address in places):
                self.remove(event_id)

    def has_waited(self, event_id: str) -> bool:
        """Tell whether the key of an event has had its time."""
        return self._since[event_id] < time.monotonic() - KEY_WAIT_S

    def mark_due(self, event: UnreadEvent) -> bool:
        """Give up waiting for an event's key; True if its sender has to be told."""
        event.is_due = self._is_changed = True
        session = read_session(event.source)
        event.is_shown = not any(
            each.is_shown and each is not event and read_session(each.source) == session
            for each in self.waiting.values()
        )
        return event.is_shown

    async def save(self, cursors: Cursors) -> None:
        """Keep what waits of people and groups whom we know. Raises OSError."""
        if not self._is_changed:
            return
        self._is_changed = False
        places = {
            (find_text(each.source, "sender"), each.room_id) for each in self.waiting.values()
        }
        known = {
            (sender, room_id)
            for sender, room_id in places
            if await cursors.is_known(sender) or await cursors.is_known(room_id)
        }
        kept = [
            asdict(each)
            for each in self.waiting.values()
            if (find_text(each.source, "sender"), each.room_id) in known
        ]
        await asyncio.to_thread(write_private_file, self._file, json.dumps(kept))


def read_session(source: JsonFields) -> str:
    """Return the id of the key that an event was encrypted with."""
    return find_text(find_fields(source, "content"), "session_id")
