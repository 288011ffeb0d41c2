"""OAuth door: lets hosted programs register, exchange codes for tokens, and renew or revoke them.

Whether a program is let in, its person decides on the page (RFC 6749, 7591, 7636, 8414, 8707).
Programs have no secret of their own: what they know of a request (PKCE) is what counts.
"""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import InvalidInput, StoreError, TooManyAttempts
from oldfriend.inbound.oauth_requests import (
    AUTHORIZATION_PATH,
    OAUTH_SCOPES,
    REGISTRATION_PATH,
    REVOCATION_PATH,
    TOKEN_PATH,
    build_client,
    hash_verifier,
    is_resource,
    new_client_id,
    parse_metadata,
)
from oldfriend.memory.oauth_grants import (
    ACCESS_TTL,
    IssuedTokens,
    is_grant_known,
    redeem_code,
    redeem_refresh_token,
    register_client,
    revoke_grant,
)
from oldfriend.memory.web_sessions import check_attempt_limit, record_failed_sign_in

SERVER_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"
GRANT_TYPES: Final = ("authorization_code", "refresh_token")
NO_FORM: Final = "Send application/x-www-form-urlencoded, each field once."
MAX_FIELDS: Final = 20
MAX_FIELD_CHARS: Final = 2_000


class OAuthDoor:
    """The endpoints for programs, which need no sign-in."""

    def __init__(self, get_app: Callable[[], AppContext]) -> None:
        """Serve an app context, which may be replaced when settings are reloaded."""
        self._get_app = get_app

    def list_routes(self) -> list[BaseRoute]:
        """List the routes of the endpoints."""
        return [
            Route(SERVER_METADATA_PATH, show_server_metadata),
            Route(REGISTRATION_PATH, self.register, methods=["POST"]),
            Route(TOKEN_PATH, self.exchange, methods=["POST"]),
            Route(REVOCATION_PATH, self.revoke, methods=["POST"]),
        ]

    async def register(self, request: Request) -> Response:
        """Register a program (RFC 7591); it is given no secret, whatever it asks for."""
        app = self._get_app()
        now = app.clock()
        address = "" if request.client is None else request.client.host
        try:
            metadata = parse_metadata(await request.body())
            client = build_client(metadata, new_client_id(now))
            async with app.db.begin_write() as tx:
                await check_attempt_limit(tx, address, "registration", now=now)
                await record_failed_sign_in(tx, address, "registration", now=now)
                await register_client(tx, client, now=now)
        except InvalidInput as error:
            return refuse("invalid_client_metadata", str(error))
        except TooManyAttempts as error:
            return refuse_for_now(429, "Too many registrations.", error.retry_after_s)
        except StoreError as error:
            return refuse_for_now(503, str(error))
        told = {
            "client_id": client.id,
            "client_id_issued_at": now // SECOND,
            "client_name": client.name,
            "redirect_uris": client.redirects,
            "grant_types": GRANT_TYPES,
            "response_types": ("code",),
            "scope": " ".join(OAUTH_SCOPES),
            "token_endpoint_auth_method": "none",
        }
        return JSONResponse(told, status_code=201)

    async def exchange(self, request: Request) -> Response:
        """Exchange a code or a refresh token for an access token and the next refresh token."""
        form = await read_form(request)
        refusal = check_exchange(form, get_origin(request))
        if refusal is not None:
            return refusal
        try:
            issued = await self._redeem(form)
        except InvalidInput as error:
            return refuse("invalid_request", str(error))
        except StoreError as error:
            return refuse_for_now(503, str(error))
        if issued is None:
            return refuse(
                "invalid_grant",
                "It has expired, was used or revoked, or belongs to another request. Ask anew.",
            )
        told = {
            "access_token": issued.access,
            "token_type": "Bearer",
            "expires_in": ACCESS_TTL // SECOND,
            "refresh_token": issued.refresh,
            "scope": " ".join(OAUTH_SCOPES) if issued.scope == "write" else issued.scope,
        }
        return JSONResponse(told, headers={"Pragma": "no-cache"})

    async def _redeem(self, form: Mapping[str, str]) -> IssuedTokens | None:
        """Use up what is exchanged. Raises InvalidInput, StoreError."""
        app, client = self._get_app(), form.get("client_id", "")
        is_refresh = form["grant_type"] == "refresh_token"
        secret = form.get("refresh_token" if is_refresh else "code", "")
        if not await is_known(app.db, secret):
            return None
        async with app.db.begin_write() as tx:
            if is_refresh:
                return await redeem_refresh_token(tx, secret, client=client, now=app.clock())
            return await redeem_code(
                tx,
                secret,
                client=client,
                redirect=form.get("redirect_uri", ""),
                challenge=hash_verifier(form.get("code_verifier", "")),
                now=app.clock(),
            )

    async def revoke(self, request: Request) -> Response:
        """End a connection by either of its tokens (RFC 7009); also if there is none."""
        form = await read_form(request)
        if not form:
            return refuse("invalid_request", NO_FORM)
        db, secret = self._get_app().db, form.get("token", "")
        try:
            if await is_known(db, secret):
                async with db.begin_write() as tx:
                    await revoke_grant(tx, secret)
        except StoreError as error:
            return refuse_for_now(503, str(error))
        return Response(status_code=200)


async def is_known(db: Database, secret: str) -> bool:
    """Tell whether a secret is one of this house; anybody may ask, and nobody waits for that."""
    async with db.begin_read() as tx:
        return await is_grant_known(tx, secret)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; none if it is no form, or a field is there twice or too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    try:
        text = (await request.body()).decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}
    form = dict(fields)
    is_fit = len(form) == len(fields) and all(len(each) < MAX_FIELD_CHARS for each in form.values())
    return form if is_fit else {}


def check_exchange(form: Mapping[str, str], origin: str) -> Response | None:
    """Return the refusal of an exchange that says in itself that it cannot be made, or None."""
    if not form:
        return refuse("invalid_request", NO_FORM)
    if form.get("grant_type") not in GRANT_TYPES:
        return refuse("unsupported_grant_type", f"Use {' or '.join(GRANT_TYPES)}.")
    if not is_resource(form.get("resource", ""), origin):
        return refuse("invalid_target", "Tokens of this server open its own /mcp only.")
    return None


def refuse(error: str, why: str) -> Response:
    """Build the answer for an error of OAuth (RFC 6749 §5.2)."""
    return JSONResponse({"error": error, "error_description": why}, status_code=400)


def refuse_for_now(status: int, why: str, retry_after_s: int = 5) -> Response:
    """Build the answer for what may go well later."""
    told = {"error": "temporarily_unavailable", "error_description": why}
    return JSONResponse(told, status_code=status, headers={"Retry-After": str(retry_after_s)})


async def show_server_metadata(request: Request) -> Response:
    """Tell where programs ask to be let in, and how (RFC 8414)."""
    origin = get_origin(request)
    return JSONResponse(
        {
            "issuer": origin,
            "authorization_endpoint": f"{origin}{AUTHORIZATION_PATH}",
            "token_endpoint": f"{origin}{TOKEN_PATH}",
            "registration_endpoint": f"{origin}{REGISTRATION_PATH}",
            "revocation_endpoint": f"{origin}{REVOCATION_PATH}",
            "scopes_supported": OAUTH_SCOPES,
            "response_types_supported": ["code"],
            "grant_types_supported": GRANT_TYPES,
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
    )


def get_origin(request: Request) -> str:
    """Return scheme and host as the client sees them; the Host header was checked before."""
    return f"{request.url.scheme}://{request.url.netloc}"
