"""Invitations: links by which a person opens their web page, their own or one the owner makes.

A link is shown once, to be passed on; whoever opens it is signed in as that person from then on.
"""

import shlex
from dataclasses import dataclass
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.pid_lock import format_base_url
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.people import Person
from oldfriend.memory.groups import ensure_not_group
from oldfriend.memory.identities import has_any_content, remove_person
from oldfriend.memory.people import ensure_owner, ensure_person, get_person, get_person_by_id
from oldfriend.memory.web_sessions import (
    can_sign_in,
    delete_invitation,
    generate_secret,
    save_invitation,
    save_sign_in_link,
)

LOCALHOST: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvitation:
    """An invitation that was just created."""

    id: str
    person: Person
    link: str


async def create_sign_in_link(app: AppContext, person: str | None, *, port: int) -> str:
    """Create a single-use link, valid for ten minutes (person None: the owner). Raises NotFound."""
    now, secret = app.clock(), generate_secret()
    async with app.db.begin_write() as tx:
        if person is None:
            await ensure_owner(tx, now=now, zone=app.settings.zone)
        someone = await get_person(tx, person)
        await save_sign_in_link(tx, someone.id, secret, now=now)
    return f"{build_page_url(app.settings.serve.host, port)}/#{secret}"


async def create_invitation(app: AppContext, name: str, *, port: int) -> NewInvitation:
    """Create an invitation for another person, who is created if new: single-use, valid for a week.

    Raises InvalidInput for a person who is here already: their link would show what is theirs.
    """
    now, secret, zone = app.clock(), generate_secret(), app.settings.zone
    async with app.db.begin_write() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        person = await ensure_person(tx, name, now=now, zone=zone)
        if person.is_owner:
            raise InvalidInput(
                localizable(
                    "guest_is_you", "That is you. For another browser of yours: oldfriend link"
                )
            )
        await check_unknown_person(tx, person)
        invitation_id = await save_invitation(tx, person.id, secret, now=now)
    link = f"{build_page_url(app.settings.serve.host, port)}/#{secret}"
    return NewInvitation(id=invitation_id, person=person, link=link)


async def check_unknown_person(tx: Transaction, person: Person) -> None:
    """Raise InvalidInput for a group, and for a person who has content here or can sign in."""
    await ensure_not_group(tx, person)
    if await has_any_content(tx, person.id) or await can_sign_in(tx, person.id):
        raise InvalidInput(
            localizable(
                "guest_is_here",
                f"{person.name} is here already, and sees what is theirs. A lost way in is made "
                "anew on"
                f" the machine itself: oldfriend link --person {shlex.quote(person.name)}",
                name=person.name,
            )
        )


async def cancel_invitation(app: AppContext, invitation: str) -> None:
    """Cancel an invitation, and remove a person who was only created for it. Raises NotFound."""
    async with app.db.begin_write() as tx:
        person = await get_person_by_id(tx, await delete_invitation(tx, invitation))
        is_known = await has_any_content(tx, person.id) or await can_sign_in(tx, person.id)
        if not is_known and not person.is_owner:
            await remove_person(tx, person.id)


def build_page_url(host: str, port: int) -> str:
    """Return the URL of the page, as localhost where possible, which browsers restrict least."""
    return format_base_url("localhost" if host in LOCALHOST else host, port)
