"""What does a program show to act as somebody, and how far may it go?

A token is shown once, when it is made; what is kept is its print, which gives nothing away of a
secret that long and random. Knows nothing of HTTP.
"""

from dataclasses import dataclass
from typing import Final, get_args

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import PERSON_P, person_from
from oldfriend.memory.sign_in import Scope, SignedIn, new_secret, print_of

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
BEGINS: Final = "oldfriend_"
"""So that whoever finds one in a file knows what it is."""
LONGEST_NAME: Final = 80
MOST_DAYS: Final = 366
MOST_TOKENS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is listed: never what it consists of."""

    id: str
    name: str
    scope: Scope
    made_at: Micros
    expires_at: Micros
    used_at: Micros | None


def new_token() -> str:
    """A token as it is shown."""
    return BEGINS + new_secret()


async def write_token(
    tx: Transaction, person: PersonId, secret: str, *, name: str, scope: Scope, days: int,
    now: Micros,
) -> Token:  # fmt: skip
    """Keep a new token. Raises InvalidInput."""
    clean = " ".join(storable(name).split())
    if not 1 <= len(clean) <= LONGEST_NAME:
        raise InvalidInput(saying(
            "token_name_unfit", f"Say in 1 to {LONGEST_NAME} characters what the token is for.",
            longest=LONGEST_NAME,
        ))  # fmt: skip
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(saying(
            "token_days_unfit", f"A token is good for 1 to {MOST_DAYS} days.", most=MOST_DAYS,
        ))  # fmt: skip
    await tx.run("DELETE FROM web_token WHERE expires_at <= :until", until=now - 30 * DAY)
    if len(await list_tokens(tx, person)) >= MOST_TOKENS:
        raise InvalidInput(saying(
            "tokens_full", f"There are {MOST_TOKENS} tokens. End some that are not used.",
            count=MOST_TOKENS,
        ))  # fmt: skip
    token = Token(
        id=new_id(now), name=clean, scope=scope, made_at=now, expires_at=now + days * DAY,
        used_at=None,
    )  # fmt: skip
    await tx.run(
        """INSERT INTO web_token (id, print, person, name, scope, made_at, expires_at)
           VALUES (:id, :print, :person, :name, :scope, :now, :expires_at)""",
        id=token.id, print=print_of(secret), person=person, name=clean, scope=scope, now=now,
        expires_at=token.expires_at,
    )  # fmt: skip
    return token


async def find_by_token(tx: Transaction, print_: str, *, now: Micros) -> SignedIn | None:
    """Who shows a token with this print, and how far they may go, if it is good."""
    row = await tx.row(
        f"""SELECT t.expires_at, t.used_at, t.scope, {PERSON_P}
           FROM web_token t JOIN person p ON p.id = t.person
           WHERE t.print = :print AND t.expires_at > :now""",
        print=print_,
        now=now,
    )
    if row is None:
        return None
    return SignedIn(
        person=person_from(row[3:]), print=print_, expires_at=row[0], used_at=row[1], scope=row[2],
        is_program=True,
    )  # fmt: skip


async def note_use_of_token(tx: Transaction, person: PersonId, print_: str, *, now: Micros) -> None:
    """Note that a token was used just now."""
    await tx.run(
        "UPDATE web_token SET used_at = :now WHERE print = :print AND person = :person",
        now=now, print=print_, person=person,
    )  # fmt: skip


async def list_tokens(tx: Transaction, person: PersonId) -> list[Token]:
    """A person's tokens, the newest first; those that are over for a month yet."""
    rows = await tx.rows(
        """SELECT id, name, scope, made_at, expires_at, used_at FROM web_token
           WHERE person = :person ORDER BY made_at DESC, id""",
        person=person,
    )
    return [token_from(row) for row in rows]


async def end_token(tx: Transaction, person: PersonId, name: str) -> None:
    """Let a token of a person open nothing any more. Raises NotFound."""
    ended = await tx.run(
        "DELETE FROM web_token WHERE id = :id AND person = :person", id=name, person=person
    )
    if not ended:
        raise NotFound(
            saying("token_gone", "There is no such token; it may have been ended already.")
        )


def token_from(row: Row) -> Token:
    """A token from its columns."""
    name, called, scope, made_at, expires_at, used_at = row
    return Token(
        id=name, name=called, scope=scope, made_at=made_at, expires_at=expires_at, used_at=used_at
    )
