"""Proactive routes: how readily the companion speaks first, and which browsers are told of it."""

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from oldfriend.api.auth import (
    BrowserUser,
    CurrentUser,
    HubDep,
    WorkerUser,
    build_not_signed_in,
)
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.cursors import LimitParam
from oldfriend.api.requests import ClockTime, RequestModel
from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MessageId
from oldfriend.inbound.button_presses import accept_page_press
from oldfriend.memory.push_subscriptions import (
    PushSubscription,
    ShownPart,
    delete_push_subscription,
    find_push_subscription,
    print_endpoint,
    save_push_subscription,
)
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.proactive_schemas import (
    ChecklistSchema,
    ImpulseListSchema,
    ImpulseSchema,
    ProactiveSettingsSchema,
    PushKeySchema,
    PushStateSchema,
)
from oldfriend.proactive.checklist import (
    DEFAULT_MINUTES,
    MAX_LINE_CHARS,
    MAX_LINES,
    MAX_MINUTES,
    is_line,
    load_checklist,
    parse_checklist,
    save_checklist,
)
from oldfriend.proactive.impulse_store import ImpulseStatus, list_impulses
from oldfriend.proactive.look_planner import apply_settings, plan_next_look
from oldfriend.proactive.policy import ImpulseKind, Level
from oldfriend.proactive.proactive_settings import (
    Digest,
    ProactiveSettings,
    Recap,
    load_proactive_settings,
)
from oldfriend.replies.push_notifications import ensure_push_key, find_push_key
from oldfriend.web.web_push import compute_public_key, parse_address, seal, unseal


class ProactiveUpdateRequest(RequestModel):
    """Changes to how readily the companion speaks first; fields that are left out stay."""

    level: Level | None = Field(default=None, examples=["shy"])
    quiet_begins: ClockTime | None = None
    quiet_ends: ClockTime | None = None
    digest: Digest | None = Field(default=None, examples=["off"])
    recap: Recap | None = Field(default=None, examples=["off"])
    muted: list[ImpulseKind] | None = Field(
        default=None, max_length=20, description="All kinds that are never to be said again."
    )


class ChecklistRequest(RequestModel):
    """What is to be looked at again and again; no lines: nothing."""

    lines: list[Annotated[str, Field(max_length=MAX_LINE_CHARS)]] = Field(
        max_length=MAX_LINES, examples=[["Is an exam near?"]]
    )
    minutes: int = Field(default=DEFAULT_MINUTES, ge=1, le=MAX_MINUTES)


class PushKeys(RequestModel):
    """What only the browser can read with."""

    p256dh: str = Field(
        max_length=200,
        description="Its public key, as base64url.",
        examples=[
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ],
    )
    auth: str = Field(
        max_length=100,
        description="Its secret, as base64url.",
        examples=["BTBZMqHH6r4Tts7J_aSIgg"],
    )


class PushRequest(RequestModel):
    """A browser's subscription at its push service, as `PushSubscription.toJSON()` has it."""

    endpoint: str = Field(max_length=2_000, examples=["https://push.example.org/abc"])
    keys: PushKeys
    shows: ShownPart = Field(
        default="words",
        description="words: what is said; hint: only that there is something.",
    )


class PushRenewalRequest(RequestModel):
    """A subscription that a browser has put in place of another."""

    was: str = Field(max_length=2_000, examples=["https://push.example.org/abc"])
    endpoint: str = Field(max_length=2_000, examples=["https://push.example.org/def"])
    keys: PushKeys


class PushPressRequest(RequestModel):
    """The press of a button in a notification."""

    endpoint: str = Field(max_length=2_000, examples=["https://push.example.org/abc"])
    message: str = Field(
        max_length=100,
        description="The message that the notification told of.",
        examples=["018c2f6a-0000-7000-8000-000000000000"],
    )
    command: str = Field(min_length=2, max_length=MAX_COMMAND_BYTES, examples=["/done 0190abcd"])


router = APIRouter(prefix="/proactive", tags=["chat"])


