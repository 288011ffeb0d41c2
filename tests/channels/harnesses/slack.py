"""The harness of Slack."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from oldfriend.channels.channel import BotChannel
from oldfriend.channels.slack.slack_channel import SlackChannel
from oldfriend.channels.slack.spec import SLACK
from tests.channels.harness import ChannelHarness, Trouble
from tests.fakes.slack import (
    APP_TOKEN,
    BOT_ID,
    BOT_TOKEN,
    BOT_USER,
    TICKET,
    Fault,
    Slack,
    running_slack,
    seen,
)
from tests.fakes.weather import Weather

FAMILY = "C0FAMILY"
EVENTS = ("message", "app_mention", "reaction_added", "member_joined_channel", "channel_left")
NAMES = ("channel", "user", "ts", "text", "subtype", "message", "item", "event_ts", "files")
METHOD = "chat.postMessage"


class SlackHarness(ChannelHarness):
    """The fake Slack."""

    spec = SLACK
    secrets = (BOT_TOKEN, APP_TOKEN, TICKET)
    can_tell = True
    proves_unsent = False
    tells_deletions = True

    def __init__(self, slack: Slack) -> None:
        """Be in a channel, too; nobody has to wait long."""
        self.slack = slack
        slack.interval_s, slack.retry_s = 0.0, 30.0
        slack.rooms[FAMILY] = "family"

    def open(self, folder: Path) -> BotChannel:
        """By a socket."""
        del folder
        return SlackChannel(
            BOT_TOKEN,
            APP_TOKEN,
            base_url=f"{self.slack.url}/api",
            debounce_s=0.0,
            send_interval_s=0.0,
        )

    def address(self, who: str) -> str:
        """The conversation with them."""
        return self.slack.direct(user(who))

    def says(self, who: str, text: str) -> str:
        """In private."""
        return f"message:{self.address(who)}:{self.slack.says(user(who), text)}"

    def redeliver(self) -> None:
        """In another envelope."""
        self.slack.send_envelope("events_api", self.slack.payloads[-1])

    @property
    def deliveries(self) -> int:
        """Envelopes."""
        return len(self.slack.unacknowledged) + len(self.slack.acknowledged)

    def shown(self, who: str) -> list[str]:
        """As people see it."""
        said = self.slack.messages[self.address(who)]
        return [seen(each["blocks"]).strip("\n") for each in said if each.get("bot_id") == BOT_ID]

    def fail(self, trouble: Trouble) -> None:
        """By a fault of the API."""
        faults = {
            "unreachable": Fault(METHOD),
            "unanswered": Fault(METHOD, is_done=True),
            "flood": Fault(METHOD, code="ratelimited", status=429, retry_after_s=1),
            "refused": Fault(METHOD, code="invalid_blocks", status=200),
            "blocked": Fault(METHOD, code="is_archived", status=200),
        }
        self.slack.faults.append(faults[trouble])

    def fail_reading(self) -> None:
        """It asks us to wait."""
        limit = Fault("conversations.history", code="ratelimited", status=429, retry_after_s=1)
        self.slack.faults.append(limit)

    def garble(self, chance: Random) -> None:
        """An envelope with odd values."""
        event = {name: odd(chance) for name in NAMES} | {"type": chance.choice(EVENTS)}
        kind = chance.choice(["events_api", "interactive", "slash_commands", "?"])
        payload = {"event": event} if kind == "events_api" else {**event, "actions": [event]}
        self.slack.send_envelope(kind, payload)

    def connect(self, people: Sequence[str], folder: Path) -> dict[str, str]:
        """By two tokens; what is not acknowledged comes again soon."""
        self.slack.retry_s = 2.0
        return {
            "bot_token": BOT_TOKEN,
            "app_token": APP_TOKEN,
            "base_url": f"{self.slack.url}/api",
            "allowed": ",".join(map(user, people)),
        }

    def storm(self, weather: Weather) -> None:
        """Over the API."""
        self.slack.weather = weather

    def says_in_group(self, who: str, text: str, *, to_us: bool) -> None:
        """With a mention."""
        mention = f"<@{BOT_USER}> " if to_us else ""
        self.slack.says(user(who), f"{mention}{text}", channel=FAMILY)

    def edits(self, who: str, external_id: str, text: str) -> None:
        """The same message."""
        self.slack.edits(timestamp(external_id), text, channel=self.address(who))

    def deletes(self, who: str, external_id: str) -> None:
        """It is gone."""
        self.slack.deletes(timestamp(external_id), channel=self.address(who))

    def presses(self, who: str, external_id: str, command: str) -> None:
        """A button of ours."""
        self.slack.presses(user(who), timestamp(external_id), command, channel=self.address(who))


def user(who: str) -> str:
    """The id of somebody."""
    return f"U0{who.upper()}"


def timestamp(external_id: str) -> str:
    """Which message of a conversation it is."""
    return external_id.rpartition(":")[2]


def odd(chance: Random, depth: int = 0) -> Any:
    """A value that no event should hold, perhaps with others in it."""
    words = ["", "x" * 500, "<@" * 50, "<@U1|", "\ud800", "1.5", "99999999999.000000", "/start"]
    names = ["message_changed", "message_deleted", "tombstone", "D1", "C0FAMILY", "U0ANA"]
    if depth < 2 and chance.random() < 0.2:
        return {name: odd(chance, depth + 1) for name in chance.sample(NAMES, 5)}
    if depth < 2 and chance.random() < 0.1:
        return [odd(chance, depth + 1) for _ in range(3)]
    return chance.choice([None, True, -1, 1 << 70, 1.5, *words, *names])


@asynccontextmanager
async def opened() -> AsyncIterator[ChannelHarness]:
    """A Slack of this test."""
    with running_slack() as slack:
        yield SlackHarness(slack)
