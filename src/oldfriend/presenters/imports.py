"""Imports: files that were handed over, what they hold, and what came of them."""

from dataclasses import dataclass, field
from typing import Final, Literal, Self

from oldfriend.domain.messages import Role
from oldfriend.memory.import_batches import ImportBatch
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.localized import SayingShape
from oldfriend.presenters.schema import Schema, describe
from oldfriend.presenters.usage import LikelyCost
from oldfriend.transfer.import_run import ImportResult
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.uploads import Stage, Upload

MAX_SPEAKERS: Final = 50
MESSAGES_PER_S: Final = 250
"""Messages imported, indexed and extracted by rules per second on a small machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerShape(Schema):
    """Somebody who speaks in a file."""

    name: str = field(metadata=describe(examples=["Nora"]))
    role: Role
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents(Schema):
    """What a file holds; all of it was checked."""

    format: str = field(
        metadata=describe("Where it comes from, or what it is.", examples=["whatsapp"])
    )
    messages: int
    talks: int = field(metadata=describe("In so many sessions."))
    chats: int
    first: str = field(metadata=describe("When its earliest words were said."))
    last: str
    speakers: tuple[SpeakerShape, ...] = field(metadata=describe("Those who speak most first."))
    others: int = field(metadata=describe("So many speakers are not listed."))
    me: tuple[str, ...] = field(metadata=describe("The speakers who are the person."))
    is_clear: bool = field(metadata=describe("Whether it is known which words are the person's."))
    notices: tuple[SayingShape, ...]
    takes_s: float = field(metadata=describe("About how long bringing it in takes, in seconds."))
    likely_cost: LikelyCost | None = field(metadata=describe("None: no model is connected."))

    @classmethod
    def from_domain(cls, preview: ImportPreview, likely_cost: LikelyCost | None) -> Self:
        """Present what a file holds."""
        shown = preview.speakers[:MAX_SPEAKERS]
        return cls(
            format=preview.format.name,
            messages=preview.messages,
            talks=preview.sessions,
            chats=len(preview.chats),
            first=preview.first.isoformat(),
            last=preview.last.isoformat(),
            speakers=tuple(
                SpeakerShape(name=each.name, role=each.role, messages=each.messages)
                for each in shown
            ),
            others=len(preview.speakers) - len(shown),
            me=tuple(sorted(preview.speaker_roles.me)),
            is_clear=preview.speaker_roles.is_clear,
            notices=tuple(SayingShape.from_domain(each) for each in preview.notices),
            takes_s=round(preview.messages / MESSAGES_PER_S, 1),
            likely_cost=likely_cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtShape(Schema):
    """What came of a file."""

    number: int | None = field(
        metadata=describe("By which it can be undone; None: nothing was new.")
    )
    added: int
    known: int = field(metadata=describe("Were here already."))
    forgotten: int = field(metadata=describe("Were forgotten here, and stay out."))
    changed: int = field(metadata=describe("Read otherwise now."))

    @classmethod
    def from_domain(cls, result: ImportResult) -> Self:
        """Present what came of a file."""
        return cls(
            number=result.number,
            added=result.added,
            known=result.already_known,
            forgotten=result.forgotten,
            changed=result.changed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParcelShape(Schema):
    """A file that was handed over, and how far it has come."""

    id: str
    name: str = field(metadata=describe(examples=["WhatsApp Chat with Ana.zip"]))
    bytes: int
    stage: Stage
    done: int = field(metadata=describe("Of `total`, in the stage that it is in; 0: not known."))
    total: int
    left_s: float | None = field(metadata=describe("About so many seconds are left of the stage."))
    why: SayingShape | None = field(
        metadata=describe("Why it could not be brought in; null: nothing is wrong.")
    )
    me: str | None = field(metadata=describe("The speaker who was said to be the person."))
    zone: str = field(metadata=describe("Of times that name none."))
    contents: Contents | None = field(metadata=describe("None: it is still being checked."))
    brought: BroughtShape | None

    @classmethod
    def from_domain(cls, upload: Upload, *, likely_cost: LikelyCost | None) -> Self:
        """Present an upload with its progress."""
        contents, result = upload.contents, upload.result
        return cls(
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
            contents=None if contents is None else Contents.from_domain(contents, likely_cost),
            brought=None if result is None else BroughtShape.from_domain(result),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcels(Schema):
    """All files that were handed over and are not put away."""

    items: tuple[ParcelShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportShape(Schema):
    """One import of one file."""

    number: int
    file: str
    format: str
    at: str
    status: Literal["running", "done", "undone"]
    added: int
    known: int

    @classmethod
    def from_domain(cls, batch: ImportBatch, *, zone: str) -> Self:
        """Present an import."""
        return cls(
            number=batch.number,
            file=batch.source.file,
            format=batch.source.format,
            at=format_time(batch.started_at, zone),
            status=batch.status,
            added=batch.added,
            known=batch.known,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports(Schema):
    """Everything that was imported, the latest first."""

    items: tuple[ImportShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone(Schema):
    """What an undo took away."""

    messages: int
    beliefs: int = field(metadata=describe("Ended with them, or hold again as before."))
    overlapping: tuple[int, ...] = field(
        metadata=describe(
            "Later imports that had left messages to this one; undo and repeat these to "
            "have them back."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OldTalk(Schema):
    """What of old talk is still to be read, and what a model could read better."""

    waiting: int = field(metadata=describe("So many stretches of talk wait to be read."))
    is_paused: bool
    failed: int
    by_rules: int = field(metadata=describe("So many were read by rules alone …"))
    messages: int = field(metadata=describe("… with so many messages."))
    likely_cost: LikelyCost | None = field(metadata=describe("None: no model, or nothing to read."))
