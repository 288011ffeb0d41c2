"""Telegram checks: the token, the webhook, the last message heard and the chats that block the bot.

They ask Telegram without taking updates away from a running listener.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oldfriend.app.doctor_results import CheckResult, report_ok, report_problem
from oldfriend.config.provider_resolution import find_channel_token
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.errors import PlatformRejected, PlatformUnavailable
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.memory.groups import list_groups
from oldfriend.memory.messages import find_last_message_time
from oldfriend.queues.delivery_log import list_blocked_chats
from oldfriend.runtime.channel_registry import fetch_bot_state

if TYPE_CHECKING:
    from oldfriend.channels.telegram.bot_api import BotIdentity, WebhookStatus

CHANNEL: Final = "telegram"
ANSWER_TIMEOUT_S: Final = 15.0
MAX_BLOCKED_LISTED: Final = 20
MANY_PENDING_UPDATES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BotStatus:
    """What Telegram reports about the bot, or the error if it did not answer."""

    me: "BotIdentity | None" = None
    webhook: "WebhookStatus | None" = None
    error: str = ""


async def fetch_bot_status(settings: Settings) -> BotStatus | None:
    """Fetch the bot's status from Telegram; None if no bot is configured or Telegram is off."""
    token = find_channel_token(settings, CHANNEL) if settings.telegram.enabled else None
    if token is None:
        return None
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            me, webhook = await fetch_bot_state(settings, token.value)
    except (PlatformRejected, PlatformUnavailable) as error:
        return BotStatus(error=error.user_text)
    except TimeoutError:
        return BotStatus(
            error=localizable(
                "telegram_slow",
                f"Telegram has not answered for {ANSWER_TIMEOUT_S:g} s.",
                seconds=ANSWER_TIMEOUT_S,
            )
        )
    return BotStatus(me=me, webhook=webhook)


async def check_telegram(
    tx: Transaction, settings: Settings, bot: BotStatus | None, *, now: Micros
) -> list[CheckResult]:
    """Check that people can be heard and answered on Telegram."""
    if bot is None:
        return []
    if bot.me is None or bot.webhook is None:
        return [report_problem("telegram_trouble", f"Telegram: {bot.error}", why=bot.error)]
    groups = await list_groups(tx, CHANNEL)
    results = [
        report_ok(
            "bot_known", f"Telegram knows the bot as @{bot.me.username}.", name=bot.me.username
        )
    ]
    results += check_webhook(settings, bot.webhook)
    results.append(await check_last_heard(tx, now=now))
    if groups and not bot.me.can_read_all_messages:
        names = ", ".join(each.name for each in groups)
        results.append(
            report_ok(
                "bot_hears_little",
                f"Telegram: of {names} it hears only what is said to it. To have it hear all, "
                "write "
                "/setprivacy to @BotFather (Disable), and take the bot into the group anew.",
                names=names,
            )
        )
    return results + await check_blocked_chats(tx)


def check_webhook(settings: Settings, webhook: "WebhookStatus") -> list[CheckResult]:
    """Check that Telegram calls the configured webhook, and how delivery goes."""
    wanted = settings.telegram.webhook or ""
    results: list[CheckResult] = []
    if webhook.url != wanted:
        whom = f"calls {webhook.url}" if webhook.url else "calls nobody"
        how = f"is to call {wanted}" if wanted else "is to be asked (no telegram.webhook is set)"
        results.append(
            report_problem(
                "bot_calls_otherwise",
                f"Telegram {whom}, but {how}. `oldfriend serve` changes that when it starts; if it "
                "runs, another program uses this bot.",
                whom=whom,
                how=how,
            )
        )
    if webhook.last_error and webhook.url:
        results.append(
            report_problem(
                "bot_not_delivered",
                f"Telegram could not deliver to {webhook.url} the last time: {webhook.last_error}",
                address=webhook.url,
                error=webhook.last_error,
            )
        )
    if webhook.pending_count >= MANY_PENDING_UPDATES:
        results.append(
            report_problem(
                "bot_holds",
                f"Telegram holds {webhook.pending_count:,} updates that nobody has taken. Is it "
                "running?",
                count=webhook.pending_count,
            )
        )
    return results


async def check_last_heard(tx: Transaction, *, now: Micros) -> CheckResult:
    """Report when the last message arrived."""
    at = await find_last_message_time(tx, CHANNEL)
    if at is None:
        return report_ok("nobody_heard", "Telegram: nobody was heard there yet.")
    return report_ok(
        "somebody_heard",
        f"Telegram: somebody was heard {format_age(now - at)} ago.",
        ago=format_age(now - at),
    )


async def check_blocked_chats(tx: Transaction) -> list[CheckResult]:
    """Report the chats that block the bot, and why."""
    blocked = await list_blocked_chats(tx, CHANNEL, limit=MAX_BLOCKED_LISTED)
    return [
        report_ok(
            "place_closed",
            f"Telegram: nothing is sent to {who}, until they write: {why}",
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
