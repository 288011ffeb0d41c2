"""Bot connections: opens each bot once, stands in for one that cannot be opened, and checks them.

Checks ask the platforms without taking updates away from a running listener.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final, TypeAlias

from typing_extensions import override

from oldfriend.app.doctor_checks import CheckResult, report_ok, report_problem
from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    Channel,
    ChannelSpec,
    Cursors,
    HandleEvent,
    SentLookup,
)
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.provider_resolution import ChannelCredentials, find_channel_credentials
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.errors import DeliveryFailed, PlatformRejected, PlatformUnavailable
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.llm.addresses import find_refusal
from oldfriend.memory.groups import list_groups
from oldfriend.memory.message_log import find_last_message_time
from oldfriend.queues.outages import find_outage_start
from oldfriend.queues.outbox import list_blocked_chats


class UnavailableChannel(Channel):
    """A configured platform that lacks something it needs."""

    debounce_s = 0.0

    def __init__(self, reason: str) -> None:
        """Take the reason."""
        self.reason = reason

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Return the text whole; a process that reaches the platform splits it."""
        return [text]

    @override
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
        """Raise DeliveryFailed."""
        raise DeliveryFailed(self.reason)

    @override
    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Raise DeliveryFailed."""
        raise DeliveryFailed(self.reason)

    @override
    async def edit(
        self,
        address: str,
        external_id: str,
        text: str,
        *,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> bool:
        """Raise DeliveryFailed."""
        raise DeliveryFailed(self.reason)

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Raise DeliveryFailed."""
        raise DeliveryFailed(self.reason)

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Raise DeliveryFailed."""
        raise DeliveryFailed(self.reason)

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Raise PlatformRejected."""
        raise PlatformRejected(self.reason)


class BotConnections:
    """The connected platforms; a connection survives reloads while its credentials stay."""

    def __init__(self) -> None:
        """Connect to none yet."""
        self._opened: dict[tuple[str, ChannelCredentials], BotChannel] = {}  # by channel

    def connect_channels(self, settings: Settings) -> dict[str, Channel]:
        """Return the connected channels; an unusable one reports why when it is used.

        Raises InvalidInput where keys are stored insecurely.
        """
        connected: dict[str, Channel] = {}
        for spec in CHANNELS.values():
            if settings.channels[spec.name].enabled:
                credentials = find_channel_credentials(settings, spec)
                if credentials is not None:
                    connected[spec.name] = self._connect(spec, credentials, settings)
        return connected

    async def close(self) -> None:
        """Close the connections."""
        for each in self._opened.values():
            await each.close()

    def _connect(
        self, spec: ChannelSpec, credentials: ChannelCredentials, settings: Settings
    ) -> Channel:
        if (spec.name, credentials) not in self._opened:
            try:
                self._opened[spec.name, credentials] = open_bot(spec, credentials, settings)
            except PlatformRejected as error:
                return UnavailableChannel(str(error))
        bot = self._opened[spec.name, credentials]
        bot.apply_settings(settings.channels[spec.name])
        return bot


def open_bot(spec: ChannelSpec, credentials: ChannelCredentials, settings: Settings) -> BotChannel:
    """Open a bot on a platform.

    Raises PlatformRejected without the extra, for invalid credentials, and for an address that no
    request may be sent to.
    """
    chosen, values = settings.channels[spec.name], dict(credentials.values)
    addresses = [chosen.base_url, *(values[each.name] for each in spec.credentials if each.is_url)]
    for address in filter(None, addresses):
        if refusal := find_refusal(address):
            raise PlatformRejected(refusal)
    return spec.open_bot(values, chosen, settings.data / spec.name)


@asynccontextmanager
async def opened_bot(
    spec: ChannelSpec, credentials: ChannelCredentials, settings: Settings
) -> AsyncIterator[BotChannel]:
    """Open a bot for a moment. Raises PlatformRejected."""
    bot = open_bot(spec, credentials, settings)
    try:
        yield bot
    finally:
        await bot.close()


async def register_bot(
    spec: ChannelSpec, credentials: ChannelCredentials, settings: Settings
) -> str:
    """Tell the platform how the bot hears of messages, and return the bot's name there.

    Raises PlatformRejected, PlatformUnavailable.
    """
    async with opened_bot(spec, credentials, settings) as bot:
        with map_unreadable_answers(spec):
            return await bot.register()


@contextmanager
def map_unreadable_answers(spec: ChannelSpec) -> Iterator[None]:
    """Map what comes of an answer that nobody can read to PlatformUnavailable.

    An address that belongs to something else answers anything.
    """
    try:
        yield
    except UNREADABLE_ANSWERS as error:
        raise PlatformUnavailable(
            localizable(
                "platform_unreadable",
                f"{spec.title} cannot be reached: what answers there is not {spec.title}. "
                "Check the address and the network, and try again.",
                platform=spec.title,
            )
        ) from error


