"""Push subscriptions: the browsers that are told what the companion says unasked.

One for each session at most, and it ends with its session. Where a browser is reached is stored
sealed, by a key that is not in the database; this module neither seals nor opens it.
"""

from dataclasses import dataclass, field
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.memory.web_sessions import hash_secret

ShownPart = Literal["words", "hint"]
"""What a notification shows: the words, or only that there is something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSubscription:
    """A browser that is told, as it is stored."""

    session: str  # the digest of its session
    person: PersonId
    print: str  # of the address at the push service
    sealed: bytes = field(repr=False)
    shows: ShownPart


def print_endpoint(endpoint: str) -> str:
    """Return the print of an address, by which a browser is known again."""
    return hash_secret(endpoint)


async def save_push_subscription(
    tx: Transaction, subscription: PushSubscription, *, now: Micros
) -> None:
    """Store a subscription in place of earlier ones of the same session or the same browser.

    Nothing is stored if the session was ended meanwhile.
    """
    await tx.run(
        "DELETE FROM push_subscription WHERE print = :print OR session = :session",
        print=subscription.print,
        session=subscription.session,
    )
    await tx.run(
        """INSERT INTO push_subscription (session, person, print, sealed, shows, made_at)
           SELECT print, person, :print, :sealed, :shows, :now FROM web_session
           WHERE print = :session AND person = :person""",
        session=subscription.session,
        person=subscription.person,
        print=subscription.print,
        sealed=subscription.sealed,
        shows=subscription.shows,
        now=now,
    )


async def find_push_subscription(
    tx: Transaction, person: PersonId, session: str, *, now: Micros
) -> PushSubscription | None:
    """Return the subscription of a valid session; None if it has none."""
    row = await tx.row(
        """SELECT p.print, p.sealed, p.shows FROM push_subscription p
           JOIN web_session s ON s.print = p.session AND s.person = p.person
             AND s.expires_at > :now
           WHERE p.person = :person AND p.session = :session""",
        person=person,
        session=session,
        now=now,
    )
    if row is None:
        return None
    return PushSubscription(
        session=session, person=person, print=row[0], sealed=bytes(row[1]), shows=row[2]
    )


async def list_push_sessions(tx: Transaction, person: PersonId, *, now: Micros) -> list[str]:
    """List the valid sessions of a person that are told."""
    rows = await tx.rows(
        """SELECT p.session FROM push_subscription p
           JOIN web_session s ON s.print = p.session AND s.person = p.person
             AND s.expires_at > :now
           WHERE p.person = :person ORDER BY p.made_at, p.session""",
        person=person,
        now=now,
    )
    return [str(row[0]) for row in rows]


async def delete_push_subscription(
    tx: Transaction, person: PersonId, session: str, *, only: str | None = None
) -> None:
    """Delete the subscription of a session; if a print is given, only the one with that print."""
    await tx.run(
        """DELETE FROM push_subscription WHERE person = :person AND session = :session
           AND (print = :only OR :only = '')""",
        person=person,
        session=session,
        only=only or "",
    )


async def delete_foreign_subscriptions(tx: Transaction, person: PersonId) -> None:
    """Delete the subscriptions of a person whose session is somebody else's again."""
    await tx.run(
        """DELETE FROM push_subscription WHERE person = :person
           AND session NOT IN (SELECT print FROM web_session WHERE person = :person)""",
        person=person,
    )
