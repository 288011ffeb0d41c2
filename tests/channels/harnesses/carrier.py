"""The harness of the example that a developer would add."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from oldfriend.channels.channel import BotChannel, UnreadableUpdate
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    Undeliverable,
)
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.example_channel import NAME, TOKEN, CarrierSettings, Loft

TROUBLES = {
    "unreachable": DeliveryFailed("A storm."),
    "unanswered": OutcomeUnknown("The pigeon has not come back."),
    "flood": DeliveryFailed("All pigeons are tired.", retry_after_s=1.0),
    "refused": Undeliverable("No pigeon carries that."),
    "blocked": ChatBlocked("The window is shut."),
}


class CarrierHarness(ChannelHarness):
    """The loft."""

    secrets = (TOKEN,)
    tells_edits = False

    def __init__(self) -> None:
        """An empty loft."""
        self.loft = Loft()
        self.spec = self.loft.spec()

    def open(self, folder: Path) -> BotChannel:
        """Another keeper."""
        return self.spec.open_bot({"token": TOKEN}, CarrierSettings(), folder / NAME)

    def address(self, who: str) -> str:
        """People are addressed by their names."""
        return who

    def says(self, who: str, text: str) -> str:
        """By pigeon."""
        self.loft.say(who, text, at=1)
        return self.loft.waiting[-1].external_id

    def redeliver(self) -> None:
        """Another pigeon with the same letter."""
        self.loft.arrive(self.loft.waiting[-1])

    @property
    def deliveries(self) -> int:
        """Pigeons."""
        return len(self.loft.waiting)

    def shown(self, who: str) -> list[str]:
        """What was carried."""
        return [text for address, text in self.loft.carried if address == who]

    def fail(self, trouble: Trouble) -> None:
        """The next pigeon meets it."""
        self.loft.troubles.append(TROUBLES[trouble])

    def garble(self, chance: Random) -> None:
        """A letter that the rain has washed."""
        self.loft.arrive(UnreadableUpdate(channel=NAME, update_id=None, reason="wet"))


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A loft of this test."""
    yield CarrierHarness()
