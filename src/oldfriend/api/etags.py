"""ETags: optimistic concurrency through If-Match.

A request without If-Match is applied unconditionally.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Header
from pydantic import BaseModel
from pydantic_core import to_json

from oldfriend.api.problem_json import ApiError
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.presenters.base_schema import Schema

IfMatch = Annotated[
    str | None,
    Header(
        max_length=80,
        description="The `ETag` of the version you read: 412 if it has changed since.",
    ),
]
CONFLICT_TITLE: Final = "It has changed in the meantime"
CONFLICT_DETAIL: Final = localizable(
    "changed_meanwhile", "Look at it as it is now, then make your change again."
)


def parse_if_match(if_match: str | None) -> int | None:
    """Parse the version number in If-Match; None if it is absent or `*`. Raises ApiError."""
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().strip('"')
    if not is_ascii_number(number) or len(number) > 18:
        raise ApiError(
            412,
            CONFLICT_TITLE,
            "This If-Match is not a valid ETag. Load the current version, and send its ETag.",
        )
    return int(number)


@contextmanager
def map_conflict_to_412() -> Iterator[None]:
    """Turn a StaleDecision into a 412. Raises ApiError."""
    try:
        yield
    except StaleDecision as error:
        raise ApiError(412, CONFLICT_TITLE, CONFLICT_DETAIL) from error


def compute_etag(content: Schema | BaseModel) -> str:
    """Compute an ETag from content that has no version number."""
    return f'"{hashlib.sha256(to_json(content)).hexdigest()[:32]}"'


def check_if_match(if_match: str | None, etag: str) -> None:
    """Check If-Match against the current ETag. Raises ApiError."""
    if if_match is not None and if_match.strip() not in {"*", etag}:
        raise ApiError(412, CONFLICT_TITLE, CONFLICT_DETAIL)
