"""Proactive requests: how readily the companion speaks first, and when never.

"/active shy", "/quiet 22-8", "/digest weekly" and "/recap weekly"; the same in words, and "stop
asking me that".
"""

from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import PRESSED_DETAIL
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.proactive.impulse_store import find_last_said, find_said_in
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.proactive.policy import LEVELS, ImpulseKind
from oldfriend.proactive.proactive_phrases import (
    NO_MORE_COMMAND,
    ProactivePhrases,
    find_ask,
    find_hours,
    load_proactive_phrases,
)
from oldfriend.proactive.proactive_settings import (
    DEFAULT_LEVEL,
    DIGESTS,
    RECAPS,
    ProactiveSettings,
    load_proactive_settings,
    save_proactive_settings,
)
from oldfriend.proactive.quiet_hours import QuietHours, format_clock_minute
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.store_change import ChangeScope

NAME: Final = "speaking first"
COMMANDS: Final = frozenset({"/active", "/quiet", "/digest", "/recap", NO_MORE_COMMAND})
HOURS_OF_A_SPAN: Final = 2
HALF_DAY: Final = 12 * 60
EARLIEST_EVENING: Final = 5 * 60
"""In minutes: "after 9" is after nine in the evening, "after 1" at night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProactiveChange:
    """New settings, and a look that is planned by them."""

    settings: ProactiveSettings

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store the settings, and plan the next look."""
        await save_proactive_settings(tx, scope.person.id, self.settings, now=scope.now)
        await plan_next_look(tx, scope.person.id, now=scope.now)


async def handle_proactive_request(context: HandlerContext) -> HandledRequest | None:
    """Decide what a message asks for about speaking first; None if it asks for nothing of that."""
    text = context.text.strip()
    word, _, argument = text.partition(" ")
    command = word.partition("@")[0].casefold()
    if command in COMMANDS:
        return await handle_command(context, command, argument.strip().casefold())
    found = find_ask(text, context.perception.language)
    if found is None:
        return None
    name, phrases, match = found
    fixed = context.perception.fixed_language
    phrases = phrases if fixed is None else load_proactive_phrases(fixed)
    settings = await load_settings(context)
    if name == "no_more":
        return await handle_no_more(context, settings, phrases, match["what"])
    after = apply_ask(settings, name, text)
    if after is None:
        return None
    return build_request(after, phrases, changed_from=settings)


async def load_settings(context: HandlerContext) -> ProactiveSettings:
    """Load the settings of the person."""
    async with context.db.begin_read() as tx:
        return await load_proactive_settings(tx, context.utterance.person.id)


async def handle_command(context: HandlerContext, command: str, argument: str) -> HandledRequest:
    """Decide a command; without an argument it shows how things stand."""
    phrases = load_proactive_phrases(context.perception.offline_reply_language)
    settings = await load_settings(context)
    if command == NO_MORE_COMMAND:
        muted = await handle_no_more(context, settings, phrases, argument or None)
        told = HandledRequest(name=NAME, text=phrases.told["no_more_gone"])
        return replace(muted or told, is_command=True)
    after = apply_command(settings, command, argument) if argument else settings
    if after is None:
        return HandledRequest(name=NAME, text=phrases.told["usage"], is_command=True)
    shown = build_request(after, phrases, changed_from=settings)
    if not argument:
        shown = replace(shown, text=f"{shown.text}\n\n{phrases.told['usage']}")
    return replace(shown, is_command=True)


def apply_command(
    proactive_settings: ProactiveSettings, command: str, argument: str
) -> ProactiveSettings | None:
    """Return the settings after a command; None if it says nothing that is known.

    "/active on" brings the first settings back, also what was not wanted again.
    """
    if command == "/active" and argument == "on":
        return replace(proactive_settings, level=DEFAULT_LEVEL, muted=frozenset())
    if command == "/active" and argument in LEVELS:
        after = replace(proactive_settings, level=LEVELS[argument])
        return replace(after, digest="off", recap="off") if argument == "off" else after
    if command == "/digest" and argument in DIGESTS:
        muted = proactive_settings.muted - {"digest"}
        return replace(proactive_settings, digest=DIGESTS[argument], muted=muted)
    if command == "/recap" and argument in RECAPS:
        return replace(
            proactive_settings, recap=RECAPS[argument], muted=proactive_settings.muted - {"recap"}
        )
    if command == "/quiet" and argument == "off":
        return replace(proactive_settings, quiet=QuietHours(begins=0, ends=0))
    if command == "/quiet":
        return with_quiet_hours(proactive_settings, find_hours(argument))
    return None


def with_quiet_hours(
    proactive_settings: ProactiveSettings, hours: list[int]
) -> ProactiveSettings | None:
    """Return settings with the quiet hours that two hours span; None if there are not two."""
    if len(hours) != HOURS_OF_A_SPAN:
        return None
    return replace(proactive_settings, quiet=QuietHours(begins=hours[0], ends=hours[1]))


