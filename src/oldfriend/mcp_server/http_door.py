"""HTTP door: serves programs over streamable HTTP, each with the token of one person.

Every request stands for itself: no session is kept, so a restart or a lost connection breaks none.
Browsers' cookies count for nothing here.
"""

import importlib
import json
from asyncio import to_thread
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import OldfriendError, StoreError, TooManyAttempts
from oldfriend.domain.i18n_messages import build_missing_extra_text
from oldfriend.inbound.oauth_requests import MCP_PATH, OAUTH_SCOPES
from oldfriend.mcp_server.oauth_door import OAuthDoor, get_origin
from oldfriend.mcp_server.person_memory import PersonMemory
from oldfriend.memory.credentials import find_principal_by_token, record_token_use
from oldfriend.memory.web_sessions import (
    LAST_USED_RESOLUTION,
    Principal,
    check_attempt_limit,
    hash_secret,
    record_failed_sign_in,
)

METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
MAX_SECRET_CHARS: Final = 200
NO_TOKEN: Final = (
    "This memory needs a token. Make one with `oldfriend token new NAME --scope write` (or read), "
    "and send it as the header Authorization: Bearer TOKEN."
)
BAD_TOKEN: Final = (
    "This token has expired, was revoked, or never existed. Make another: oldfriend token new NAME"
)


class HttpDoor:
    """The ASGI application at /mcp."""

    def __init__(self, get_app: Callable[[], AppContext]) -> None:
        """Serve the memory of an app context, which may be replaced when settings are reloaded."""
        self._get_app = get_app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of a program."""
        request = Request(scope, receive)
        try:
            principal = await self._authenticate(request)
        except TooManyAttempts as error:
            headers = {"Retry-After": str(error.retry_after_s)}
            await refuse(429, str(error), headers)(scope, receive, send)
            return
        except StoreError as error:
            await refuse(503, str(error))(scope, receive, send)
            return
        if isinstance(principal, str):
            await refuse(401, principal, build_challenge(request))(scope, receive, send)
            return
        try:
            module = await to_thread(importlib.import_module, "oldfriend.mcp_server.http_protocol")
        except ModuleNotFoundError:
            missing = build_missing_extra_text("The MCP server", "oldfriend[mcp]")
            await refuse(501, missing)(scope, receive, send)
            return
        serve: Callable[..., Any] = module.serve_request
        await serve(self._build_memory(principal), scope, receive, send)

    def _build_memory(self, principal: Principal) -> PersonMemory:
        """Return the memory that a token opens."""
        return PersonMemory(
            get_app=self._get_app,
            person=principal.person,
            can_write=principal.scope != "read",
            is_own_words=principal.scope == "speak",
            token=principal.token,
        )

    async def _authenticate(self, request: Request) -> Principal | str:
        """Return whose token it is, or why there is none. Raises TooManyAttempts, StoreError."""
        secret = read_bearer_token(request.headers)
        if not secret:
            return NO_TOKEN
        app = self._get_app()
        now = app.clock()
        address = "" if request.client is None else request.client.host
        async with app.db.begin_read() as tx:
            found = await find_principal_by_token(tx, hash_secret(secret), now=now, for_mcp=True)
            if found is None:
                await check_attempt_limit(tx, address, "token", now=now)
        if found is None:
            async with app.db.begin_write() as tx:
                await record_failed_sign_in(tx, address, "token", now=now)
            return BAD_TOKEN
        await note_use(app, found, now=now)
        return found


async def note_use(app: AppContext, principal: Principal, *, now: Micros) -> None:
    """Record that a token was used, at most once per LAST_USED_RESOLUTION."""
    if principal.used_at is not None and now - principal.used_at < LAST_USED_RESOLUTION:
        return
    with suppress(OldfriendError):  # a read-only store still serves reads
        async with app.db.begin_write() as tx:
            await record_token_use(tx, principal.person.id, principal.digest, now=now)


def read_bearer_token(headers: Headers) -> str:
    """Return the token of a request; empty if there is none."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip()[:MAX_SECRET_CHARS] if kind.lower() == "bearer" else ""


def build_challenge(request: Request) -> dict[str, str]:
    """Build the header that tells a client where to learn how to sign in (RFC 9728)."""
    where = f"{get_origin(request)}{METADATA_PATH}{MCP_PATH}"
    return {"WWW-Authenticate": f'Bearer error="invalid_token", resource_metadata="{where}"'}


def refuse(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Build a refusal in the protocol's own shape, so that clients show its sentence."""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": sentence}}
    return Response(
        json.dumps(body, ensure_ascii=False),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


async def show_metadata(request: Request) -> Response:
    """Tell how this resource is protected, and who hands out tokens for it (RFC 9728)."""
    origin = get_origin(request)
    return JSONResponse(
        {
            "resource": f"{origin}{MCP_PATH}",
            "resource_name": "Oldfriend",
            "authorization_servers": [origin],
            "bearer_methods_supported": ["header"],
            "scopes_supported": OAUTH_SCOPES,
        }
    )


def build_mcp_routes(get_app: Callable[[], AppContext]) -> list[BaseRoute]:
    """Build the routes of the door, of its metadata, and of what hands out tokens for it."""
    door: ASGIApp = HttpDoor(get_app)
    return [
        Route(MCP_PATH, door),
        Route(METADATA_PATH, show_metadata),
        Route(f"{METADATA_PATH}{MCP_PATH}", show_metadata),
        *OAuthDoor(get_app).list_routes(),
    ]
