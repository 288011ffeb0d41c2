"""Cursors: opaque page positions that clients send back unchanged."""

import base64
import binascii
import json
from typing import Final

from oldfriend.api.problem_json import ApiError
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.pagination import PageCursor

MAX_NUMBER: Final = 1 << 62


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
    match decode_values(cursor):
        case [int(number)] if 0 <= number < 1 << 62:
            return number
        case _:
            raise build_cursor_error()


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
    return ApiError(422, "That cannot be read", "This cursor is none of ours. Begin at the start.")
