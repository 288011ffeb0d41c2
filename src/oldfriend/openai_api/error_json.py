"""Error JSON: what went wrong, in the formats of OpenAI and Ollama, with the status that fits."""

from collections.abc import Mapping
from typing import Final, Literal

from starlette.responses import JSONResponse

from oldfriend.domain.errors import (
    AllowanceUsedUp,
    InvalidInput,
    ModelError,
    NotFound,
    OldfriendError,
    StaleDecision,
    StoreError,
    TooManyAttempts,
    TurnFailed,
    TurnStopped,
)
from oldfriend.domain.json import JsonValue

ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "rate_limit_error",
    "insufficient_quota",
    "server_error",
]
ErrorFormat = Literal["openai", "ollama"]

ERROR_KINDS: Final[tuple[tuple[type[OldfriendError], int, ErrorType], ...]] = (
    (AllowanceUsedUp, 429, "insufficient_quota"),
    (TooManyAttempts, 429, "rate_limit_error"),
    (NotFound, 404, "invalid_request_error"),
    (InvalidInput, 400, "invalid_request_error"),
    (StaleDecision, 409, "server_error"),
    (TurnStopped, 409, "server_error"),
    (TurnFailed, 503, "server_error"),
    (ModelError, 502, "server_error"),
    (StoreError, 503, "server_error"),
)
"""Status and type by error class; the first match wins."""


class ApiRefusal(Exception):
    """A request that is refused, with what its program is told."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: ErrorType = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what the response says."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.param = param
        self.headers = headers

    def to_json(self, error_format: ErrorFormat = "openai") -> JsonValue:
        """Return the body of the response."""
        if error_format == "ollama":
            return {"error": self.message}
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }

    def to_response(self, error_format: ErrorFormat = "openai") -> JSONResponse:
        """Return the response."""
        return JSONResponse(
            self.to_json(error_format), status_code=self.status, headers=self.headers
        )


def to_refusal(error: Exception) -> ApiRefusal:
    """Convert an error to what a program is told; one that nobody expected names only its class."""
    if isinstance(error, ApiRefusal):
        return error
    for kind, status, label in ERROR_KINDS:
        if isinstance(error, kind):
            wait = isinstance(error, TooManyAttempts) and {"Retry-After": str(error.retry_after_s)}
            return ApiRefusal(status, str(error), kind=label, headers=wait or None)
    name = type(error).__name__
    text = f"Something went wrong inside Oldfriend ({name}). What was said is kept; try again."
    return ApiRefusal(500, text, kind="server_error")


def refuse_forgotten() -> ApiRefusal:
    """Return the refusal of words that were forgotten and are sent again."""
    return ApiRefusal(
        409,
        "This was sent before, and has been forgotten since. If it is to be remembered after all, "
        "say it in other words.",
        kind="invalid_request_error",
        code="forgotten",
    )
