"""Web application: routes, static files and error handlers.

The page is the same for everybody and holds no personal data; all of that comes from the API.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import TypeAdapter
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from oldfriend import __version__
from oldfriend.api.auth import TicketStore
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.idempotency import IdempotencyCache
from oldfriend.api.page_assets import (
    STATIC_DIR,
    VERSIONED,
    serve_asset,
    serve_consent_page,
    serve_page,
    serve_service_worker,
)
from oldfriend.api.problem_json import Problem, register_error_handlers
from oldfriend.api.routers import (
    admin_routes,
    belief_routes,
    calendar_routes,
    channel_routes,
    chat_routes,
    credential_routes,
    day_routes,
    deletion_routes,
    diary_routes,
    entity_routes,
    goal_routes,
    import_routes,
    measurement_routes,
    oauth_routes,
    oura_routes,
    persona_routes,
    proactive_routes,
    session_routes,
    setting_routes,
    task_routes,
    timeline_routes,
    tool_routes,
    voice_routes,
    watch_routes,
)
from oldfriend.api.security_middleware import SecurityMiddleware
from oldfriend.api.settings_reload import ReloadSettings, SettingsWriter
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.oauth_requests import AUTHORIZATION_PATH
from oldfriend.memory.journal import get_memory_version
from oldfriend.presenters.base_schema import Schema

API_PREFIX: Final = "/api/v1"
PAGE_PATHS: Final = ("memory", "people", "days", "bring", "settings", "forget", "welcome")
"""Client-side routes of the page besides the chat."""
FORMER_PATHS: Final = tuple(
    (re.compile(rf"\A{API_PREFIX}{former}(?=/|\Z)"), f"{API_PREFIX}{today}")
    for former, today in (
        ("/letters", "/jobs"),
        ("/places", "/linked-accounts"),
        ("/character", "/persona"),
        ("/bring/files", "/uploads"),
        ("/bring/imports", "/imports"),
        ("/bring/reading", "/learning"),
        ("/take/export", "/export"),
        ("/thinking", "/reflections"),
        ("/chat/sounds", "/chat/recordings"),
        (r"/chat/messages/([^/]+)/sound", r"/chat/messages/\1/recording"),
    )
)
"""Former paths, under which programs still reach the API, with the paths of today."""
PROBLEM_RESPONSE: Final = {"model": Problem, "content": {"application/problem+json": {}}}

STATUS_DESCRIPTIONS: Final = {
    400: "The request cannot be read.",
    401: "Not signed in.",
    403: "Not allowed with this session, token or person.",
    404: "Not found, or it belongs to somebody else.",
    409: "Something has changed in the meantime, or stands in the way.",
    412: "It was read before somebody changed it.",
    413: "Too large.",
    422: "It cannot be read, or cannot be right.",
    428: "A preview is required: send its `ETag` as `If-Match`.",
    429: "Too many attempts, or too many at once. `Retry-After` says how long to wait.",
    502: "A provider or platform did not answer as it should.",
    503: "The memory cannot be read or written now.",
}
ERROR_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    status: {**PROBLEM_RESPONSE, "description": what}
    for status, what in STATUS_DESCRIPTIONS.items()
}
"""Error responses that every route may return."""


def create_app(
    hub: ConnectionHub,
    list_troubles: Callable[[], list[str]],
    reload_settings: ReloadSettings,
    further_routes: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Build the ASGI application.

    ``list_troubles`` tells why not all work is done; ``further_routes`` are doors beside the API.
    """
    app = FastAPI(
        title="Oldfriend",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API_PREFIX}/openapi.json",
        description="Everything that the web page and the command line can see and do. Sign in "
        "with the link that `oldfriend link` prints and send the token from the "
        "response as X-CSRF-Token, or send an API token as `Authorization: Bearer "
        "…`. Errors are problem+json and say what to do.",
        routes=[*build_routes(), *further_routes],
    )
    app.state.room = hub
    app.state.desk = SettingsWriter(reload_settings)
    app.state.deeds = IdempotencyCache(partial(count_deletions, hub))
    app.state.tickets = TicketStore()
    # Not a dependency override: with any, FastAPI rebuilds the routes for each request.
    app.state.troubles = list_troubles
    register_error_handlers(app)
    paths = [f"/{path}{suffix}" for path in PAGE_PATHS for suffix in ("", "/{id:path}")]
    for address in ("/", *paths):
        app.add_api_route(address, serve_page, include_in_schema=False)
    app.add_api_route(AUTHORIZATION_PATH, serve_consent_page, include_in_schema=False)
    app.add_api_route(
        calendar_routes.FEED_PATH, calendar_routes.serve_feed, include_in_schema=False
    )
    app.add_api_route("/service-worker.js", serve_service_worker, include_in_schema=False)
    versioned = f"{VERSIONED}/{{version}}/{{path:path}}"
    app.add_api_route(versioned, serve_asset, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC_DIR))
    return FormerPaths(SecurityMiddleware(app))


