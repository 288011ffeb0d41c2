"""Which passkeys are whose, and what were their devices asked to sign?

A passkey's secret never leaves its device; what is kept here proves who has it, and opens nothing.
Knows nothing of how a signature is checked.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.memory.sign_in import print_of

CHALLENGE_GOOD_FOR: Final = 5 * MINUTE
MOST_CHALLENGES: Final = 1_000
"""So many of those who sign in may be open at once, and so many of each person who adds one."""
LONGEST_NAME: Final = 80
MOST_PASSKEYS: Final = 50
GONE: Final = saying(
    "passkey_gone", "There is no such passkey; it may have been taken away already."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A passkey of somebody."""

    id: str
    person: PersonId
    name: str
    public_key: bytes
    sign_count: int
    made_at: Micros
    used_at: Micros | None = None


async def write_challenge(tx: Transaction, challenge: str, person: str, *, now: Micros) -> None:
    """Keep what a device is asked to sign; ``person`` is empty where somebody signs in.

    Of too many the oldest go: anybody may ask for one, and must not keep others from it.
    """
    await tx.run("DELETE FROM web_challenge WHERE expires_at <= :now", now=now)
    await tx.run(
        """DELETE FROM web_challenge WHERE print IN (
             SELECT print FROM web_challenge WHERE person = :person
             ORDER BY expires_at DESC, print LIMIT 1000000 OFFSET :kept)""",
        person=person,
        kept=MOST_CHALLENGES - 1,
    )
    await tx.run(
        """INSERT INTO web_challenge (print, person, expires_at)
           VALUES (:print, :person, :expires_at)""",
        print=print_of(challenge), person=person, expires_at=now + CHALLENGE_GOOD_FOR,
    )  # fmt: skip


async def use_challenge(tx: Transaction, challenge: str, person: str, *, now: Micros) -> bool:
    """Use a challenge up; whether it was one, and for this."""
    touched = await tx.run(
        "DELETE FROM web_challenge WHERE print = :print AND person = :person AND expires_at > :now",
        print=print_of(challenge),
        person=person,
        now=now,
    )
    return touched == 1


async def write_passkey(tx: Transaction, passkey: Passkey) -> Passkey:
    """Keep a new passkey. Raises InvalidInput."""
    clean = " ".join(storable(passkey.name).split())[:LONGEST_NAME] or "Passkey"
    if len(await list_passkeys(tx, passkey.person)) >= MOST_PASSKEYS:
        raise InvalidInput(saying(
            "passkeys_full", f"There are {MOST_PASSKEYS} passkeys. Take some away first.",
            count=MOST_PASSKEYS,
        ))  # fmt: skip
    made = await tx.run(
        """INSERT INTO web_passkey (id, person, name, public_key, sign_count, made_at)
           VALUES (:id, :person, :name, :public_key, :sign_count, :made_at)
           ON CONFLICT (id) DO NOTHING""",
        id=passkey.id, person=passkey.person, name=clean, public_key=passkey.public_key,
        sign_count=passkey.sign_count, made_at=passkey.made_at,
    )  # fmt: skip
    if not made:
        raise InvalidInput(saying("passkey_known", "This passkey is known already."))
    return await get_passkey(tx, passkey.person, passkey.id)


async def find_passkey(tx: Transaction, name: str) -> Passkey | None:
    """The passkey that its device calls so, whosever it is."""
    row = await tx.row(
        """SELECT id, person, name, public_key, sign_count, made_at, used_at FROM web_passkey
           WHERE id = :id""",
        id=name,
    )
    return None if row is None else passkey_from(row)


async def get_passkey(tx: Transaction, person: PersonId, name: str) -> Passkey:
    """A passkey of a person. Raises NotFound."""
    found = next((each for each in await list_passkeys(tx, person) if each.id == name), None)
    if found is None:
        raise NotFound(GONE)
    return found


async def list_passkeys(tx: Transaction, person: PersonId) -> list[Passkey]:
    """A person's passkeys, the oldest first."""
    rows = await tx.rows(
        """SELECT id, person, name, public_key, sign_count, made_at, used_at FROM web_passkey
           WHERE person = :person ORDER BY made_at, id""",
        person=person,
    )
    return [passkey_from(row) for row in rows]


async def note_use_of_passkey(
    tx: Transaction, passkey: Passkey, *, sign_count: int, now: Micros
) -> bool:
    """Note that a passkey was used, and how often its device says so; whether it is still there."""
    touched = await tx.run(
        """UPDATE web_passkey SET sign_count = :sign_count, used_at = :now
           WHERE id = :id AND person = :person""",
        sign_count=sign_count, now=now, id=passkey.id, person=passkey.person,
    )  # fmt: skip
    return touched == 1


async def take_passkey(tx: Transaction, person: PersonId, name: str) -> None:
    """Let a passkey of a person open nothing any more. Raises NotFound."""
    taken = await tx.run(
        "DELETE FROM web_passkey WHERE id = :id AND person = :person", id=name, person=person
    )
    if not taken:
        raise NotFound(GONE)


def passkey_from(row: Row) -> Passkey:
    """A passkey from its columns."""
    name, person, called, public_key, sign_count, made_at, used_at = row
    return Passkey(
        id=name, person=PersonId(person), name=called, public_key=bytes(public_key),
        sign_count=sign_count, made_at=made_at, used_at=used_at,
    )  # fmt: skip
