"""Is what somebody changes still as they have seen it? ETags, which they hand back as If-Match.

Without one the change is made, whatever stands there. It does not know what is changed.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from fastapi import Header
from pydantic import BaseModel

from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.sayings import saying
from oldfriend.web.problems import Refused

IfMatch = Annotated[
    str | None,
    Header(max_length=80, description="The `ETag` as it was seen: 412 if it has changed."),
]
TITLE: Final = "It has changed meanwhile"
CHANGED: Final = saying(
    "changed_meanwhile", "Look at it as it reads now, then say again what is right."
)


def number_in(if_match: str | None) -> int | None:
    """The number of what somebody has seen; None: they do not say. Raises Refused."""
    if if_match is None or if_match.strip() == "*":
        return None
    number = if_match.strip().strip('"')
    if not (number.isascii() and number.isdigit()) or len(number) > 18:
        raise Refused(412, TITLE, "If-Match is no ETag of ours. Look again.")
    return int(number)


@contextmanager
def stale_is_412() -> Iterator[None]:
    """Have whoever has not seen the newest told so. Raises Refused."""
    try:
        yield
    except StaleDecision as error:
        raise Refused(412, TITLE, CHANGED) from error


def tag_of(shape: BaseModel) -> str:
    """By what something is known that has no number: how it reads."""
    return f'"{hashlib.sha256(shape.model_dump_json().encode()).hexdigest()[:32]}"'


def refuse_changed(if_match: str | None, tag: str) -> None:
    """Raise Refused where somebody has not seen what has this tag."""
    if if_match is not None and if_match.strip() not in {"*", tag}:
        raise Refused(412, TITLE, CHANGED)
