"""Session routes: sign-in by link or passkey, sign-out, profile and state."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from oldfriend import __version__
from oldfriend.api.auth import (
    AdminScopeUser,
    BrowserUser,
    CurrentUser,
    HubDep,
    TicketStoreDep,
    clear_session_cookie,
    find_session,
    get_client_address,
    get_cookie_name,
    get_relying_party,
    parse_user_agent,
    set_session_cookie,
)
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.etags import IfMatch, check_if_match, compute_etag, map_conflict_to_412
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import (
    PasskeySignInRequest,
    ProfileUpdateRequest,
    SignInRequest,
    TicketRequest,
)
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, Clock
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.inbound.passkey_sign_in import build_login_options, verify_login
from oldfriend.learning.learning_progress import find_learning_progress
from oldfriend.learning.reading_jobs import list_failed_readings
from oldfriend.memory.calendar_days import find_first_message_time
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.mood import find_mood
from oldfriend.memory.people import ensure_companion, get_companion_name
from oldfriend.memory.segments import list_uncut_spans
from oldfriend.memory.web_sessions import (
    SESSION_TTL,
    Principal,
    SignInMethod,
    check_attempt_limit,
    end_other_web_sessions,
    end_web_session,
    extend_web_session,
    find_sign_in_link,
    find_web_session,
    generate_secret,
    hash_secret,
    list_web_sessions,
    open_web_session,
    record_failed_sign_in,
    redeem_sign_in_link,
)
from oldfriend.persona.profile_names import update_person
from oldfriend.presenters.base_schema import LocalizedTextSchema, format_time
from oldfriend.presenters.sign_in_schemas import (
    EndedSessionsSchema,
    PasskeyOptionsSchema,
    SignedInSchema,
    TicketSchema,
    WebSessionListSchema,
    WebSessionSchema,
)
from oldfriend.presenters.state_schemas import LearningProgressSchema, MoodSchema, StateSchema

router = APIRouter(tags=["session"])
RECENT_MESSAGES: Final = 500
"""How many recent messages are checked for unread ones; older ones were read long ago."""


async def list_troubles(request: Request) -> list[str]:
    """List why not all work is done in this process."""
    troubles: list[str] = request.app.state.troubles()
    return troubles


@router.post("/session", summary="Sign in with a one-time link")
async def sign_in(
    given: SignInRequest, request: Request, response: Response, hub: HubDep
) -> SignedInSchema:
    """Redeem a sign-in link or an invitation and open a session, whose cookie the response sets.

    Any site can send a browser to such a link. Therefore, if somebody else is signed in, the link
    is not redeemed until the person at the browser has confirmed whose page it opens and whose
    session it ends (409: ask them).
    """
    app = hub.app
    earlier = await find_session(request, hub)
    async with app.db.begin_write() as tx:
        now = app.clock()
        opened = await find_sign_in_link(tx, given.link, now=now)
        if opened is not None:
            check_link_consent(given, *opened, earlier)
        if opened is None or not await redeem_sign_in_link(tx, given.link, now=now):
            await check_attempt_limit(tx, get_client_address(request), "link", now=now)
            await record_failed_sign_in(tx, get_client_address(request), "link", now=now)
            opened = None
    if opened is None:
        raise ApiError(
            401,
            "This link is no longer good",
            localizable(
                "link_spent",
                "A link works once, within ten minutes. Run `oldfriend link` for a new one.",
            ),
        )
    person, opened_with = opened
    return await open_session(request, response, hub, person.id, opened_with)


def check_link_consent(
    sign_in: SignInRequest, person: Person, opened_with: SignInMethod, earlier: Principal | None
) -> None:
    """Check that the user agreed to open the link's page. Raises ApiError (409) to ask first.

    No consent is needed when the person stays the same, nor for the owner's own link without a
    session: such a link is made only on this machine, by somebody who can run commands as the owner
    (`serve --open` opens it itself), so a guest who wants to lure others onto their own page cannot
    have one. Invitations and guests' links can be in anybody's hands.
    """
    if earlier is not None and earlier.person.id == person.id:
        return
    if earlier is None and person.is_owner and opened_with == "link":
        return
    instead_of = None if earlier is None else earlier.person.id
    if (sign_in.person, sign_in.instead_of) == (person.id, instead_of):
        return
    if earlier is None:
        question = localizable(
            "link_opens",
            f"This link opens the page of {person.name}.",
            person=person.id,
            name=person.name,
        )
    else:
        question = localizable(
            "link_opens_instead",
            f"You are signed in as {earlier.person.name}. This link opens the page of "
            f"{person.name}.",
            person=person.id,
            name=person.name,
            instead_of=earlier.person.id,
            signed_in=earlier.person.name,
        )
    raise ApiError(409, "Ask first", question)


@router.post("/session/passkey/options", summary="Start signing in with a passkey")
async def create_sign_in_options(request: Request, hub: HubDep) -> PasskeyOptionsSchema:
    """Return the WebAuthn options to pass to the device. They work once, for five minutes."""
    options = await build_login_options(hub.app.db, hub.app.clock, get_relying_party(request))
    assert isinstance(options, dict)
    return PasskeyOptionsSchema(options=options)


@router.post("/session/passkey", summary="Sign in with a passkey")
async def sign_in_with_passkey(
    answered: PasskeySignInRequest, request: Request, response: Response, hub: HubDep
) -> SignedInSchema:
    """Verify the device's signature and open a session for the owner of the passkey."""
    app, address = hub.app, get_client_address(request)
    try:
        person = await verify_login(
            app.db, app.clock, get_relying_party(request), answered.credential
        )
    except InvalidInput:
        await record_failed_attempt(app.db, app.clock, address)
        raise
    if person is None:
        await record_failed_attempt(app.db, app.clock, address)
        raise ApiError(
            401,
            "This passkey is not known here",
            localizable(
                "passkey_unknown",
                "It may have been removed. Run `oldfriend link`, and add it again in Settings.",
            ),
        )
    return await open_session(request, response, hub, person, "passkey")


