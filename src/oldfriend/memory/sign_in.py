"""Who looks at their memory in a browser, and how do they come to?

By a link that is shown elsewhere, such as in a terminal: good once, for ten minutes; or by an
invitation, a link that the owner has made for somebody, good once, for a week. It makes a session,
which the browser shows with everything it asks. Of all of them only prints are kept: they are long
and random, so a plain digest gives nothing away, nor does the time that it takes to look one up.
Knows nothing of cookies.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros
from oldfriend.domain.errors import NotFound, TooManyAttempts
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import PERSON_P, person_from

Scope = Literal["read", "write", "admin"]
OpenedWith = Literal["link", "invitation", "passkey"]

LINK_GOOD_FOR: Final = 10 * MINUTE
INVITATION_GOOD_FOR: Final = 7 * DAY
SESSION_GOOD_FOR: Final = 30 * DAY
SEEN_EVERY: Final = 5 * MINUTE
"""So exact is it said when something was used last."""
COUNTED_FOR: Final = 10 * MINUTE
MOST_ATTEMPTS: Final = 20
"""Links, passkeys and tokens that were none, from one address, while they are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A browser, or a program, that may see what is somebody's."""

    person: Person
    print: str
    expires_at: Micros
    used_at: Micros | None = None
    scope: Scope = "admin"  # a browser may all that its person may
    is_program: bool = False  # it shows a token, and has no session


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A browser that is signed in, as it is listed."""

    print: str
    opened_with: OpenedWith
    browser: str
    made_at: Micros
    used_at: Micros
    expires_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A link that waits for somebody."""

    id: str
    person: Person
    made_at: Micros
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


async def use_link(
    tx: Transaction, secret: str, *, now: Micros
) -> tuple[PersonId, OpenedWith] | None:
    """Use a link or an invitation up, and say whose it is; None: it is not good."""
    tables: tuple[tuple[str, OpenedWith], ...] = (
        ("web_link", "link"), ("web_invitation", "invitation"),
    )  # fmt: skip
    for table, opened_with in tables:
        row = await tx.row(
            f"DELETE FROM {table} WHERE print = :print AND expires_at > :now RETURNING person",
            print=print_of(secret),
            now=now,
        )
        if row is not None:
            return PersonId(row[0]), opened_with
    return None


