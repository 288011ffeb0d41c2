"""What is chosen for the whole install? For its owner; changes hold at once, where they can."""

from fastapi import APIRouter, Response

from oldfriend.app.choices.listing import list_chosen, write_chosen
from oldfriend.app.choices.settings import Settings
from oldfriend.web.matching import IfMatch, refuse_changed, tag_of
from oldfriend.web.room import Room
from oldfriend.web.shapes.settings import Choices, Chosen
from oldfriend.web.showing.settings import choice_shape
from oldfriend.web.signing import Here, Owner
from oldfriend.web.taking_over import AtDesk

router = APIRouter(tags=["settings"])


@router.get("/settings", summary="What is chosen")
async def show_settings(_: Owner, room: Here, response: Response) -> Choices:
    """Every setting that may be changed here, and where its value comes from."""
    return shown(room, response)


@router.patch("/settings", summary="Choose")
async def choose(
    chosen: Chosen, _: Owner, room: Here, desk: AtDesk, response: Response,
    if_match: IfMatch = None,
) -> Choices:  # fmt: skip
    """Write into the file of settings, and take over what can be while it runs.

    Of what waits for the next start, `takes_new_start` says so. All of it is changed, or nothing.
    """

    def write(settings: Settings) -> str:
        refuse_changed(if_match, tag_of(choices_of(settings)))
        return write_chosen(settings, chosen.values)

    await desk.take_over(room, write)
    return shown(room, response)


def shown(room: Room, response: Response) -> Choices:
    """What is chosen now, and its ETag."""
    choices = choices_of(room.house.settings)
    response.headers["ETag"] = tag_of(choices)
    return choices


def choices_of(settings: Settings) -> Choices:
    """What is chosen."""
    return Choices(
        items=[choice_shape(each) for each in list_chosen(settings)], file=str(settings.file)
    )
