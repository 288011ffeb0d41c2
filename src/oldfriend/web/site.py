"""What is at the address in a browser? The page, and the API that it uses; nothing from elsewhere.

The page itself is the same for everybody and says nothing; all that is somebody's comes by the API.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from oldfriend import __version__
from oldfriend.web.guarding import Guarded
from oldfriend.web.problems import Problem, tell_problems
from oldfriend.web.repeating import Deeds
from oldfriend.web.room import Room
from oldfriend.web.routes import (
    bringing,
    character,
    chat,
    days,
    drafting,
    forgetting,
    keys,
    memories,
    models,
    people,
    reading,
    session,
    settings,
    telegram,
    thinking,
    turning,
    upkeep,
    voice,
)
from oldfriend.web.taking_over import Desk, ReloadNow

API: Final = "/api/v1"
PLACES: Final = ("memory", "people", "days", "bring", "settings", "forget", "welcome")
"""Where one can be on the page besides the talk; its scripts draw what is there."""
STATIC: Final = Path(__file__).parent / "static"
PROBLEMS: Final = {"model": Problem, "content": {"application/problem+json": {}}}

CONDITIONS: Final = {
    400: "It cannot be read at all.", 401: "Not signed in.",
    403: "Not allowed with this session, token or person.",
    404: "There is no such thing, or it is somebody else's.",
    409: "Something has changed meanwhile, or stands in the way.",
    412: "It was read before somebody changed it.", 413: "That is too much.",
    422: "It cannot be read, or cannot be right.",
    428: "It is to be looked at first: send the `ETag` of that as `If-Match`.",
    429: "Too much was tried in vain, or at once. `Retry-After`: how long to wait.",
    502: "Somebody else does not answer as they should.",
    503: "The memory cannot be read or written now.",
}  # fmt: skip
TOLD: Final[dict[int | str, dict[str, Any]]] = {
    status: {**PROBLEMS, "description": what} for status, what in CONDITIONS.items()
}
"""What may go wrong wherever something is asked."""


def site_of(room: Room, troubles: Callable[[], list[str]], reload_now: ReloadNow) -> ASGIApp:
    """Everything at the address; ``troubles`` says why not all work is done."""
    app = FastAPI(
        title="Oldfriend", version=__version__, docs_url=None, redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        description="What the page and the command line can see and do. Sign in with the link "
        "that `oldfriend link` prints, and send X-CSRF-Token with whatever changes something; or "
        "show a token of your own, as `Authorization: Bearer …`. What goes wrong is told as "
        "problem+json, and says what to do.",
    )  # fmt: skip
    app.state.room = room
    app.state.desk = Desk(reload_now)
    app.state.deeds = Deeds()
    app.state.troubles = troubles  # no override: with any, each question builds its routes anew
    for router in (
        session.router,
        bringing.router,
        days.router,
        people.router,
        reading.router,
        chat.router,
        turning.router,
        memories.router,
        thinking.router,
        voice.router,
        forgetting.router,
        keys.router,
        character.router,
        drafting.router,
        settings.router,
        models.router,
        telegram.router,
        upkeep.router,
    ):
        app.include_router(router, prefix=API, responses=TOLD)
    tell_problems(app)
    places = [f"/{place}{within}" for place in PLACES for within in ("", "/{id:path}")]
    for address in ("/", *places):
        app.add_api_route(address, page, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))
    return Guarded(app)


async def page() -> FileResponse:
    """The page."""
    return FileResponse(STATIC / "index.html")
