"""Ids: time-ordered global ids, one type for each kind of object.

People see the last characters of an id, since the first ones are the same for objects made at the
same time; they may name an id by its first or last characters, or by the first of those they see.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final, NewType, TypeVar

from oldfriend.domain.errors import InvalidInput, NotFound

T = TypeVar("T")
PersonId = NewType("PersonId", str)
CompanionId = NewType("CompanionId", str)
ChatId = NewType("ChatId", str)
SessionId = NewType("SessionId", str)
MessageId = NewType("MessageId", str)
TurnId = NewType("TurnId", str)
BatchId = NewType("BatchId", str)
SegmentId = NewType("SegmentId", str)
ObjectId = NewType("ObjectId", str)
"""The id of anything that is believed."""
MemoryId = NewType("MemoryId", ObjectId)
EntityId = NewType("EntityId", ObjectId)
SummaryId = NewType("SummaryId", ObjectId)
EvidenceId = NewType("EvidenceId", str)
ReceiptId = NewType("ReceiptId", str)
SuggestionId = NewType("SuggestionId", str)

SHORT_ID_CHARS: Final = 8
"""How many characters of an id people see."""
MIN_ID_CHARS: Final = 4
"""How many characters of an id are needed to name it."""
_ID_PART: Final = re.compile(r"[\w-]+")


def new_id(at: int) -> str:
    """Return a UUIDv7 for a time (µs since 1970): ids made later sort later, to the millisecond.

    Twelve bits below the millisecond carry the microseconds, as RFC 9562 §6.2 allows; the remaining
    62 are random.
    """
    milliseconds, microseconds = divmod(max(at, 0), 1000)
    order = 0x7000 | microseconds * 4096 // 1000
    random = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    number = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | order << 64 | 1 << 63 | random
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def new_random_id() -> str:
    """Return a random id: unlike those of `new_id`, two made at once differ from the first sign."""
    return os.urandom(16).hex()


def build_min_id(at: int) -> str:
    """Return a prefix that sorts before all ids made at a time or later, and after earlier ones.

    To the millisecond.
    """
    return new_id(at)[:13]


def shorten_id(id_: str) -> str:
    """Return an id as people see it."""
    return id_[-SHORT_ID_CHARS:]


def build_id_patterns(part: str) -> dict[str, str]:
    """Return LIKE patterns for the ids that a part of one may mean. Raises InvalidInput."""
    wanted = part.strip().lower()
    if len(wanted) < MIN_ID_CHARS or not _ID_PART.fullmatch(wanted) or "_" in wanted:
        raise InvalidInput(
            f"{part[:40]!r} cannot be an id; give {MIN_ID_CHARS} characters of one, or more."
        )
    hidden = "_" * (SHORT_ID_CHARS - len(wanted))
    return {"begins": f"{wanted}%", "ends": f"%{wanted}", "shown": f"%{wanted}{hidden}"}


def list_matching_ids(part: str, ids: Iterable[str]) -> list[str]:
    """Return those ids that a part of one may mean. Raises InvalidInput."""
    wanted = build_id_patterns(part)["begins"].removesuffix("%")
    return [
        each
        for each in ids
        if each.startswith(wanted) or each.endswith(wanted) or shorten_id(each).startswith(wanted)
    ]


def get_by_partial_id(part: str, named: Iterable[tuple[str, T]], *, noun: str) -> T:
    """Return the one of some records whose id begins so. Raises NotFound, InvalidInput."""
    wanted = part.strip().lower()
    found = [record for each, record in named if wanted and each.startswith(wanted)]
    if not found:
        raise NotFound(f"There is no {noun} {part[:40]!r}.")
    if len(found) > 1:
        raise InvalidInput(f"{part[:40]!r} begins several ids; give more of one.")
    return found[0]


def build_ambiguous_id_error(part: str, matches: Mapping[str, str]) -> InvalidInput:
    """Build the error for a part of several ids; ``matches`` describes each of them."""
    several = ", ".join(f"{shorten_id(each)} ({what})" for each, what in matches.items())
    return InvalidInput(f"{part!r} is the id of several: {several}. Give more of it.")
