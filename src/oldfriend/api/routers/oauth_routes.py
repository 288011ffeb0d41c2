"""OAuth routes: shows a person which program asks for their memory, and takes what they decide."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from oldfriend.api.auth import AdminScopeUser, HubDep, require_fresh_login
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import RequestModel
from oldfriend.domain.i18n_messages import localizable
from oldfriend.inbound.oauth_requests import (
    AuthorizationRequest,
    CheckedRequest,
    allow_request,
    build_answer,
    check_request,
)
from oldfriend.memory.oauth_grants import OAuthScope
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.base_schema import Schema, describe

router = APIRouter(prefix="/authorization", tags=["signing in"])
Value = Annotated[str, Field(max_length=2_000)]


class AuthorizationQuery(RequestModel):
    """What a program asks, as in the query at /authorize (RFC 6749, 7636, 8707)."""

    client_id: Annotated[Value, Field(min_length=1, examples=["program-01a2"])]
    redirect_uri: Annotated[Value, Field(min_length=1, examples=["https://example.org/callback"])]
    response_type: Value = ""
    code_challenge: Value = ""
    code_challenge_method: Value = ""
    scope: Value = ""
    state: Value = ""
    resource: Value = ""

    def to_domain(self) -> AuthorizationRequest:
        """Return the request to check."""
        return AuthorizationRequest(**self.model_dump())


class AuthorizationDecisionRequest(RequestModel):
    """What the person decides."""

    request: AuthorizationQuery
    allow: Literal["read", "write", "nothing"] = Field(
        description="write: to read, and to store what it is told."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationSchema(Schema):
    """A program that asks for the person's memory."""

    name: str = field(metadata=describe("What it calls itself; nobody has verified that."))
    host: str = field(
        metadata=describe("Where the answer goes, in short.", examples=["example.org"])
    )
    redirect: str = field(metadata=describe("The whole address to which the answer goes."))
    scopes: tuple[OAuthScope, ...] = field(metadata=describe("What can be allowed."))
    error: str | None = field(
        metadata=describe(
            "Why it cannot be allowed, as OAuth calls it.", examples=["invalid_target"]
        )
    )

    @classmethod
    def from_domain(cls, checked: CheckedRequest, redirect: str) -> Self:
        """Present who asks."""
        return cls(
            name=checked.client.name,
            host=checked.host,
            redirect=redirect,
            scopes=() if checked.error else checked.scopes,
            error=checked.error or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationAnswerSchema(Schema):
    """Where the person's browser goes now."""

    address: str


async def require_page(me: AdminScopeUser) -> Principal:
    """Require a browser: no program lets another one in. Raises ApiError."""
    if me.is_program:
        raise ApiError(
            403,
            "Only on the page",
            localizable("oauth_on_page", "This is decided on the page, by a person."),
        )
    return me


PageUser = Annotated[Principal, Depends(require_page)]


def get_origin(request: Request) -> str:
    """Return scheme and host as the browser sees them; the middleware checked the origin."""
    return f"{request.url.scheme}://{request.url.netloc}"


@router.post("", summary="Show who asks")
async def show_request(
    asked: AuthorizationQuery, _: PageUser, request: Request, hub: HubDep
) -> AuthorizationSchema:
    """Return which program asks and what you may allow it. Nothing is decided yet.

    A program whose id is an https address is looked up there. 422: it is unknown, or wants the
    answer elsewhere than where it belongs.
    """
    app = hub.app
    checked = await check_request(
        app.db, app.web.fetcher, asked.to_domain(), origin=get_origin(request)
    )
    return AuthorizationSchema.from_domain(checked, asked.redirect_uri)


@router.post("/decision", summary="Let it in, or not")
async def decide_request(
    decided: AuthorizationDecisionRequest, me: PageUser, request: Request, hub: HubDep
) -> AuthorizationAnswerSchema:
    """Decide, and return the address that tells the program. It is asked again who asks."""
    app, asked, origin = hub.app, decided.request.to_domain(), get_origin(request)
    checked = await check_request(app.db, app.web.fetcher, asked, origin=origin)
    if decided.allow == "nothing":
        answer = {"error": checked.error or "access_denied"}
    else:
        await require_fresh_login(me, hub)
        code = await allow_request(
            app.db, app.clock, me.person.id, asked, checked, oauth_scope=decided.allow
        )
        answer = {"code": code}
    return AuthorizationAnswerSchema(address=build_answer(asked, origin, answer))
