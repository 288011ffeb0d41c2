"""Passkeys: public keys of people's devices, and the challenges these sign.

A passkey's secret never leaves its device. What is stored here verifies a signature and grants
nothing by itself. Signatures are checked elsewhere.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.web_sessions import hash_secret

CHALLENGE_TTL: Final = 5 * MINUTE
MAX_CHALLENGES: Final = 1_000
"""Open challenges for sign-in overall, and for each person who adds a passkey."""
MAX_PASSKEY_NAME_LENGTH: Final = 80
MAX_PASSKEYS: Final = 50
PASSKEY_NOT_FOUND: Final = localizable(
    "passkey_gone", "There is no such passkey; it may have been taken away already."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A passkey of a person."""

    id: str
    person: PersonId
    name: str
    public_key: bytes
    sign_count: int
    made_at: Micros
    used_at: Micros | None = None


async def insert_challenge(tx: Transaction, challenge: str, person: str, *, now: Micros) -> None:
    """Store a challenge for a device to sign; ``person`` is empty for a sign-in.

    The oldest ones above the limit are deleted, because anybody may ask for one and must not block
    others.
    """
    await tx.run("DELETE FROM web_challenge WHERE expires_at <= :now", now=now)
    await tx.run(
        """DELETE FROM web_challenge WHERE print IN (
             SELECT print FROM web_challenge WHERE person = :person
             ORDER BY expires_at DESC, print LIMIT 1000000 OFFSET :kept)""",
        person=person,
        kept=MAX_CHALLENGES - 1,
    )
    await tx.run(
        """INSERT INTO web_challenge (print, person, expires_at)
           VALUES (:print, :person, :expires_at)""",
        print=hash_secret(challenge),
        person=person,
        expires_at=now + CHALLENGE_TTL,
    )


async def redeem_challenge(tx: Transaction, challenge: str, person: str, *, now: Micros) -> bool:
    """Use a challenge up; return whether it was valid for this person."""
    touched = await tx.run(
        "DELETE FROM web_challenge WHERE print = :print AND person = :person AND expires_at > :now",
        print=hash_secret(challenge),
        person=person,
        now=now,
    )
    return touched == 1


async def save_passkey(tx: Transaction, passkey: Passkey) -> Passkey:
    """Store a new passkey. Raises InvalidInput if there are too many or it is known already."""
    clean = " ".join(sanitize_text(passkey.name).split())[:MAX_PASSKEY_NAME_LENGTH] or "Passkey"
    if len(await list_passkeys(tx, passkey.person)) >= MAX_PASSKEYS:
        raise InvalidInput(
            localizable(
                "passkeys_full",
                f"There are {MAX_PASSKEYS} passkeys. Take some away first.",
                count=MAX_PASSKEYS,
            )
        )
    inserted = await tx.run(
        """INSERT INTO web_passkey (id, person, name, public_key, sign_count, made_at)
           VALUES (:id, :person, :name, :public_key, :sign_count, :made_at)
           ON CONFLICT (id) DO NOTHING""",
        id=passkey.id,
        person=passkey.person,
        name=clean,
        public_key=passkey.public_key,
        sign_count=passkey.sign_count,
        made_at=passkey.made_at,
    )
    if not inserted:
        raise InvalidInput(localizable("passkey_known", "This passkey is known already."))
    return await get_passkey(tx, passkey.person, passkey.id)


async def find_passkey(tx: Transaction, passkey_id: str) -> Passkey | None:
    """Return the passkey with this id, of any person."""
    row = await tx.row(
        """SELECT id, person, name, public_key, sign_count, made_at, used_at FROM web_passkey
           WHERE id = :id""",
        id=passkey_id,
    )
    return None if row is None else parse_passkey_row(row)


async def get_passkey(tx: Transaction, person: PersonId, passkey_id: str) -> Passkey:
    """Return a passkey of a person. Raises NotFound."""
    found = next((each for each in await list_passkeys(tx, person) if each.id == passkey_id), None)
    if found is None:
        raise NotFound(PASSKEY_NOT_FOUND)
    return found


async def list_passkeys(tx: Transaction, person: PersonId) -> list[Passkey]:
    """List a person's passkeys, oldest first."""
    rows = await tx.rows(
        """SELECT id, person, name, public_key, sign_count, made_at, used_at FROM web_passkey
           WHERE person = :person ORDER BY made_at, id""",
        person=person,
    )
    return [parse_passkey_row(row) for row in rows]


async def record_passkey_use(
    tx: Transaction, passkey: Passkey, *, sign_count: int, now: Micros
) -> bool:
    """Record a use with the device's signature count; return whether the passkey still exists."""
    touched = await tx.run(
        """UPDATE web_passkey SET sign_count = :sign_count, used_at = :now
           WHERE id = :id AND person = :person""",
        sign_count=sign_count,
        now=now,
        id=passkey.id,
        person=passkey.person,
    )
    return touched == 1


async def delete_passkey(tx: Transaction, person: PersonId, passkey_id: str) -> None:
    """Delete a passkey of a person. Raises NotFound."""
    deleted = await tx.run(
        "DELETE FROM web_passkey WHERE id = :id AND person = :person", id=passkey_id, person=person
    )
    if not deleted:
        raise NotFound(PASSKEY_NOT_FOUND)


def parse_passkey_row(row: Row) -> Passkey:
    """Parse a passkey row."""
    passkey_id, person, name, public_key, sign_count, made_at, used_at = row
    return Passkey(
        id=passkey_id,
        person=PersonId(person),
        name=name,
        public_key=bytes(public_key),
        sign_count=sign_count,
        made_at=made_at,
        used_at=used_at,
    )
