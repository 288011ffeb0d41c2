"""How do we name things? Time-ordered global ids, one type for each kind of thing.

People see the last characters of an id, since the first ones are the same for what was made at
once; they may give it by its first or last characters, or by the first of those that they see.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final, NewType

from oldfriend.domain.errors import InvalidInput

PersonId = NewType("PersonId", str)
CompanionId = NewType("CompanionId", str)
ChatId = NewType("ChatId", str)
SessionId = NewType("SessionId", str)
MessageId = NewType("MessageId", str)
TurnId = NewType("TurnId", str)
BatchId = NewType("BatchId", str)
SegmentId = NewType("SegmentId", str)
ObjectId = NewType("ObjectId", str)
"""Of anything that is believed."""
MemoryId = NewType("MemoryId", ObjectId)
EntityId = NewType("EntityId", ObjectId)
SummaryId = NewType("SummaryId", ObjectId)
EvidenceId = NewType("EvidenceId", str)
ReceiptId = NewType("ReceiptId", str)
SuggestionId = NewType("SuggestionId", str)

SHOWN: Final = 8
"""Characters of an id that people see."""
SHORTEST: Final = 4
"""Characters of an id that name it."""
_PART: Final = re.compile(r"[\w-]+")


def new_id(at: int) -> str:
    """A UUIDv7 for a moment (µs since 1970): ids made later sort later, to the millisecond.

    Twelve bits below the millisecond carry the microseconds, as RFC 9562 §6.2 allows; the
    remaining 62 are random.
    """
    milliseconds, microseconds = divmod(max(at, 0), 1000)
    order = 0x7000 | microseconds * 4096 // 1000
    random = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    number = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | order << 64 | 1 << 63 | random
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def first_id(at: int) -> str:
    """What sorts before every id that is made at a moment or later, and after those before it.

    To the millisecond.
    """
    return new_id(at)[:13]


def short(name: str) -> str:
    """An id as people see it."""
    return name[-SHOWN:]


def patterns_of(part: str) -> dict[str, str]:
    """The patterns, for LIKE, of the ids that a part of one may mean. Raises InvalidInput."""
    wanted = part.strip().lower()
    if len(wanted) < SHORTEST or not _PART.fullmatch(wanted) or "_" in wanted:
        raise InvalidInput(
            f"{part[:40]!r} cannot be an id; give {SHORTEST} characters of one, or more."
        )
    hidden = "_" * (SHOWN - len(wanted))
    return {"begins": f"{wanted}%", "ends": f"%{wanted}", "shown": f"%{wanted}{hidden}"}


def find_named(part: str, names: Iterable[str]) -> list[str]:
    """Those of some ids that a part of one may mean. Raises InvalidInput."""
    wanted = patterns_of(part)["begins"].removesuffix("%")
    return [
        each for each in names
        if each.startswith(wanted) or each.endswith(wanted) or short(each).startswith(wanted)
    ]  # fmt: skip


def ambiguous(part: str, meant: Mapping[str, str]) -> InvalidInput:
    """The error for a part that several ids have; each comes with what it is the id of."""
    several = ", ".join(f"{short(each)} ({what})" for each, what in meant.items())
    return InvalidInput(f"{part!r} is the id of several: {several}. Give more of it.")
