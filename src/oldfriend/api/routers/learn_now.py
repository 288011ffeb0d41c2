"""Learning route: extracts what was said without waiting for the conversation to pause."""

from typing import Final

from fastapi import APIRouter

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.presenters.journal import ReadNow
from oldfriend.runtime.learn_now import learn_now

router = APIRouter(tags=["memory"])

TIMEOUT_S: Final = 10.0
"""Seconds to wait for another process that is extracting already."""


@router.post("/learned/now", summary="Read what was said now")
async def read_now(me: CurrentUser, hub: HubDep) -> ReadNow:
    """What is learned comes as events. Repeated, only what was said since is read."""
    result = await learn_now(hub.app, me.person.id, cut_reason="asked", wait_s=TIMEOUT_S)
    hub.app.notifier.notify()
    return ReadNow(read=result.read, waiting=result.waiting)