async def refuse_guessing(tx: Transaction, address: str, *, now: Micros) -> None:
    """Raise TooManyAttempts where too much was tried in vain from an address.

    What others try counts nothing here, or anybody could keep everybody out.
    """
    row = await tx.row(
        """SELECT count(*), min(tried_at) FROM web_attempt
           WHERE address = :address AND tried_at > :since""",
        address=address,
        since=now - COUNTED_FOR,
    )
    assert row is not None
    count, first = row
    if count < MOST_ATTEMPTS:
        return
    wait_s = max((first + COUNTED_FOR - now) // SECOND, 0) + 1
    raise TooManyAttempts(
        saying(
            "too_many_tries",
            f"Too much was tried that was wrong. Wait {wait_s // 60 + 1} min, then: oldfriend link",
            minutes=wait_s // 60 + 1,
        ),
        retry_after_s=wait_s,
    )


async def note_attempt(tx: Transaction, address: str, *, now: Micros) -> None:
    """Note that something was tried in vain; what is no longer counted goes."""
    await tx.run("DELETE FROM web_attempt WHERE tried_at <= :until", until=now - COUNTED_FOR)
    await tx.run(
        "INSERT INTO web_attempt (id, tried_at, address) VALUES (:id, :now, :address)",
        id=new_id(now), now=now, address=address,
    )  # fmt: skip


async def open_web_session(
    tx: Transaction, person: PersonId, secret: str, *, now: Micros,
    opened_with: OpenedWith = "link", browser: str = "",
) -> None:  # fmt: skip
    """Let whoever shows this be a person, for a month; what is over goes."""
    await tx.run("DELETE FROM web_session WHERE expires_at <= :now", now=now)
    await tx.run(
        """INSERT INTO web_session (print, person, made_at, expires_at, opened_with, browser,
             used_at)
           VALUES (:print, :person, :now, :expires_at, :opened_with, :browser, :now)""",
        print=print_of(secret), person=person, now=now, expires_at=now + SESSION_GOOD_FOR,
        opened_with=opened_with, browser=browser,
    )  # fmt: skip


async def find_web_session(tx: Transaction, print_: str, *, now: Micros) -> SignedIn | None:
    """Who shows something with this print, if it is good."""
    row = await tx.row(
        f"""SELECT s.expires_at, coalesce(s.used_at, s.made_at), {PERSON_P} FROM web_session s
           JOIN person p ON p.id = s.person WHERE s.print = :print AND s.expires_at > :now""",
        print=print_,
        now=now,
    )
    if row is None:
        return None
    return SignedIn(person=person_from(row[2:]), print=print_, expires_at=row[0], used_at=row[1])


async def list_web_sessions(tx: Transaction, person: PersonId, *, now: Micros) -> list[Session]:
    """The browsers that are signed in as a person, used last first."""
    rows = await tx.rows(
        """SELECT print, opened_with, browser, made_at, coalesce(used_at, made_at) AS used,
             expires_at FROM web_session
           WHERE person = :person AND expires_at > :now ORDER BY used DESC, print""",
        person=person,
        now=now,
    )
    return [session_from(row) for row in rows]


async def prolong_web_session(
    tx: Transaction, person: PersonId, print_: str, *, now: Micros
) -> None:
    """Let a session be good for a month from now."""
    await tx.run(
        """UPDATE web_session SET expires_at = :expires_at, used_at = :now
           WHERE print = :print AND person = :person""",
        expires_at=now + SESSION_GOOD_FOR, now=now, print=print_, person=person,
    )  # fmt: skip


async def note_use_of_session(
    tx: Transaction, person: PersonId, print_: str, *, now: Micros
) -> None:
    """Note that a session was used just now."""
    await tx.run(
        "UPDATE web_session SET used_at = :now WHERE print = :print AND person = :person",
        now=now, print=print_, person=person,
    )  # fmt: skip


async def end_web_session(tx: Transaction, person: PersonId, print_: str) -> bool:
    """Sign one browser of a person out; whether it was signed in."""
    ended = await tx.run(
        "DELETE FROM web_session WHERE print = :print AND person = :person",
        print=print_,
        person=person,
    )
    return ended > 0


async def end_other_sessions(tx: Transaction, person: PersonId, but: str) -> int:
    """Sign every browser of a person out but one; how many there were."""
    return await tx.run(
        "DELETE FROM web_session WHERE person = :person AND print <> :but", person=person, but=but
    )


async def write_invitation(tx: Transaction, person: PersonId, secret: str, *, now: Micros) -> str:
    """Keep a new invitation for a person, and its id; the one before it is no longer good."""
    await tx.run("DELETE FROM web_invitation WHERE person = :person", person=person)
    name = new_id(now)
    await tx.run(
        """INSERT INTO web_invitation (id, print, person, made_at, expires_at)
           VALUES (:id, :print, :person, :now, :expires_at)""",
        id=name, print=print_of(secret), person=person, now=now,
        expires_at=now + INVITATION_GOOD_FOR,
    )  # fmt: skip
    return name


async def list_invitations(tx: Transaction, *, now: Micros) -> list[Invitation]:
    """The invitations that wait, of everybody, the newest first."""
    rows = await tx.rows(
        f"""SELECT i.id, i.made_at, i.expires_at, {PERSON_P}
           FROM web_invitation i JOIN person p ON p.id = i.person
           WHERE i.expires_at > :now ORDER BY i.made_at DESC, i.id""",
        now=now,
    )
    return [
        Invitation(id=row[0], made_at=row[1], expires_at=row[2], person=person_from(row[3:]))
        for row in rows
    ]


async def end_invitation(tx: Transaction, name: str) -> PersonId:
    """Let an invitation open nothing any more; whose it was. Raises NotFound."""
    row = await tx.row("DELETE FROM web_invitation WHERE id = :id RETURNING person", id=name)
    if row is None:
        raise NotFound(
            saying("invitation_over", "There is no such invitation; it was used, or is over.")
        )
    return PersonId(row[0])


async def has_way_in(tx: Transaction, person: PersonId) -> bool:
    """Whether a person is signed in somewhere, or can be, or is known on any platform."""
    for table in ("web_session", "web_token", "web_passkey", "web_link", "identity"):
        if await tx.row(f"SELECT 1 FROM {table} WHERE person = :person LIMIT 1", person=person):
            return True
    return False


def session_from(row: Row) -> Session:
    """A session from its columns."""
    print_, opened_with, browser, made_at, used_at, expires_at = row
    return Session(
        print=print_, opened_with=opened_with, browser=browser, made_at=made_at, used_at=used_at,
        expires_at=expires_at,
    )  # fmt: skip
