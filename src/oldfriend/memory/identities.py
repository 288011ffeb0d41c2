"""Which address on a channel is which person, and how does one come to be somebody's?

By a code that the person is shown elsewhere, such as in a terminal, and writes from the new
address: kept as a print, good once, for ten minutes, and not to be guessed.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.people import Person
from oldfriend.memory.dump import TABLES
from oldfriend.memory.people import PERSON_P, person_from

DIGITS: Final = 6
GOOD_FOR: Final = 10 * MINUTE
MOST_ATTEMPTS: Final = 5
"""Wrong codes of one address, and of all together, in ten minutes (ACCEPTANCE SEC7)."""
WITHOUT_A_WORD: Final = frozenset({"person", "identity", "chat"})
"""The tables in which somebody stands who has said nothing yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A code that can be used, as far as it is kept."""

    id: str
    person: PersonId
    salt: str
    print: str

    def fits(self, digits: str) -> bool:
        """Whether it is this one. Takes a while, so that a stolen print gives nothing away."""
        return secrets.compare_digest(self.print, print_of(digits, self.salt))


def new_code() -> str:
    """A code as it is shown."""
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"


def print_of(digits: str, salt: str) -> str:
    """What is kept of a code."""
    return hashlib.scrypt(digits.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1).hex()


async def find_identity(tx: Transaction, channel: str, address: str) -> Person | None:
    """Who is known at an address on a channel."""
    row = await tx.row(
        f"""SELECT {PERSON_P} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel AND i.address = :address""",
        channel=channel,
        address=address,
    )
    return None if row is None else person_from(row)


async def list_paired(tx: Transaction, channel: str) -> list[tuple[Person, int]]:
    """Who is known on a channel, and at how many addresses; the owner first."""
    rows = await tx.rows(
        f"""SELECT count(*), {PERSON_P} FROM identity i
           JOIN person p ON p.id = i.person WHERE i.channel = :channel
           GROUP BY {PERSON_P}
           ORDER BY p.is_owner DESC, p.name""",
        channel=channel,
    )
    return [(person_from(row[1:]), int(row[0])) for row in rows]


async def count_identities(tx: Transaction, channel: str) -> int:
    """How many addresses on a channel are somebody's."""
    row = await tx.row("SELECT count(*) FROM identity WHERE channel = :channel", channel=channel)
    return 0 if row is None else int(row[0])


async def join_identity(
    tx: Transaction, person: PersonId, *, channel: str, address: str, now: Micros
) -> None:
    """Make an address a person's, whosever it was."""
    await tx.run(
        """INSERT INTO identity (channel, address, person, created_at)
           VALUES (:channel, :address, :person, :now)
           ON CONFLICT (channel, address) DO UPDATE SET person = :person, created_at = :now""",
        channel=channel, address=address, person=person, now=now,
    )  # fmt: skip


async def take_identities(tx: Transaction, person: PersonId, channel: str) -> int:
    """Let no address on a channel be a person's any more; how many were."""
    return await tx.run(
        "DELETE FROM identity WHERE person = :person AND channel = :channel",
        person=person,
        channel=channel,
    )


async def has_told_anything(tx: Transaction, person: PersonId) -> bool:
    """Whether anything is kept of a person but that they are here."""
    for table in TABLES:
        if table.person is not None and table.name not in WITHOUT_A_WORD:
            found = await tx.row(
                f"SELECT 1 FROM {table.name} WHERE {table.person} = :person LIMIT 1", person=person
            )
            if found is not None:
                return True
    return False


async def remove_person(tx: Transaction, person: PersonId) -> None:
    """Take away somebody of whom nothing is kept; never the owner."""
    await tx.run("DELETE FROM chat WHERE person = :person", person=person)
    await tx.run("DELETE FROM identity WHERE person = :person", person=person)
    await tx.run("DELETE FROM link_code WHERE person = :person", person=person)
    for table in ("web_link", "web_invitation", "web_session", "web_token", "web_passkey"):
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)
    await tx.run("DELETE FROM person WHERE id = :person AND is_owner = 0", person=person)


async def write_code(tx: Transaction, person: PersonId, digits: str, *, now: Micros) -> None:
    """Keep the print of a new code for a person; those before it are no longer good."""
    await tx.run("DELETE FROM link_code WHERE person = :person", person=person)
    salt = secrets.token_hex(16)
    await tx.run(
        """INSERT INTO link_code (id, person, salt, print, expires_at)
           VALUES (:id, :person, :salt, :print, :expires_at)""",
        id=new_id(now), person=person, salt=salt, print=print_of(digits, salt),
        expires_at=now + GOOD_FOR,
    )  # fmt: skip


async def list_codes(tx: Transaction, channel: str, address: str, *, now: Micros) -> list[Code]:
    """The codes that can be used now from an address; none where too many wrong ones came."""
    tried = await tx.row(
        """SELECT count(*), count(CASE WHEN channel = :channel AND address = :address THEN 1 END)
           FROM link_attempt WHERE tried_at > :since""",
        channel=channel, address=address, since=now - GOOD_FOR,
    )  # fmt: skip
    assert tried is not None
    if max(tried) >= MOST_ATTEMPTS:
        return []
    rows = await tx.rows(
        """SELECT id, person, salt, print FROM link_code
           WHERE used_at IS NULL AND expires_at > :now ORDER BY id""",
        now=now,
    )
    return [Code(id=row[0], person=PersonId(row[1]), salt=row[2], print=row[3]) for row in rows]


async def use_code(tx: Transaction, code: Code, *, now: Micros) -> bool:
    """Use a code up; False: it is not good any more."""
    touched = await tx.run(
        """UPDATE link_code SET used_at = :now WHERE id = :id AND person = :person
           AND used_at IS NULL AND expires_at > :now""",
        now=now,
        id=code.id,
        person=code.person,
    )
    return touched == 1


async def note_attempt(tx: Transaction, channel: str, address: str, *, now: Micros) -> int:
    """Note that a code was none; how many were, from there, in ten minutes."""
    await tx.run("DELETE FROM link_attempt WHERE tried_at <= :until", until=now - GOOD_FOR)
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
