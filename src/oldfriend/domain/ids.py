"""How do we name things? Time-ordered global ids, one type for each kind of thing."""

import os
from typing import NewType

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
