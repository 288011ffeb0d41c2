"""Oura routes: the owner names an application; each person connects their own ring, or lets go."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Final, Self

from fastapi import APIRouter, Request, Response
from pydantic import Field

from oldfriend.api.auth import AdminScopeUser, CurrentUser, HubDep, OwnerUser
from oldfriend.api.requests import RequestModel
from oldfriend.domain.errors import NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.measurements.oura_store import OuraConnection, find_connection
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.transfer.oura_client import REGISTER_URL, OuraApplication
from oldfriend.transfer.oura_connection import (
    find_application,
    store_application,
)
from oldfriend.transfer.oura_pull import (
    begin_consent,
    disconnect,
    finish_consent,
    plan_reading,
)

router = APIRouter(prefix="/oura", tags=["measurements"])
LANDING_PATH: Final = "/settings/health"
"""The place of the page to which Oura sends whoever has agreed."""
Secret = Annotated[str, Field(min_length=1, max_length=200)]


class OuraApplicationRequest(RequestModel):
    """The application that the owner has registered at Oura."""

    id: Secret = Field(examples=["ABCDEF"])
    secret: Secret = Field(examples=["GHIJKL"])


class OuraConsentRequest(RequestModel):
    """What Oura sent back once the person had agreed."""

    code: str = Field(min_length=1, max_length=1_000, examples=["MNOPQR"])
    state: str = Field(min_length=1, max_length=200, examples=["STUVWX"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OuraSchema(Schema):
    """How things stand with a person's ring."""

    has_application: bool = field(metadata=describe("Whether the owner has named one."))
    status: str = field(
        metadata=describe("none, asking, connected or refused.", examples=["connected"])
    )
    read_at: str | None = field(metadata=describe("When it was last read without a fault."))
    error: str | None = field(metadata=describe("Why it was not read the last time."))
    redirect: str = field(metadata=describe("The redirect address to register at Oura."))
    register: str = field(metadata=describe("Where the owner registers an application at Oura."))

    @classmethod
    def from_domain(
        cls, found: OuraConnection | None, *, has_application: bool, redirect: str, zone: str
    ) -> Self:
        """Present a connection."""
        return cls(
            has_application=has_application,
            status="none" if found is None else found.status,
            read_at=None if found is None else format_time(found.read_at, zone),
            error=None if found is None else found.error,
            redirect=redirect,
            register=REGISTER_URL,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OuraConsentSchema(Schema):
    """Where the person agrees."""

    address: str


def get_landing(request: Request) -> str:
    """Return the address of the page to which Oura sends back."""
    return f"{request.url.scheme}://{request.url.netloc}{LANDING_PATH}"


@router.get("", summary="Show your ring")
async def show_oura(me: CurrentUser, request: Request, hub: HubDep) -> OuraSchema:
    """Return whether your Oura ring is connected, and how it was read last."""
    application = await asyncio.to_thread(find_application, hub.app.settings)
    async with hub.app.db.begin_read() as tx:
        found = await find_connection(tx, me.person.id)
    return OuraSchema.from_domain(
        found,
        has_application=application is not None,
        redirect=get_landing(request),
        zone=me.person.zone,
    )


@router.put("/application", status_code=204, summary="Name the application")
async def name_application(named: OuraApplicationRequest, _: OwnerUser, hub: HubDep) -> Response:
    """Store the id and secret of the application that you have registered at Oura."""
    application = OuraApplication(id=named.id.strip(), secret=named.secret.strip())
    await asyncio.to_thread(store_application, hub.app.settings, application)
    return Response(status_code=204)


@router.post("/consent", summary="Begin to connect your ring")
async def begin(me: AdminScopeUser, request: Request, hub: HubDep) -> OuraConsentSchema:
    """Return the address at Oura where you agree; from there you come back to the page."""
    app = hub.app
    address = await begin_consent(
        app.db, app.clock, app.settings, me.person.id, redirect=get_landing(request)
    )
    return OuraConsentSchema(address=address)


@router.put("/consent", summary="Connect your ring")
async def finish(
    agreed: OuraConsentRequest, me: AdminScopeUser, request: Request, hub: HubDep
) -> OuraSchema:
    """Take what Oura sent back, once; from then on your days are read each day."""
    app = hub.app
    await finish_consent(app, app.web.fetcher, me.person.id, code=agreed.code, state=agreed.state)
    app.notifier.notify()
    return await show_oura(me, request, hub)


@router.post("/reading", status_code=204, summary="Read your ring now")
async def read_now(me: CurrentUser, hub: HubDep) -> Response:
    """Have the last days read as soon as possible."""
    now = hub.app.clock()
    async with hub.app.db.begin_write() as tx:
        found = await find_connection(tx, me.person.id)
        if found is None or found.status != "connected":
            raise NotFound(localizable("oura_unconnected", "No ring is connected."))
        await plan_reading(tx, me.person.id, now=now - 1, due_at=now)
        await tx.notify()
    hub.app.notifier.notify()
    return Response(status_code=204)


@router.delete("", status_code=204, summary="Disconnect your ring")
async def remove(me: CurrentUser, hub: HubDep) -> Response:
    """Forget the tokens. What was read stays until you remove it."""
    if not await disconnect(hub.app, me.person.id):
        raise NotFound(localizable("oura_unconnected", "No ring is connected."))
    return Response(status_code=204)
