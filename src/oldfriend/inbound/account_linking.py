"""Account linking: invitations, sign-in links, and codes that link a platform address to a person.

A group is approved for the companion in the same way. Everything that follows from a link is
written in one transaction. An address of somebody who has said something is not simply linked: both
are made one person, which ``person_merge`` does once they have seen what that means.
"""

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from oldfriend.app.pid_lock import format_base_url
from oldfriend.channels.channel import API_CHANNEL, ChatRef, Sender
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.domain.unicode_text import is_group_like
from oldfriend.memory.groups import (
    ensure_not_group,
    find_former_group,
    find_group,
    join_group,
    leave_group,
)
from oldfriend.memory.identities import (
    Identity,
    LinkCode,
    assign_identity,
    begin_code_attempt,
    delete_code_attempt,
    find_identity,
    generate_link_code,
    has_any_content,
    list_usable_codes,
    redeem_link_code,
    remove_person,
    save_link_code,
    unlink_identities,
)
from oldfriend.memory.people import (
    add_person,
    ensure_owner,
    ensure_person,
    find_look_alike,
    get_person,
    get_person_by_id,
    lock_person,
    normalize_person_name,
    set_language,
    validate_name,
)
from oldfriend.memory.web_sessions import (
    can_sign_in,
    delete_invitation,
    generate_secret,
    save_invitation,
    save_sign_in_link,
)
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES

LOCALHOST: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvitation:
    """An invitation that was just created."""

    id: str
    person: Person
    link: str


async def create_sign_in_link(
    db: Database, clock: Clock, settings: Settings, person: str | None, *, port: int
) -> str:
    """Create a single-use link, valid for ten minutes (person None: the owner). Raises NotFound."""
    now, secret = clock(), generate_secret()
    async with db.begin_write() as tx:
        if person is None:
            await ensure_owner(tx, now=now, zone=settings.zone)
        someone = await get_person(tx, person)
        await save_sign_in_link(tx, someone.id, secret, now=now)
    return f"{build_page_url(settings, port)}/#{secret}"


async def create_invitation(
    db: Database, clock: Clock, settings: Settings, name: str, *, port: int
) -> NewInvitation:
    """Create an invitation for another person, who is created if new: single-use, valid for a week.

    Raises InvalidInput for a person who is here already: their link would show what is theirs.
    """
    now, secret, zone = clock(), generate_secret(), settings.zone
    async with db.begin_write() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        person = await ensure_person(tx, name, now=now, zone=zone)
        if person.is_owner:
            raise InvalidInput(
                localizable(
                    "guest_is_you",
                    "That is you. To sign in another browser of yours: oldfriend link",
                )
            )
        await check_unknown_person(tx, person)
        invitation_id = await save_invitation(tx, person.id, secret, now=now)
    link = f"{build_page_url(settings, port)}/#{secret}"
    return NewInvitation(id=invitation_id, person=person, link=link)


async def check_unknown_person(tx: Transaction, person: Person) -> None:
    """Raise InvalidInput for a group, and for a person who has content here or can sign in."""
    await ensure_not_group(tx, person)
    if await has_any_content(tx, person.id) or await can_sign_in(tx, person.id):
        raise InvalidInput(
            localizable(
                "guest_is_here",
                f"{person.name} is here already. If they can no longer sign in, make a link on "
                f"the machine itself: oldfriend link --person {shlex.quote(person.name)}",
                name=person.name,
            )
        )


async def cancel_invitation(db: Database, invitation: str) -> None:
    """Cancel an invitation, and remove a person who was only created for it. Raises NotFound."""
    async with db.begin_write() as tx:
        person = await get_person_by_id(tx, await delete_invitation(tx, invitation))
        is_known = await has_any_content(tx, person.id) or await can_sign_in(tx, person.id)
        if not is_known and not person.is_owner:
            await remove_person(tx, person.id)