@router.get("", summary="How readily it speaks first")
async def show_proactive_settings(me: CurrentUser, hub: HubDep) -> ProactiveSettingsSchema:
    """Return what the signed-in person has chosen, or the defaults."""
    async with hub.app.db.begin_read() as tx:
        settings = await load_proactive_settings(tx, me.person.id)
    return ProactiveSettingsSchema.from_domain(settings)


@router.put("", summary="Choose how readily it speaks first")
async def choose_proactive_settings(
    chosen: ProactiveUpdateRequest, me: CurrentUser, hub: HubDep
) -> ProactiveSettingsSchema:
    """Change when the companion may write first. Reminders that were asked for always come."""
    now = hub.app.clock()
    async with hub.app.db.begin_write() as tx:
        before = await load_proactive_settings(tx, me.person.id)
        settings = apply_update(before, chosen)
        await apply_settings(tx, me.person.id, settings, now=now)
        await tx.notify()
    hub.app.notifier.notify()
    return ProactiveSettingsSchema.from_domain(settings)


def apply_update(before: ProactiveSettings, chosen: ProactiveUpdateRequest) -> ProactiveSettings:
    """Return settings with what was chosen."""
    quiet = before.quiet
    if chosen.quiet_begins is not None:
        quiet = replace(quiet, begins=parse_clock_minute(chosen.quiet_begins))
    if chosen.quiet_ends is not None:
        quiet = replace(quiet, ends=parse_clock_minute(chosen.quiet_ends))
    return ProactiveSettings(
        level=chosen.level or before.level,
        quiet=quiet,
        digest=chosen.digest or before.digest,
        recap=chosen.recap or before.recap,
        muted=before.muted if chosen.muted is None else frozenset(chosen.muted),
    )


def parse_clock_minute(text: str) -> int:
    """Parse "22:30" as a minute of the day."""
    hour, _, minute = text.partition(":")
    return 60 * int(hour) + int(minute)


@router.get("/checklist", summary="What it looks at by itself")
async def show_checklist(me: CurrentUser, hub: HubDep) -> ChecklistSchema:
    """Return what the signed-in person wants looked at again and again."""
    async with hub.app.db.begin_read() as tx:
        return ChecklistSchema.from_domain(await load_checklist(tx, me.person.id))


@router.put("/checklist", summary="Choose what it looks at by itself")
async def write_checklist(
    wanted: ChecklistRequest, me: CurrentUser, hub: HubDep
) -> ChecklistSchema:
    """Replace the list; signs of a list and empty lines are left out.

    422: a line without words, which could not be kept as it was sent.
    """
    now = hub.app.clock()
    lost = next((each for each in wanted.lines if each.strip() and not is_line(each)), None)
    if lost is not None:
        raise InvalidInput(f"{lost!r} is no line of words. How often it is looked at: “minutes”.")
    checklist = replace(parse_checklist("\n".join(wanted.lines)), minutes=wanted.minutes)
    async with hub.app.db.begin_write() as tx:
        await save_checklist(tx, me.person.id, checklist, now=now)
        await plan_next_look(tx, me.person.id, now=now)
        await tx.notify()
    hub.app.notifier.notify()
    return ChecklistSchema.from_domain(checklist)


@router.get("/impulses", summary="What it thought of saying")
async def list_recent_impulses(
    me: CurrentUser,
    hub: HubDep,
    limit: LimitParam = 50,
    status: Annotated[
        ImpulseStatus | None, Query(description="Only those of which this became.")
    ] = None,
) -> ImpulseListSchema:
    """List what could be said unasked, with each decision and its reason, the newest first."""
    async with hub.app.db.begin_read() as tx:
        found = await list_impulses(tx, me.person.id, limit=limit, status=status)
    return ImpulseListSchema(
        items=tuple(ImpulseSchema.from_domain(each, zone=me.person.zone) for each in found)
    )


@router.get("/push", summary="Whether this browser is told what is said unasked")
async def show_push(me: BrowserUser, hub: HubDep) -> PushStateSchema:
    """Return whether notifications are sent to this browser, and what they show."""
    app = hub.app
    async with app.db.begin_read() as tx:
        found = await find_push_subscription(tx, me.person.id, me.digest, now=app.clock())
    if found is None:
        return PushStateSchema(is_on=False, shows="words")
    key = await asyncio.to_thread(find_push_key, app.settings)
    is_on = key is not None and unseal(found.sealed, key, label=me.digest) is not None
    return PushStateSchema(is_on=is_on, shows=found.shows)