class FormerPaths:
    """ASGI middleware that passes requests for former paths on to the current ones."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an ASGI application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, under its current path."""
        if scope["type"] == "http":
            path = str(scope["path"])
            for former, today in FORMER_PATHS:
                path = former.sub(today, path)
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


async def count_deletions(hub: ConnectionHub, person: PersonId) -> int:
    """Return how often something of a person was deleted, by whichever process."""
    async with hub.app.db.begin_read() as tx:
        return (await get_memory_version(tx, person)).rewritten


@cache
def build_routes() -> Sequence[BaseRoute]:
    """Build the routes of the API, once: preparing them takes FastAPI a third of a second."""
    share_schemas()
    api = APIRouter(generate_unique_id_function=name_operation)
    for router in (
        session_routes.router,
        proactive_routes.router,
        import_routes.router,
        day_routes.router,
        measurement_routes.router,
        diary_routes.router,
        oura_routes.router,
        entity_routes.router,
        chat_routes.router,
        timeline_routes.router,
        belief_routes.router,
        timeline_routes.reflections_router,
        tool_routes.router,
        voice_routes.router,
        deletion_routes.router,
        credential_routes.router,
        oauth_routes.router,
        persona_routes.router,
        persona_routes.drafts_router,
        channel_routes.linked_accounts_router,
        calendar_routes.router,
        task_routes.router,
        goal_routes.router,
        watch_routes.router,
        setting_routes.router,
        setting_routes.models_router,
        admin_routes.router,
    ):
        api.include_router(router, prefix=API_PREFIX, responses=ERROR_RESPONSES)
    for name in CHANNELS:
        api.include_router(
            channel_routes.router,
            prefix=f"{API_PREFIX}/{name}",
            tags=[name],
            responses=ERROR_RESPONSES,
        )
    return api.routes


def name_operation(route: APIRoute) -> str:
    """Return the operation id of a route: the name of its function, for a channel after its own."""
    return "_".join([*(str(tag) for tag in route.tags if tag in CHANNELS), route.name])


def share_schemas() -> None:
    """Have Pydantic build each shape once, as it does for classes of its own.

    Of a plain dataclass each route builds another, with all shapes in it: 110 MB for all routes.
    Subclasses come before their bases, for they would inherit what is built of these.
    """
    shapes = [each for each in list_subclasses(Schema) if "__pydantic_complete__" not in vars(each)]
    for shape in sorted(filter(is_dataclass, shapes), key=lambda each: -len(each.__mro__)):
        built = TypeAdapter(shape)
        shared = {
            "core_schema": built.core_schema,
            "validator": built.validator,
            "serializer": built.serializer,
            "complete": True,
        }
        for name, value in shared.items():
            setattr(shape, f"__pydantic_{name}__", value)


def list_subclasses(base: type[object]) -> Iterator[type[object]]:
    """Yield all classes below a class."""
    for each in base.__subclasses__():
        yield each
        yield from list_subclasses(each)
