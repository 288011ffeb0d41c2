"""What is chosen for the whole install? For its owner; changes hold at once, where they can."""

from fastapi import APIRouter

from oldfriend.app.choices.listing import list_chosen, write_chosen
from oldfriend.web.room import Room
from oldfriend.web.shapes.settings import Choices, Chosen
from oldfriend.web.showing.settings import choice_shape
from oldfriend.web.signing import Here, Owner
from oldfriend.web.taking_over import AtDesk

router = APIRouter(tags=["settings"])


@router.get("/settings", summary="What is chosen")
async def show_settings(_: Owner, room: Here) -> Choices:
    """Every setting that may be changed here, and where its value comes from."""
    return shown(room)


@router.patch("/settings", summary="Choose")
async def choose(chosen: Chosen, _: Owner, room: Here, desk: AtDesk) -> Choices:
    """Write into the file of settings, and take over what can be while it runs.

    Of what waits for the next start, `takes_new_start` says so. All of it is changed, or nothing.
    """
    await desk.take_over(room, lambda settings: write_chosen(settings, chosen.values))
    return shown(room)


def shown(room: Room) -> Choices:
    """What is chosen now."""
    settings = room.house.settings
    return Choices(
        items=[choice_shape(each) for each in list_chosen(settings)], file=str(settings.file)
    )
