"""OAuth requests: which hosted programs may ask for a memory, what they ask, and where they hear.

A program has registered itself (RFC 7591), or its id is the address of a document about it (client
ID metadata document), which is read like any page of the web: from public addresses only. What a
program says of itself is not proved; where it is answered is, so that is what the person is shown.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Final
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import clean_name
from oldfriend.memory.oauth_grants import (
    Consent,
    OAuthClient,
    OAuthScope,
    find_client,
    save_code,
)
from oldfriend.web.safe_fetch import JSON_TYPES, FetchLimits, FetchRequest, WebFetcher

AUTHORIZATION_PATH: Final = "/authorize"
TOKEN_PATH: Final = "/oauth/token"
REGISTRATION_PATH: Final = "/oauth/register"
REVOCATION_PATH: Final = "/oauth/revoke"
MCP_PATH: Final = "/mcp"
OAUTH_SCOPES: Final[tuple[OAuthScope, ...]] = ("read", "write")
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
EDITOR_SCHEMES: Final = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf"})
"""Schemes of well-known programs that are no domain name turned round, as RFC 8252 wants them."""
DOCUMENT_LIMITS: Final = FetchLimits(max_bytes=1 << 14, total_s=8.0, max_redirects=0)
MAX_NAME_CHARS: Final = 40
MAX_HOST_CHARS: Final = 36
CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""A SHA-256 in base64url, as `E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM`."""
DOT_SEGMENTS: Final = frozenset({".", ".."})

Address = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class ClientMetadata(BaseModel):
    """What a program says of itself, at registration or in its document."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    redirect_uris: Annotated[list[Address], Field(min_length=1, max_length=10)]
    client_id: str | None = None
    client_name: str | None = None
    token_endpoint_auth_method: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """What a program asks by way of the person's browser, as it came."""

    client_id: str
    redirect_uri: str
    response_type: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    scope: str = ""
    state: str = field(default="", repr=False)
    resource: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A request of a known program, to be answered at an address that belongs to it."""

    client: OAuthClient
    host: str  # where it is answered, as the person is shown it
    scopes: tuple[OAuthScope, ...]  # what the person may allow
    error: str  # the OAuth error for which it cannot be allowed; "" if it can


def parse_metadata(encoded: bytes) -> ClientMetadata:
    """Parse what a program says of itself. Raises InvalidInput."""
    try:
        metadata = ClientMetadata.model_validate_json(encoded)
    except ValidationError as error:
        raise InvalidInput("redirect_uris must be a list of 1 to 10 addresses.") from error
    unfit = next((each for each in metadata.redirect_uris if not is_redirect_fit(each)), None)
    if unfit is not None:
        raise InvalidInput(
            f"{unfit[:200]!r} must be an https address, or one of this machine (http://127.0.0.1), "
            "or have a scheme of the program's own, without a fragment."
        )
    return metadata


def build_client(metadata: ClientMetadata, client_id: str) -> OAuthClient:
    """Return a program by what it says of itself."""
    name = " ".join(clean_name(metadata.client_name or "").split())[:MAX_NAME_CHARS].rstrip()
    return OAuthClient(
        id=client_id,
        name=name or name_host(metadata.redirect_uris[0]),
        redirects=tuple(metadata.redirect_uris),
    )


def new_client_id(now: Micros) -> str:
    """Return an id for a program that registers."""
    return f"program-{new_id(now)}"


def is_redirect_fit(uri: str) -> bool:
    """Tell whether a program may be answered at an address: by TLS, or on the person's machine."""
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not uri.isascii() or not uri.isprintable() or any(each in uri for each in ' #\\"<>'):
        return False
    if parts.username is not None or parts.password is not None:
        return False
    if parts.scheme == "https":
        return bool(host)
    if parts.scheme == "http":
        return host in LOOPBACK_HOSTS
    return "." in parts.scheme or parts.scheme in EDITOR_SCHEMES


def is_redirect_of(client: OAuthClient, uri: str) -> bool:
    """Tell whether an address is one of a program's, to the letter but for the port of a loopback
    address, which a program takes as it finds it free (RFC 8252 §7.3).
    """
    if not is_redirect_fit(uri):
        return False
    known = {without_loopback_port(each) for each in client.redirects}
    return without_loopback_port(uri) in known


def without_loopback_port(uri: str) -> str:
    """Return an address without its port if it is one of this machine, else as it is."""
    parts = urlsplit(uri)
    host = parts.hostname or ""
    if parts.scheme != "http" or host not in LOOPBACK_HOSTS:
        return uri
    return parts._replace(netloc=f"[{host}]" if ":" in host else host).geturl()


def name_host(redirect: str) -> str:
    """Return where an address leads, in a few characters: its host, or the scheme of a program.

    What stands for a host after a scheme of its own is up to the program, and names nobody.
    """
    parts = urlsplit(redirect)
    is_site = parts.scheme in {"http", "https"} and parts.hostname
    return f"{parts.hostname if is_site else f'{parts.scheme}:'}"[-MAX_HOST_CHARS:]


