"""A platform as a developer would add it: a spec, settings and a bot. Pigeons carry the words."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated

from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    BotFinding,
    ChannelCapabilities,
    ChannelEvent,
    ChannelSettings,
    ChannelSpec,
    ChatRef,
    Cursors,
    HandleEvent,
    IncomingMessage,
    Sender,
)
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import OutcomeUnknown, PlatformRejected
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.setting_parsers import int_parser

NAME, TOKEN = "carrier", "coo-coo"


@dataclass(frozen=True, slots=True, kw_only=True)
class CarrierSettings(ChannelSettings):
    """How many pigeons there are, besides what every channel has."""

    base_url: str = "https://carrier.example"
    quiet_s: float = 0.0
    pigeons: Annotated[int, int_parser(ge=1, le=9)] = 2


@dataclass(slots=True)
class Loft:
    """All pigeons, and what they have carried."""

    waiting: list[ChannelEvent] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    carried: list[tuple[str, str]] = field(default_factory=list)
    troubles: list[Exception] = field(default_factory=list)  # of the next pigeons
    sent: asyncio.Queue[tuple[str, str]] = field(default_factory=asyncio.Queue)
    numbers: Iterator[int] = field(default_factory=count)
    closed: int = 0

    def say(self, address: str, text: str, *, at: Micros) -> None:
        """Have somebody say something."""
        self.arrive(
            IncomingMessage(
                chat_ref=ChatRef(channel=NAME, address=address, title="", is_private=True),
                sender=Sender(address=address, name=address.title()),
                external_id=f"pigeon {next(self.numbers)}",
                number=None,
                at=at,
                text=text,
            )
        )

    def arrive(self, event: ChannelEvent) -> None:
        """Have a pigeon arrive."""
        self.waiting.append(event)
        self.arrived.set()

    def carry(self, address: str, text: str) -> None:
        """Carry words there."""
        self.carried.append((address, text))
        self.sent.put_nowait((address, text))

    def spec(self) -> ChannelSpec:
        """What is registered."""
        return ChannelSpec(
            name=NAME,
            title="Carrier",
            default_settings=CarrierSettings(),
            file_only_settings=frozenset({"base_url"}),
            open_bot=self.open_bot,
            setup_help="Ask a pigeon for a token.",
            farewell_help="Open the window.",
            bot_link="https://carrier.example/{bot}",
            code_link="https://carrier.example/{bot}/{code}",
            capabilities=ChannelCapabilities(longest_text=1_000_000),
        )

    def open_bot(
        self, credentials: Mapping[str, str], channel_settings: ChannelSettings, folder: Path
    ) -> BotChannel:
        """Open a bot, if its token is right."""
        assert isinstance(channel_settings, CarrierSettings)
        assert folder.name == NAME
        if credentials != {"token": TOKEN}:
            raise PlatformRejected("No pigeon knows this token.")
        return CarrierBot(self, channel_settings)


class CarrierBot(BotChannel):
    """The companion among the pigeons."""

    def __init__(self, loft: Loft, settings: CarrierSettings) -> None:
        """Nothing has been carried yet."""
        self.debounce_s = settings.quiet_s
        self._loft, self._settings = loft, settings

    async def register(self) -> str:
        """Return the bot's name."""
        return "companion"

    async def diagnose(self) -> BotDiagnosis:
        """Count the pigeons."""
        known = localizable("channel_known", f"{self._settings.pigeons} pigeons are in the loft.")
        return BotDiagnosis(
            findings=(BotFinding(text=known, is_problem=False),), format_group_hint=None
        )

    async def close(self) -> None:
        """Shut the loft."""
        self._loft.closed += 1

    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """A pigeon carries any text."""
        return [text]

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
        """Send a pigeon."""
        del preview_send_key, is_markdown, buttons
        trouble = self._loft.troubles.pop(0) if self._loft.troubles else None
        if trouble is None or isinstance(trouble, OutcomeUnknown):
            self._loft.carry(address, text)
        if trouble is not None:
            raise trouble
        return send_key

    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Wait for pigeons."""
        del cursors  # a pigeon waits until it is heard
        while True:
            while self._loft.waiting:
                await handle_event(self._loft.waiting[0])
                self._loft.waiting.pop(0)
            self._loft.arrived.clear()
            await self._loft.arrived.wait()
