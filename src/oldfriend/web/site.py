"""What is at the address in a browser? The page, and the API that it uses; nothing from elsewhere.

The page itself is the same for everybody and says nothing; all that is somebody's comes by the API.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from oldfriend import __version__
from oldfriend.web.guarding import Guarded
from oldfriend.web.problems import Problem, tell_problems
from oldfriend.web.room import Room
from oldfriend.web.routes import chat, memories, session

API: Final = "/api/v1"
PLACES: Final = ("memory", "people", "days", "bring", "settings", "welcome")
"""Where one can be on the page besides the talk; its scripts draw what is there."""
STATIC: Final = Path(__file__).parent / "static"
PROBLEMS: Final = {"model": Problem, "content": {"application/problem+json": {}}}


def site_of(room: Room, troubles: Callable[[], list[str]]) -> ASGIApp:
    """Everything at the address; ``troubles`` says why not all work is done."""
    app = FastAPI(
        title="Oldfriend", version=__version__, docs_url=None, redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        description="What the page and the command line can see and do. Sign in with the link "
        "that `oldfriend link` prints; send X-CSRF-Token with whatever changes something.",
    )  # fmt: skip
    app.state.room = room
    app.dependency_overrides[session.list_troubles] = troubles
    for router in (session.router, chat.router, memories.router):
        app.include_router(
            router, prefix=API,
            responses={
                401: {**PROBLEMS, "description": "Not signed in."},
                422: {**PROBLEMS, "description": "It cannot be read, or cannot be right."},
            },
        )  # fmt: skip
    tell_problems(app)
    for address in ("/", *(f"/{place}{within}" for place in PLACES for within in ("", "/{id}"))):
        app.add_api_route(address, page, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))
    return Guarded(app)


async def page() -> FileResponse:
    """The page."""
    return FileResponse(STATIC / "index.html")
