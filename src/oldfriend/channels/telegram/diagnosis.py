"""Telegram diagnosis: what Telegram reports about the bot and its webhook."""

from typing import Final

from oldfriend.channels.channel_spec import BotDiagnosis, BotFinding
from oldfriend.channels.telegram.bot_api import BotIdentity, WebhookStatus
from oldfriend.domain.i18n_messages import LocalizedText, localizable

MANY_PENDING_UPDATES: Final = 100


def diagnose_bot(me: BotIdentity, webhook: WebhookStatus, *, wanted_url: str) -> BotDiagnosis:
    """Return the bot's name, and what is wrong with its webhook; no wanted URL: it is polled."""
    known = localizable("bot_known", f"Telegram knows the bot as @{me.username}.", name=me.username)
    return BotDiagnosis(
        findings=(
            BotFinding(text=known, is_problem=False),
            *list_webhook_problems(webhook, wanted_url),
        ),
        format_group_hint=None if me.can_read_all_messages else format_group_hint,
    )


def format_group_hint(names: str) -> LocalizedText:
    """Say what to do so that the bot hears all in some groups."""
    return localizable(
        "bot_hears_little",
        f"Telegram: of {names} it hears only what is said to it. To have it hear all, write "
        "/setprivacy to @BotFather (Disable), and take the bot into the group anew.",
        names=names,
    )


def list_webhook_problems(webhook: WebhookStatus, wanted_url: str) -> list[BotFinding]:
    """List what is wrong with the webhook that Telegram calls, and with its deliveries."""
    problems = []
    if webhook.url != wanted_url:
        whom = f"calls {webhook.url}" if webhook.url else "calls nobody"
        how = (
            f"is to call {wanted_url}"
            if wanted_url
            else "is to be asked (no telegram.webhook is set)"
        )
        problems.append(
            localizable(
                "bot_calls_otherwise",
                f"Telegram {whom}, but {how}. `oldfriend serve` changes that when it starts; if it "
                "runs, another program uses this bot.",
                whom=whom,
                how=how,
            )
        )
    if webhook.last_error and webhook.url:
        problems.append(
            localizable(
                "bot_not_delivered",
                f"Telegram could not deliver to {webhook.url} the last time: {webhook.last_error}",
                address=webhook.url,
                error=webhook.last_error,
            )
        )
    if webhook.pending_count >= MANY_PENDING_UPDATES:
        problems.append(
            localizable(
                "bot_holds",
                f"Telegram holds {webhook.pending_count:,} updates that nobody has taken. Is it "
                "running?",
                count=webhook.pending_count,
            )
        )
    return [BotFinding(text=each, is_problem=True) for each in problems]
