"""Account linking: links a platform address to a person, by a code or with the owner's consent.

A group is approved for the companion in the same way. Everything that follows from a link is
written in one transaction. An address that already belonged to another person is merged only if
that person has never said anything.
"""

import asyncio
from dataclasses import replace
from typing import Literal, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel_events import ChatRef, Sender
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.confusable_names import is_group_like
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.groups import (
    ensure_not_group,
    find_former_group,
    find_group,
    join_group,
    leave_group,
)
from oldfriend.memory.identities import (
    LinkCode,
    assign_identity,
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
    set_language,
    validate_name,
)
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES

LinkResult: TypeAlias = Literal["now_known", "not_joined", "code_wrong"]
"""The address is linked now; it stays with another person who has content; the code is invalid."""


async def create_code(app: AppContext, name: str | None) -> tuple[Person, str]:
    """Create a link code for a person (None: the owner), who is created if new; return both.

    Raises InvalidInput for a group.
    """
    now, zone = app.clock(), app.settings.zone
    async with app.db.begin_write() as tx:
        person = await ensure_owner(tx, now=now, zone=zone)
        if name is not None:
            person = await ensure_person(tx, name, now=now, zone=zone)
        await ensure_not_group(tx, person)
        return person, await write_new_code(tx, person.id, now=now)


async def create_code_for(app: AppContext, person: Person) -> str:
    """Create a link code for a person who is signed in, whatever their current name."""
    async with app.db.begin_write() as tx:
        return await write_new_code(tx, person.id, now=app.clock())


async def write_new_code(tx: Transaction, person: PersonId, *, now: Micros) -> str:
    """Store a new link code for a person and return it."""
    code = generate_link_code()
    await save_link_code(tx, person, code, now=now)
    return code


async def find_code(
    app: AppContext, channel: str, address: str, digits: str
) -> tuple[LinkCode | None, bool]:
    """Return the code that these digits match, and whether any usable code exists."""
    async with app.db.begin_read() as tx:
        codes = await list_usable_codes(tx, channel, address, now=app.clock())
    for code in codes:
        if await asyncio.to_thread(code.matches, digits):
            return code, True
    return None, bool(codes)


async def link_address(
    app: AppContext, channel: str, sender: Sender, previous: Person | None, code: LinkCode
) -> LinkResult:
    """Link an address to the person who was shown the code, and use up the code."""
    now = app.clock()
    async with app.db.begin_write() as tx:
        for each in sorted({code.person, previous.id if previous else code.person}):
            await lock_person(tx, each)
        belongs_to_other = previous is not None and previous.id != code.person
        if previous is not None and belongs_to_other and await has_any_content(tx, previous.id):
            return "not_joined"
        if not await redeem_link_code(tx, code, now=now):
            return "code_wrong"
        await assign_identity(tx, code.person, channel=channel, address=sender.address, now=now)
        await set_language_if_unknown(tx, await get_person_by_id(tx, code.person), sender)
        if previous is not None and belongs_to_other:
            await remove_person(tx, previous.id)
    return "now_known"


async def unlink_channel(app: AppContext, person: Person, channel: str) -> int:
    """Unlink a person from a channel and return how many addresses they had there."""
    async with app.db.begin_write() as tx:
        left = await leave_group(tx, person.id, channel)
        return left + await unlink_identities(tx, person.id, channel)


async def create_person(app: AppContext, channel: str, sender: Sender) -> Person:
    """Create a person for an address that the owner allows, with the name given by the platform."""
    now, zone = app.clock(), app.settings.zone
    async with app.db.begin_write() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        name = await choose_name(tx, channel, strip_group_name(sender))
        await add_person(tx, name, is_owner=False, now=now, zone=zone)
        person = await get_person(tx, name)
        await assign_identity(tx, person.id, channel=channel, address=sender.address, now=now)
        await set_language_if_unknown(tx, person, sender)
        return await get_person_by_id(tx, person.id)


async def ensure_group(app: AppContext, chat_ref: ChatRef) -> Person:
    """Return the memory of a group that the owner allows, creating it if new."""
    now, zone = app.clock(), app.settings.zone
    group_location = {"channel": chat_ref.channel, "address": chat_ref.group_address}
    async with app.db.begin_write() as tx:
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
        name = validate_name(sender.name)
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
