"""Where does a page of a list begin? Cursors, which whoever asks hands back as they came."""

import base64
import binascii
import json

from oldfriend.domain.ids import ObjectId
from oldfriend.memory.leafing import Place
from oldfriend.web.problems import Refused


def cursor_at(place: Place) -> str:
    """A place as a cursor."""
    return written([place.group, place.level, place.value, place.id])


def place_at(cursor: str) -> Place:
    """The place that a cursor names. Raises Refused."""
    match read(cursor):
        case [int(group), int(level), int() | float() as value, str(object_id)]:
            return Place(group=group, level=level, value=float(value), id=ObjectId(object_id))
        case _:
            raise none_of_ours()


def number_at(cursor: str) -> int:
    """The number that a cursor names. Raises Refused."""
    match read(cursor):
        case [int(number)] if 0 <= number < 1 << 62:
            return number
        case _:
            raise none_of_ours()


def written(values: list[int | float | str]) -> str:
    """Values as a cursor."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def read(cursor: str) -> object:
    """What a cursor is made of. Raises Refused."""
    try:
        return json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise none_of_ours() from error


def none_of_ours() -> Refused:
    """That a cursor was not given out here."""
    return Refused(422, "That cannot be read", "This cursor is none of ours. Begin at the start.")
