"""What does a receipt say of the things that a reply stood on, or that were only considered?"""

from typing import Final, Literal

from oldfriend.memory.receipts import ReceiptItem
from oldfriend.turn.recall import Remembered, Thing

WRITTEN: Final = "written"
"""As a detail of a receipt: to which message what the person has written of themselves was told."""


def item_of(thing: Thing, *, used: bool) -> ReceiptItem:
    """Something that came to mind."""
    if isinstance(thing, Remembered):
        return ReceiptItem(
            kind="memory", object=thing.known.memory.id, version=thing.known.base, used=used,
            score=thing.score, why=thing.why,
        )  # fmt: skip
    return ReceiptItem(
        kind="message", object=thing.message.id, version=thing.message.version, used=used,
        score=thing.hit.score, why=thing.hit.why,
    )  # fmt: skip


def listed_item(kind: Literal["message", "memory"], object_id: str, version: int) -> ReceiptItem:
    """Something that was named because it was asked for, not because it was searched."""
    return ReceiptItem(kind=kind, object=object_id, version=version, used=True, score=1.0, why=())
