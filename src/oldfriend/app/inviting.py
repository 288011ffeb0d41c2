"""By which links does somebody come to their page? One's own, or one that the owner makes.

A link is shown once, to be passed on; who opens it is that person from then on.
"""

import shlex
from dataclasses import dataclass
from typing import Final

from oldfriend.app.house import House
from oldfriend.app.running.presence import address
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.groups import refuse_group
from oldfriend.memory.identities import has_told_anything, remove_person
from oldfriend.memory.people import ensure_owner, ensure_person, get_person, get_person_by_id
from oldfriend.memory.sign_in import (
    end_invitation,
    has_way_in,
    new_secret,
    write_invitation,
    write_link,
)

LOCALHOST: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An invitation that was just made."""

    id: str
    person: Person
    link: str


async def new_link(house: House, person: str | None, *, port: int) -> str:
    """A link that is good once, for ten minutes, as a person (None: the owner). Raises NotFound."""
    now, secret = house.clock(), new_secret()
    async with house.db.writing() as tx:
        if person is None:
            await ensure_owner(tx, now=now, zone=house.settings.zone)
        someone = await get_person(tx, person)
        await write_link(tx, someone.id, secret, now=now)
    return f"{page_at(house.settings.serve.host, port)}/#{secret}"


async def invite(house: House, name: str, *, port: int) -> Invited:
    """A link for somebody else, who is made if new: good once, for a week.

    Raises InvalidInput for who is here already: with their link one would see what is theirs.
    """
    now, secret, zone = house.clock(), new_secret(), house.settings.zone
    async with house.db.writing() as tx:
        await ensure_owner(tx, now=now, zone=zone)
        person = await ensure_person(tx, name, now=now, zone=zone)
        if person.is_owner:
            raise InvalidInput(
                saying("guest_is_you", "That is you. For another browser of yours: oldfriend link")
            )
        await refuse_known(tx, person)
        made = await write_invitation(tx, person.id, secret, now=now)
    link = f"{page_at(house.settings.serve.host, port)}/#{secret}"
    return Invited(id=made, person=person, link=link)


async def refuse_known(tx: Transaction, person: Person) -> None:
    """Raise InvalidInput for a group, and for who has a memory here or a way in."""
    await refuse_group(tx, person)
    if await has_told_anything(tx, person.id) or await has_way_in(tx, person.id):
        raise InvalidInput(saying(
            "guest_is_here",
            f"{person.name} is here already, and sees what is theirs. A lost way in is made anew on"
            f" the machine itself: oldfriend link --person {shlex.quote(person.name)}",
            name=person.name,
        ))  # fmt: skip


async def uninvite(house: House, invitation: str) -> None:
    """End an invitation; who was only made for it, and has said nothing, goes. Raises NotFound."""
    async with house.db.writing() as tx:
        person = await get_person_by_id(tx, await end_invitation(tx, invitation))
        is_known = await has_told_anything(tx, person.id) or await has_way_in(tx, person.id)
        if not is_known and not person.is_owner:
            await remove_person(tx, person.id)


def page_at(host: str, port: int) -> str:
    """Where the page is; by the name under which browsers allow the most, where it leads there."""
    return address("localhost" if host in LOCALHOST else host, port)
