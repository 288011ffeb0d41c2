"""What may come in at all, and how does what goes out protect whoever reads it?

Before anything is looked at: no other page may ask (Origin, Sec-Fetch-Site), nothing endless is
read, nobody sends for ever. What goes out may load nothing from elsewhere, run nothing that is
written into it, and stand in no frame. It does not know who asks.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oldfriend.app.bringing import MOST_BYTES as MOST_OF_FILE
from oldfriend.domain.sayings import saying
from oldfriend.llm.speech import MOST_BYTES as MOST_OF_SOUND
from oldfriend.web.problems import TITLES, Problem, as_response, problem

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OWN: Final = frozenset({"same-origin", "none"})
MOST_BYTES: Final = 4_400_000
"""The longest message there may be, in any script, and what is around it."""
MOST_BYTES_AT: Final[Mapping[str, int]] = MappingProxyType({
    "/api/v1/bring/files": MOST_OF_FILE, "/api/v1/chat/sounds": MOST_OF_SOUND,
})  # fmt: skip
"""Where more may come in."""
TO_SEND_S: Final = 20.0
"""So long it may take, besides what a slow line takes; and so long at most between two pieces."""
SLOWEST: Final = 16_000
"""Bytes in a second, on average: those of a poor mobile line."""
POLICY: Final = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "connect-src 'self'", "media-src 'self'", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'",
))  # fmt: skip
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
}


class TooMuch(HTTPException):
    """More is sent than anybody has to say, or for longer."""

    def __init__(self, detail: str) -> None:
        """Keep what is told."""
        super().__init__(413, detail)


class Guarded:
    """A site behind these rules."""

    def __init__(self, app: ASGIApp) -> None:
        """Guard this one."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in what may come, and send what goes out with its headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        # Files are asked about each time, and sent again when they have changed.
        kept = "no-cache" if str(scope["path"]).startswith("/static/") else "no-store"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", kept)
            await send(message)

        headers, most = Headers(scope=scope), MOST_BYTES_AT.get(str(scope["path"]), MOST_BYTES)
        refused = why_refused(str(scope["method"]), str(scope["scheme"]), headers, most)
        if refused is not None:
            await as_response(refused)(scope, receive, send_with_headers)
            return
        await self._app(scope, bounded(receive, most), send_with_headers)


def why_refused(method: str, scheme: str, headers: Headers, most: int) -> Problem | None:
    """Why a question is not even looked at; None: it is."""
    if headers.get("sec-fetch-site", "none") not in OWN and headers.get("sec-fetch-mode") != (
        "navigate"
    ):
        return foreign("Another page has asked for this.")
    origin = headers.get("origin")
    is_own = origin == f"{scheme}://{headers.get('host', '')}"
    if method not in SAFE and not is_own and not (origin is None and shows_token(headers)):
        return foreign("What changes something can only be asked for by the page itself.")
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > most:
        return problem(413, TITLES[413], too_long(most))
    return None


def shows_token(headers: Headers) -> bool:
    """Whether this comes from a program: no page can send this header to us from elsewhere."""
    return headers.get("authorization", "")[:7].lower() == "bearer "


def foreign(what: str) -> Problem:
    """What is said to a page that is not ours."""
    told = f"{what} Open the page again: oldfriend link"
    return problem(403, "Not from here", saying("foreign_page", told))


def too_long(most: int) -> str:
    """What is said to whoever sends too much."""
    return saying("too_much", f"At most {most:,} bytes. Split it.", most=most)


def bounded(receive: Receive, most: int) -> Receive:
    """What is sent, as long as it is neither too long nor too slow; then waited for without end."""
    total, is_over, clock = 0, False, asyncio.get_running_loop().time
    began = clock()

    async def receive_some() -> Message:
        nonlocal total, is_over
        if is_over:
            return await receive()
        late = began + TO_SEND_S + total / SLOWEST
        try:
            async with asyncio.timeout_at(min(late, clock() + TO_SEND_S)):
                message = await receive()
        except TimeoutError as error:
            raise TooMuch(
                saying("sent_too_slowly", "It took too long to arrive. Send it again.")
            ) from error
        total += len(message.get("body", b""))
        is_over = not message.get("more_body", False)
        if total > most:
            raise TooMuch(too_long(most))
        return message

    return receive_some
