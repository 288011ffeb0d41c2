"""Converters for deletion previews and reports."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from oldfriend.api.schemas.forgetting import (
    BelievedShape,
    CallsShape,
    ForgetForeseen,
    Forgotten,
    ForgottenBefore,
    GoingShape,
    LeftShape,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import JournalEntry, JournalObject
from oldfriend.forgetting.forget import ForgetPreview, ForgetReport
from oldfriend.memory.deletion.audit_log import AuditEntry
from oldfriend.memory.deletion.memory_snapshot import MessageVersion
from oldfriend.memory.serialization import get_kind as sort_of
from oldfriend.presenters.beliefs import name_belief
from oldfriend.presenters.deletion_presenter import (
    get_change_text,
    keep_last_versions,
    list_deletion_limits,
    list_kept_sources,
    list_relearned,
)
from oldfriend.presenters.formatting import format_time

MAX_SHOWN: Final = 200


def to_preview_shape(preview: ForgetPreview, kept: Mapping[str, JournalObject]) -> ForgetForeseen:
    """Convert a deletion preview; ``kept`` are beliefs that stay with less evidence."""
    plan = preview.plan
    relearned = list_relearned(plan)
    return ForgetForeseen(
        etag=preview.digest,
        counts=dict(preview.counts),
        messages=to_message_shapes(keep_last_versions(plan.messages)),
        beliefs=to_belief_shapes(
            (change, None, each in relearned) for each, change in plan.deleted.items()
        ),
        keep=[
            BelievedShape(
                id=each,
                kind=sort_of(content),
                text=name_belief(content),
                is_learned_anew=False,
                words_left=plan.remaining_evidence[ObjectId(each)],
            )
            for each, content in kept.items()
        ],
        orphans=to_belief_shapes((change, 0, False) for change in plan.orphans.values()),
        replies=to_message_shapes(keep_last_versions(plan.redacted_replies)),
        near=to_message_shapes(
            each for each in plan.near_duplicates if each.id not in plan.source_messages
        ),
        read_from=to_message_shapes(list_kept_sources(plan)),
        beside=to_belief_shapes((change, None, False) for change in plan.sibling_beliefs.values()),
        namesakes=list(plan.namesakes),
        titles=list(plan.titles),
        answers=plan.affected_replies,
        calls=[CallsShape(model=model, calls=calls) for model, calls in preview.calls.items()],
        backups=list(preview.backups),
    )


def to_message_shapes(messages: Iterable[MessageVersion]) -> list[GoingShape]:
    """Convert up to MAX_SHOWN messages."""
    return [
        GoingShape(
            id=each.id,
            role=each.role,
            speaker=each.speaker,
            text=each.text,
            at=format_time(each.said_at, each.zone),
        )
        for each in islice(messages, MAX_SHOWN)
    ]


def to_belief_shapes(
    beliefs: Iterable[tuple[JournalEntry, int | None, bool]],
) -> list[BelievedShape]:
    """Convert up to MAX_SHOWN beliefs, with their remaining evidence and whether relearned."""
    return [
        BelievedShape(
            id=change.object_id,
            kind=sort_of(change.after),
            text=get_change_text(change),
            is_learned_anew=is_anew,
            words_left=left,
        )
        for change, left, is_anew in islice(beliefs, MAX_SHOWN)
    ]


def to_forgotten_shape(
    report: ForgetReport, *, done_at: Micros, zone: str, has_files: bool
) -> Forgotten:
    """Convert a deletion report."""
    return Forgotten(
        digest=report.digest,
        done_at=format_time(done_at, zone),
        counts=dict(report.counts),
        is_proved=report.is_proved,
        left=[
            LeftShape(place=each.place, what=each.what, count=each.count) for each in report.left
        ],
        near=[each for each in report.near if each not in report.read_from],
        read_from=list(report.read_from),
        orphans=list(report.orphans),
        files=report.files,
        log_is_empty=report.log_is_empty,
        is_clean=report.is_clean,
        was_in_group=report.was_in_group,
        stuck=list(report.stuck),
        remarks=list_deletion_limits(report, has_files=has_files),
    )


def to_past_shape(entry: AuditEntry, *, zone: str) -> ForgottenBefore:
    """Convert an audit log entry."""
    return ForgottenBefore(
        digest=entry.digest,
        done_at=format_time(entry.done_at, zone),
        what=entry.what,
        counts=dict(entry.counts),
        proved_at=None if entry.proved_at is None else format_time(entry.proved_at, zone),
    )
