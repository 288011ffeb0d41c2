"""Is all well on Telegram? Its token, whom it calls, when it was heard, who has closed the door.

Asks Telegram, which takes nothing from whoever listens meanwhile.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oldfriend.app.choices.reaching import token_of
from oldfriend.app.choices.settings import Settings
from oldfriend.app.finding import Finding, amiss, well
from oldfriend.app.wiring import state_of_bot
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.errors import PlatformRefused, PlatformUnavailable
from oldfriend.domain.sayings import Saying, saying
from oldfriend.memory.groups import list_groups
from oldfriend.memory.log import last_heard_on
from oldfriend.queues.places import list_closed

if TYPE_CHECKING:
    from oldfriend.channels.telegram.api import Me, Webhook

CHANNEL: Final = "telegram"
ANSWERS_S: Final = 15.0
MOST_CLOSED: Final = 20
MANY_WAITING: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """What Telegram says of the bot; or why it says nothing."""

    me: "Me | None" = None
    called: "Webhook | None" = None
    why: str = ""


async def ask_telegram(settings: Settings) -> Bot | None:
    """How the bot stands on Telegram; None: there is none, or it is off."""
    token = token_of(settings, CHANNEL) if settings.telegram.enabled else None
    if token is None:
        return None
    try:
        async with asyncio.timeout(ANSWERS_S):
            me, called = await state_of_bot(settings, token.value)
    except (PlatformRefused, PlatformUnavailable) as error:
        return Bot(why=error.says)
    except TimeoutError:
        return Bot(
            why=saying(
                "telegram_slow",
                f"Telegram has not answered for {ANSWERS_S:g} s.",
                seconds=ANSWERS_S,
            )
        )
    return Bot(me=me, called=called)


async def telegram_findings(
    tx: Transaction, settings: Settings, bot: Bot | None, *, now: Micros
) -> list[Finding]:
    """Whether people can be heard and answered there."""
    if bot is None:
        return []
    if bot.me is None or bot.called is None:
        return [amiss("telegram_trouble", f"Telegram: {bot.why}", why=bot.why)]
    groups = await list_groups(tx, CHANNEL)
    findings = [
        well("bot_known", f"Telegram knows the bot as @{bot.me.username}.", name=bot.me.username)
    ]
    findings += calling(settings, bot.called)
    findings.append(await heard_findings(tx, now=now))
    if groups and not bot.me.hears_all:
        names = ", ".join(each.name for each in groups)
        findings.append(well(
            "bot_hears_little",
            f"Telegram: of {names} it hears only what is said to it. To have it hear all, write "
            "/setprivacy to @BotFather (Disable), and take the bot into the group anew.",
            names=names,
        ))  # fmt: skip
    return findings + await closed_findings(tx)


def calling(settings: Settings, called: "Webhook") -> list[Finding]:
    """Whether Telegram calls whom it is to call, and how that goes."""
    wanted = settings.telegram.webhook or ""
    findings: list[Finding] = []
    if called.url != wanted:
        whom = f"calls {called.url}" if called.url else "calls nobody"
        how = f"is to call {wanted}" if wanted else "is to be asked (no telegram.webhook is set)"
        findings.append(amiss(
            "bot_calls_otherwise",
            f"Telegram {whom}, but {how}. `oldfriend serve` changes that when it starts; if it "
            "runs, another program uses this bot.",
            whom=whom, how=how,
        ))  # fmt: skip
    if called.error and called.url:
        findings.append(amiss(
            "bot_not_delivered",
            f"Telegram could not deliver to {called.url} the last time: {called.error}",
            address=called.url, error=called.error,
        ))  # fmt: skip
    if called.waiting >= MANY_WAITING:
        findings.append(amiss(
            "bot_holds",
            f"Telegram holds {called.waiting:,} updates that nobody has taken. Is it running?",
            count=called.waiting,
        ))  # fmt: skip
    return findings


async def heard_findings(tx: Transaction, *, now: Micros) -> Finding:
    """When somebody was heard last."""
    at = await last_heard_on(tx, CHANNEL)
    if at is None:
        return well("nobody_heard", "Telegram: nobody was heard there yet.")
    return well(
        "somebody_heard",
        f"Telegram: somebody was heard {ago(now - at)} ago.",
        ago=ago(now - at),
    )


async def closed_findings(tx: Transaction) -> list[Finding]:
    """Which chats take nothing any more, and why."""
    closed = await list_closed(tx, CHANNEL, limit=MOST_CLOSED)
    return [
        well(
            "place_closed",
            f"Telegram: nothing is sent to {who}, until they write: {why}",
            who=who,
            why=why,
        )
        for who, why in closed
    ]


def ago(span: Micros) -> Saying:
    """How long something is past, roughly."""
    if span >= 2 * DAY:
        return saying("span_days", f"{span // DAY} days", count=span // DAY)
    if span >= 2 * HOUR:
        return saying("span_hours", f"{span // HOUR} hours", count=span // HOUR)
    minutes = max(span, 0) // MINUTE
    return saying("span_minutes", f"{minutes} min", count=minutes)
