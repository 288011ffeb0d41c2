"""Who looks at their memory in a browser, and how do they come to?

By a link that is shown elsewhere, such as in a terminal: good once, for ten minutes. It makes a
session, which the browser shows with everything it asks. Of both only prints are kept: they are
long and random, so a plain digest gives nothing away. Knows nothing of cookies.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.people import Person
from oldfriend.memory.people import person_from

LINK_GOOD_FOR: Final = 10 * MINUTE
SESSION_GOOD_FOR: Final = 30 * DAY
MOST_ATTEMPTS: Final = 20
"""Links that were none, of everybody together, in ten minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A browser that may see what is somebody's."""

    person: Person
    print: str
    expires_at: Micros


def new_secret() -> str:
    """What a link or a session consists of, as it is shown."""
    return secrets.token_urlsafe(32)


def print_of(secret: str) -> str:
    """What is kept of a link or a session."""
    return hashlib.sha256(secret.encode()).hexdigest()


async def write_link(tx: Transaction, person: PersonId, secret: str, *, now: Micros) -> None:
    """Keep a new link for a person; those before it are no longer good."""
    await tx.run("DELETE FROM web_link WHERE person = :person", person=person)
    await tx.run(
        """INSERT INTO web_link (print, person, expires_at)
           VALUES (:print, :person, :expires_at)""",
        print=print_of(secret), person=person, expires_at=now + LINK_GOOD_FOR,
    )  # fmt: skip


async def use_link(tx: Transaction, secret: str, *, now: Micros) -> PersonId | None:
    """Use a link up, and say whose it is; None: it is not good, which is noted.

    Raises InvalidInput where too many were not.
    """
    await tx.run("DELETE FROM web_attempt WHERE tried_at <= :until", until=now - LINK_GOOD_FOR)
    tried = await tx.row("SELECT count(*) FROM web_attempt")
    if tried is not None and tried[0] >= MOST_ATTEMPTS:
        raise InvalidInput("Too many links were wrong. Wait ten minutes, then: oldfriend link")
    row = await tx.row(
        "DELETE FROM web_link WHERE print = :print AND expires_at > :now RETURNING person",
        print=print_of(secret),
        now=now,
    )
    if row is None:
        await tx.run(
            "INSERT INTO web_attempt (id, tried_at) VALUES (:id, :now)", id=new_id(now), now=now
        )
        return None
    return PersonId(row[0])


async def open_web_session(tx: Transaction, person: PersonId, secret: str, *, now: Micros) -> None:
    """Let whoever shows this be a person, for a month; what is over goes."""
    await tx.run("DELETE FROM web_session WHERE expires_at <= :now", now=now)
    await tx.run(
        """INSERT INTO web_session (print, person, made_at, expires_at)
           VALUES (:print, :person, :now, :expires_at)""",
        print=print_of(secret), person=person, now=now, expires_at=now + SESSION_GOOD_FOR,
    )  # fmt: skip


async def find_web_session(tx: Transaction, print_: str, *, now: Micros) -> SignedIn | None:
    """Who shows something with this print, if it is good."""
    row = await tx.row(
        """SELECT s.expires_at, p.id, p.name, p.is_owner, p.language, p.zone FROM web_session s
           JOIN person p ON p.id = s.person WHERE s.print = :print AND s.expires_at > :now""",
        print=print_,
        now=now,
    )
    if row is None:
        return None
    return SignedIn(person=person_from(row[1:]), print=print_, expires_at=row[0])


async def prolong_web_session(
    tx: Transaction, person: PersonId, print_: str, *, now: Micros
) -> None:
    """Let a session be good for a month from now."""
    await tx.run(
        """UPDATE web_session SET expires_at = :expires_at
           WHERE print = :print AND person = :person""",
        expires_at=now + SESSION_GOOD_FOR, print=print_, person=person,
    )  # fmt: skip


async def end_web_session(tx: Transaction, person: PersonId, print_: str) -> None:
    """Sign one browser of a person out."""
    await tx.run(
        "DELETE FROM web_session WHERE print = :print AND person = :person",
        print=print_,
        person=person,
    )
