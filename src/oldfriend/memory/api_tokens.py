"""API tokens: let a program act as a person, within a scope and until an expiry time.

A token is shown once, when it is created. Only its hash is stored, which is safe because the token
is long and random. This module knows nothing of HTTP.
"""

from dataclasses import dataclass
from typing import Final, get_args

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row
from oldfriend.memory.web_sessions import Principal, Scope, generate_secret, hash_secret

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
TOKEN_PREFIX: Final = "oldfriend_"
"""Tells whoever finds a token in a file what it is."""
MAX_TOKEN_NAME_LENGTH: Final = 80
MAX_DAYS: Final = 366
MAX_API_TOKENS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token as it is listed, without its secret."""

    id: str
    name: str
    scope: Scope
    made_at: Micros
    expires_at: Micros
    used_at: Micros | None


def generate_api_token() -> str:
    """Return a new random token, to be shown once."""
    return TOKEN_PREFIX + generate_secret()


async def save_api_token(
    tx: Transaction,
    person: PersonId,
    secret: str,
    *,
    name: str,
    scope: Scope,
    days: int,
    now: Micros,
) -> ApiToken:
    """Store a new token.

    Raises InvalidInput for an unfit name or number of days, or for too many tokens.
    """
    clean = " ".join(sanitize_text(name).split())
    if not 1 <= len(clean) <= MAX_TOKEN_NAME_LENGTH:
        raise InvalidInput(
            localizable(
                "token_name_unfit",
                f"Say in 1 to {MAX_TOKEN_NAME_LENGTH} characters what the token is for.",
                longest=MAX_TOKEN_NAME_LENGTH,
            )
        )
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(
            localizable(
                "token_days_unfit",
                f"A token is good for 1 to {MAX_DAYS} days.",
                most=MAX_DAYS,
            )
        )
    await tx.run("DELETE FROM web_token WHERE expires_at <= :until", until=now - 30 * DAY)
    if len(await list_api_tokens(tx, person)) >= MAX_API_TOKENS:
        raise InvalidInput(
            localizable(
                "tokens_full",
                f"There are {MAX_API_TOKENS} tokens. End some that are not used.",
                count=MAX_API_TOKENS,
            )
        )
    token = ApiToken(
        id=new_id(now),
        name=clean,
        scope=scope,
        made_at=now,
        expires_at=now + days * DAY,
        used_at=None,
    )
    await tx.run(
        """INSERT INTO web_token (id, print, person, name, scope, made_at, expires_at)
           VALUES (:id, :print, :person, :name, :scope, :now, :expires_at)""",
        id=token.id,
        print=hash_secret(secret),
        person=person,
        name=clean,
        scope=scope,
        now=now,
        expires_at=token.expires_at,
    )
    return token


async def find_principal_by_token(tx: Transaction, digest: str, *, now: Micros) -> Principal | None:
    """Return the principal of the valid token with this hash, or None if there is none."""
    row = await tx.row(
        f"""SELECT t.expires_at, t.used_at, t.scope, {PERSON_P_COLUMNS}
           FROM web_token t JOIN person p ON p.id = t.person
           WHERE t.print = :print AND t.expires_at > :now""",
        print=digest,
        now=now,
    )
    if row is None:
        return None
    return Principal(
        person=parse_person_row(row[3:]),
        digest=digest,
        expires_at=row[0],
        used_at=row[1],
        scope=row[2],
        is_program=True,
    )


async def record_token_use(tx: Transaction, person: PersonId, digest: str, *, now: Micros) -> None:
    """Record that a token was used just now."""
    await tx.run(
        "UPDATE web_token SET used_at = :now WHERE print = :print AND person = :person",
        now=now,
        print=digest,
        person=person,
    )


async def list_api_tokens(tx: Transaction, person: PersonId) -> list[ApiToken]:
    """List a person's tokens, newest first, including those expired within the last month."""
    rows = await tx.rows(
        """SELECT id, name, scope, made_at, expires_at, used_at FROM web_token
           WHERE person = :person ORDER BY made_at DESC, id""",
        person=person,
    )
    return [parse_token_row(row) for row in rows]


async def revoke_api_token(tx: Transaction, person: PersonId, token_id: str) -> None:
    """Revoke a person's token. Raises NotFound."""
    ended = await tx.run(
        "DELETE FROM web_token WHERE id = :id AND person = :person", id=token_id, person=person
    )
    if not ended:
        raise NotFound(
            localizable("token_gone", "There is no such token; it may have been ended already.")
        )


def parse_token_row(row: Row) -> ApiToken:
    """Parse a token row."""
    token_id, name, scope, made_at, expires_at, used_at = row
    return ApiToken(
        id=token_id, name=name, scope=scope, made_at=made_at, expires_at=expires_at, used_at=used_at
    )
