"""Problem details: maps errors to problem+json responses (RFC 9457)."""

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from oldfriend.api.page_assets import respond_with_page
from oldfriend.domain.errors import (
    InvalidInput,
    ModelError,
    ModelMisconfigured,
    NotFound,
    OldfriendError,
    PlatformRejected,
    PlatformUnavailable,
    StaleDecision,
    StoreError,
    TooManyAttempts,
)
from oldfriend.domain.i18n_messages import MessageCode, localizable
from oldfriend.presenters.base_schema import LocalizedTextSchema

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"
STATUS_BY_ERROR: Final[tuple[tuple[type[OldfriendError], int, str], ...]] = (
    (NotFound, 404, "Not found"),
    (StaleDecision, 409, "Something has changed in the meantime"),
    (InvalidInput, 422, "Invalid input"),
    (ModelMisconfigured, 422, "Invalid input"),
    (PlatformRejected, 422, "The platform rejected that"),
    (ModelError, 502, "The model did not answer as it should"),
    (PlatformUnavailable, 502, "The platform cannot be reached"),
    (TooManyAttempts, 429, "Too many attempts"),
    (StoreError, 503, "The memory cannot be read or written now"),
)
"""HTTP status and title by error class; the first match wins."""
TITLES_BY_STATUS: Final = {
    404: "There is nothing here",
    405: "That cannot be done here",
    413: "Too large",
}


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    type: str = Field(
        default="about:blank", description="Always about:blank: there is no further page to read."
    )
    title: str = Field(description="The condition, in a few words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened, and what to do.")
    code: MessageCode | None = Field(
        description="The code of the detail, for a page in another language; null if there is "
        "only the detail."
    )
    values: dict[str, str | int | float | LocalizedTextSchema] = Field(
        description="The values in the detail, by name."
    )


class ApiError(Exception):
    """A refused request, with the problem to return."""

    def __init__(
        self, status: int, title: str, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Build the problem from status, title and detail."""
        super().__init__(detail)
        self.problem = build_problem(status, title, detail)
        self.headers = headers


NOT_FOUND: Final = 404
API_ROOT: Final = "/api/"
"""Addresses of the API, whose answers are never a page."""


def build_problem(status: int, title: str, detail: str) -> Problem:
    """Build a problem; a localized detail keeps its code and values."""
    shape = LocalizedTextSchema.from_domain(detail)
    return Problem(
        title=title, status=status, detail=shape.text, code=shape.code, values=shape.values
    )


def to_response(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Convert a problem to a problem+json response."""
    return JSONResponse(
        problem.model_dump(),
        status_code=problem.status,
        media_type=PROBLEM_MEDIA_TYPE,
        headers=headers,
    )


def to_problem(error: OldfriendError) -> Problem:
    """Convert an error from the error tree to a problem."""
    for kind, status, title in STATUS_BY_ERROR:
        if isinstance(error, kind):
            return build_problem(status, title, error.user_text)
    return build_problem(500, "That did not work", error.user_text)


def build_validation_problem(error: RequestValidationError) -> Problem:
    """Convert a validation error to a problem that repeats none of the input."""
    errors = [
        f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()
    ]
    fields = ", ".join(str(each["loc"][-1]) for each in error.errors())
    text = "; ".join(errors)
    return build_problem(
        422, "Invalid request", localizable("form_unfit", text, says=text, fields=fields)
    )


def is_opened_by_person(request: Request) -> bool:
    """Tell whether a browser opens an address that is not of the API, to show it."""
    return (
        request.method == "GET"
        and not request.url.path.startswith(API_ROOT)
        and "text/html" in request.headers.get("accept", "")
    )


def register_error_handlers(app: FastAPI) -> None:
    """Register handlers that return every error as problem+json."""

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ApiError)
        return to_response(error.problem, error.headers)

    async def failed(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, OldfriendError)
        wait = isinstance(error, TooManyAttempts) and {"Retry-After": str(error.retry_after_s)}
        return to_response(to_problem(error), wait or None)

    async def misread(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return to_response(build_validation_problem(error))

    async def missing(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == NOT_FOUND and is_opened_by_person(request):
            return respond_with_page(request.url.path, status=NOT_FOUND)
        title = TITLES_BY_STATUS.get(error.status_code, "That did not work")
        return to_response(build_problem(error.status_code, title, error.detail), error.headers)

    async def broken(_: Request, error: Exception) -> JSONResponse:
        kind = type(error).__name__
        text = (
            f"{kind}. What was said is kept. Try again; if it happens again, run: oldfriend doctor"
        )
        detail = localizable("broken_inside", text, kind=kind)
        return to_response(build_problem(500, "Something went wrong inside Oldfriend", detail))

    app.add_exception_handler(Exception, broken)
    app.add_exception_handler(ApiError, refused)
    app.add_exception_handler(OldfriendError, failed)
    app.add_exception_handler(RequestValidationError, misread)
    app.add_exception_handler(HTTPException, missing)
