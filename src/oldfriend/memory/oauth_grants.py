"""OAuth grants: registered clients, authorization codes and refresh tokens of hosted programs.

What a code or a refresh token is exchanged for is an ordinary token of this house, whose secret is
renewed in place. So each connection is one token in its person's list, and ends when that is
revoked. A code or refresh token that comes a second time was stolen, or is in two hands: everything
that came of it ends. Only a refresh whose answer was lost may be repeated at once. This module
knows nothing of HTTP.
"""

import json
import secrets
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, HOUR, MINUTE, SECOND, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.memory.credentials import generate_api_token, save_api_token
from oldfriend.memory.web_sessions import generate_secret, hash_secret

OAuthScope = Literal["read", "write"]
GrantKind = Literal["code", "refresh"]
CODE_TTL: Final = MINUTE
ACCESS_TTL: Final = HOUR
REFRESH_DAYS: Final = 60
"""A connection that is not used for so long ends."""
USED_GRANT_KEPT: Final = DAY
REPEAT_GRACE: Final = 30 * SECOND
"""How long a refresh may be repeated whose answer has not arrived."""
UNUSED_CLIENT_TTL: Final = DAY
MAX_UNUSED_CLIENTS: Final = 200
"""Registered clients that nobody has let in: anybody may register."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A program as it presents itself; nothing of it is proved but where it is answered."""

    id: str
    name: str
    redirects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What a person has agreed to, for which a code stands."""

    client: str
    name: str  # of the token that will come of it
    redirect: str
    challenge: str  # of PKCE, S256
    scope: OAuthScope


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedTokens:
    """The secrets that a client is given, shown once."""

    access: str
    refresh: str
    scope: OAuthScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A stored code or refresh token, without its secret."""

    digest: str
    person: PersonId
    kind: GrantKind
    client: str
    name: str = ""  # of a code …
    redirect: str = ""
    challenge: str = ""
    scope: OAuthScope
    token: str | None = None  # which it renews, or which came of it
    expires_at: Micros
    used_at: Micros | None = None


async def register_client(tx: Transaction, client: OAuthClient, *, now: Micros) -> None:
    """Store a client that has registered itself; those that nobody lets in are dropped soon."""
    await tx.run(
        "DELETE FROM oauth_client WHERE used_at IS NULL AND made_at <= :until",
        until=now - UNUSED_CLIENT_TTL,
    )
    await tx.run(
        """DELETE FROM oauth_client WHERE id IN (
             SELECT id FROM oauth_client WHERE used_at IS NULL
             ORDER BY made_at DESC, id LIMIT 1000000 OFFSET :kept)""",
        kept=MAX_UNUSED_CLIENTS - 1,
    )
    await tx.run(
        """INSERT INTO oauth_client (id, name, redirects, made_at)
           VALUES (:id, :name, :redirects, :now)""",
        id=client.id,
        name=client.name,
        redirects=json.dumps(client.redirects),
        now=now,
    )


async def find_client(tx: Transaction, client_id: str) -> OAuthClient | None:
    """Return a registered client, or None."""
    row = await tx.row("SELECT id, name, redirects FROM oauth_client WHERE id = :id", id=client_id)
    if row is None:
        return None
    return OAuthClient(id=row[0], name=row[1], redirects=tuple(json.loads(row[2])))


async def save_code(tx: Transaction, person: PersonId, consent: Consent, *, now: Micros) -> str:
    """Store what a person has agreed to; return the code, which is exchanged once."""
    code = generate_secret()
    await tx.run(
        "UPDATE oauth_client SET used_at = :now WHERE id = :id", now=now, id=consent.client
    )
    grant = Grant(
        digest=hash_secret(code),
        person=person,
        kind="code",
        client=consent.client,
        name=consent.name,
        redirect=consent.redirect,
        challenge=consent.challenge,
        scope=consent.scope,
        expires_at=now + CODE_TTL,
    )
    await insert_grant(tx, grant, now=now)
    return code


async def redeem_code(
    tx: Transaction, code: str, *, client: str, redirect: str, challenge: str, now: Micros
) -> IssuedTokens | None:
    """Exchange a code, whose challenge the client has met; None if it is not valid for that.

    It is used up either way. Raises InvalidInput if the person has too many tokens.
    """
    grant = await take_grant(tx, "code", code, client=client, now=now)
    if grant is None or grant.redirect != redirect:
        return None
    if not secrets.compare_digest(grant.challenge.encode(), challenge.encode()):
        return None
    access = generate_api_token()
    token = await save_api_token(
        tx,
        grant.person,
        access,
        name=grant.name,
        scope=grant.scope,
        days=REFRESH_DAYS,
        now=now,
    )
    await tx.run(
        "UPDATE oauth_grant SET token = :token WHERE print = :print AND person = :person",
        token=token.id,
        print=grant.digest,
        person=grant.person,
    )
    return await issue_tokens(tx, grant, token.id, access, now=now)


async def redeem_refresh_token(
    tx: Transaction, secret: str, *, client: str, now: Micros
) -> IssuedTokens | None:
    """Exchange a refresh token for the next, with a new access token; None if it is not valid."""
    grant = await take_grant(tx, "refresh", secret, client=client, now=now)
    if grant is None or grant.token is None:
        return None
    return await issue_tokens(tx, grant, grant.token, generate_api_token(), now=now)


async def is_grant_known(tx: Transaction, secret: str) -> bool:
    """Tell whether a code, a refresh token or an access token is one of this house, used or not."""
    row = await tx.row(
        """SELECT 1 FROM web_token WHERE print = :print AND mcp_until IS NOT NULL
           UNION SELECT 1 FROM oauth_grant WHERE print = :print""",
        print=hash_secret(secret),
    )
    return row is not None


