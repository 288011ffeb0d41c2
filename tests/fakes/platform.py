"""A platform that people talk on, kept in a file, so that it outlives whoever sends to it.

Strict as a real one: no empty message, none that is too long. It knows keys, as some real ones
do: the same part sent twice is shown once.
"""

import asyncio
import fcntl
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from oldfriend.channels.channel import Channel, Cursors, HandleEvent
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import DeliveryFailed, Undeliverable

LONGEST = 400


class MemoryCursors(Cursors):
    """How far a channel was heard, while the test runs."""

    def __init__(self) -> None:
        """Nothing was heard."""
        self.positions: dict[str, str] = {}
        self.strangers: set[str] = set()

    async def find(self, scope: str) -> str | None:
        """The last one saved."""
        return self.positions.get(scope)

    async def save(self, scope: str, position: str) -> None:
        """Keep it."""
        self.positions[scope] = position

    async def is_known(self, address: str) -> bool:
        """Everybody is, but for strangers."""
        return address not in self.strangers

    async def find_forgotten_times(self, addresses: Collection[str]) -> Mapping[str, Micros]:
        """Nobody has had everything forgotten."""
        return {}


class Mute(Channel):
    """What a platform need not do: nobody talks on it, listens to it, or looks on."""

    debounce_s = 0.0

    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Nobody talks here by themselves."""
        await asyncio.Event().wait()


class FilePlatform(Mute):
    """A channel whose messages are lines of a file."""

    def __init__(self, file: Path) -> None:
        """Show what is sent in this file."""
        self._file = file

    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """A reply, cut where it is too long."""
        return [text[start : start + LONGEST] for start in range(0, len(text), LONGEST)]

    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Show a message, once for each key."""
        if not text or len(text) > LONGEST:
            raise Undeliverable(f"A message has 1 to {LONGEST} characters, not {len(text)}.")
        if address == "gone":
            raise Undeliverable("There is no such chat any more.")
        if address == "busy":
            raise DeliveryFailed("Too many messages.", retry_after_s=0.1)
        with attempts_beside(self._file).open("a", encoding="utf-8") as attempts:
            attempts.write(send_key + "\n")
        with self._file.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if all(json.loads(line)["key"] != send_key for line in file):
                file.write(json.dumps({"address": address, "text": text, "key": send_key}) + "\n")
        return send_key


def attempts_beside(file: Path) -> Path:
    """Where every sending is noted, also one that is not shown again."""
    return file.with_suffix(".attempts")


def sent_to(file: Path) -> Counter[str]:
    """How often each part was sent, by its key."""
    attempts = attempts_beside(file)
    return Counter(attempts.read_text("utf-8").split() if attempts.exists() else [])


def shown_in(file: Path) -> list[tuple[str, str]]:
    """What people see: address and text, in order."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [(line["address"], line["text"]) for line in map(json.loads, lines)]
