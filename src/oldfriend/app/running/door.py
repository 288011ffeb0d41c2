"""Where does whoever looks after the house ask how it does? Over HTTP, from this machine alone.

/health: is it alive? /ready: does it do its work, and if not, why? /metrics: in numbers. Nothing
of that is anybody's, and nothing can be changed by it; still no page in a browser reads it under
another name: the Host header must name this machine. What else is at the address it is given, and
does not know.
"""

import asyncio
import socket
from dataclasses import dataclass
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from oldfriend.app.running.metrics import as_prometheus, count_all
from oldfriend.app.running.supervisor import Supervisor
from oldfriend.channels.serving import answer_http
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import CannotServe, StoreError
from oldfriend.queues.lanes import next_due

DATABASE_ANSWERS_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What is answered at the address where this process listens."""

    supervisor: Supervisor
    listening: socket.socket
    site: ASGIApp  # what is at all other addresses

    async def health(self, _: Request) -> Response:
        """Whether it is alive: whoever answers is."""
        return JSONResponse({"alive": True})

    async def ready(self, _: Request) -> Response:
        """Whether it does all its work."""
        why = [*self.supervisor.troubles, *await self.troubles_of_database()]
        return JSONResponse({"ready": not why, "why": why}, status_code=503 if why else 200)

    async def metrics(self, _: Request) -> Response:
        """How it does in numbers."""
        house = self.supervisor.house
        try:
            async with asyncio.timeout(DATABASE_ANSWERS_S):
                numbers = await count_all(house)
        except (StoreError, TimeoutError):
            return PlainTextResponse("The database cannot be read.\n", status_code=503)
        up_s = (house.clock() - self.supervisor.began_at) / SECOND
        return Response(as_prometheus(numbers, up_s=up_s), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def troubles_of_database(self) -> list[str]:
        """Why the database cannot be used, in sentences."""
        try:
            async with (
                asyncio.timeout(DATABASE_ANSWERS_S),
                self.supervisor.house.db.reading() as tx,
            ):
                await next_due(tx, "inbox")
        except StoreError as error:
            return [str(error)]
        except TimeoutError:
            return [f"The database has not answered for {DATABASE_ANSWERS_S:g} s."]
        return []

    async def stay_open(self, stopping: asyncio.Event) -> None:
        """Answer until told to stop."""
        await answer_http(self.everything(), self.listening, stopping)

    def everything(self) -> Starlette:
        """What is at each address."""
        host, *_ = self.listening.getsockname()
        names = ["localhost", "127.0.0.1", "[::1]", host]
        app = Starlette(
            routes=[
                Route("/health", self.health),
                Route("/ready", self.ready),
                Route("/metrics", self.metrics),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)],
        )
        app.router.redirect_slashes = False  # "/health/" is not of here
        app.router.default = self.site  # a mount would leave out addresses with a line break
        return app


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address of this machine; port 0 takes any. Raises CannotServe."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise CannotServe(
            f"{host} port {port} cannot be listened at ({error.strerror}). Choose another with "
            "--set serve.port=PORT, or serve.port = 0 in oldfriend.toml for any that is free."
        ) from error
