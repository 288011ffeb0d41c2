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
MemoryId = NewType("MemoryId", str)
EvidenceId = NewType("EvidenceId", str)
ReceiptId = NewType("ReceiptId", str)


def new_id(at: int) -> str:
    """A UUIDv7 for a moment (µs since 1970): ids made later sort later, to the millisecond.

    Twelve bits below the millisecond carry the microseconds, as RFC 9562 §6.2 allows; the
    remaining 62 are random.
    """
    milliseconds, microseconds = divmod(max(at, 0), 1000)
    head = f"{milliseconds & 0xFFFF_FFFF_FFFF:012x}"
    order = 0x7000 | (microseconds * 4096 // 1000)
    tail = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63
    digits = f"{tail:016x}"
    return f"{head[:8]}-{head[8:]}-{order:04x}-{digits[:4]}-{digits[4:]}"
