"""Credentials: API tokens of programs, and passkeys of people's devices.

A token is shown once, when it is created. Only its hash is stored, which is safe because the token
is long and random. This module knows nothing of HTTP.

A passkey's secret never leaves its device. What is stored here verifies a signature and grants
nothing by itself. Signatures are checked elsewhere.
"""

from dataclasses import dataclass, replace
from typing import Final, get_args

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros
from oldfriend.domain.errors import InvalidInput, NotFound, StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, build_min_id, new_id
from oldfriend.domain.messages import clean_name
from oldfriend.memory.people import PERSON_P_COLUMNS, parse_person_row
from oldfriend.memory.web_sessions import Principal, Scope, generate_secret, hash_secret

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
TOKEN_PREFIX: Final = "oldfriend_"
"""Tells whoever finds a token in a file what it is."""
MAX_TOKEN_NAME_LENGTH: Final = 80
MAX_DAYS: Final = 366
MAX_API_TOKENS: Final = 100
FRONT_END_CHARS: Final = 16
TOKEN_NOT_FOUND: Final = localizable(
    "token_gone", "There is no such token; it may have been revoked already."
)
TOKEN_RENEWED_BY_PROGRAM: Final = localizable(
    "token_of_program", "The program that has this token renews it by itself."
)
TOKEN_COLUMNS: Final = "id, name, scope, made_at, expires_at, used_at, mcp_until IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token as it is listed, without its secret."""

    id: str
    name: str
    scope: Scope
    made_at: Micros
    expires_at: Micros
    used_at: Micros | None
    is_hosted: bool = False
    """Whether it was given by consent to a hosted program, which renews it by itself."""


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
    clean = " ".join(clean_name(name).split())
    if not 1 <= len(clean) <= MAX_TOKEN_NAME_LENGTH:
        raise InvalidInput(
            localizable(
                "token_name_unfit",
                f"Say what the token is for, in 1 to {MAX_TOKEN_NAME_LENGTH} characters.",
                longest=MAX_TOKEN_NAME_LENGTH,
            )
        )
    check_token_days(days)
    await tx.run("DELETE FROM web_token WHERE expires_at <= :until", until=now - 30 * DAY)
    if len(await list_api_tokens(tx, person)) >= MAX_API_TOKENS:
        raise InvalidInput(
            localizable(
                "tokens_full",
                f"There are {MAX_API_TOKENS} tokens. Revoke some that are not used.",
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


def check_token_days(days: int) -> None:
    """Raise InvalidInput for a number of days for which no token is valid."""
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(
            localizable(
                "token_days_unfit",
                f"A token can be valid for 1 to {MAX_DAYS} days.",
                most=MAX_DAYS,
            )
        )


async def renew_api_token(
    tx: Transaction,
    person: PersonId,
    token_id: str,
    secret: str,
    *,
    days: int | None = None,
    unless_since: Micros | None = None,
    now: Micros,
) -> ApiToken:
    """Give a token a new secret and more days; the old secret no longer works.

    Raises StaleDecision if it was renewed after ``unless_since``.

    Without a number of days it is valid for as long as it was, and never ends earlier. The users
    of a front end stay who they are. Raises NotFound, and InvalidInput for the token of a hosted
    program or an unfit number of days.
    """
    if days is not None:
        check_token_days(days)
    row = await tx.row(
        f"""SELECT {TOKEN_COLUMNS}, print FROM web_token
           WHERE id = :id AND person = :person AND scope <> 'calendar'""",
        id=token_id,
        person=person,
    )
    if row is None:
        raise NotFound(TOKEN_NOT_FOUND)
    digest, token = hash_secret(secret), parse_token_row(row[:-1])
    if token.is_hosted:
        raise InvalidInput(TOKEN_RENEWED_BY_PROGRAM)
    is_renewed = token.id < build_min_id(token.made_at)  # ids tell when a token was made first
    if unless_since is not None and is_renewed and token.made_at > unless_since:
        raise StaleDecision("The token was renewed a moment ago, and that secret works.")
    expires_at = (
        max(token.expires_at, now + token.expires_at - token.made_at)
        if days is None
        else now + days * DAY
    )
    renewed = replace(token, made_at=now, expires_at=expires_at, used_at=None)
    await tx.run(
        """UPDATE web_token SET print = :print, made_at = :now, expires_at = :expires_at,
             used_at = NULL WHERE id = :id AND person = :person""",
        print=digest,
        now=now,
        expires_at=renewed.expires_at,
        id=token_id,
        person=person,
    )
    if renewed.scope == "frontend":
        await move_users(tx, get_front_end(row[-1]), get_front_end(digest))
    return renewed


def get_front_end(digest: str) -> str:
    """Return how the addresses of a front end's users begin, given its token's hash."""
    return f"{digest[:FRONT_END_CHARS]}/"


async def move_users(tx: Transaction, before: str, after: str) -> None:
    """Give the users of a front end the addresses that they have by another token.

    No other channel has addresses that begin like this.
    """
    await tx.run(
        """UPDATE identity SET address = :after || substr(address, CAST(:chars AS INTEGER) + 1)
           WHERE substr(address, 1, CAST(:chars AS INTEGER)) = :before""",
        before=before,
        after=after,
        chars=len(before),
    )


async def find_principal_by_token(
    tx: Transaction,
    digest: str,
    *,
    now: Micros,
    for_front_ends: bool = False,
    for_mcp: bool = False,
) -> Principal | None:
    """Return the principal of the valid token with this hash, or None if there is none.

    The token of a front end counts only where each of its users is told apart, and that of a hosted
    program only at /mcp.
    """
    row = await tx.row(
        f"""SELECT t.expires_at, t.used_at, t.scope, t.id, {PERSON_P_COLUMNS}
           FROM web_token t JOIN person p ON p.id = t.person
           WHERE t.print = :print AND t.expires_at > :now AND t.scope <> 'calendar'
           AND (t.scope <> 'frontend' OR :for_front_ends = 1)
           AND (t.mcp_until IS NULL OR (t.mcp_until > :now AND :for_mcp = 1))""",
        print=digest,
        now=now,
        for_front_ends=int(for_front_ends),
        for_mcp=int(for_mcp),
    )
    if row is None:
        return None
    return Principal(
        person=parse_person_row(row[4:]),
        digest=digest,
        expires_at=row[0],
        used_at=row[1],
        scope=row[2],
        is_program=True,
        token=row[3],
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
        f"""SELECT {TOKEN_COLUMNS} FROM web_token
           WHERE person = :person AND scope <> 'calendar' ORDER BY made_at DESC, id""",
        person=person,
    )
    return [parse_token_row(row) for row in rows]


async def list_front_end_names(tx: Transaction) -> dict[str, str]:
    """Return the name of each front end's token, by what the addresses of its users begin with."""
    rows = await tx.rows("SELECT print, name FROM web_token WHERE scope = 'frontend'")
    return {get_front_end(row[0]): row[1] for row in rows}


async def revoke_api_token(tx: Transaction, person: PersonId, token_id: str) -> None:
    """Revoke a person's token. Raises NotFound."""
    ended = await tx.run(
        "DELETE FROM web_token WHERE id = :id AND person = :person", id=token_id, person=person
    )
    if not ended:
        raise NotFound(TOKEN_NOT_FOUND)


def parse_token_row(row: Row) -> ApiToken:
    """Parse a token row."""
    token_id, name, scope, made_at, expires_at, used_at, is_hosted = row
    return ApiToken(
        id=token_id,
        name=name,
        scope=scope,
        made_at=made_at,
        expires_at=expires_at,
        used_at=used_at,
        is_hosted=bool(is_hosted),
    )


CHALLENGE_TTL: Final = 5 * MINUTE
MAX_CHALLENGES: Final = 1_000
"""Open challenges for sign-in overall, and for each person who adds a passkey."""
MAX_PASSKEY_NAME_LENGTH: Final = 80
MAX_PASSKEYS: Final = 50
PASSKEY_NOT_FOUND: Final = localizable(
    "passkey_gone", "There is no such passkey; it may have been removed already."
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
    clean = " ".join(clean_name(passkey.name).split())[:MAX_PASSKEY_NAME_LENGTH] or "Passkey"
    if len(await list_passkeys(tx, passkey.person)) >= MAX_PASSKEYS:
        raise InvalidInput(
            localizable(
                "passkeys_full",
                f"There are {MAX_PASSKEYS} passkeys. Remove some first.",
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
