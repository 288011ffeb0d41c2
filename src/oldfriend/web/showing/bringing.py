"""How is what was brought in shown, and how far it is?"""

from oldfriend.app.parcels import Parcel
from oldfriend.memory.batches import Batch
from oldfriend.transfer.importing import Brought
from oldfriend.transfer.inspecting import Preview
from oldfriend.web.shapes.bringing import (
    BroughtShape,
    Contents,
    ImportShape,
    LikelyCost,
    ParcelShape,
    SpeakerShape,
)
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.showing.common import in_zone

MOST_SPEAKERS = 50
MESSAGES_A_SECOND = 250
"""What this house brings in, makes findable and reads by rules on a small machine."""


def parcel_shape(parcel: Parcel, *, likely_cost: LikelyCost | None) -> ParcelShape:
    """A file, and how far it has come."""
    contents, brought = parcel.contents, parcel.brought
    return ParcelShape(
        id=parcel.id, name=parcel.name, bytes=parcel.bytes, stage=parcel.stage,
        done=parcel.done, total=parcel.total, left_s=parcel.left_s,
        why=saying_shape(parcel.why) if parcel.why else None,
        me=parcel.me, zone=parcel.zone,
        contents=None if contents is None else contents_shape(contents, likely_cost),
        brought=None if brought is None else brought_shape(brought),
    )  # fmt: skip


def contents_shape(preview: Preview, likely_cost: LikelyCost | None) -> Contents:
    """What a file holds."""
    shown = preview.speakers[:MOST_SPEAKERS]
    return Contents(
        format=preview.export.format.name, messages=preview.messages,
        talks=preview.sessions, chats=len(preview.chats), first=preview.first.isoformat(),
        last=preview.last.isoformat(),
        speakers=[SpeakerShape(name=each.name, role=each.role, messages=each.messages)
                  for each in shown],
        others=len(preview.speakers) - len(shown), me=sorted(preview.cast.me),
        is_clear=preview.cast.is_clear, notices=[saying_shape(each) for each in preview.notices],
        takes_s=round(preview.messages / MESSAGES_A_SECOND, 1), likely_cost=likely_cost,
    )  # fmt: skip


def brought_shape(brought: Brought) -> BroughtShape:
    """What came of a file."""
    return BroughtShape(
        number=brought.number, added=brought.added, known=brought.known,
        forgotten=brought.forgotten, changed=brought.changed,
    )  # fmt: skip


def import_shape(batch: Batch, *, zone: str) -> ImportShape:
    """One import."""
    return ImportShape(
        number=batch.number, file=batch.reading.file, format=batch.reading.format,
        at=in_zone(batch.started_at, zone), status=batch.status, added=batch.added,
        known=batch.known,
    )  # fmt: skip