ANSWER_TIMEOUT_S: Final = 15.0
UNREADABLE_ANSWERS: Final = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""How code fails on an answer of another shape than a platform's, also in its library."""
MAX_BLOCKED_LISTED: Final = 20

Diagnoses: TypeAlias = Mapping[str, BotDiagnosis | str]
"""What the platforms say of their bots, by channel; a text where one did not answer."""


async def diagnose_bots(settings: Settings) -> Diagnoses:
    """Ask each platform that is connected and is not off."""
    found: dict[str, BotDiagnosis | str] = {}
    for spec in CHANNELS.values():
        if settings.channels[spec.name].enabled:
            credentials = find_channel_credentials(settings, spec)
            if credentials is not None:
                found[spec.name] = await diagnose_bot(spec, credentials, settings)
    return found


async def diagnose_bot(
    spec: ChannelSpec, credentials: ChannelCredentials, settings: Settings
) -> BotDiagnosis | str:
    """Ask a platform about its bot; a text says why it did not answer."""
    try:
        async with (
            asyncio.timeout(ANSWER_TIMEOUT_S),
            opened_bot(spec, credentials, settings) as bot,
        ):
            with map_unreadable_answers(spec):
                return await bot.diagnose()
    except (PlatformRejected, PlatformUnavailable) as error:
        return error.user_text
    except TimeoutError:
        return localizable(
            "channel_slow",
            f"{spec.title} has not answered for {ANSWER_TIMEOUT_S:g} s.",
            title=spec.title,
            seconds=ANSWER_TIMEOUT_S,
        )


async def check_channels(
    tx: Transaction, diagnoses: Diagnoses, *, now: Micros
) -> list[CheckResult]:
    """Check that people can be heard and answered on each connected channel."""
    results: list[CheckResult] = []
    for name, diagnosis in diagnoses.items():
        results += await check_channel(tx, CHANNELS[name], diagnosis, now=now)
    return results


async def check_channel(
    tx: Transaction, spec: ChannelSpec, diagnosis: BotDiagnosis | str, *, now: Micros
) -> list[CheckResult]:
    """Check that people can be heard and answered on a channel."""
    if not isinstance(diagnosis, BotDiagnosis):
        return [report_problem("channel_trouble", f"{spec.title}: {diagnosis}", why=diagnosis)]
    results = [
        CheckResult(is_ok=not each.is_problem, text=each.text) for each in diagnosis.findings
    ]
    if (away_since := await find_outage_start(tx, spec.name, now=now)) is not None:
        age = format_age(now - away_since)
        text = f"{spec.title}: the process that listens has not reached it for {age}."
        results.append(report_problem("channel_away", text, title=spec.title, ago=age))
    results.append(await check_last_heard(tx, spec, now=now))
    groups = await list_groups(tx, spec.name)
    if groups and diagnosis.format_group_hint is not None:
        hint = diagnosis.format_group_hint(", ".join(each.name for each in groups))
        results.append(CheckResult(is_ok=True, text=hint))
    return results + await check_blocked_chats(tx, spec)


async def check_last_heard(tx: Transaction, spec: ChannelSpec, *, now: Micros) -> CheckResult:
    """Report when the last message arrived."""
    at = await find_last_message_time(tx, spec.name)
    if at is None:
        return report_ok(
            "nobody_heard", f"{spec.title}: nobody has written there yet.", title=spec.title
        )
    return report_ok(
        "somebody_heard",
        f"{spec.title}: the last message came {format_age(now - at)} ago.",
        title=spec.title,
        ago=format_age(now - at),
    )


async def check_blocked_chats(tx: Transaction, spec: ChannelSpec) -> list[CheckResult]:
    """Report the chats that block the bot, and why."""
    blocked = await list_blocked_chats(tx, spec.name, limit=MAX_BLOCKED_LISTED)
    return [
        report_ok(
            "place_closed",
            f"{spec.title}: nothing is sent to {who} until they write again: {why}",
            title=spec.title,
            who=who,
            why=why,
        )
        for who, why in blocked
    ]


def format_age(span: Micros) -> LocalizedText:
    """Format a duration roughly."""
    if span >= 2 * DAY:
        return localizable("span_days", f"{span // DAY} days", count=span // DAY)
    if span >= 2 * HOUR:
        return localizable("span_hours", f"{span // HOUR} hours", count=span // HOUR)
    minutes = max(span, 0) // MINUTE
    return localizable("span_minutes", f"{minutes} min", count=minutes)
