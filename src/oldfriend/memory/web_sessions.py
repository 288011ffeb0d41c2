"""Web sessions: sign-in links, invitations and browser sessions.

A sign-in link is shown elsewhere, such as in a terminal, and works once, for ten minutes. An
invitation is a link that the owner makes for somebody, and works once, for a week. Either opens a
session of two secrets, and the browser sends both with every request: one goes to every server on
this machine, the other is known only to our page. Only hashes are stored: the secrets are long and
random, so a plain digest reveals nothing, nor does the time of a lookup. This module knows nothing
of cookies.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, MAX_CLOCK_SKEW, MINUTE, SECOND, Micros
from oldfriend.domain.errors import NotFound, TooManyAttempts
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Person
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row

Scope = Literal["read", "write", "speak", "admin", "frontend"]
"""speak: as write, and what a program passes on counts as the person's own words.

frontend: a chat front end for several people, each of whom is introduced once; it opens no memory
by itself.
"""
SignInMethod = Literal["link", "invitation", "passkey"]
SecretKind = Literal["link", "passkey", "token", "registration"]

LINK_TABLES: Final[tuple[tuple[str, SignInMethod], ...]] = (
    ("web_link", "link"),
    ("web_invitation", "invitation"),
)
LINK_TTL: Final = 10 * MINUTE
INVITATION_TTL: Final = 7 * DAY
SESSION_TTL: Final = 30 * DAY
LAST_USED_RESOLUTION: Final = 5 * MINUTE
"""The precision of the time of last use."""
ATTEMPT_WINDOW: Final = 10 * MINUTE
MAX_SIGN_IN_ATTEMPTS: Final = 20
"""Wrong secrets of one kind from one address within ATTEMPT_WINDOW."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A browser or program that may access a person's data."""

    person: Person
    digest: str
    expires_at: Micros
    used_at: Micros | None = None
    scope: Scope = "admin"  # a browser has all rights of its person
    is_program: bool = False  # it has a token and no session
    token: str = ""  # the id of a program's token
    made_at: Micros | None = None  # when the session was opened
    page_digest: str = field(default="", repr=False)  # of the secret known only to the page
    language: str = ""  # in which beliefs are told: of the request, else the person's


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A signed-in browser, as it is listed."""

    digest: str
    opened_with: SignInMethod
    browser: str
    made_at: Micros
    used_at: Micros
    expires_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation that was not used yet."""

    id: str
    person: Person
    made_at: Micros
    expires_at: Micros


def generate_secret() -> str:
    """Return a new random secret for a link or a session, to be shown once."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """Return the hash that is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


async def save_sign_in_link(tx: Transaction, person: PersonId, secret: str, *, now: Micros) -> None:
    """Store a new sign-in link for a person, replacing earlier ones."""
    await tx.run("DELETE FROM web_link WHERE person = :person", person=person)
    await tx.run(
        """INSERT INTO web_link (print, person, expires_at)
           VALUES (:print, :person, :expires_at)""",
        print=hash_secret(secret),
        person=person,
        expires_at=now + LINK_TTL,
    )


async def find_sign_in_link(
    tx: Transaction, secret: str, *, now: Micros
) -> tuple[Person, SignInMethod] | None:
    """Return the person and kind of a valid link or invitation without using it up, or None."""
    for table, opened_with in LINK_TABLES:
        row = await tx.row(
            f"""SELECT {PERSON_P_COLUMNS} FROM {table} l JOIN person p ON p.id = l.person
               WHERE l.print = :print AND l.expires_at > :now""",
            print=hash_secret(secret),
            now=now,
        )
        if row is not None:
            return parse_person_row(row), opened_with
    return None


async def redeem_sign_in_link(tx: Transaction, secret: str, *, now: Micros) -> bool:
    """Use a link or an invitation up; return False if it is not valid."""
    for table, _ in LINK_TABLES:
        used = await tx.run(
            f"DELETE FROM {table} WHERE print = :print AND expires_at > :now",
            print=hash_secret(secret),
            now=now,
        )
        if used:
            return True
    return False