@router.post("/push/key", summary="Get the key for notifications")
async def get_push_key(_: BrowserUser, hub: HubDep) -> PushKeySchema:
    """Return the public key by which push services know this installation; made at first use."""
    key = await asyncio.to_thread(ensure_push_key, hub.app.settings)
    return PushKeySchema(key=compute_public_key(key))


@router.put("/push", summary="Have this browser told what is said unasked")
async def turn_push_on(
    wanted: PushRequest, me: BrowserUser, request: Request, hub: HubDep
) -> PushStateSchema:
    """Send notifications to this browser until it is signed out, or asks for none any more.

    422: the address is none of a push service on the web.
    """
    subscription = await seal_subscription(wanted, me, request, hub, shows=wanted.shows)
    async with hub.app.db.begin_write() as tx:
        await save_push_subscription(tx, subscription, now=hub.app.clock())
    return PushStateSchema(is_on=True, shows=wanted.shows)


@router.put("/push/renewal", summary="Go on telling a browser that has a new subscription")
async def renew_push(
    wanted: PushRenewalRequest, me: WorkerUser, request: Request, hub: HubDep
) -> PushStateSchema:
    """Put a new subscription in place of the one that the browser has had.

    The browser's service worker asks, which has no CSRF secret: it proves to be that browser by
    the address of before, which nobody else knows. 401: it is not that of this session.
    """
    app = hub.app
    async with app.db.begin_read() as tx:
        before = await find_push_subscription(tx, me.person.id, me.digest, now=app.clock())
    if before is None or before.print != print_endpoint(wanted.was):
        raise build_not_signed_in()
    subscription = await seal_subscription(wanted, me, request, hub, shows=before.shows)
    async with app.db.begin_write() as tx:
        await save_push_subscription(tx, subscription, now=app.clock())
    return PushStateSchema(is_on=True, shows=before.shows)


@router.post("/push/press", status_code=204, summary="Press a button in a notification")
async def press_pushed_button(pressed: PushPressRequest, me: WorkerUser, hub: HubDep) -> Response:
    """Say what a button of the message says, once for each message, however it is pressed.

    The browser's service worker asks, which has no CSRF secret: it proves to be that browser by
    the address of its subscription, which nobody else knows. 401: it is not that of this session.
    """
    async with hub.app.db.begin_read() as tx:
        known = await find_push_subscription(tx, me.person.id, me.digest, now=hub.app.clock())
    if known is None or known.print != print_endpoint(pressed.endpoint):
        raise build_not_signed_in()
    claim_now = hub.has_capacity
    accepted = await accept_page_press(
        hub.app, me.person.id, MessageId(pressed.message), pressed.command, claim_now=claim_now
    )
    if accepted is not None and claim_now:
        await hub.start_reply(accepted)
    return Response(status_code=204)


async def seal_subscription(
    wanted: PushRequest | PushRenewalRequest,
    me: Principal,
    request: Request,
    hub: ConnectionHub,
    *,
    shows: ShownPart,
) -> PushSubscription:
    """Check where a browser is reached, and seal it for the database. Raises InvalidInput."""
    is_public = request.url.scheme == "https"
    seen_at = f"https://{request.url.netloc}" if is_public else None
    contact = hub.app.settings.serve.public_url or seen_at
    address = parse_address(wanted.endpoint, wanted.keys.p256dh, wanted.keys.auth, contact=contact)
    key = await asyncio.to_thread(ensure_push_key, hub.app.settings)
    return PushSubscription(
        session=me.digest,
        person=me.person.id,
        print=print_endpoint(wanted.endpoint),
        sealed=seal(address, key, label=me.digest),
        shows=shows,
    )


@router.delete("/push", status_code=204, summary="Have this browser told nothing any more")
async def turn_push_off(me: BrowserUser, hub: HubDep) -> Response:
    """Send no notifications to this browser any more."""
    async with hub.app.db.begin_write() as tx:
        await delete_push_subscription(tx, me.person.id, me.digest)
    return Response(status_code=204)
