"""Admin HTTP: health, readiness and metrics endpoints for this machine's administrator.

/health says that the process is alive, /ready whether it does its work and if not why, /metrics
returns numbers. None of them contains personal data or changes anything. The Host header must name
this machine, so that no web page can read them through DNS rebinding. Every other address is passed
to the web app, which is given.
"""

import asyncio
import socket
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oldfriend.channels.http_listener import serve_http
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import ServerProcessError, StoreError
from oldfriend.queues.queue import find_next_due
from oldfriend.runtime.metrics import collect_metrics, render_prometheus
from oldfriend.runtime.supervisor import Supervisor

CHECK_TIMEOUT_S: Final = 5.0
CACHE_TTL_S: Final = 1.0


class StoreCheck:
    """A cached check of the store."""

    def __init__(self) -> None:
        """Start with nothing checked."""
        self._problems: list[str] = []
        self._cached_until = 0.0
        self._lock = asyncio.Lock()

    async def list_problems(self, db: Database) -> list[str]:
        """Return why the store cannot be used, in sentences; empty if it can be written."""
        clock = asyncio.get_running_loop().time
        async with self._lock:
            if clock() >= self._cached_until:
                self._problems = await check_store(db)
                self._cached_until = clock() + CACHE_TTL_S
        return self._problems


async def check_store(db: Database) -> list[str]:
    """Check the store now and return its problems; empty if it can be written."""
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            async with db.begin_read() as tx:
                await find_next_due(tx, "inbox")
            await db.probe_write()
    except StoreError as error:
        return [str(error)]
    except TimeoutError:
        return [f"The database has not answered for {CHECK_TIMEOUT_S:g} s."]
    return []


CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "media-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
}
STATIC_PREFIX: Final = "/static/"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminServer:
    """The HTTP endpoints of this process."""

    supervisor: Supervisor
    listen_socket: socket.socket
    web_app: ASGIApp  # serves all other addresses
    store_check: StoreCheck = field(default_factory=StoreCheck)

    async def health(self, _: Request) -> Response:
        """Report that the process is alive."""
        return JSONResponse({"alive": True})

    async def ready(self, _: Request) -> Response:
        """Report whether the process does all its work."""
        problems = [
            *self.supervisor.problems,
            *await self.store_check.list_problems(self.supervisor.app.db),
        ]
        return JSONResponse(
            {"ready": not problems, "why": problems}, status_code=503 if problems else 200
        )

    async def metrics(self, _: Request) -> Response:
        """Return the metrics in Prometheus format."""
        app = self.supervisor.app
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_S):
                snapshot = await collect_metrics(app)
        except (StoreError, TimeoutError):
            return PlainTextResponse("The database cannot be read.\n", status_code=503)
        up_s = (app.clock() - self.supervisor.began_at) / SECOND
        return Response(render_prometheus(snapshot, up_s=up_s), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def serve(self, stopping: asyncio.Event) -> None:
        """Serve until told to stop."""
        await serve_http(SecurityHeaders(self.build_app()), self.listen_socket, stopping)

    def build_app(self) -> Starlette:
        """Build the ASGI app with all routes."""
        host, *_ = self.listen_socket.getsockname()
        names = ["localhost", "127.0.0.1", "[::1]", host]
        app = Starlette(
            routes=[
                Route("/health", self.health),
                Route("/ready", self.ready),
                Route("/metrics", self.metrics),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)],
        )
        app.router.redirect_slashes = False  # "/health/" belongs to the web app
        app.router.default = self.web_app  # a mount would not match paths with a line break
        return app


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address of this machine; port 0 takes any free one.

    Raises ServerProcessError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ServerProcessError(
            f"{host} port {port} cannot be listened at ({error.strerror}). Choose another with "
            "--set serve.port=PORT, or serve.port = 0 in oldfriend.toml for any that is free."
        ) from error


class SecurityHeaders:
    """Middleware that adds the headers to every response, including errors.

    Responses may load nothing from elsewhere, run no inline code, and not be framed.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request and add the headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Browsers revalidate static files on each use and download them again only when changed.
        cache_control = "no-cache" if str(scope["path"]).startswith(STATIC_PREFIX) else "no-store"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", cache_control)
            await send(message)

        await self._app(scope, receive, send_with_headers)
