"""The harness of WhatsApp."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.whatsapp.delivery_ledger import DeliveryLedger
from oldfriend.channels.whatsapp.rendering import LOOK_ALIKES
from oldfriend.channels.whatsapp.spec import WHATSAPP
from oldfriend.channels.whatsapp.whatsapp_settings import WEBHOOK_PATH, WhatsAppSettings
from tests.channels.harness import ChannelHarness, Trouble
from tests.channels.harnesses.telegram import odd
from tests.fakes.weather import Weather
from tests.fakes.whatsapp import (
    APP_SECRET,
    CREDENTIALS,
    TOKEN,
    VERIFY_TOKEN,
    Fault,
    WhatsApp,
    free_port,
    running_whatsapp,
)

PEOPLE = {"ana": "351912345678", "ben": "491701234567", "eve": "PT.13491208655302741918"}
FAULTS: dict[Trouble, Fault] = {
    "unreachable": Fault(status=500, code=131000),
    "unanswered": Fault(status=0, is_done=True),
    "flood": Fault(status=429, code=130429),
    "refused": Fault(status=400, code=131009),
    "blocked": Fault(status=400, code=131026),
    "window": Fault(status=400, code=131047),
}
MOST = 50
"""Odd messages of a kind in one call."""
ORIGINALS = {ord(alike): chr(original) for original, alike in LOOK_ALIKES.items()}
"""What each character looks like that is shown in place of a mark."""


class WhatsAppHarness(ChannelHarness):
    """The fake WhatsApp."""

    spec = WHATSAPP
    secrets = (TOKEN, APP_SECRET, VERIFY_TOKEN)
    tells_deletions = True

    def __init__(self, world: WhatsApp) -> None:
        """Everybody has written lately."""
        self.world, self.people = world, dict(PEOPLE)
        self.odd_value: dict[str, Any] = {}
        world.heard_at = dict.fromkeys(PEOPLE.values(), time.time())

    def open(self, folder: Path) -> BotChannel:
        """Be called at another port."""
        port = free_port()
        self.world.webhook_url = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
        settings = WhatsAppSettings(base_url=self.world.url, webhook_port=port, quiet_s=0.0)
        ledger = DeliveryLedger(folder, secret=APP_SECRET)
        for address, heard_at in self.world.heard_at.items():
            ledger.record_heard(address, heard_at)
        return self.spec.open_bot(CREDENTIALS, settings, folder)

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By its secrets, and called at a port of its own."""
        port = free_port()
        self.world.webhook_url = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
        self.people |= {who: f"35191234{number:04}" for number, who in enumerate(people)}
        return {
            **CREDENTIALS,
            "base_url": self.world.url,
            "webhook_port": str(port),
            "allowed": ",".join(map(self.address, people)),
        }

    def storm(self, weather: Weather) -> None:
        """Over the API."""
        self.world.weather = weather

    def address(self, who: str) -> str:
        """By number, or by the id of who hides theirs."""
        return self.people[who]

    def says(self, who: str, text: str) -> str:
        """In private."""
        return self.world.says(self.people[who], text)

    def redeliver(self) -> None:
        """The same call once more."""
        with self.world.changed:
            self.world.calls.append(self.world.last_call)

    @property
    def deliveries(self) -> int:
        """Calls."""
        return len(self.world.calls) + len(self.world.hooked) + self.world.is_calling

    def shown(self, who: str) -> list[str]:
        """As people see it."""
        return [each.translate(ORIGINALS) for each in self.world.texts(self.people[who])]

    def fail(self, trouble: Trouble) -> None:
        """By a fault of the API."""
        self.world.faults.append(FAULTS[trouble])

    def garble(self, chance: Random) -> None:
        """A message with odd values, told with others where the call was not made yet."""
        names = ("from", "id", "timestamp", "type", "text", "context", "interactive")
        message = {name: odd(chance) for name in names if chance.random() < 0.8}
        name = chance.choice(["messages", "statuses", "contacts"])
        with self.world.changed:
            if self.odd_value not in self.waiting() or len(self.odd_value["messages"]) >= MOST:
                self.odd_value = {"messages": [], "statuses": [], "contacts": []}
                self.world.call(self.odd_value)
                self.odd_value = self.waiting()[-1]
            self.odd_value[name].append(message)

    def waiting(self) -> list[dict[str, Any]]:
        """What the calls tell that were not made yet."""
        return [each["entry"][0]["changes"][0]["value"] for each in self.world.calls]

    def edits(self, who: str, external_id: str, text: str) -> None:
        """The same message."""
        changed = {"type": "text", "text": {"body": text}}
        edit = {"original_message_id": external_id, "message": changed}
        self.world.tells(self.people[who], type="edit", edit=edit)

    def deletes(self, who: str, external_id: str) -> None:
        """For everybody."""
        self.world.tells(
            self.people[who], type="revoke", revoke={"original_message_id": external_id}
        )

    def presses(self, who: str, external_id: str, command: str) -> None:
        """A reply button."""
        shown = next(each for each in self.world.shown if each.id == external_id)
        commands = [each for _, each in shown.buttons]
        self.world.presses(self.people[who], shown, commands.index(command))


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A WhatsApp of this test."""
    with running_whatsapp() as world:
        yield WhatsAppHarness(world)
