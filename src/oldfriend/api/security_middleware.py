"""Security middleware: checks origin, body size and receive time before routing.

Requests from other sites are refused by Origin and Sec-Fetch-Site. Runs before authentication.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oldfriend.api.problem_json import (
    API_ROOT,
    TITLES_BY_STATUS,
    Problem,
    build_problem,
    to_response,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.inbound.oauth_requests import (
    MCP_PATH,
    REGISTRATION_PATH,
    REVOCATION_PATH,
    TOKEN_PATH,
)
from oldfriend.llm.speech import MAX_AUDIO_BYTES as MOST_OF_SOUND
from oldfriend.runtime.admin_http import is_token_path
from oldfriend.runtime.import_jobs import MAX_UPLOAD_BYTES as MOST_OF_FILE

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
TRUSTED_FETCH_SITES: Final = frozenset({"same-origin", "none"})
MAX_LENGTH_DIGITS: Final = 12
"""Maximum digits of a Content-Length."""
MAX_BODY_BYTES: Final = 4_400_000
"""The longest message in any script, with its JSON envelope."""
MAX_OAUTH_BYTES: Final = 32_000
MAX_RESENT_BYTES: Final = 32_000_000
"""A conversation that is sent whole with each request, with its pictures."""
MAX_BODY_BYTES_BY_PATH: Final[Mapping[str, int]] = MappingProxyType(
    {
        "/api/v1/uploads": MOST_OF_FILE,
        "/api/v1/chat/recordings": MOST_OF_SOUND,
        **dict.fromkeys((TOKEN_PATH, REGISTRATION_PATH, REVOCATION_PATH), MAX_OAUTH_BYTES),
        **dict.fromkeys(("/v1/chat/completions", "/v1/responses", "/api/chat"), MAX_RESENT_BYTES),
    }
)
"""Paths that accept larger bodies, or only smaller ones."""
RECEIVE_TIMEOUT_S: Final = 20.0
"""Seconds a body may take beyond its transfer time at MIN_BYTES_PER_S, and between chunks."""
MIN_BYTES_PER_S: Final = 16_000
"""Minimum average bytes per second, as of a poor mobile connection."""
PROGRAM_PATHS: Final = frozenset({MCP_PATH, TOKEN_PATH, REGISTRATION_PATH, REVOCATION_PATH})
"""Where no cookie counts either, and a program without a token has to be told so."""


class PayloadTooLarge(HTTPException):
    """A body that is too large or arrives too slowly."""

    def __init__(self, detail: str) -> None:
        """Build the 413 error."""
        super().__init__(413, detail)


class SecurityMiddleware:
    """ASGI middleware that checks requests before the application sees them."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an allowed request on, with its body limited; otherwise respond with the problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes = MAX_BODY_BYTES_BY_PATH.get(str(scope["path"]), MAX_BODY_BYTES)
        problem = check_request(scope, Headers(scope=scope), max_bytes)
        if problem is not None:
            await to_response(problem)(scope, receive, send)
            return
        await self._app(scope, limit_body(receive, max_bytes), send)


def check_request(scope: Scope, headers: Headers, max_bytes: int) -> Problem | None:
    """Return the problem for which a request is refused, or None if it is allowed."""
    method, scheme = str(scope["method"]), str(scope["scheme"])
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and not is_api_path(scope)
    if headers.get("sec-fetch-site", "none") not in TRUSTED_FETCH_SITES and not is_navigation:
        return build_cross_origin_problem("This request came from another page.")
    origin = headers.get("origin")
    is_own = origin == f"{scheme}://{headers.get('host', '')}"
    if (
        method not in SAFE_METHODS
        and not is_own
        and not (
            origin is None and (has_bearer_token(headers) or takes_only_tokens(str(scope["path"])))
        )
    ):
        return build_cross_origin_problem("Only Oldfriend's own page may request changes.")
    length = headers.get("content-length", "0")
    if not is_ascii_number(length) or len(length) > MAX_LENGTH_DIGITS or int(length) > max_bytes:
        return build_problem(413, TITLES_BY_STATUS[413], format_too_large(max_bytes))
    return None


def is_api_path(scope: Scope) -> bool:
    """Tell whether the path is in the API, to which other sites may not even navigate."""
    return str(scope["path"]).startswith(API_ROOT)


def takes_only_tokens(path: str) -> bool:
    """Tell whether only a token counts at a path, not a browser's cookie."""
    return path in PROGRAM_PATHS or is_token_path(path)


def has_bearer_token(headers: Headers) -> bool:
    """Tell whether a program sent this: a page of another origin cannot set this header."""
    return headers.get("authorization", "")[:7].lower() == "bearer "


def build_cross_origin_problem(reason: str) -> Problem:
    """Build the 403 problem for a request from another origin."""
    detail = f"{reason} Open the page again: oldfriend link"
    return build_problem(403, "Request from another page", localizable("foreign_page", detail))


def format_too_large(max_bytes: int) -> str:
    """Format the detail of a body that is too large."""
    return localizable(
        "too_much", f"At most {max_bytes:,} bytes are accepted. Split it.", most=max_bytes
    )


def limit_body(receive: Receive, max_bytes: int) -> Receive:
    """Wrap receive to enforce size and time limits; after the body it waits without a limit."""
    total, is_over, clock = 0, False, asyncio.get_running_loop().time
    started = clock()

    async def receive_some() -> Message:
        nonlocal total, is_over
        if is_over:
            return await receive()
        deadline = started + RECEIVE_TIMEOUT_S + total / MIN_BYTES_PER_S
        try:
            async with asyncio.timeout_at(min(deadline, clock() + RECEIVE_TIMEOUT_S)):
                message = await receive()
        except TimeoutError as error:
            raise PayloadTooLarge(
                localizable("sent_too_slowly", "It took too long to arrive. Send it again.")
            ) from error
        total += len(message.get("body", b""))
        is_over = not message.get("more_body", False)
        if total > max_bytes:
            raise PayloadTooLarge(format_too_large(max_bytes))
        return message

    return receive_some
