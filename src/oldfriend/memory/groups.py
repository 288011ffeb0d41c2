"""Which groups is the companion part of, and which people whom we know are in them?

A group has a memory of its own, kept as a person's is: whatever is asked of it names the group,
and so can see nobody's private talk. Knows nothing of what is said there.
"""

import re

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.identities import find_identity, join_identity, take_identities
from oldfriend.memory.people import PERSON_P, groups_on, person_from


async def find_group(tx: Transaction, channel: str, address: str) -> Person | None:
    """The group at an address, if the companion is to be part of it."""
    return await find_identity(tx, groups_on(channel), address)


async def find_former_group(tx: Transaction, channel: str, address: str) -> Person | None:
    """The group at an address that the companion was part of before."""
    return await find_identity(tx, former(channel), address)


async def list_groups(tx: Transaction, channel: str) -> list[Person]:
    """The groups that the companion is part of, by their names."""
    rows = await tx.rows(
        f"""SELECT {PERSON_P} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel ORDER BY p.name""",
        channel=groups_on(channel),
    )
    return [person_from(row) for row in rows]


async def be_in_group(
    tx: Transaction, group: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Be part of the group at an address."""
    await take_identities(tx, group, former(channel))
    await join_identity(tx, group, channel=groups_on(channel), address=address, now=now)


async def be_out_of_group(tx: Transaction, group: PersonId, channel: str) -> int:
    """Be part of a group no more, and know it again; at how many addresses it was."""
    return await tx.run(
        "UPDATE identity SET channel = :former WHERE person = :person AND channel = :channel",
        former=former(channel),
        person=group,
        channel=groups_on(channel),
    )


def former(channel: str) -> str:
    """Under which name the groups on a channel are known that we are not part of any more."""
    return groups_on(f"{channel} former")


async def is_group(tx: Transaction, person: PersonId) -> bool:
    """Whether a memory is that of a group."""
    row = await tx.row(
        "SELECT 1 FROM identity WHERE person = :person AND channel LIKE :groups LIMIT 1",
        person=person,
        groups=groups_on("%"),
    )
    return row is not None


async def refuse_group(tx: Transaction, person: Person) -> None:
    """Raise InvalidInput for a group."""
    if await is_group(tx, person.id):
        raise InvalidInput(saying(
            "group_is_nobody", f"{person.name} is a group, and nobody can become one.",
            name=person.name,
        ))  # fmt: skip


async def list_chats_in_groups(tx: Transaction, person: PersonId) -> set[ChatId]:
    """Those of a person's chats, or of a group's, in which a group talks or has talked."""
    rows = await tx.rows(
        """SELECT c.id, c.channel, c.address, i.channel, i.address FROM chat c
           JOIN identity i ON i.channel LIKE :groups WHERE c.person = :person""",
        person=person,
        groups=groups_on("%"),
    )
    return {
        ChatId(chat) for chat, channel, address, groups, group in rows
        if groups in {groups_on(channel), former(channel)}
        and re.split("/| left ", address, maxsplit=1)[0] == group
    }  # fmt: skip


async def list_members(tx: Transaction, channel: str, address: str) -> list[Person]:
    """The people in a group whom we know there, in the order of their ids; never the group."""
    rows = await tx.rows(
        f"""SELECT DISTINCT {PERSON_P} FROM chat c
           JOIN person p ON p.id = c.person JOIN identity i ON i.person = c.person
           WHERE c.channel = :channel AND c.address = :address AND i.channel = :channel
           ORDER BY p.id""",
        channel=channel,
        address=address,
    )
    return [person_from(row) for row in rows]


async def leave_group(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Note that somebody is in a group no more; what they have heard there stays theirs."""
    rows = await tx.rows(
        """SELECT id, address FROM chat WHERE person = :person AND channel = :channel
           AND (address = :address OR address LIKE :topics)""",
        person=person, channel=channel, address=address, topics=f"{address}/%",
    )  # fmt: skip
    for chat, before in rows:
        await tx.run(
            "UPDATE chat SET address = :left WHERE id = :chat AND person = :person",
            left=f"{before} left {now}",
            chat=chat,
            person=person,
        )
