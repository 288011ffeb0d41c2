"""The harness of Telegram."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.telegram.spec import TELEGRAM
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.telegram import Fault, World, running_telegram
from tests.fakes.weather import Weather

PEOPLE = {"ana": 7, "ben": 8, "eve": 9}
FAMILY = -100
FAULTS = {
    "unreachable": Fault(status=502, description="Bad Gateway"),
    "unanswered": Fault(status=0, is_done=True, is_cut=False),
    "flood": Fault(status=429, retry_after=1, description="Too Many Requests: retry after 1"),
    "refused": Fault(status=400, description="Bad Request: message is too odd"),
    "blocked": Fault(status=403, description="Forbidden: bot was blocked by the user"),
}


class TelegramHarness(ChannelHarness):
    """The fake Telegram."""

    spec = TELEGRAM

    def __init__(self, world: World) -> None:
        """Be in a group, too."""
        self.world, self.people = world, dict(PEOPLE)
        self.secrets = (world.token,)
        world.group(FAMILY, "Family")

    def open(self, folder: Path) -> BotChannel:
        """Poll."""
        settings = TelegramSettings(base_url=self.world.url, quiet_s=0.0)
        return self.spec.open_bot({"token": self.world.token}, settings, folder)

    def address(self, who: str) -> str:
        """By number."""
        return str(self.people[who])

    def says(self, who: str, text: str) -> str:
        """In private."""
        return f"message:{self.people[who]}:{self.world.says(self.people[who], text)}"

    def redeliver(self) -> None:
        """With another number of the update."""
        with self.world.changed:
            last = dict(self.world.updates[-1])
        del last["update_id"]
        self.world.tell(last)

    @property
    def deliveries(self) -> int:
        """By their numbers."""
        return self.world.told

    def shown(self, who: str) -> list[str]:
        """As people see it."""
        return self.world.texts(self.people[who])

    def fail(self, trouble: Trouble) -> None:
        """By a fault of the API."""
        self.world.scripted["sendMessage"].append(FAULTS[trouble])

    def fail_reading(self) -> None:
        """Its servers are in trouble."""
        self.world.scripted["getUpdates"].append(FAULTS["unreachable"])

    def garble(self, chance: Random) -> None:
        """An update with odd values."""
        self.world.tell({"message": {name: odd(chance) for name in ("chat", "from", "text")}})

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By a token."""
        self.people |= {who: 1_000 + number for number, who in enumerate(people)}
        allowed = ",".join(self.address(who) for who in people)
        return {"token": self.world.token, "base_url": self.world.url, "allowed": allowed}

    def storm(self, weather: Weather) -> None:
        """Over all calls."""

        def chance(method: str) -> Fault | None:
            return FAULTS.get(weather())

        self.world.chance = chance

    def says_in_group(self, who: str, text: str, *, to_us: bool) -> None:
        """With a mention."""
        mention = "@oldfriend_bot " if to_us else ""
        self.world.says(self.people[who], f"{mention}{text}", chat=FAMILY)

    def edits(self, who: str, external_id: str, text: str) -> None:
        """The same message."""
        self.world.edits(self.people[who], int(external_id.rpartition(":")[2]), text)

    def presses(self, who: str, external_id: str, command: str) -> None:
        """An inline button."""
        below = int(external_id.rpartition(":")[2])
        self.world.presses(self.people[who], command, below=below)


def odd(chance: Random) -> Any:
    """A value that is not what is expected."""
    return chance.choice([None, -1, 1 << 70, "", "x" * 9, [], [{}], {}, {"id": "7"}, {"id": 7.5}])


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield TelegramHarness(world)
