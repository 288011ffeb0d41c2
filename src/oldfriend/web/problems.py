"""How does a page learn what went wrong? As problem+json (RFC 9457), saying what to do.

It does not know what was asked; only which kind of error it was.
"""

from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from oldfriend.domain.errors import (
    InvalidInput,
    ModelError,
    ModelMisconfigured,
    NotFound,
    OldfriendError,
    PlatformRefused,
    PlatformUnavailable,
    StaleDecision,
    StoreError,
    TooManyAttempts,
)
from oldfriend.domain.sayings import Code, saying
from oldfriend.web.shapes.common import SayingShape, saying_shape

PROBLEM: Final = "application/problem+json"
CONDITIONS: Final[tuple[tuple[type[OldfriendError], int, str], ...]] = (
    (NotFound, 404, "There is no such thing"),
    (StaleDecision, 409, "Something has changed meanwhile"),
    (InvalidInput, 422, "That cannot be right"),
    (ModelMisconfigured, 422, "That cannot be right"),
    (PlatformRefused, 422, "The platform does not take that"),
    (ModelError, 502, "The model does not answer as it should"),
    (PlatformUnavailable, 502, "The platform cannot be reached"),
    (TooManyAttempts, 429, "Too many attempts"),
    (StoreError, 503, "The memory cannot be read or written now"),
)
"""What each error is to whoever has asked; the first that fits."""
TITLES: Final = {
    404: "There is nothing here", 405: "That cannot be done here", 413: "That is too much",
}  # fmt: skip


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    type: str = Field(default="about:blank", description="Nothing more is to be read elsewhere.")
    title: str = Field(description="The condition, in a few words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened, and what to do.")
    code: Code | None = Field(
        description="What is meant by the detail, for a page that says it in another language; "
        "null: there is only the detail."
    )
    values: dict[str, str | int | float | SayingShape] = Field(
        description="What stands in the detail, by name."
    )


class Refused(Exception):
    """What was asked is not done; whoever asked is told why."""

    def __init__(
        self, status: int, title: str, detail: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """Keep what is told."""
        super().__init__(detail)
        self.problem = problem(status, title, detail)
        self.headers = headers


def problem(status: int, title: str, detail: str) -> Problem:
    """What is told."""
    said = saying_shape(detail)
    return Problem(title=title, status=status, detail=said.text, code=said.code, values=said.values)


def as_response(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A problem on its way to the page."""
    return JSONResponse(
        problem.model_dump(), status_code=problem.status, media_type=PROBLEM, headers=headers
    )


def problem_of(error: OldfriendError) -> Problem:
    """An error of the house as a problem."""
    for kind, status, title in CONDITIONS:
        if isinstance(error, kind):
            return problem(status, title, error.says)
    return problem(500, "That did not work", error.says)


def unreadable(error: RequestValidationError) -> Problem:
    """A question that has not the form it must have, as a problem; without what was in it."""
    wrong = [
        f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()
    ]
    fields = ", ".join(str(each["loc"][-1]) for each in error.errors())
    told = "; ".join(wrong)
    return problem(422, "That cannot be read", saying("form_unfit", told, says=told, fields=fields))


def tell_problems(app: FastAPI) -> None:
    """Have whatever goes wrong told in this one way."""

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Refused)
        return as_response(error.problem, error.headers)

    async def failed(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, OldfriendError)
        wait = isinstance(error, TooManyAttempts) and {"Retry-After": str(error.retry_after_s)}
        return as_response(problem_of(error), wait or None)

    async def misread(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return as_response(unreadable(error))

    async def missing(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        title = TITLES.get(error.status_code, "That did not work")
        return as_response(problem(error.status_code, title, error.detail), error.headers)

    async def broken(_: Request, error: Exception) -> JSONResponse:
        kind = type(error).__name__
        told = f"{kind}. What was said is kept. Try again; else: oldfriend doctor"
        said = saying("broken_inside", told, kind=kind)
        return as_response(problem(500, "Something went wrong inside", said))

    app.add_exception_handler(Exception, broken)
    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(OldfriendError, failed)
    app.add_exception_handler(RequestValidationError, misread)
    app.add_exception_handler(HTTPException, missing)
