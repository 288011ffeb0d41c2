"""Token access: who speaks, by a person's token or by the token of a front end for many."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.requests import Request

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import API_CHANNEL, Sender
from oldfriend.domain.messages import Person, sanitize_text
from oldfriend.mcp_server.http_door import note_use, read_bearer_token
from oldfriend.memory.credentials import find_principal_by_token, get_front_end
from oldfriend.memory.identities import find_identity
from oldfriend.memory.web_sessions import (
    Principal,
    check_attempt_limit,
    hash_secret,
    record_failed_sign_in,
)
from oldfriend.openai_api.error_json import ApiRefusal

FRONT_END: Final = "frontend"
"""The scope of a token that a front end sends for all of its users."""
USER_HEADERS: Final = ("x-openwebui-user-id", "x-user-id")
USER_NAME_HEADER: Final = "x-openwebui-user-name"
MAX_USER_CHARS: Final = 200
NO_TOKEN: Final = (
    "This companion needs a token. Make one with `oldfriend token new NAME --scope write`, and "
    "enter it as the API key."
)
BAD_TOKEN: Final = (
    "This token has expired, was revoked, or never existed. Renew it: oldfriend token renew ID "
    "(oldfriend token list shows the id); or make another: oldfriend token new NAME --scope write"
)
READ_ONLY: Final = (
    "This token may only read, and talking stores what you say. Make one with the scope write."
)
NO_USER: Final = (
    "This token is for a front end with several users, and the request does not say who speaks. "
    "Have it send the user's id: the header X-OpenWebUI-User-Id (ENABLE_FORWARD_USER_INFO_HEADERS) "
    "or “user” in the request."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who speaks through a program."""

    person: Person
    digest: str  # of the token
    token: str = ""  # its id


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownUser:
    """A front end's user whom nobody has introduced yet."""

    sender: Sender


async def authenticate(app: AppContext, request: Request, path_secret: str) -> Principal:
    """Return whose token a request has, in its header or its path.

    Raises ApiRefusal, TooManyAttempts, StoreError.
    """
    secret = read_bearer_token(request.headers) or path_secret
    if not secret:
        raise refuse_token(NO_TOKEN)
    now, address = app.clock(), "" if request.client is None else request.client.host
    async with app.db.begin_read() as tx:
        found = await find_principal_by_token(tx, hash_secret(secret), now=now, for_front_ends=True)
        if found is None:
            await check_attempt_limit(tx, address, "token", now=now)
    if found is None:
        async with app.db.begin_write() as tx:
            await record_failed_sign_in(tx, address, "token", now=now)
        raise refuse_token(BAD_TOKEN)
    await note_use(app, found, now=now)
    return found


def refuse_token(message: str) -> ApiRefusal:
    """Return the refusal of a request without a valid token."""
    return ApiRefusal(
        401,
        message,
        kind="authentication_error",
        code="invalid_api_key",
        headers={"WWW-Authenticate": "Bearer"},
    )


async def identify_speaker(
    app: AppContext, principal: Principal, headers: Headers, *, user: str
) -> Caller | UnknownUser:
    """Return who speaks: the token's person or, of a front end, the user that it names.

    Raises ApiRefusal.
    """
    if principal.scope == "read":
        raise ApiRefusal(403, READ_ONLY, kind="permission_error")
    if principal.scope != FRONT_END:
        return Caller(person=principal.person, digest=principal.digest, token=principal.token)
    sender = read_sender(principal, headers, user)
    async with app.db.begin_read() as tx:
        person = await find_identity(tx, API_CHANNEL, sender.address)
    if person is None:
        return UnknownUser(sender=sender)
    return Caller(person=person, digest=principal.digest, token=principal.token)


def read_sender(principal: Principal, headers: Headers, user: str) -> Sender:
    """Return the user that a front end names; its ids are taken as they are. Raises ApiRefusal."""
    named = next((found for each in USER_HEADERS if (found := headers.get(each, ""))), "") or user
    if not named.strip() or len(named) > MAX_USER_CHARS or sanitize_text(named) != named:
        raise ApiRefusal(400, NO_USER, param="user")
    name = sanitize_text(unquote(headers.get(USER_NAME_HEADER, "")).strip())[:MAX_USER_CHARS]
    language = headers.get("accept-language", "")[:2].lower() or None
    address = get_front_end(principal.digest) + named
    return Sender(address=address, name=name, language=language)
