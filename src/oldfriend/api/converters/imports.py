"""Converters for uploads and imports."""

from oldfriend.api.schemas.imports import (
    BroughtShape,
    Contents,
    ImportShape,
    LikelyCost,
    ParcelShape,
    SpeakerShape,
)
from oldfriend.memory.import_batches import ImportBatch
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.localized import SayingShape
from oldfriend.transfer.import_run import ImportResult
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.uploads import Upload

MAX_SPEAKERS = 50
MESSAGES_PER_S = 250
"""Messages imported, indexed and extracted by rules per second on a small machine."""


def to_upload_shape(upload: Upload, *, likely_cost: LikelyCost | None) -> ParcelShape:
    """Convert an upload with its progress."""
    contents, result = upload.contents, upload.result
    return ParcelShape(
        id=upload.id,
        name=upload.name,
        bytes=upload.bytes,
        stage=upload.stage,
        done=upload.done,
        total=upload.total,
        left_s=upload.left_s,
        why=SayingShape.from_domain(upload.why) if upload.why else None,
        me=upload.me,
        zone=upload.zone,
        contents=None if contents is None else to_contents_shape(contents, likely_cost),
        brought=None if result is None else to_import_result_shape(result),
    )


def to_contents_shape(preview: ImportPreview, likely_cost: LikelyCost | None) -> Contents:
    """Convert an import preview."""
    shown = preview.speakers[:MAX_SPEAKERS]
    return Contents(
        format=preview.format.name,
        messages=preview.messages,
        talks=preview.sessions,
        chats=len(preview.chats),
        first=preview.first.isoformat(),
        last=preview.last.isoformat(),
        speakers=[
            SpeakerShape(name=each.name, role=each.role, messages=each.messages) for each in shown
        ],
        others=len(preview.speakers) - len(shown),
        me=sorted(preview.speaker_roles.me),
        is_clear=preview.speaker_roles.is_clear,
        notices=[SayingShape.from_domain(each) for each in preview.notices],
        takes_s=round(preview.messages / MESSAGES_PER_S, 1),
        likely_cost=likely_cost,
    )


def to_import_result_shape(result: ImportResult) -> BroughtShape:
    """Convert an import result."""
    return BroughtShape(
        number=result.number,
        added=result.added,
        known=result.already_known,
        forgotten=result.forgotten,
        changed=result.changed,
    )


def to_import_shape(batch: ImportBatch, *, zone: str) -> ImportShape:
    """Convert an import batch."""
    return ImportShape(
        number=batch.number,
        file=batch.source.file,
        format=batch.source.format,
        at=format_time(batch.started_at, zone),
        status=batch.status,
        added=batch.added,
        known=batch.known,
    )
