"""Groups: chat groups that the companion belongs to, and their known members.

A group has a memory of its own, like a person. Every query about it names the group, so that it
cannot see anybody's private messages.
"""

import re

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.messages import Person
from oldfriend.memory.identities import assign_identity, find_identity, unlink_identities
from oldfriend.memory.people import PERSON_P_COLUMNS, format_group_channel, parse_person_row


async def find_group(tx: Transaction, channel: str, address: str) -> Person | None:
    """Return the group at an address, if the companion belongs to it."""
    return await find_identity(tx, format_group_channel(channel), address)


async def find_former_group(tx: Transaction, channel: str, address: str) -> Person | None:
    """Return the group at an address that the companion has left."""
    return await find_identity(tx, format_former_group_channel(channel), address)


async def list_groups(tx: Transaction, channel: str) -> list[Person]:
    """List the groups on a channel that the companion belongs to, by name."""
    rows = await tx.rows(
        f"""SELECT {PERSON_P_COLUMNS} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel ORDER BY p.name""",
        channel=format_group_channel(channel),
    )
    return [parse_person_row(row) for row in rows]


async def join_group(
    tx: Transaction, group_id: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Join the group at an address."""
    await unlink_identities(tx, group_id, format_former_group_channel(channel))
    await assign_identity(
        tx, group_id, channel=format_group_channel(channel), address=address, now=now
    )


async def leave_group(tx: Transaction, group_id: PersonId, channel: str) -> int:
    """Leave a group, so that it is recognized later; return at how many addresses it was."""
    return await tx.run(
        "UPDATE identity SET channel = :former WHERE person = :person AND channel = :channel",
        former=format_former_group_channel(channel),
        person=group_id,
        channel=format_group_channel(channel),
    )


def format_former_group_channel(channel: str) -> str:
    """Return the identity channel of groups that the companion has left."""
    return format_group_channel(f"{channel} former")


async def is_group(tx: Transaction, person: PersonId) -> bool:
    """Whether a memory belongs to a group."""
    row = await tx.row(
        "SELECT 1 FROM identity WHERE person = :person AND channel LIKE :groups LIMIT 1",
        person=person,
        groups=format_group_channel("%"),
    )
    return row is not None


async def ensure_not_group(tx: Transaction, person: Person) -> None:
    """Raise InvalidInput for a group."""
    if await is_group(tx, person.id):
        raise InvalidInput(
            localizable(
                "group_is_nobody",
                f"{person.name} is a group, and a person cannot become one.",
                name=person.name,
            )
        )


async def list_group_chats(tx: Transaction, person: PersonId) -> dict[ChatId, str]:
    """Return those of a person's or group's chats in which a group talks or has talked.

    Each has its title, which is empty where the platform has told none.
    """
    rows = await tx.rows(
        """SELECT c.id, c.channel, c.address, c.title, i.channel, i.address FROM chat c
           JOIN identity i ON i.channel LIKE :groups WHERE c.person = :person""",
        person=person,
        groups=format_group_channel("%"),
    )
    return {
        ChatId(chat): "" if title == channel else title
        for chat, channel, address, title, groups, group in rows
        if groups in {format_group_channel(channel), format_former_group_channel(channel)}
        and re.split("/| left ", address, maxsplit=1)[0] == group
    }


async def list_members(tx: Transaction, channel: str, address: str) -> list[Person]:
    """List the known people in a group, by id; the group itself is left out."""
    rows = await tx.rows(
        f"""SELECT DISTINCT {PERSON_P_COLUMNS} FROM chat c
           JOIN person p ON p.id = c.person JOIN identity i ON i.person = c.person
           WHERE c.channel = :channel AND c.address = :address AND i.channel = :channel
           ORDER BY p.id""",
        channel=channel,
        address=address,
    )
    return [parse_person_row(row) for row in rows]


async def record_member_left(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Record that somebody has left a group; the messages they received there stay theirs."""
    rows = await tx.rows(
        """SELECT id, address FROM chat WHERE person = :person AND channel = :channel
           AND (address = :address OR address LIKE :topics)""",
        person=person,
        channel=channel,
        address=address,
        topics=f"{address}/%",
    )
    for chat, before in rows:
        await tx.run(
            "UPDATE chat SET address = :left WHERE id = :chat AND person = :person",
            left=f"{before} left {now}",
            chat=chat,
            person=person,
        )
