"""Link commands: codes by which one person links another app, and joins two memories to one.

``/link`` shows a code, ``/link 123456`` from elsewhere links that address. Where somebody has
talked there already, it shows what would come together, and ``/join 123456`` does it. ``/unlink``
makes the address a stranger's again.
"""

import re
from dataclasses import dataclass
from typing import Final

from oldfriend.app.app_context import InboundContext
from oldfriend.channels.channel import IncomingMessage
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import Person
from oldfriend.inbound.account_linking import (
    create_code_for,
    find_code,
    is_merge_needed,
    link_address,
)
from oldfriend.inbound.person_merge import (
    MergePreview,
    MergeResult,
    merge_people,
    preview_merge,
)
from oldfriend.inbound.system_replies import (
    SystemReply,
    build_system_reply,
    build_welcome,
    find_system_phrase,
)
from oldfriend.memory.hint_progress import begin_hints
from oldfriend.memory.identities import LinkCode, mark_code_shown, remove_identity
from oldfriend.memory.people import get_person_by_id

CODE_PATTERN: Final = re.compile(
    r"\A\s*+(?:/(?:start|link)(?:@\w+)? )?(\d{3})[ -]?(\d{3})\s*", re.ASCII | re.IGNORECASE
)
COMMAND_PATTERN: Final = re.compile(r"\A\s*+/(link|join)(?:@\w+)?\s(.*)", re.IGNORECASE | re.DOTALL)
"""A command with a code, however it is typed; ``/join`` confirms what it would bring together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenCode:
    """A code as somebody sends it."""

    digits: str
    is_command: bool  # else it may be a number that somebody tells
    is_confirmed: bool  # they have seen what would come together


def is_code_command(text: str) -> bool:
    """Tell whether a text begins as a command with a code, which is never kept as talk."""
    return COMMAND_PATTERN.fullmatch(f"{text.strip()} ") is not None


def parse_code(incoming: IncomingMessage) -> GivenCode | None:
    """Return the code that a message consists of, in the sender's own words.

    A command is never talk, even if what it gives is no code.
    """
    if not incoming.is_own_words or incoming.is_edit:
        return None
    text = incoming.text.strip()
    command = COMMAND_PATTERN.fullmatch(f"{text} ")
    if command is not None and (command[2].strip() or command[1].lower() == "join"):
        return GivenCode(
            digits="".join(each for each in command[2] if each.isdecimal()),
            is_command=True,
            is_confirmed=command[1].lower() == "join",
        )
    code = CODE_PATTERN.fullmatch(text)
    if code is None:
        return None
    return GivenCode(digits="".join(code.groups()), is_command=False, is_confirmed=False)


async def redeem_code(
    app: InboundContext,
    incoming: IncomingMessage,
    person: Person | None,
    given: GivenCode,
) -> SystemReply | None:
    """Link the address to the person who was shown the code; None if it was just a number.

    Somebody with a memory of their own is shown what would come together, and then confirms it.
    """
    place, clock = (incoming.chat_ref.channel, incoming.sender.address), app.clock
    code, is_counted = await find_code(
        app.db,
        clock,
        place,
        given.digits,
        is_known=person is not None,
        is_talk=not given.is_command,
    )
    if code is not None:
        if person is not None and await is_merge_needed(app.db, code.person, person):
            return await join(app, incoming, person, code, given)
        outcome = await link_address(app.db, clock, place[0], incoming.sender, person, code)
        if outcome != "now_known":
            return build_system_reply(
                incoming, person, outcome, command=build_code_command(incoming)
            )
        async with app.db.begin_write() as tx:
            await begin_hints(tx, code.person, now=clock())
            linked = await get_person_by_id(tx, code.person)
        app.notifier.notify()
        return build_welcome(clock, incoming, linked, outcome)
    if not is_counted or (person is not None and not given.is_command):
        return None
    return build_system_reply(incoming, person, "code_wrong", command=build_code_command(incoming))


async def join(
    app: InboundContext,
    incoming: IncomingMessage,
    person: Person,
    code: LinkCode,
    given: GivenCode,
) -> SystemReply:
    """Show what would come together of two people, or make one person of them once they saw it."""
    place = build_place(incoming.chat_ref.channel, incoming.sender.address)
    try:
        if given.is_confirmed and code.shown_to == place:
            outcome = await merge_people(app.db, app.clock, app.settings, code, person.id)
            return build_system_reply(
                incoming, person, outcome, command=build_code_command(incoming)
            )
        preview = await preview_merge(app.db, code.person, person.id)
        async with app.db.begin_write() as tx:
            await mark_code_shown(tx, code, place)
    except InvalidInput:  # one of the two is a group
        return build_system_reply(incoming, person, "code_wrong", command="/link")
    counts = [
        f"{find_system_phrase(incoming.sender, person, f'join_{what}')}: {count}"
        for what, count in preview.counts.items()
        if count
    ]
    text = find_system_phrase(
        incoming.sender,
        person,
        "join_preview",
        name=preview.kept.name,
        former=preview.former.name,
        counts=", ".join(counts),
        command=f"/join {given.digits}",
    )
    lines = [f"• {older} → {newer}" for older, newer in preview.contradictions]
    if lines:
        head = find_system_phrase(incoming.sender, person, "join_rivals")
        text = "\n".join([text, "", head, *lines])
    return SystemReply(address=incoming.chat_ref.address, text=text)


async def show_code(app: InboundContext, incoming: IncomingMessage, person: Person) -> SystemReply:
    """Show a code by which another address of the same person is linked."""
    if not CHANNELS[incoming.chat_ref.channel].gives_codes:
        return build_system_reply(incoming, person, "link_elsewhere")
    try:
        code = await create_code_for(app.db, app.clock, person)
    except InvalidInput:
        return build_system_reply(incoming, person, "link_many")
    return build_system_reply(incoming, person, "link_code", code=f"{code[:3]} {code[3:]}")


async def unlink_sender(
    app: InboundContext, incoming: IncomingMessage, person: Person
) -> SystemReply:
    """Make the address that a message comes from a stranger's; nothing is lost.

    Where it is allowed by the settings, its next message begins a new memory.
    """
    channel, address = incoming.chat_ref.channel, incoming.sender.address
    async with app.db.begin_write() as tx:
        await remove_identity(
            tx,
            person.id,
            channel=channel,
            address=address,
        )
        await tx.notify()
    app.notifier.notify()
    is_allowed = address in app.settings.get_allowed_addresses(channel)
    return build_system_reply(incoming, person, "unlinked_allowed" if is_allowed else "unlinked")


def build_code_command(incoming: IncomingMessage) -> str:
    """Return the commands that show a new code for a channel."""
    return f"/link, oldfriend connect {incoming.chat_ref.channel}"


def build_place(channel: str, address: str) -> str:
    """Return the name of an address under which a code records that it was shown there."""
    return f"{channel} {address}"


async def find_given_code(
    app: InboundContext, channel: str, person: Person, digits: str
) -> LinkCode:
    """Return the code that a person who is signed in gives. Raises InvalidInput for a wrong one."""
    plain = "".join(each for each in digits if each.isdigit())
    code, _ = await find_code(app.db, app.clock, (channel, person.id), plain, is_known=True)
    if code is not None and code.person != person.id:
        return code
    raise InvalidInput(
        localizable(
            "code_unusable",
            "I can't use that code. Codes last ten minutes and work once; after five "
            "wrong ones I take none for a while.",
        )
    )


async def preview_given_code(
    app: InboundContext, channel: str, person: Person, digits: str
) -> MergePreview:
    """Show what a code would bring together, after which it can be confirmed from there."""
    code = await find_given_code(app, channel, person, digits)
    preview = await preview_merge(app.db, code.person, person.id)
    async with app.db.begin_write() as tx:
        await mark_code_shown(tx, code, build_place(channel, person.id))
    return preview


async def confirm_given_code(
    app: InboundContext, channel: str, person: Person, digits: str
) -> MergeResult:
    """Bring together what was shown before. Raises InvalidInput if it was not."""
    code = await find_given_code(app, channel, person, digits)
    if code.shown_to != build_place(channel, person.id):
        raise InvalidInput(
            localizable("join_unseen", "First look at what this code would bring together.")
        )
    return await merge_people(app.db, app.clock, app.settings, code, person.id)
