"""Identities: which channel address belongs to which person, and the link codes that prove it.

A person is shown a code elsewhere, such as in a terminal, and sends it from the new address. Only
its hash is stored; it works once, for ten minutes, and attempts are limited.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.db.stored_tables import EXPORTED_TABLES
from oldfriend.domain.clock import MAX_CLOCK_SKEW, MINUTE, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Person
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row

CODE_DIGITS: Final = 6
CODE_TTL: Final = 10 * MINUTE
MAX_CODES: Final = 5
"""Codes that one person is shown within CODE_TTL."""
MAX_CODE_ATTEMPTS: Final = 5
"""Wrong codes from one address within CODE_TTL."""
MAX_STRANGER_ADDRESSES: Final = 300
"""Addresses with attempts within CODE_TTL; beyond, no unknown address has a first one."""
MAX_STRANGER_REPEATS: Final = 40
"""Further attempts of all addresses together; beyond, no unknown address has a second one.

They are counted apart, so that a few addresses that guess keep no newcomer's code from being taken.
"""
REGISTRATION_TABLES: Final = frozenset({"person", "identity", "chat", "hint_progress"})
"""The tables that hold rows of a person who has not said anything yet."""
WEB_TABLES: Final = ("web_link", "web_invitation", "web_session", "web_token", "web_passkey")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCode:
    """A usable code as it is stored."""

    id: str
    person: PersonId
    salt: str
    digest: str
    shown_to: str | None = None  # the place that has seen what would come together

    def matches(self, digits: str) -> bool:
        """Whether these digits are the code.

        Deliberately slow, so that a stolen hash reveals nothing.
        """
        return secrets.compare_digest(self.digest, hash_link_code(digits, self.salt))


def generate_link_code() -> str:
    """Return a new random code as it is shown."""
    return f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"


def hash_link_code(digits: str, salt: str) -> str:
    """Return the hash that is stored of a code."""
    return hashlib.scrypt(digits.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1).hex()


async def find_identity(tx: Transaction, channel: str, address: str) -> Person | None:
    """Return the person at an address on a channel."""
    row = await tx.row(
        f"""SELECT {PERSON_P_COLUMNS} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel AND i.address = :address""",
        channel=channel,
        address=address,
    )
    return None if row is None else parse_person_row(row)


async def list_linked_people(tx: Transaction, channel: str) -> list[tuple[Person, int]]:
    """List the people on a channel with their number of addresses there, the owner first."""
    rows = await tx.rows(
        f"""SELECT count(*), {PERSON_P_COLUMNS} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel
           GROUP BY {PERSON_P_COLUMNS}
           ORDER BY p.is_owner DESC, p.name""",
        channel=channel,
    )
    return [(parse_person_row(row[1:]), int(row[0])) for row in rows]


async def count_identities(tx: Transaction, channel: str) -> int:
    """Count the addresses on a channel that belong to somebody."""
    row = await tx.row("SELECT count(*) FROM identity WHERE channel = :channel", channel=channel)
    return 0 if row is None else int(row[0])


async def assign_identity(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Assign an address to a person, whoever had it before."""
    await tx.run(
        """INSERT INTO identity (channel, address, person, created_at)
           VALUES (:channel, :address, :person, :now)
           ON CONFLICT (channel, address) DO UPDATE SET person = :person, created_at = :now""",
        channel=channel,
        address=address,
        person=person,
        now=now,
    )


async def unlink_identities(tx: Transaction, person: PersonId, channel: str) -> int:
    """Remove a person's addresses on a channel; return how many there were."""
    removed = await tx.run(
        "DELETE FROM identity WHERE person = :person AND channel = :channel",
        person=person,
        channel=channel,
    )
    await set_chats_aside(tx, person, channel)
    return removed


async def set_chats_aside(tx: Transaction, person: PersonId, channel: str) -> None:
    """Make the id of each private chat its address, unless its address is the person's.

    Nothing is sent there any more. A channel may name its chats in another way than who writes in
    them; then all are set aside, and the next message begins a new one.
    """
    await tx.run(
        """UPDATE chat SET address = id WHERE person = :person AND channel = :channel
           AND NOT EXISTS (SELECT 1 FROM identity i WHERE i.person = :person
             AND i.channel = :channel AND (chat.address = i.address
               OR substr(chat.address, 1, length(i.address) + 1) = i.address || '/'))""",
        person=person,
        channel=channel,
    )


async def unlink_identities_since(tx: Transaction, person: PersonId, since: Micros) -> None:
    """Make the addresses that were linked to a person after a time those of strangers."""
    for each in await list_identities(tx, person):
        if each.created_at > since:
            await remove_identity(tx, person, channel=each.channel, address=each.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An address on a channel that belongs to a person."""

    channel: str
    address: str
    created_at: Micros


async def list_identities(tx: Transaction, person: PersonId) -> list[Identity]:
    """List a person's addresses, in the order in which they were linked."""
    rows = await tx.rows(
        """SELECT channel, address, created_at FROM identity WHERE person = :person
           ORDER BY created_at, channel, address""",
        person=person,
    )
    return [Identity(channel=row[0], address=row[1], created_at=row[2]) for row in rows]


async def remove_identity(tx: Transaction, person: PersonId, *, channel: str, address: str) -> bool:
    """Make one address of a person a stranger's; return False if it was not theirs."""
    touched = await tx.run(
        """DELETE FROM identity
           WHERE person = :person AND channel = :channel AND address = :address""",
        person=person,
        channel=channel,
        address=address,
    )
    if touched:
        await set_chats_aside(tx, person, channel)
    return touched == 1


async def has_any_content(tx: Transaction, person: PersonId) -> bool:
    """Whether anything but the registration is stored for a person."""
    for table in EXPORTED_TABLES:
        if table.person_column is not None and table.name not in REGISTRATION_TABLES:
            found = await tx.row(
                f"SELECT 1 FROM {table.name} WHERE {table.person_column} = :person LIMIT 1",
                person=person,
            )
            if found is not None:
                return True
    return False


async def remove_person(tx: Transaction, person: PersonId) -> None:
    """Remove a person without content; never the owner."""
    await tx.run("DELETE FROM chat WHERE person = :person", person=person)
    await tx.run("DELETE FROM identity WHERE person = :person", person=person)
    await tx.run("DELETE FROM link_code WHERE person = :person", person=person)
    for table in (*WEB_TABLES, "oauth_grant", "hint_progress"):
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)
    await tx.run("DELETE FROM person WHERE id = :person AND is_owner = 0", person=person)


