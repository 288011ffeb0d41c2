"""A platform as a developer would add it: a spec, settings and a bot. Pigeons carry the words."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Annotated

from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    BotFinding,
    ChannelSettings,
    ChannelSpec,
    ChatRef,
    HandleEvent,
    IncomingMessage,
    Sender,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound, PlatformRejected
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

    arrived: asyncio.Queue[IncomingMessage] = field(default_factory=asyncio.Queue)
    sent: asyncio.Queue[tuple[str, str]] = field(default_factory=asyncio.Queue)
    numbers: Iterator[int] = field(default_factory=count)
    closed: int = 0

    def say(self, address: str, text: str, *, at: Micros) -> None:
        """Have somebody say something."""
        self.arrived.put_nowait(
            IncomingMessage(
                chat_ref=ChatRef(channel=NAME, address=address, title="", is_private=True),
                sender=Sender(address=address, name=address.title()),
                external_id=f"pigeon {next(self.numbers)}",
                number=None,
                at=at,
                text=text,
            )
        )

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
        )

    def open_bot(self, token: str, settings: ChannelSettings, folder: Path) -> BotChannel:
        """Open a bot, if its token is right."""
        assert isinstance(settings, CarrierSettings)
        assert folder.name == NAME
        if token != TOKEN:
            raise PlatformRejected("No pigeon knows this token.")
        return CarrierBot(self, settings)


class CarrierBot:
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
        known = localizable("bot_known", f"{self._settings.pigeons} pigeons are in the loft.")
        return BotDiagnosis(
            findings=(BotFinding(text=known, is_problem=False),), format_group_hint=None
        )

    async def close(self) -> None:
        """Shut the loft."""
        self._loft.closed += 1

    def split(self, text: str) -> Sequence[str]:
        """A pigeon carries any text."""
        return [text]

    async def send(
        self, address: str, text: str, *, send_key: str, preview_send_key: str | None = None
    ) -> str:
        """Send a pigeon."""
        del preview_send_key
        self._loft.sent.put_nowait((address, text))
        return send_key

    async def edit(self, address: str, external_id: str, text: str) -> bool:
        """A pigeon does not come back."""
        del address, external_id, text
        return False

    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """A pigeon can coo."""
        del audio, is_opus, title
        self._loft.sent.put_nowait((address, "coo"))
        return send_key

    async def download_audio(self, file_id: str) -> bytes:
        """There are no recordings."""
        raise NotFound(file_id)

    def open_preview(self, address: str, *, send_key: str, external_id: str | None = None) -> None:
        """Nobody sees a pigeon on its way."""
        del address, send_key, external_id

    async def listen(self, handle_event: HandleEvent) -> None:
        """Wait for pigeons."""
        while True:
            await handle_event(await self._loft.arrived.get())