async def revoke_grant(tx: Transaction, secret: str) -> None:
    """End the connection to which an access or refresh token belongs, if there is one."""
    row = await tx.row(
        """SELECT person, id FROM web_token WHERE print = :print AND mcp_until IS NOT NULL
           UNION SELECT person, token FROM oauth_grant
           WHERE print = :print AND token IS NOT NULL""",
        print=hash_secret(secret),
    )
    if row is not None:
        await end_connection(tx, PersonId(row[0]), row[1])


async def take_grant(
    tx: Transaction, kind: GrantKind, secret: str, *, client: str, now: Micros
) -> Grant | None:
    """Use a code or refresh token up; None if it is not valid for this client.

    If it was used before, everything that came of it ends, unless a refresh is being repeated.
    """
    digest = hash_secret(secret)
    taken = await tx.run(
        """UPDATE oauth_grant SET used_at = :now
           WHERE print = :print AND kind = :kind AND used_at IS NULL""",
        now=now,
        print=digest,
        kind=kind,
    )
    row = await tx.row(  # after that: whoever was faster has been given a token by now
        """SELECT print, person, kind, client, name, redirect, challenge, scope, token, expires_at,
             used_at
           FROM oauth_grant WHERE print = :print AND kind = :kind""",
        print=digest,
        kind=kind,
    )
    if row is None:
        return None
    grant = parse_grant_row(row)
    is_valid = taken or await repeat_refresh(tx, grant, client=client, now=now)
    if not is_valid:
        await end_connection(tx, grant.person, grant.token)
        return None
    return grant if grant.client == client and grant.expires_at > now else None


async def repeat_refresh(tx: Transaction, grant: Grant, *, client: str, now: Micros) -> bool:
    """Tell whether a used refresh token may be exchanged once more, because its answer was lost.

    Then what it was exchanged for is unused still. From now on that counts as used: if it comes
    after all, the answer was not lost, and the connection is in two hands.
    """
    if grant.kind != "refresh" or grant.client != client:
        return False
    if grant.used_at is None or grant.used_at <= now - REPEAT_GRACE:
        return False
    replaced = await tx.run(  # what is issued is made in the moment in which the other was used
        """UPDATE oauth_grant SET used_at = made_at
           WHERE person = :person AND token = :token AND kind = 'refresh'
             AND made_at = :used_at AND used_at IS NULL""",
        person=grant.person,
        token=grant.token,
        used_at=grant.used_at,
    )
    return bool(replaced)


async def issue_tokens(
    tx: Transaction, grant: Grant, token: str, access: str, *, now: Micros
) -> IssuedTokens | None:
    """Renew the secret of a token and store the next refresh token; None if it was revoked."""
    until = now + REFRESH_DAYS * DAY
    renewed = await tx.run(
        """UPDATE web_token SET print = :print, mcp_until = :mcp_until, expires_at = :expires_at
           WHERE id = :id AND person = :person""",
        print=hash_secret(access),
        mcp_until=now + ACCESS_TTL,
        expires_at=until,
        id=token,
        person=grant.person,
    )
    if not renewed:
        return None
    refresh = generate_secret()
    following = Grant(
        digest=hash_secret(refresh),
        person=grant.person,
        kind="refresh",
        client=grant.client,
        scope=grant.scope,
        token=token,
        expires_at=until,
    )
    await insert_grant(tx, following, now=now)
    return IssuedTokens(access=access, refresh=refresh, scope=grant.scope)


async def insert_grant(tx: Transaction, grant: Grant, *, now: Micros) -> None:
    """Store a code or a refresh token; those that are long over are deleted."""
    await tx.run("DELETE FROM oauth_grant WHERE expires_at <= :until", until=now - USED_GRANT_KEPT)
    await tx.run(
        """INSERT INTO oauth_grant (print, person, kind, client, name, redirect, challenge, scope,
             token, made_at, expires_at)
           VALUES (:print, :person, :kind, :client, :name, :redirect, :challenge, :scope, :token,
             :now, :until)""",
        print=grant.digest,
        person=grant.person,
        kind=grant.kind,
        client=grant.client,
        name=grant.name,
        redirect=grant.redirect,
        challenge=grant.challenge,
        scope=grant.scope,
        token=grant.token,
        now=now,
        until=grant.expires_at,
    )


async def end_connection(tx: Transaction, person: PersonId, token: str | None) -> None:
    """Revoke a token, with every refresh token that renews it."""
    await tx.run(
        "DELETE FROM web_token WHERE id = :token AND person = :person", token=token, person=person
    )
    await tx.run(
        "DELETE FROM oauth_grant WHERE token = :token AND person = :person AND kind = 'refresh'",
        token=token,
        person=person,
    )


async def end_all_connections(tx: Transaction, person: PersonId) -> None:
    """End everything by which hosted programs come in to a person."""
    await tx.run(
        "DELETE FROM web_token WHERE person = :person AND mcp_until IS NOT NULL", person=person
    )
    await tx.run("DELETE FROM oauth_grant WHERE person = :person", person=person)


def parse_grant_row(row: Row) -> Grant:
    """Parse the row of a code or refresh token."""
    digest, person, kind, client, name, redirect, challenge, scope, token, expires_at, used_at = row
    return Grant(
        digest=digest,
        person=PersonId(person),
        kind=kind,
        client=client,
        name=name,
        redirect=redirect,
        challenge=challenge,
        scope=scope,
        token=token,
        expires_at=expires_at,
        used_at=used_at,
    )