def is_document_address(client_id: str) -> bool:
    """Tell whether the id of a program is the address of a document about it."""
    if not client_id.startswith("https://") or "#" in client_id or "\\" in client_id:
        return False
    try:
        path = urlsplit(client_id).path
    except ValueError:
        return False
    return path not in {"", "/"} and DOT_SEGMENTS.isdisjoint(path.split("/"))


async def read_client_document(fetcher: WebFetcher, address: str) -> OAuthClient:
    """Read what a program says of itself at its address. Raises InvalidInput."""
    request = FetchRequest(url=address, content_types=JSON_TYPES)
    try:
        found = await replace(fetcher, limits=DOCUMENT_LIMITS).fetch(request)
        metadata = parse_metadata(found.body)
    except (FetchFailed, InvalidInput) as error:
        raise build_document_error(address) from error
    has_secret = (metadata.token_endpoint_auth_method or "").startswith("client_secret")
    if metadata.client_id != address or has_secret:
        raise build_document_error(address)
    return build_client(metadata, address)


def build_document_error(address: str) -> InvalidInput:
    """Build the error for a program whose document cannot be read, or is about another."""
    return InvalidInput(
        localizable(
            "oauth_document",
            f"What the program says of itself at {address[:200]} cannot be read.",
            address=address[:200],
        )
    )


async def check_request(
    db: Database, fetcher: WebFetcher, asked: AuthorizationRequest, *, origin: str
) -> CheckedRequest:
    """Return who asks and what for.

    Raises InvalidInput for an unknown program or an address that is none of its: then it hears
    nothing at all.
    """
    client: OAuthClient | None = None
    if is_document_address(asked.client_id):
        client = await read_client_document(fetcher, asked.client_id)
    elif asked.client_id.isprintable():  # PostgreSQL takes no NUL
        async with db.begin_read() as tx:
            client = await find_client(tx, asked.client_id)
    if client is None:
        raise InvalidInput(
            localizable(
                "oauth_unknown",
                "I don't know this program. Remove the connection there, and add it anew.",
            )
        )
    if not is_redirect_of(client, asked.redirect_uri):
        raise InvalidInput(
            localizable(
                "oauth_redirect",
                "The program wants its answer at an address that is none of its own. "
                "Nothing was sent.",
            )
        )
    return CheckedRequest(
        client=client,
        host=name_host(asked.redirect_uri),
        scopes=choose_scopes(asked.scope),
        error=find_error(asked, origin),
    )


def choose_scopes(scope: str) -> tuple[OAuthScope, ...]:
    """Return what a person may allow: what is asked for and known here, else everything."""
    asked = scope.split()
    known = tuple(each for each in OAUTH_SCOPES if each in asked)
    return ("read",) if known == ("read",) else OAUTH_SCOPES


def find_error(asked: AuthorizationRequest, origin: str) -> str:
    """Return the OAuth error of a request; empty if there is none."""
    if asked.response_type != "code":
        return "unsupported_response_type"
    if asked.code_challenge_method != "S256" or not CHALLENGE.fullmatch(asked.code_challenge):
        return "invalid_request"
    return "" if is_resource(asked.resource, origin) else "invalid_target"


def is_resource(resource: str, origin: str) -> bool:
    """Tell whether a token for this resource is one for /mcp here; so is one for nothing named."""
    return resource.rstrip("/").lower() in {"", origin.lower(), f"{origin}{MCP_PATH}".lower()}


def build_answer(asked: AuthorizationRequest, origin: str, answer: Mapping[str, str]) -> str:
    """Build the address by which the person's browser tells the program how it went."""
    told = {**answer, **({"state": asked.state} if asked.state else {}), "iss": origin}
    separator = "&" if urlsplit(asked.redirect_uri).query else "?"
    return f"{asked.redirect_uri.rstrip('?&')}{separator}{urlencode(told)}"


async def allow_request(
    db: Database,
    clock: Clock,
    person: PersonId,
    asked: AuthorizationRequest,
    checked: CheckedRequest,
    *,
    oauth_scope: OAuthScope,
) -> str:
    """Let a program in as far as its person says; return the code that it exchanges."""
    if checked.error or oauth_scope not in checked.scopes:
        raise InvalidInput(localizable("oauth_unfit", "The program has not asked for that."))
    consent = Consent(
        client=checked.client.id,
        name=f"{checked.client.name} ({checked.host})",
        redirect=asked.redirect_uri,
        challenge=asked.code_challenge,
        scope=oauth_scope,
    )
    async with db.begin_write() as tx:
        return await save_code(tx, person, consent, now=clock())


def hash_verifier(verifier: str) -> str:
    """Return the challenge that a verifier of PKCE meets (S256)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
