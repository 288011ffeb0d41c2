"""Failure messages: the conditions under which a turn has no answer, and the text for each.

All but the last are failures of the model; "broken" is an error of our own.
"""

from typing import Literal, TypeAlias, get_args

from oldfriend.domain.errors import (
    ApiKeyRejected,
    ModelError,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    OutageKind,
    RequestRejected,
)
from oldfriend.prompts.locale_phrases import LocalePhrases

TurnFailure = Literal["refused", "rejected", "key", "misconfigured", "garbled", "resting", "broken"]
FailureKind: TypeAlias = OutageKind | TurnFailure
FAILURE_KINDS: tuple[FailureKind, ...] = (*get_args(OutageKind), *get_args(TurnFailure))

FAILURE_KIND_BY_ERROR: tuple[tuple[type[ModelError], FailureKind], ...] = (
    (RequestRejected, "rejected"),
    (ModelRefusal, "refused"),
    (ApiKeyRejected, "key"),
    (ModelMisconfigured, "misconfigured"),
)


def classify_failure(error: ModelError) -> FailureKind:
    """Return the kind of a model error."""
    if isinstance(error, ModelUnavailable):
        return error.outage
    return next(
        (kind for known, kind in FAILURE_KIND_BY_ERROR if isinstance(error, known)), "garbled"
    )


def format_failure_message(failure_kind: FailureKind, book: LocalePhrases) -> str:
    """Return the text that tells the person of a failure."""
    return book.phrases[f"trouble_{failure_kind}"]