def build_page_url(settings: Settings, port: int) -> str:
    """Return the URL of the page: the public one, or localhost, which browsers restrict least."""
    host = settings.serve.host
    if settings.serve.public_url is not None:
        return settings.serve.public_url
    return format_base_url("localhost" if host in LOCALHOST else host, port)


LinkResult: TypeAlias = Literal["now_known", "join_first", "code_wrong"]
"""The address is linked now; it is that of a person who has content; the code is invalid."""


async def create_code(
    db: Database, clock: Clock, settings: Settings, name: str | None
) -> tuple[Person, str]:
    """Create a link code for a person (None: the owner), who is created if new; return both.

    Raises InvalidInput for a group.
    """
    now, zone = clock(), settings.zone
    async with db.begin_write() as tx:
        person = await ensure_owner(tx, now=now, zone=zone)
        if name is not None:
            person = await ensure_person(tx, name, now=now, zone=zone)
        await ensure_not_group(tx, person)
        return person, await write_new_code(tx, person.id, now=now)


async def create_code_for(db: Database, clock: Clock, person: Person) -> str:
    """Create a link code for a person who is signed in, whatever their current name."""
    async with db.begin_write() as tx:
        return await write_new_code(tx, person.id, now=clock())


async def write_new_code(tx: Transaction, person: PersonId, *, now: Micros) -> str:
    """Store a new link code for a person and return it."""
    code = generate_link_code()
    await save_link_code(tx, person, code, now=now)
    return code


async def find_code(
    db: Database,
    clock: Clock,
    place: tuple[str, str],
    digits: str,
    *,
    is_known: bool,
    is_talk: bool = False,
) -> tuple[LinkCode | None, bool]:
    """Return the code that these digits match, and whether an attempt was made at all.

    ``place`` is a channel and an address. The attempt is written before the slow comparison, and
    taken back if the code is right: many at once are no more than one after the other. Talk of
    somebody known is none while there is no code.
    """
    now = clock()
    async with db.begin_write() as tx:
        codes = await list_usable_codes(tx, now=now)
        if is_talk and is_known and not codes:
            return None, False
        attempt = await begin_code_attempt(tx, *place, is_known=is_known, now=now)
    if attempt is None:
        return None, False
    for code in codes:
        if await asyncio.to_thread(code.matches, digits):
            async with db.begin_write() as tx:
                await delete_code_attempt(tx, attempt)
            return code, True
    return None, True


async def is_merge_needed(db: Database, giver: PersonId, taker: Person) -> bool:
    """Tell whether both are people with a memory of their own, so that one is made of them."""
    async with db.begin_read() as tx:
        return taker.id != giver and (taker.is_owner or await has_any_content(tx, taker.id))


async def link_address(
    db: Database,
    clock: Clock,
    channel: str,
    sender: Sender,
    previous: Person | None,
    code: LinkCode,
) -> LinkResult:
    """Link an address to the person who was shown the code, and use up the code."""
    now = clock()
    async with db.begin_write() as tx:
        for each in sorted({code.person, previous.id if previous else code.person}):
            await lock_person(tx, each)
        belongs_to_other = previous is not None and previous.id != code.person
        if previous is not None and belongs_to_other and await has_any_content(tx, previous.id):
            return "join_first"
        if not await redeem_link_code(tx, code, now=now):
            return "code_wrong"
        await assign_identity(tx, code.person, channel=channel, address=sender.address, now=now)
        await set_language_if_unknown(tx, await get_person_by_id(tx, code.person), sender)
        if previous is not None and belongs_to_other:
            await remove_person(tx, previous.id)
        await tx.notify()
    return "now_known"