async def record_failed_attempt(db: Database, clock: Clock, address: str) -> None:
    """Record a failed passkey sign-in. Raises TooManyAttempts."""
    async with db.begin_write() as tx:
        now = clock()
        await check_attempt_limit(tx, address, "passkey", now=now)
        await record_failed_sign_in(tx, address, "passkey", now=now)


async def open_session(
    request: Request,
    response: Response,
    hub: ConnectionHub,
    person: PersonId,
    opened_with: SignInMethod,
) -> SignedInSchema:
    """Open a new session and end the one that this browser had before."""
    app, secret, page_secret = hub.app, generate_secret(), generate_secret()
    earlier = await find_session(request, hub)
    async with app.db.begin_write() as tx:
        now = app.clock()
        await ensure_companion(tx, now=now)
        if earlier is not None:
            await end_web_session(tx, earlier.person.id, earlier.digest)
        await open_web_session(
            tx,
            person,
            secret,
            page_secret,
            now=now,
            opened_with=opened_with,
            browser=parse_user_agent(request.headers.get("user-agent", "")),
        )
        me = await find_web_session(tx, hash_secret(secret), now=now)
    if earlier is not None:
        hub.note_sign_out(earlier.person.id)
    assert me is not None  # it was just opened
    set_session_cookie(request, response, hub, secret)
    return SignedInSchema.from_domain(me, page_secret)


@router.get("/session", summary="Show the signed-in person")
async def show_session(
    request: Request, response: Response, me: CurrentUser, hub: HubDep
) -> SignedInSchema:
    """Return the signed-in person. Sessions are renewed once a day.

    Send the ETag as If-Match to change your name or time zone.
    """
    response.headers["ETag"] = compute_person_etag(me.person)
    if me.is_program:
        return SignedInSchema.from_domain(me)
    app = hub.app
    secret = request.cookies[get_cookie_name(request, hub)]
    if me.expires_at - app.clock() < SESSION_TTL - DAY:
        async with app.db.begin_write() as tx:
            await extend_web_session(tx, me.person.id, me.digest, now=app.clock())
        set_session_cookie(request, response, hub, secret)
    return SignedInSchema.from_domain(me)


@router.post("/session/tickets", status_code=201, summary="Create a download ticket")
async def create_ticket(
    wanted: TicketRequest, me: BrowserUser, hub: HubDep, tickets: TicketStoreDep
) -> TicketSchema:
    """Return a ticket, passed as `ticket=…`, for downloads that a browser starts without a header.

    A ticket for an export works once, within a minute; one for recordings works for ten minutes.
    """
    ticket = tickets.issue(me.digest, wanted.purpose, now=hub.app.clock())
    return TicketSchema(
        ticket=ticket.secret, expires_at=format_time(ticket.expires_at, me.person.zone)
    )