async def save_link_code(tx: Transaction, person: PersonId, digits: str, *, now: Micros) -> None:
    """Store the hash of a new code for a person, replacing earlier codes.

    Raises InvalidInput if they were shown too many lately.
    """
    await tx.run(
        """DELETE FROM link_code WHERE person = :person
           AND (expires_at <= :now OR expires_at > :latest)""",
        person=person,
        now=now,
        latest=now + CODE_TTL + MAX_CLOCK_SKEW,
    )
    await tx.run(
        "UPDATE link_code SET used_at = :now WHERE person = :person AND used_at IS NULL",
        person=person,
        now=now,
    )
    row = await tx.row("SELECT count(*) FROM link_code WHERE person = :person", person=person)
    if row is not None and row[0] >= MAX_CODES:
        raise InvalidInput(
            localizable(
                "too_many_codes", "You've had a lot of codes. Wait ten minutes for another."
            )
        )
    salt = secrets.token_hex(16)
    await tx.run(
        """INSERT INTO link_code (id, person, salt, print, expires_at)
           VALUES (:id, :person, :salt, :print, :expires_at)""",
        id=new_id(now),
        person=person,
        salt=salt,
        print=hash_link_code(digits, salt),
        expires_at=now + CODE_TTL,
    )


async def list_usable_codes(tx: Transaction, *, now: Micros) -> list[LinkCode]:
    """List the codes that are usable now, locked: attempts at them are counted one by one."""
    rows = await tx.rows(
        """SELECT id, person, salt, print, shown_to FROM link_code
           WHERE used_at IS NULL AND expires_at > :now AND expires_at <= :latest ORDER BY id
           FOR UPDATE""",
        now=now,
        latest=now + CODE_TTL + MAX_CLOCK_SKEW,
    )
    return [
        LinkCode(id=row[0], person=PersonId(row[1]), salt=row[2], digest=row[3], shown_to=row[4])
        for row in rows
    ]


async def mark_code_shown(tx: Transaction, code: LinkCode, place: str) -> None:
    """Record the place that was shown what a code would bring together; only it may do it."""
    await tx.run(
        "UPDATE link_code SET shown_to = :place WHERE id = :id AND person = :person",
        place=place,
        id=code.id,
        person=code.person,
    )


async def redeem_link_code(tx: Transaction, code: LinkCode, *, now: Micros) -> bool:
    """Use a code up; return False if it is no longer valid."""
    touched = await tx.run(
        """UPDATE link_code SET used_at = :now WHERE id = :id AND person = :person
           AND used_at IS NULL AND expires_at > :now""",
        now=now,
        id=code.id,
        person=code.person,
    )
    return touched == 1


async def begin_code_attempt(
    tx: Transaction, channel: str, address: str, *, is_known: bool, now: Micros
) -> str | None:
    """Record an attempt before anything is compared, and return its id; None if it is too many."""
    await tx.run(
        "DELETE FROM link_attempt WHERE tried_at <= :until OR tried_at > :ahead",
        until=now - CODE_TTL,
        ahead=now + MAX_CLOCK_SKEW,
    )
    row = await tx.row(
        """SELECT count(*), count(DISTINCT channel || ' ' || address),
             count(CASE WHEN channel = :channel AND address = :address THEN 1 END)
           FROM link_attempt""",
        channel=channel,
        address=address,
    )
    assert row is not None
    attempts, addresses, own = map(int, row)
    is_open = (
        attempts - addresses < MAX_STRANGER_REPEATS if own else addresses < MAX_STRANGER_ADDRESSES
    )
    if own >= MAX_CODE_ATTEMPTS or not (is_open or is_known):
        return None
    attempt = new_id(now)
    await tx.run(
        """INSERT INTO link_attempt (id, channel, address, tried_at)
           VALUES (:id, :channel, :address, :now)""",
        id=attempt,
        channel=channel,
        address=address,
        now=now,
    )
    return attempt


async def delete_code_attempt(tx: Transaction, attempt: str) -> None:
    """Take back an attempt, because the code was right."""
    await tx.run("DELETE FROM link_attempt WHERE id = :id", id=attempt)


async def end_access(tx: Transaction, person: PersonId, *, since: Micros) -> None:
    """End the sign-ins, programs and passkeys of a person made after a time, and all codes."""
    for table in ("web_session", "web_token", "web_passkey"):
        await tx.run(
            f"DELETE FROM {table} WHERE person = :person AND made_at > :since",
            person=person,
            since=since,
        )
    await tx.run(  # a grant is as old as the token that it renews
        """DELETE FROM oauth_grant WHERE person = :person AND (token IS NULL
           OR token NOT IN (SELECT id FROM web_token WHERE person = :person))""",
        person=person,
    )
    for table in ("web_link", "web_invitation", "web_challenge", "link_code"):
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)
