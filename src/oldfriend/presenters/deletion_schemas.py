"""Deletions: what would be forgotten, and what was, for the API, programs and JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final, Self, TypeAlias

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, JournalEntry, JournalObject, StoredBelief
from oldfriend.forgetting.delete import ForgetPreview, ForgetReport
from oldfriend.memory.belief_views import get_kind
from oldfriend.memory.deletion.audit_log import AuditEntry, DeletionKind
from oldfriend.memory.deletion.memory_snapshot import MessageVersion
from oldfriend.memory.deletion.own_records import OwnRecordKind
from oldfriend.memory.deletion.repetitions import drop_canned_replies
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_schemas import name_belief, tell_now
from oldfriend.presenters.belief_sentences import Sentence
from oldfriend.presenters.deletion_text import (
    get_change_kind,
    get_change_text,
    keep_last_versions,
    list_deletion_limits,
    list_kept_sources,
    list_relearned,
    shorten_message,
)

MAX_LISTED: Final = 200
"""How many of a kind the API lists."""
TellBelief: TypeAlias = Callable[[StoredBelief, Sequence[Evidence]], Sentence]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedMessageSchema(Schema):
    """A message that a deletion removes, redacts, or leaves although it says nearly the same."""

    id: str
    role: str
    speaker: str
    text: str = field(
        metadata=describe("The text; of a reply, and of what it quotes, only the beginning.")
    )
    at: str

    @classmethod
    def from_domain(cls, message_version: MessageVersion) -> Self:
        """Present a version of a message."""
        return cls(
            id=message_version.id,
            role=message_version.role,
            speaker=message_version.speaker,
            text=shorten_message(message_version),
            at=format_time(message_version.said_at, message_version.zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedBeliefSchema(Schema):
    """A belief that is deleted or kept."""

    id: str
    kind: str
    text: str
    sentence: str = field(
        metadata=describe("The text as a sentence to the person.", examples=["You live in Porto."])
    )
    sentence_language: str | None = field(
        metadata=describe("The language of the sentence; null for entities and summaries.")
    )
    is_learned_anew: bool = field(
        metadata=describe("Whether it will be learned again from messages that stay.")
    )
    words_left: int | None = field(
        metadata=describe("How much evidence remains, if some of it is deleted.")
    )

    @classmethod
    def from_domain(
        cls,
        change: JournalEntry,
        evidence: Mapping[ObjectId, Sequence[Evidence]],
        tell: TellBelief,
        *,
        words_left: int | None = None,
        is_learned_anew: bool = False,
    ) -> Self:
        """Present a belief, with its remaining evidence and whether it is learned again.

        ``evidence`` is of all beliefs of the preview.
        """
        return cls.from_belief(
            change.after,
            evidence.get(change.object_id, ()),
            tell,
            text=get_change_text(change),
            words_left=words_left,
            is_learned_anew=is_learned_anew,
        )

    @classmethod
    def from_belief(
        cls,
        content: JournalObject,
        evidence: Sequence[Evidence],
        tell: TellBelief,
        *,
        text: str,
        words_left: int | None,
        is_learned_anew: bool = False,
    ) -> Self:
        """Present a belief that stays or goes, with its text."""
        told = tell(content, evidence) if isinstance(content, StoredBelief) else None
        return cls(
            id=content.id,
            kind=get_kind(content),
            text=text,
            sentence=text if told is None else told.text,
            sentence_language=None if told is None else told.language,
            is_learned_anew=is_learned_anew,
            words_left=words_left,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedRecordSchema(Schema):
    """A number, a diary entry, a reminder, a goal or the like that is deleted."""

    id: str
    record: OwnRecordKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallCountSchema(Schema):
    """The number of calls in which a model was sent it."""

    model: str = field(metadata=describe(examples=["anthropic:claude-sonnet"]))
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPreviewSchema(Schema):
    """A preview of a deletion. Nothing is deleted yet; the deletion requires its ETag."""

    etag: str = field(
        metadata=describe("The value to send as If-Match, so that exactly this is deleted.")
    )
    counts: dict[str, int] = field(
        metadata=describe("The numbers of all that is deleted or rewritten.")
    )
    messages: tuple[AffectedMessageSchema, ...] = field(
        metadata=describe("The first 200 that are deleted, without the companion's set phrases.")
    )
    beliefs: tuple[AffectedBeliefSchema, ...] = field(
        metadata=describe("The first 200 that are deleted.")
    )
    keep: tuple[AffectedBeliefSchema, ...] = field(
        metadata=describe("The first 200 beliefs that stay with less evidence.")
    )
    orphans: tuple[AffectedBeliefSchema, ...] = field(
        metadata=describe("The first 200 beliefs that stay although they rest on what is deleted.")
    )
    replies: tuple[AffectedMessageSchema, ...] = field(
        metadata=describe(
            "The first 200 replies whose text is removed, without the companion's set phrases."
        )
    )
    records: tuple[AffectedRecordSchema, ...] = field(
        metadata=describe(
            "The first 200 numbers, diary entries, reminders, goals, watches, projects, skills "
            "and limitations that are deleted."
        )
    )
    near: tuple[AffectedMessageSchema, ...] = field(
        metadata=describe("The first 200 messages that stay and say nearly the same.")
    )
    read_from: tuple[AffectedMessageSchema, ...] = field(
        metadata=describe(
            "The first 200 messages that stay although what is deleted was learned from them."
        )
    )
    beside: tuple[AffectedBeliefSchema, ...] = field(
        metadata=describe("The first 200 beliefs that stay and were learned from the same words.")
    )
    namesakes: tuple[str, ...] = field(
        metadata=describe("Parts of the name that occur elsewhere and stay.")
    )
    written: tuple[str, ...] = field(
        metadata=describe("The first 200 lines of the core blocks that say it and stay.")
    )
    titles: tuple[str, ...] = field(
        metadata=describe("Chats and imports whose titles are removed.")
    )
    answers: int = field(metadata=describe("The number of replies that were based on it."))
    calls: tuple[ModelCallCountSchema, ...] = field(
        metadata=describe("The models that were sent it, with the number of calls.")
    )
    backups: tuple[str, ...] = field(metadata=describe("Backups of the database that are deleted."))

    @classmethod
    def from_domain(
        cls,
        preview: ForgetPreview,
        kept: Mapping[str, JournalObject],
        evidence: Mapping[ObjectId, Sequence[Evidence]],
        language: str = "",
        *,
        zone: str = "UTC",
        now: Micros | None = None,
    ) -> Self:
        """Present a deletion preview; ``kept`` are beliefs that stay with less evidence.

        ``evidence`` is that of the beliefs in it, for their sentences in a language at a moment;
        without one they are told as they were said.
        """
        plan = preview.plan
        relearned = list_relearned(plan)
        tell = partial(tell_now, now=now, zone=zone, language=language)
        return cls(
            etag=preview.digest,
            counts=dict(preview.counts),
            messages=list_going(drop_canned_replies(keep_last_versions(plan.messages))),
            beliefs=tuple(
                AffectedBeliefSchema.from_domain(
                    change,
                    evidence,
                    tell,
                    is_learned_anew=each in relearned,
                )
                for each, change in islice(plan.deleted.items(), MAX_LISTED)
            ),
            keep=tuple(
                AffectedBeliefSchema.from_belief(
                    content,
                    evidence.get(ObjectId(each), ()),
                    tell,
                    text=name_belief(content),
                    words_left=plan.remaining_evidence[ObjectId(each)],
                )
                for each, content in kept.items()
            ),
            orphans=tuple(
                AffectedBeliefSchema.from_domain(change, evidence, tell, words_left=0)
                for change in islice(plan.orphans.values(), MAX_LISTED)
            ),
            replies=list_going(drop_canned_replies(keep_last_versions(plan.redacted_replies))),
            records=tuple(
                AffectedRecordSchema(id=each.id, record=each.kind, text=each.text)
                for each in plan.records[:MAX_LISTED]
            ),
            near=list_going(
                each for each in plan.near_duplicates if each.id not in plan.source_messages
            ),
            read_from=list_going(list_kept_sources(plan)),
            beside=tuple(
                AffectedBeliefSchema.from_domain(change, evidence, tell)
                for change in islice(plan.sibling_beliefs.values(), MAX_LISTED)
            ),
            namesakes=tuple(plan.namesakes),
            written=plan.written_lines[:MAX_LISTED],
            titles=tuple(plan.titles),
            answers=plan.affected_replies,
            calls=tuple(
                ModelCallCountSchema(model=model, calls=calls)
                for model, calls in preview.calls.items()
            ),
            backups=tuple(preview.backups),
        )


def list_shown_beliefs(preview: ForgetPreview) -> list[ObjectId]:
    """Return the beliefs that a preview lists, without those that stay with less evidence."""
    plan = preview.plan
    parts = (plan.deleted, plan.orphans, plan.sibling_beliefs)
    return [ObjectId(each) for part in parts for each in islice(part, MAX_LISTED)]


def list_going(messages: Iterable[MessageVersion]) -> tuple[AffectedMessageSchema, ...]:
    """Return the first MAX_LISTED messages."""
    return tuple(AffectedMessageSchema.from_domain(each) for each in islice(messages, MAX_LISTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidueSchema(Schema):
    """A place where something remains."""

    place: str
    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionReportSchema(Schema):
    """The report of a deletion, without any deleted content."""

    digest: str = field(metadata=describe("The digest that identifies this report."))
    done_at: str
    counts: dict[str, int]
    is_proved: bool = field(
        metadata=describe("Whether a search of every reachable place found nothing.")
    )
    left: tuple[ResidueSchema, ...]
    near: tuple[str, ...] = field(
        metadata=describe("The ids of messages that stay and say nearly the same.")
    )
    read_from: tuple[str, ...] = field(
        metadata=describe(
            "The ids of messages that stay although what was deleted was learned from them."
        )
    )
    orphans: tuple[str, ...] = field(
        metadata=describe("The ids of beliefs that stay although they rested on it.")
    )
    files: int = field(
        metadata=describe("The number of database files searched; 0 for a database server.")
    )
    log_is_empty: bool
    is_clean: bool = field(
        metadata=describe("False if files are still to be cleaned, which is retried automatically.")
    )
    was_in_group: bool = field(
        metadata=describe("Whether some of it was said in a group, which keeps it.")
    )
    stuck: tuple[str, ...] = field(
        metadata=describe("Backups that could not be deleted: delete them yourself.")
    )
    remarks: tuple[str, ...] = field(
        metadata=describe("What cannot be undone by this, in sentences.")
    )

    @classmethod
    def from_domain(
        cls, report: ForgetReport, *, done_at: Micros, zone: str, has_files: bool
    ) -> Self:
        """Present a deletion report; ``has_files``: the database consists of files of ours."""
        return cls(
            digest=report.digest,
            done_at=format_time(done_at, zone),
            counts=dict(report.counts),
            is_proved=report.is_proved,
            left=tuple(
                ResidueSchema(place=each.place, what=each.what, count=each.count)
                for each in report.left
            ),
            near=tuple(each for each in report.near if each not in report.read_from),
            read_from=tuple(report.read_from),
            orphans=tuple(report.orphans),
            files=report.files,
            log_is_empty=report.log_is_empty,
            is_clean=report.is_clean,
            was_in_group=report.was_in_group,
            stuck=tuple(report.stuck),
            remarks=tuple(list_deletion_limits(report, has_files=has_files)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDeletionSchema(Schema):
    """A past deletion, without its contents."""

    digest: str
    done_at: str
    what: DeletionKind
    counts: dict[str, int]
    proved_at: str | None = field(
        metadata=describe(
            "When a search of every reachable place found nothing; null if it was not "
            "verified, or before this was recorded."
        )
    )

    @classmethod
    def from_domain(cls, entry: AuditEntry, *, zone: str) -> Self:
        """Present that something was forgotten before."""
        return cls(
            digest=entry.digest,
            done_at=format_time(entry.done_at, zone),
            what=entry.what,
            counts=dict(entry.counts),
            proved_at=format_time(entry.proved_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDeletionListSchema(Schema):
    """Past deletions, the latest first."""

    items: tuple[PastDeletionSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult:
    """The result of forgetting, without any of the deleted text."""

    messages: int
    beliefs: int
    orphans: tuple[str, ...]  # ids of beliefs that stay although they rested on it
    near: tuple[str, ...]  # ids of messages that stay and say nearly the same
    is_proved: bool  # verified as gone from every reachable place

    @classmethod
    def from_domain(cls, report: ForgetReport) -> Self:
        """Present a deletion report to a program."""
        return cls(
            messages=report.counts["messages"],
            beliefs=report.counts["memories"],
            orphans=report.orphans,
            near=report.near,
            is_proved=report.is_proved,
        )


def preview_as_json(preview: ForgetPreview) -> JsonValue:
    """Return what would be deleted as JSON."""
    plan = preview.plan
    relearned = list_relearned(plan)
    return {
        "counts": dict(preview.counts),
        "messages": [deleted_message_as_json(each) for each in keep_last_versions(plan.messages)],
        "beliefs": [
            {
                "id": each,
                "kind": get_change_kind(change),
                "text": get_change_text(change),
                "is_learned_anew": each in relearned,
            }
            for each, change in plan.deleted.items()
        ],
        "keep": [{"id": each, "evidence": left} for each, left in plan.remaining_evidence.items()],
        "orphans": list[JsonValue](plan.orphans),
        "replies": [each.id for each in keep_last_versions(plan.redacted_replies)],
        "records": [
            {"id": each.id, "record": each.kind, "text": each.text} for each in plan.records
        ],
        "near": [deleted_message_as_json(each) for each in plan.near_duplicates],
        "read_from": list[JsonValue](sorted(plan.source_messages)),
        "beside": [
            {"id": each, "kind": get_change_kind(change), "text": get_change_text(change)}
            for each, change in plan.sibling_beliefs.items()
        ],
        "namesakes": list[JsonValue](plan.namesakes),
        "written": list[JsonValue](plan.written_lines),
        "titles": list[JsonValue](plan.titles),
        "exposed": {
            "replies": plan.affected_replies,
            "calls": sum(preview.calls.values()),
            "models": dict(preview.calls),
            "backups": list[JsonValue](preview.backups),
        },
    }


def deleted_message_as_json(message_version: MessageVersion) -> JsonValue:
    """Return a message as JSON."""
    at = from_micros(message_version.said_at, message_version.zone).isoformat(timespec="seconds")
    return {
        "id": message_version.id,
        "at": at,
        "speaker": message_version.speaker,
        "text": message_version.text,
    }


def report_as_json(report: ForgetReport) -> JsonValue:
    """Return what was deleted as JSON, without any of its words."""
    return {
        "counts": dict(report.counts),
        "ids": list[JsonValue](report.ids),
        "is_proved": report.is_proved,
        "left": [
            {"place": each.place, "what": each.what, "count": each.count} for each in report.left
        ],
        "near": list[JsonValue](report.near),
        "read_from": list[JsonValue](report.read_from),
        "orphans": list[JsonValue](report.orphans),
        "files": report.files,
        "log_is_empty": report.log_is_empty,
        "is_clean": report.is_clean,
        "was_in_group": report.was_in_group,
        "stuck": list[JsonValue](report.stuck),
        "digest": report.digest,
    }