@router.delete("/session", status_code=204, summary="Sign out")
async def sign_out(request: Request, me: BrowserUser, hub: HubDep) -> Response:
    """End this browser's session."""
    async with hub.app.db.begin_write() as tx:
        await end_web_session(tx, me.person.id, me.digest)
    hub.note_sign_out(me.person.id)
    response = Response(status_code=204)
    clear_session_cookie(request, response, hub)
    return response


@router.get("/sessions", summary="List your sessions")
async def list_sessions(me: AdminScopeUser, hub: HubDep) -> WebSessionListSchema:
    """List the browsers that are signed in, the most recently used first."""
    async with hub.app.db.begin_read() as tx:
        found = await list_web_sessions(tx, me.person.id, now=hub.app.clock())
    return WebSessionListSchema(
        items=tuple(
            WebSessionSchema.from_domain(each, current=me.digest, zone=me.person.zone)
            for each in found
        )
    )


@router.delete("/sessions", summary="Sign out everywhere else")
async def end_other_sessions(me: AdminScopeUser, hub: HubDep) -> EndedSessionsSchema:
    """End every session except the current one."""
    async with hub.app.db.begin_write() as tx:
        count = await end_other_web_sessions(tx, me.person.id, me.digest)
    hub.note_sign_out(me.person.id)
    return EndedSessionsSchema(count=count)


@router.delete("/sessions/{session}", status_code=204, summary="Sign a browser out")
async def end_session(session: str, me: AdminScopeUser, hub: HubDep) -> Response:
    """End one of your sessions, which may be the current one."""
    async with hub.app.db.begin_write() as tx:
        if not await end_web_session(tx, me.person.id, session):
            raise NotFound(
                localizable("session_over", "There is no such session; it may have ended already.")
            )
    hub.note_sign_out(me.person.id)
    return Response(status_code=204)


@router.patch("/me", summary="Change your name or time zone")
async def update_profile(
    edited: ProfileUpdateRequest,
    me: CurrentUser,
    hub: HubDep,
    response: Response,
    if_match: IfMatch = None,
) -> SignedInSchema:
    """Change the signed-in person's profile. Earlier messages keep the old name."""
    check_if_match(if_match, compute_person_etag(me.person))
    base = None if if_match is None else me.person
    with map_conflict_to_412():
        person = await update_person(
            hub.app, me.person.id, name=edited.name, zone=edited.zone, base=base
        )
    response.headers["ETag"] = compute_person_etag(person)
    updated = Principal(
        person=person, digest=me.digest, expires_at=me.expires_at, is_program=me.is_program
    )
    return SignedInSchema.from_domain(updated)


def compute_person_etag(person: Person) -> str:
    """Compute the ETag of a person's name and time zone."""
    return compute_etag(ProfileUpdateRequest(name=person.name, zone=person.zone))


@router.get("/state", summary="Current state")
async def show_state(
    me: CurrentUser, hub: HubDep, troubles: Annotated[list[str], Depends(list_troubles)]
) -> StateSchema:
    """Return who answers, in which mood, and whether anything is wrong."""
    app = hub.app
    async with app.db.begin_read() as tx:
        companion = await get_companion_name(tx)
        is_new = not (
            await list_blocks(tx, me.person.id) or await find_first_message_time(tx, me.person.id)
        )
        has_unread = app.settings.memory.forms and await has_unread_messages(tx, me.person.id)
        mood = await find_mood(tx, me.person.id, at=app.clock())
        failed = await list_failed_readings(tx, me.person.id)
        progress = await find_learning_progress(tx, me.person.id, now=app.clock())
    model = app.models.get("main")
    return StateSchema(
        companion=companion,
        is_new=is_new,
        mood=None if mood is None else MoodSchema.from_domain(mood),
        troubles=tuple(LocalizedTextSchema.from_domain(each) for each in troubles),
        version=__version__,
        forms=app.settings.memory.forms,
        has_unread=has_unread,
        unread_failed=len(failed),
        model=None if model is None else model.name,
        hears=app.transcriber is not None,
        progress=None
        if progress is None
        else LearningProgressSchema.from_domain(progress, zone=me.person.zone),
    )


async def has_unread_messages(tx: Transaction, person: PersonId) -> bool:
    """Tell whether the person recently said something that is in no segment yet."""
    newest = await list_messages(tx, person, limit=1)
    if not newest:
        return False
    return any(
        each.turns
        for each in await list_uncut_spans(tx, person, after=newest[0].seq - RECENT_MESSAGES)
    )
