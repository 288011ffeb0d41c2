"""Settings routes for the owner; changes apply at once where possible."""

from fastapi import APIRouter, Response

from oldfriend.api.auth import HubDep, OwnerUser
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.etags import IfMatch, check_if_match, compute_etag
from oldfriend.api.requests import Chosen
from oldfriend.api.settings_reload import SettingsWriterDep
from oldfriend.config.settings import Settings
from oldfriend.config.settings_catalog import list_settings, write_settings
from oldfriend.presenters.configuration_schemas import Choices

router = APIRouter(tags=["settings"])


@router.get("/settings", summary="What is chosen")
async def show_settings(_: OwnerUser, hub: HubDep, response: Response) -> Choices:
    """Every setting that may be changed here, and where its value comes from."""
    return load_choices(hub, response)


@router.patch("/settings", summary="Choose")
async def choose(
    chosen: Chosen,
    _: OwnerUser,
    hub: HubDep,
    writer: SettingsWriterDep,
    response: Response,
    if_match: IfMatch = None,
) -> Choices:
    """Write into the file of settings, and take over what can be while it runs.

    Of what waits for the next start, `takes_new_start` says so. All of it is changed, or nothing.
    """

    def write(settings: Settings) -> str:
        check_if_match(if_match, compute_etag(build_choices(settings)))
        return write_settings(settings, chosen.values)

    await writer.apply(hub, write)
    return load_choices(hub, response)


def load_choices(hub: ConnectionHub, response: Response) -> Choices:
    """Load the settings and set their ETag."""
    choices = build_choices(hub.app.settings)
    response.headers["ETag"] = compute_etag(choices)
    return choices


def build_choices(settings: Settings) -> Choices:
    """Build the list of settings."""
    return Choices.from_domain(list_settings(settings), str(settings.file))
