"""When is what was said read? By itself, once the talk pauses; or now, for whoever cannot wait."""

from typing import Final

from fastapi import APIRouter

from oldfriend.app.catching_up import catch_up
from oldfriend.web.shapes.memories import ReadNow
from oldfriend.web.signing import Here, Me

router = APIRouter(tags=["memory"])

PATIENCE_S: Final = 10.0
"""So long whoever asks waits for somebody else who reads already; then it is said what waits."""


@router.post("/learned/now", summary="Read what was said now")
async def read_now(me: Me, room: Here) -> ReadNow:
    """What is learned comes as events. Repeated, only what was said since is read."""
    done = await catch_up(room.house, me.person.id, because="asked", patience_s=PATIENCE_S)
    room.house.waking.ring()
    return ReadNow(read=done.read, waiting=done.waiting)
