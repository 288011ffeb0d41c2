"""The harness of Discord."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.discord.spec import DISCORD, DiscordSettings
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.discord import BOT, GUILD, TOKEN, FakeDiscord, running_discord
from tests.fakes.weather import Weather

PEOPLE = {"ana": 1, "ben": 2, "eve": 3}
SQUARE = "950"
EVENTS = (
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "MESSAGE_REACTION_ADD",
    "INTERACTION_CREATE",
)
FIELDS = ("id", "channel_id", "author", "content", "mentions", "attachments", "data", "user", "ids")


class DiscordHarness(ChannelHarness):
    """The fake Discord."""

    spec = DISCORD
    secrets = (TOKEN,)
    proves_unsent = False
    tells_deletions = True

    def __init__(self, world: FakeDiscord) -> None:
        """Everybody has a chat with the bot, and there is a server."""
        self.world, self.people = world, dict(PEOPLE)
        for name, number in PEOPLE.items():
            world.meets(number, name.title())
        world.opens(SQUARE, "square")

    def open(self, folder: Path) -> BotChannel:
        """By its token."""
        settings = DiscordSettings(base_url=self.world.url, quiet_s=0.0)
        return self.spec.open_bot({"token": TOKEN}, settings, folder)

    def address(self, who: str) -> str:
        """The channel between two."""
        return str(300 + self.people[who])

    def user(self, who: str) -> str:
        """Their number."""
        return str(200 + self.people[who])

    def says(self, who: str, text: str) -> str:
        """A direct message."""
        channel = self.address(who)
        return f"message:{channel}:{self.world.says(self.user(who), channel, text)}"

    def redeliver(self) -> None:
        """The gateway may tell of an event twice."""
        assert self.world.last is not None
        self.world.tell(*self.world.last)

    @property
    def deliveries(self) -> int:
        """Frames of the gateway."""
        return self.world.told

    def shown(self, who: str) -> list[str]:
        """As people see it: what is escaped stands for itself."""
        said = self.world.shown(self.address(who))
        return [re.sub(r"\\([^\w\s])", r"\1", each["content"]) for each in said]

    def fail_reading(self) -> None:
        """Its servers are in trouble."""
        self.world.read_troubles += 1

    def fail(self, trouble: Trouble) -> None:
        """The next message meets it."""
        self.world.troubles.append(trouble)

    def garble(self, chance: Random) -> None:
        """An event with odd values."""
        what = {name: odd(chance) for name in FIELDS if chance.random() < 0.8}
        self.world.tell(chance.choice(EVENTS), chance.choice([what, {**what, "guild_id": GUILD}]))

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By a token."""
        for who in people:
            self.people[who] = len(self.people) + 1
            self.world.meets(self.people[who], who.title())
        allowed = ",".join(map(self.user, people))
        return {"token": TOKEN, "base_url": self.world.url, "allowed": allowed}

    def storm(self, weather: Weather) -> None:
        """Over the API."""
        self.world.weather = weather

    async def connected(self) -> None:
        """Discord tells only who is there."""
        while not self.world.sessions:  # noqa: ASYNC110 - it notifies nobody
            await asyncio.sleep(0.01)

    def says_in_group(self, who: str, text: str, *, to_us: bool) -> None:
        """In a channel of a server."""
        mention = f"<@{BOT['id']}> " if to_us else ""
        self.world.says(self.user(who), SQUARE, f"{mention}{text}")

    def edits(self, who: str, external_id: str, text: str) -> None:
        """The same message."""
        self.world.edits(self.address(who), external_id.rpartition(":")[2], text)

    def deletes(self, who: str, external_id: str) -> None:
        """It is gone."""
        self.world.deletes(self.address(who), external_id.rpartition(":")[2])

    def presses(self, who: str, external_id: str, command: str) -> None:
        """A component."""
        message = external_id.rpartition(":")[2]
        self.world.presses(self.user(who), self.address(who), message, command)


def odd(chance: Random) -> Any:
    """A value that is not what is expected."""
    return chance.choice(
        [None, -1, 1 << 70, "", "x" * 9, "7" * 30, "301", [], [{}], [7], {}, {"id": 7}, {"id": "7"}]
    )


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A Discord of this test."""
    async with running_discord() as world:
        yield DiscordHarness(world)
