"""Watch routes: pages and prices of which a person wants to be told once."""

from typing import Annotated

from fastapi import APIRouter, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.requests import WatchRequest
from oldfriend.domain.errors import InvalidInput
from oldfriend.measurements.number_source import NumberSource
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.watch_schemas import WatchListSchema, WatchSchema
from oldfriend.watches.watch import STATUSES
from oldfriend.watches.watch_edits import add_watch, end_watch
from oldfriend.watches.watch_store import list_watches
from oldfriend.web.links import normalize_public_link

router = APIRouter(prefix="/watches", tags=["watches"])


@router.get("", summary="List what is watched for you")
async def show_watches(
    me: CurrentUser,
    hub: HubDep,
    ended: Annotated[bool, Query(description="Include those that are over.")] = False,
) -> WatchListSchema:
    """List your watches, oldest first."""
    async with hub.app.db.begin_read() as tx:
        found = await list_watches(tx, me.person.id, statuses=STATUSES if ended else ("active",))
    return WatchListSchema(
        items=tuple(WatchSchema.from_domain(each, zone=me.person.zone) for each in found)
    )


@router.post("", status_code=201, summary="Watch a page or a price")
async def create_watch(made: WatchRequest, me: CurrentUser, hub: HubDep) -> WatchSchema:
    """Have a page read every six hours; you are told once when it changes.

    With `below` or `above`, when the first price on it is. Pages are read only where that is
    switched on. `measure:kg:weight` is your weight, which needs a limit in kilograms.
    """
    if NumberSource.parse(made.url) is not None:
        return await add(made.url, made, me, hub)
    if not hub.app.settings.web.pages:
        raise InvalidInput("Reading pages is switched off: set `pages = true` under [web].")
    url = normalize_public_link(made.url)
    if url is None:
        raise InvalidInput("That is not an address of the public web.")
    return await add(url, made, me, hub)


async def add(url: str, made: WatchRequest, me: Principal, hub: ConnectionHub) -> WatchSchema:
    """Watch an address that may be asked for, or a number."""
    async with hub.app.db.begin_write() as tx:
        watch = await add_watch(
            tx, me.person, url, now=hub.app.clock(), below=made.below, above=made.above
        )
    hub.app.notifier.notify()
    hub.note_tasks_changed(me.person.id)
    return WatchSchema.from_domain(watch, zone=me.person.zone)


@router.delete("/{watch}", summary="End a watch")
async def delete_watch(watch: str, me: CurrentUser, hub: HubDep) -> WatchSchema:
    """End a watch, by its id or the beginning of it."""
    async with hub.app.db.begin_write() as tx:
        ended = await end_watch(tx, me.person, watch, now=hub.app.clock())
    hub.note_tasks_changed(me.person.id)
    return WatchSchema.from_domain(ended, zone=me.person.zone)