async def check_attempt_limit(
    tx: Transaction, address: str, kind: SecretKind, *, now: Micros
) -> None:
    """Raise TooManyAttempts after too many failures of one kind from an address.

    Called only after another failure: a right secret is long and random, so nobody guesses it, and
    others who share the address must not lock its owner out. Failures elsewhere, or of another
    kind, do not count.
    """
    row = await tx.row(
        """SELECT count(*), min(tried_at) FROM web_attempt
           WHERE address = :address AND kind = :kind
           AND tried_at > :since AND tried_at <= :ahead""",
        address=address,
        kind=kind,
        since=now - ATTEMPT_WINDOW,
        ahead=now + MAX_CLOCK_SKEW,
    )
    assert row is not None
    count, first = row
    if count < MAX_SIGN_IN_ATTEMPTS:
        return
    wait_s = max((first + ATTEMPT_WINDOW - now) // SECOND, 0) + 1
    raise TooManyAttempts(
        localizable(
            "too_many_tries",
            f"Too many wrong attempts. Wait {wait_s // 60 + 1} min, then: oldfriend link",
            minutes=wait_s // 60 + 1,
        ),
        retry_after_s=wait_s,
    )


async def record_failed_sign_in(
    tx: Transaction, address: str, kind: SecretKind, *, now: Micros
) -> None:
    """Record a failed attempt and delete those that no longer count."""
    await tx.run("DELETE FROM web_attempt WHERE tried_at <= :until", until=now - ATTEMPT_WINDOW)
    await tx.run(
        """INSERT INTO web_attempt (id, tried_at, address, kind)
           VALUES (:id, :now, :address, :kind)""",
        id=new_id(now),
        now=now,
        address=address,
        kind=kind,
    )


async def open_web_session(
    tx: Transaction,
    person: PersonId,
    secret: str,
    page_secret: str,
    *,
    now: Micros,
    opened_with: SignInMethod = "link",
    browser: str = "",
) -> None:
    """Open a session for both secrets that is valid for SESSION_TTL; delete expired ones."""
    await tx.run("DELETE FROM web_session WHERE expires_at <= :now", now=now)
    await tx.run(
        """INSERT INTO web_session (print, person, made_at, expires_at, opened_with, browser,
             used_at, page_print)
           VALUES (:print, :person, :now, :expires_at, :opened_with, :browser, :now, :page_print)
        """,
        print=hash_secret(secret),
        person=person,
        now=now,
        expires_at=now + SESSION_TTL,
        opened_with=opened_with,
        browser=browser,
        page_print=hash_secret(page_secret),
    )


async def find_web_session(tx: Transaction, digest: str, *, now: Micros) -> Principal | None:
    """Return the principal of the valid session with this hash, or None."""
    row = await tx.row(
        f"""SELECT s.expires_at, coalesce(s.used_at, s.made_at), s.made_at, s.page_print,
           {PERSON_P_COLUMNS}
           FROM web_session s JOIN person p ON p.id = s.person
           WHERE s.print = :print AND s.expires_at > :now AND s.page_print IS NOT NULL""",
        print=digest,
        now=now,
    )
    if row is None:
        return None
    return Principal(
        person=parse_person_row(row[4:]),
        digest=digest,
        expires_at=row[0],
        used_at=row[1],
        made_at=row[2],
        page_digest=row[3],
    )


async def list_web_sessions(tx: Transaction, person: PersonId, *, now: Micros) -> list[WebSession]:
    """List the signed-in browsers of a person, last used first."""
    rows = await tx.rows(
        """SELECT print, opened_with, browser, made_at, coalesce(used_at, made_at) AS used,
             expires_at FROM web_session
           WHERE person = :person AND expires_at > :now AND page_print IS NOT NULL
           ORDER BY used DESC, print""",
        person=person,
        now=now,
    )
    return [parse_web_session_row(row) for row in rows]


async def extend_web_session(
    tx: Transaction, person: PersonId, digest: str, *, now: Micros
) -> None:
    """Extend a session to SESSION_TTL from now."""
    await tx.run(
        """UPDATE web_session SET expires_at = :expires_at, used_at = :now
           WHERE print = :print AND person = :person""",
        expires_at=now + SESSION_TTL,
        now=now,
        print=digest,
        person=person,
    )


async def record_session_use(
    tx: Transaction, person: PersonId, digest: str, *, now: Micros
) -> None:
    """Record that a session was used just now."""
    await tx.run(
        "UPDATE web_session SET used_at = :now WHERE print = :print AND person = :person",
        now=now,
        print=digest,
        person=person,
    )


async def end_web_session(tx: Transaction, person: PersonId, digest: str) -> bool:
    """Sign one browser of a person out; return whether it was signed in."""
    ended = await tx.run(
        "DELETE FROM web_session WHERE print = :print AND person = :person",
        print=digest,
        person=person,
    )
    return ended > 0


async def end_other_web_sessions(tx: Transaction, person: PersonId, keep_digest: str) -> int:
    """Sign all browsers of a person out except one; return how many."""
    return await tx.run(
        "DELETE FROM web_session WHERE person = :person AND print <> :but",
        person=person,
        but=keep_digest,
    )


async def save_invitation(tx: Transaction, person: PersonId, secret: str, *, now: Micros) -> str:
    """Store a new invitation for a person, replacing an earlier one; return its id."""
    await tx.run("DELETE FROM web_invitation WHERE person = :person", person=person)
    invitation_id = new_id(now)
    await tx.run(
        """INSERT INTO web_invitation (id, print, person, made_at, expires_at)
           VALUES (:id, :print, :person, :now, :expires_at)""",
        id=invitation_id,
        print=hash_secret(secret),
        person=person,
        now=now,
        expires_at=now + INVITATION_TTL,
    )
    return invitation_id


async def list_invitations(tx: Transaction, *, now: Micros) -> list[Invitation]:
    """List everybody's valid invitations, newest first."""
    rows = await tx.rows(
        f"""SELECT i.id, i.made_at, i.expires_at, {PERSON_P_COLUMNS}
           FROM web_invitation i JOIN person p ON p.id = i.person
           WHERE i.expires_at > :now ORDER BY i.made_at DESC, i.id""",
        now=now,
    )
    return [
        Invitation(id=row[0], made_at=row[1], expires_at=row[2], person=parse_person_row(row[3:]))
        for row in rows
    ]


async def delete_invitation(tx: Transaction, invitation_id: str) -> PersonId:
    """Revoke an invitation; return whose it was. Raises NotFound."""
    row = await tx.row(
        "DELETE FROM web_invitation WHERE id = :id RETURNING person", id=invitation_id
    )
    if row is None:
        raise NotFound(
            localizable(
                "invitation_over", "There is no such invitation; it was used, or has expired."
            )
        )
    return PersonId(row[0])


async def can_sign_in(tx: Transaction, person: PersonId) -> bool:
    """Whether a person is signed in, has a way to sign in, or is known on a platform."""
    for table in ("web_session", "web_token", "web_passkey", "web_link", "identity"):
        if await tx.row(f"SELECT 1 FROM {table} WHERE person = :person LIMIT 1", person=person):
            return True
    return False


def parse_web_session_row(row: Row) -> WebSession:
    """Parse a web session row."""
    print_, opened_with, browser, made_at, used_at, expires_at = row
    return WebSession(
        digest=print_,
        opened_with=opened_with,
        browser=browser,
        made_at=made_at,
        used_at=used_at,
        expires_at=expires_at,
    )
