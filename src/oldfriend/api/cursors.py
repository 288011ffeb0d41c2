"""Cursors: positions in pages and in the feed that clients send back unchanged."""

import base64
import binascii
import json
from typing import Annotated, Final

from fastapi import Query

from oldfriend.api.problem_json import ApiError
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.messages import sanitize_text
from oldfriend.domain.unicode_text import is_ascii_number
from oldfriend.memory.change_feed import FeedPosition
from oldfriend.memory.pagination import PageCursor

MAX_NUMBER: Final = 1 << 62
LimitParam = Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")]
CursorParam = Annotated[
    str | None, Query(max_length=400, description="The `next` cursor of the previous page.")
]
AsOfParam = Annotated[
    str | None, Query(max_length=40, description="A day or time: return what was believed then.")
]


def encode_cursor(cursor: PageCursor) -> str:
    """Encode a page cursor."""
    return encode_values([cursor.group, cursor.level, cursor.value, cursor.id])


def decode_cursor(cursor: str) -> PageCursor:
    """Decode a page cursor. Raises ApiError."""
    match decode_values(cursor):
        case [int(group), int(level), int() | float() as value, str(object_id)] if all(
            abs(each) < MAX_NUMBER for each in (group, level, value)
        ):
            return PageCursor(group=group, level=level, value=float(value), id=ObjectId(object_id))
        case _:
            raise build_cursor_error()


def decode_offset(cursor: str) -> int:
    """Decode a cursor that holds one number. Raises ApiError."""
    return decode_numbers(cursor, 1)[0]


def decode_numbers(cursor: str, count: int) -> list[int]:
    """Decode a cursor that holds some whole numbers. Raises ApiError."""
    found = decode_values(cursor)
    numbers = [each for each in found if type(each) is int] if isinstance(found, list) else []
    if not isinstance(found, list) or not len(found) == len(numbers) == count:
        raise build_cursor_error()
    if any(not 0 <= each < MAX_NUMBER for each in numbers):
        raise build_cursor_error()
    return numbers


def encode_values(values: list[int | float | str]) -> str:
    """Encode values as a URL-safe cursor."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def decode_values(cursor: str) -> object:
    """Decode the values of a cursor. Raises ApiError."""
    try:
        found: object = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise build_cursor_error() from error
    parts = found if isinstance(found, list) else []
    if any(isinstance(each, str) and sanitize_text(each) != each for each in parts):
        raise build_cursor_error()
    return found


def build_cursor_error() -> ApiError:
    """Build the 422 error for an invalid cursor."""
    return ApiError(
        422, "Invalid request", "This cursor is not valid. Start again from the beginning."
    )


def format_position(feed_position: FeedPosition) -> str:
    """Format a feed position as an event id."""
    return f"{feed_position.last_seq}.{feed_position.last_change}.{feed_position.deletions}"


def parse_position(text: str) -> FeedPosition:
    """Parse an event id into a feed position. Raises ApiError."""
    parts = text.split(".")
    if len(parts) != 3 or not all(is_sequence_number(part) for part in parts):
        raise ApiError(422, "Invalid request", "This Last-Event-ID is not valid. Leave it out.")
    said, decided, rewritten = map(int, parts)
    return FeedPosition(last_seq=said, last_change=decided, deletions=rewritten)


def is_sequence_number(text: str) -> bool:
    """Tell whether a text is an ASCII number of fewer than 18 digits."""
    return is_ascii_number(text) and len(text) < 18
