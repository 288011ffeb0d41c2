"""Admin HTTP: health, readiness and metrics endpoints for this machine's administrator.

/health says that the process is alive, /ready whether it does its work and if not why, /metrics
returns numbers. None of them contains personal data or changes anything. The Host header must name
this machine, so that no web page can read them through DNS rebinding; but not where only a token
counts, which no page has. Every other address is passed to the web app, which is given.
"""

import asyncio
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from oldfriend.channels.http_listener import serve_http
from oldfriend.db.database import Database
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import ServerProcessError, StoreError
from oldfriend.queues.queue import find_next_due
from oldfriend.runtime.metrics import collect_metrics, render_prometheus
from oldfriend.runtime.supervisor import Supervisor

HEALTH_PATH: Final = "/health"
READY_PATH: Final = "/ready"
METRICS_PATH: Final = "/metrics"
ADMIN_PATHS: Final = frozenset({HEALTH_PATH, READY_PATH, METRICS_PATH})
FORWARDING_HEADERS: Final = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)
"""What proxies add to a request; whoever asks on this machine sends none of them."""
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
        "manifest-src 'self'",
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
OLLAMA_PREFIX: Final = "/ollama/"
TOKEN_PATHS: Final = frozenset(
    {f"/api/{name}" for name in ("chat", "generate", "show", "tags", "version")}
)
TOKEN_PREFIXES: Final = ("/v1/", OLLAMA_PREFIX)
"""Addresses for chat front ends, which reach this machine by names that only they know."""


def is_token_path(path: str) -> bool:
    """Tell whether only a token counts at a path, not a browser's cookie."""
    return path in TOKEN_PATHS or path.startswith(TOKEN_PREFIXES)


def find_visitor(headers: Headers) -> tuple[str, int] | None:
    """Return the address that the nearest proxy has seen; None if it does not say."""
    named = ",".join(headers.getlist("x-forwarded-for"))  # a proxy may add a line of its own
    last = named.rpartition(",")[2].strip()
    try:
        return str(ip_address(last)), 0
    except ValueError:
        return None


class HostCheck(TrustedHostMiddleware):
    """Middleware that refuses requests under another name than this machine's, or its public one.

    Under that, a proxy has ended TLS, so what it passes on counts as encrypted, and comes from the
    address that the proxy has seen. What is for the administrator of this machine is not there, nor
    for whatever else a proxy passes on.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: list[str], public_host: str | None) -> None:
        """Wrap an application. ``public_host`` has its port, if any."""
        super().__init__(app, allowed_hosts=allowed_hosts, www_redirect=False)
        self._public_host = public_host

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_public = self._public_host is not None and headers.get("host") == self._public_host
        is_forwarded = is_public or any(each in headers for each in FORWARDING_HEADERS)
        if is_forwarded and scope["path"] in ADMIN_PATHS:
            await PlainTextResponse("Not here.\n", status_code=404)(scope, receive, send)
            return
        if is_public:
            client = find_visitor(headers) or scope.get("client")
            await self.app({**scope, "scheme": "https", "client": client}, receive, send)
            return
        is_open = is_token_path(str(scope["path"]))
        handle = self.app if is_open else super().__call__
        await handle(scope, receive, send)


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
        public_url = self.supervisor.app.settings.serve.public_url
        public_host = None if public_url is None else public_url.removeprefix("https://")
        app = Starlette(
            routes=[
                Route(HEALTH_PATH, self.health),
                Route(READY_PATH, self.ready),
                Route(METRICS_PATH, self.metrics),
            ],
            middleware=[Middleware(HostCheck, allowed_hosts=names, public_host=public_host)],
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