async def link_own_address(
    db: Database,
    clock: Clock,
    settings: Settings,
    sender: Sender,
    name: str | None,
    *,
    channel: str,
) -> Person:
    """Link an address to a person (None: the owner) at the word of whoever runs this.

    For channels on which nobody sends a code. Raises InvalidInput if the address has talked as
    somebody else.
    """
    now, zone = clock(), settings.zone
    async with db.begin_write() as tx:
        person = await ensure_owner(tx, now=now, zone=zone)
        if name is not None:
            person = await ensure_person(tx, name, now=now, zone=zone)
        await ensure_not_group(tx, person)
        previous = await find_identity(tx, channel, sender.address)
        for each in sorted({person.id, previous.id if previous else person.id}):
            await lock_person(tx, each)
        is_other = previous is not None and previous.id != person.id
        if previous is not None and is_other and await has_any_content(tx, previous.id):
            raise InvalidInput(
                localizable(
                    "address_of_other",
                    f"{sender.address} has already talked as {previous.name}.",
                    address=sender.address,
                    name=previous.name,
                )
            )
        await assign_identity(tx, person.id, channel=channel, address=sender.address, now=now)
        if previous is not None and is_other:
            await remove_person(tx, previous.id)
        await tx.notify()
    return person


def label_account(account: Identity, front_ends: Mapping[str, str]) -> str:
    """Return what people know an account by; ``front_ends`` as by ``list_front_end_names``."""
    if account.channel != API_CHANNEL:
        return account.address
    return next(
        (name for start, name in front_ends.items() if account.address.startswith(start)), ""
    )


async def unlink_channel(db: Database, person: Person, channel: str) -> int:
    """Unlink a person from a channel and return how many addresses they had there."""
    async with db.begin_write() as tx:
        left = await leave_group(tx, person.id, channel)
        await tx.notify()
        return left + await unlink_identities(tx, person.id, channel)


async def create_person(
    db: Database, clock: Clock, settings: Settings, channel: str, sender: Sender
) -> Person:
    """Create a person for an address that the owner allows, with the name given by the platform."""
    now, zone = clock(), settings.zone
    async with db.begin_write() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        name = await choose_name(tx, channel, strip_group_name(sender))
        await add_person(tx, name, is_owner=False, now=now, zone=zone)
        person = await get_person(tx, name)
        await assign_identity(tx, person.id, channel=channel, address=sender.address, now=now)
        await set_language_if_unknown(tx, person, sender)
        return await get_person_by_id(tx, person.id)


async def ensure_group(db: Database, clock: Clock, settings: Settings, chat_ref: ChatRef) -> Person:
    """Return the memory of a group that the owner allows, creating it if new."""
    now, zone = clock(), settings.zone
    group_location = {"channel": chat_ref.channel, "address": chat_ref.group_address}
    async with db.begin_write() as tx:
        group = await find_group(tx, **group_location) or await find_former_group(
            tx, **group_location
        )
        if group is None:
            await ensure_owner(tx, now=now, zone=zone)
            sender = Sender(address=chat_ref.group_address, name=f"{chat_ref.title} (group)")
            name = await choose_name(tx, chat_ref.channel, sender)
            await add_person(tx, name, is_owner=False, now=now, zone=zone)
            group = await get_person(tx, name)
        await join_group(tx, group.id, now=now, **group_location)
        return group


async def choose_name(tx: Transaction, channel: str, sender: Sender) -> str:
    """Choose a name unlike any other, so that nobody can pass as somebody else."""
    fallback = f"{channel} {sender.address}"
    try:
        name = validate_name(normalize_person_name(sender.name))
        if await find_look_alike(tx, name) is None:
            return name
        return validate_name(f"{name} ({fallback})")
    except InvalidInput:
        return fallback


def strip_group_name(sender: Sender) -> Sender:
    """Return the sender, without a name that looks like that of a group."""
    return replace(sender, name="") if is_group_like(sender.name) else sender


async def set_language_if_unknown(tx: Transaction, person: Person, sender: Sender) -> None:
    """Set a person's language from their platform profile, if it is not known yet."""
    if person.language is None and sender.language in OFFLINE_LANGUAGES:
        await set_language(tx, person.id, sender.language)
