"""Calendar routes: reminders and to-dos as a calendar, and the secret address that serves it."""

import asyncio
from typing import Annotated, Final
from urllib.parse import unquote

from fastapi import APIRouter, Header, Query, Request, Response

from oldfriend.api.auth import AdminScopeUser, CurrentUser, FreshUser, HubDep, get_client_address
from oldfriend.api.routers.task_routes import tell_of_change
from oldfriend.domain.errors import NotFound
from oldfriend.memory.calendar_feeds import (
    find_feed_person,
    find_feed_time,
    renew_feed,
    revoke_feed,
)
from oldfriend.memory.web_sessions import check_attempt_limit, record_failed_sign_in
from oldfriend.presenters.task_schemas import (
    CalendarEntrySchema,
    CalendarFeedSchema,
    CalendarImportSchema,
)
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.tasks.calendar_files import write_calendar
from oldfriend.tasks.calendar_imports import (
    DEFAULT_FILE_NAME,
    decide_calendar,
    import_calendar,
)
from oldfriend.tasks.task_store import list_tasks
from oldfriend.transfer.sandbox_process import read_calendar_in_sandbox
from oldfriend.transfer.uploads import sanitize_name

router = APIRouter(prefix="/tasks", tags=["tasks"])
CALENDAR_TYPE: Final = "text/calendar"
FEED_PATH: Final = "/calendar/{secret}.ics"
MAX_FEED_SECRET_CHARS: Final = 100


@router.get(
    "/calendar.ics",
    summary="Download your reminders as a calendar",
    response_class=Response,
    responses={200: {"content": {CALENDAR_TYPE: {}}, "description": "The calendar."}},
)
async def export_calendar(me: CurrentUser, hub: HubDep) -> Response:
    """Return your reminders and to-dos as iCalendar (RFC 5545)."""
    async with hub.app.db.begin_read() as tx:
        tasks = await list_tasks(tx, me.person.id)
    return Response(write_calendar(tasks), media_type=CALENDAR_TYPE)


@router.post(
    "/calendar.ics",
    summary="Bring in a calendar file",
    openapi_extra={"requestBody": {"required": True, "content": {CALENDAR_TYPE: {}}}},
)
async def bring_calendar(
    me: CurrentUser,
    hub: HubDep,
    request: Request,
    preview: Annotated[
        bool, Query(description="Only tell what is new and what is there already.")
    ] = False,
    x_file_name: Annotated[
        str, Header(max_length=1000, description="The file's name, percent-encoded.")
    ] = DEFAULT_FILE_NAME,
) -> CalendarImportSchema:
    """Put what is to come in a calendar file (the raw request body) on the list.

    What is there already stays as it is, unless the calendar has moved or cancelled it; what you
    ended does not come back. What is over or cannot be kept is told.
    `POST /imports/{number}/undo` takes it back.
    """
    app, now = hub.app, hub.app.clock()
    content = await request.body()
    entries, unused = await asyncio.to_thread(
        read_calendar_in_sandbox, content, zone=me.person.zone, now=now
    )
    if preview:
        async with app.db.begin_read() as tx:
            done = await decide_calendar(tx, me.person, entries, now=now)
    else:
        async with app.db.begin_write() as tx:
            file = sanitize_name(unquote(x_file_name) or DEFAULT_FILE_NAME)
            done = await import_calendar(tx, me.person, entries, content, file=file, now=now)
            await plan_next_look(tx, me.person.id, now=now)
        tell_of_change(me, hub)
    return CalendarImportSchema(
        items=tuple(
            CalendarEntrySchema.from_domain(each.entry, each.decision, zone=me.person.zone)
            for each in done.entries
        ),
        number=done.number,
        unused=(*unused, *done.unused),
        is_preview=preview,
    )


@router.get("/feed", summary="Show whether calendars can read your reminders")
async def show_feed(me: AdminScopeUser, hub: HubDep) -> CalendarFeedSchema:
    """Tell whether there is an address for calendars, without its secret."""
    async with hub.app.db.begin_read() as tx:
        made_at = await find_feed_time(tx, me.person.id)
    return CalendarFeedSchema.from_domain(made_at, zone=me.person.zone)


@router.post("/feed", status_code=201, summary="Make an address for calendars")
async def create_feed(me: FreshUser, hub: HubDep) -> CalendarFeedSchema:
    """Make the secret address; only this response contains it. An earlier one is revoked."""
    now = hub.app.clock()
    async with hub.app.db.begin_write() as tx:
        secret = await renew_feed(tx, me.person.id, now=now)
    path = FEED_PATH.format(secret=secret)
    return CalendarFeedSchema.from_domain(now, zone=me.person.zone, path=path)


@router.delete("/feed", status_code=204, summary="Revoke the address for calendars")
async def end_feed(me: AdminScopeUser, hub: HubDep) -> Response:
    """Revoke the address; calendars that have it can read nothing any more."""
    async with hub.app.db.begin_write() as tx:
        await revoke_feed(tx, me.person.id)
    return Response(status_code=204)


async def serve_feed(secret: str, request: Request, hub: HubDep) -> Response:
    """Serve a feed to whoever knows its secret; guessing is limited as with tokens."""
    app, address = hub.app, get_client_address(request)
    now = app.clock()
    async with app.db.begin_read() as tx:
        person = await find_feed_person(tx, secret[:MAX_FEED_SECRET_CHARS])
        if person is None:
            await check_attempt_limit(tx, address, "token", now=now)
        tasks = [] if person is None else await list_tasks(tx, person.id)
    if person is None:
        async with app.db.begin_write() as tx:
            await record_failed_sign_in(tx, address, "token", now=now)
        raise NotFound("There is no such calendar; its address may have been revoked.")
    headers = {"Cache-Control": "private, no-store"}
    return Response(write_calendar(tasks), media_type=CALENDAR_TYPE, headers=headers)
