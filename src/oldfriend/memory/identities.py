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
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Person
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row

CODE_DIGITS: Final = 6
CODE_TTL: Final = 10 * MINUTE
MAX_CODE_ATTEMPTS: Final = 5
"""Wrong codes from one address, and from all together, within CODE_TTL."""
REGISTRATION_TABLES: Final = frozenset({"person", "identity", "chat"})
"""The tables that hold rows of a person who has not said anything yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCode:
    """A usable code as it is stored."""

    id: str
    person: PersonId
    salt: str
    digest: str

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
    return await tx.run(
        "DELETE FROM identity WHERE person = :person AND channel = :channel",
        person=person,
        channel=channel,
    )


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
    for table in ("web_link", "web_invitation", "web_session", "web_token", "web_passkey"):
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)
    await tx.run("DELETE FROM person WHERE id = :person AND is_owner = 0", person=person)


async def save_link_code(tx: Transaction, person: PersonId, digits: str, *, now: Micros) -> None:
    """Store the hash of a new code for a person, replacing earlier codes."""
    await tx.run("DELETE FROM link_code WHERE person = :person", person=person)
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


async def list_usable_codes(
    tx: Transaction, channel: str, address: str, *, now: Micros
) -> list[LinkCode]:
    """List the codes usable from an address now; empty after too many wrong attempts."""
    attempts = await tx.row(
        """SELECT count(*), count(CASE WHEN channel = :channel AND address = :address THEN 1 END)
           FROM link_attempt WHERE tried_at > :since AND tried_at <= :ahead""",
        channel=channel,
        address=address,
        since=now - CODE_TTL,
        ahead=now + MAX_CLOCK_SKEW,
    )
    assert attempts is not None
    if max(attempts) >= MAX_CODE_ATTEMPTS:
        return []
    rows = await tx.rows(
        """SELECT id, person, salt, print FROM link_code
           WHERE used_at IS NULL AND expires_at > :now AND expires_at <= :latest ORDER BY id""",
        now=now,
        latest=now + CODE_TTL + MAX_CLOCK_SKEW,
    )
    return [
        LinkCode(id=row[0], person=PersonId(row[1]), salt=row[2], digest=row[3]) for row in rows
    ]


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


async def record_code_attempt(tx: Transaction, channel: str, address: str, *, now: Micros) -> int:
    """Record a wrong code; return how many came from this address within CODE_TTL."""
    await tx.run(
        "DELETE FROM link_attempt WHERE tried_at <= :until OR tried_at > :ahead",
        until=now - CODE_TTL,
        ahead=now + MAX_CLOCK_SKEW,
    )
    await tx.run(
        """INSERT INTO link_attempt (id, channel, address, tried_at)
           VALUES (:id, :channel, :address, :now)""",
        id=new_id(now),
        channel=channel,
        address=address,
        now=now,
    )
    row = await tx.row(
        "SELECT count(*) FROM link_attempt WHERE channel = :channel AND address = :address",
        channel=channel,
        address=address,
    )
    return 0 if row is None else int(row[0])