def apply_ask(
    proactive_settings: ProactiveSettings, name: str, text: str
) -> ProactiveSettings | None:
    """Return the settings after something that was asked in words; None if it is not clear."""
    if name == "never_first":
        return replace(proactive_settings, level="off", digest="off", recap="off")
    if name == "recap_weekly":
        return replace(
            proactive_settings, recap="weekly", muted=proactive_settings.muted - {"recap"}
        )
    if name == "may_first":
        return replace(proactive_settings, level="normal")
    hours = find_hours(text)
    if name in {"not_before", "not_after"}:
        return with_quiet_end(proactive_settings, hours, begins=name == "not_after")
    return (
        with_quiet_hours(proactive_settings, hours)
        if hours
        else replace(proactive_settings, quiet=QuietHours())
    )


def with_quiet_end(
    proactive_settings: ProactiveSettings, hours: list[int], *, begins: bool
) -> ProactiveSettings | None:
    """Return settings with the quiet hours that begin or end at an hour; the other end stays.

    After an hour that may be one of the evening is after that one.
    """
    if len(hours) != 1:
        return None
    quiet = (
        proactive_settings.quiet
        if proactive_settings.quiet.begins != proactive_settings.quiet.ends
        else QuietHours()
    )
    if not begins:
        return replace(proactive_settings, quiet=replace(quiet, ends=hours[0]))
    is_evening = EARLIEST_EVENING <= hours[0] < HALF_DAY
    return replace(
        proactive_settings, quiet=replace(quiet, begins=hours[0] + is_evening * HALF_DAY)
    )


async def handle_no_more(
    context: HandlerContext,
    proactive_settings: ProactiveSettings,
    phrases: ProactivePhrases,
    what: str | None,
) -> HandledRequest | None:
    """Decide what is not wanted again: what is named, or what was just said unasked."""
    kind = await find_last_kind(context) if what is None else find_kind(what, phrases)
    if kind is None:
        return None
    if kind == "digest":
        after = replace(proactive_settings, digest="off")
    elif kind == "recap":
        after = replace(proactive_settings, recap="off")
    else:
        after = replace(proactive_settings, muted=proactive_settings.muted | {kind})
    return HandledRequest(
        name=NAME, text=phrases.muted[kind], changes=(ProactiveChange(settings=after),)
    )


def find_kind(what: str, phrases: ProactivePhrases) -> ImpulseKind | None:
    """Return the kind that a person calls by a name."""
    plain = what.strip()
    return next((kind for kind, name in phrases.names.items() if name.fullmatch(plain)), None)


async def find_last_kind(context: HandlerContext) -> ImpulseKind | None:
    """Return the kind of what was said unasked: below which a button was pressed, or just now.

    What a person writes means what was said last.
    """
    message = context.utterance.message
    pressed = message.details.get(PRESSED_DETAIL)
    async with context.db.begin_read() as tx:
        if pressed is not None:
            shown = await find_said_in(tx, message.person, MessageId(pressed))
            return None if shown is None else shown.impulse.kind
        said = await find_last_said(tx, message.person)
        last = await list_recent_messages(
            tx, message.person, message.chat, limit=1, role="companion"
        )
    is_last = said is not None and bool(last) and last[0].id == said.message
    return said.impulse.kind if said is not None and is_last else None


def build_request(
    proactive_settings: ProactiveSettings,
    phrases: ProactivePhrases,
    *,
    changed_from: ProactiveSettings,
) -> HandledRequest:
    """Return the request that makes these settings, and tells them as they will be stored."""
    is_changed = proactive_settings != changed_from
    text = format_settings(proactive_settings, phrases)
    if proactive_settings.quiet != changed_from.quiet:
        text = f"{text} {phrases.told['quiet_undo']}"
    return HandledRequest(
        name=NAME,
        text=text,
        changes=(ProactiveChange(settings=proactive_settings),) if is_changed else (),
    )


def format_settings(proactive_settings: ProactiveSettings, phrases: ProactivePhrases) -> str:
    """Format how readily it speaks first, and when never."""
    told = phrases.told
    quiet = proactive_settings.quiet
    sentences = [told[proactive_settings.level]]
    if (
        proactive_settings.level != "off"
        or proactive_settings.digest != "off"
        or proactive_settings.recap != "off"
    ):
        sentences.append(
            told["never_quiet"]
            if quiet.begins == quiet.ends
            else told["quiet"].format(
                begins=format_clock_minute(quiet.begins), ends=format_clock_minute(quiet.ends)
            )
        )
    if proactive_settings.digest != "off":
        sentences.append(told[proactive_settings.digest])
    if proactive_settings.recap != "off":
        sentences.append(told["recap"])
    return " ".join(sentences)


PROACTIVE_REQUESTS: Final = RequestHandler(name=NAME, handle=handle_proactive_request)
