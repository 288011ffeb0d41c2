"""Calendar feeds: the secret address at which a person's calendar reads their reminders.

A person has one at most. It is stored beside the tokens of programs, as a hash, but is none of
them: it opens only the feed, to be read, until it is revoked.
"""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Person
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row
from oldfriend.memory.web_sessions import generate_secret, hash_secret

SCOPE: Final = "calendar"
VALID_FOR: Final = 100 * 366 * DAY


async def renew_feed(tx: Transaction, person: PersonId, *, now: Micros) -> str:
    """Return the secret of a new feed, to be shown once; an earlier one opens nothing any more."""
    await revoke_feed(tx, person)
    secret = generate_secret()
    await tx.run(
        """INSERT INTO web_token (id, print, person, name, scope, made_at, expires_at)
           VALUES (:id, :print, :person, :scope, :scope, :now, :expires_at)""",
        id=new_id(now),
        print=hash_secret(secret),
        person=person,
        scope=SCOPE,
        now=now,
        expires_at=now + VALID_FOR,
    )
    return secret


async def revoke_feed(tx: Transaction, person: PersonId) -> None:
    """Revoke a person's feed; does nothing if there is none."""
    await tx.run(
        "DELETE FROM web_token WHERE person = :person AND scope = :scope",
        person=person,
        scope=SCOPE,
    )


async def find_feed_time(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when a person's feed was made; None if there is none."""
    row = await tx.row(
        "SELECT made_at FROM web_token WHERE person = :person AND scope = :scope",
        person=person,
        scope=SCOPE,
    )
    return None if row is None else int(row[0])


async def find_feed_person(tx: Transaction, secret: str) -> Person | None:
    """Return whose feed a secret opens; None if it opens none."""
    row = await tx.row(
        f"""SELECT {PERSON_P_COLUMNS} FROM web_token t JOIN person p ON p.id = t.person
           WHERE t.print = :print AND t.scope = :scope""",
        print=hash_secret(secret),
        scope=SCOPE,
    )
    return None if row is None else parse_person_row(row)
