"""How is what would be forgotten shown, and what was?"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from oldfriend.app.forgetting import Preview, Report
from oldfriend.app.showing_forgetting import last_of, made_anew, out_of_reach, words_kept, words_of
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Believed, Change
from oldfriend.memory.forgetting.auditing import Audited
from oldfriend.memory.forgetting.holding import Said
from oldfriend.memory.rows import kind_of as sort_of
from oldfriend.web.shapes.forgetting import (
    BelievedShape,
    CallsShape,
    ForgetForeseen,
    Forgotten,
    ForgottenBefore,
    GoingShape,
    LeftShape,
)
from oldfriend.web.showing.common import in_zone
from oldfriend.web.showing.memories import told

MOST_SHOWN: Final = 200


def foreseen_shape(shown: Preview, kept: Mapping[str, Believed]) -> ForgetForeseen:
    """What would be forgotten; ``kept``: beliefs that stay with less evidence."""
    plan = shown.foreseen
    anew = made_anew(plan)
    return ForgetForeseen(
        etag=shown.digest, counts=dict(shown.counts),
        messages=going(last_of(plan.messages)),
        beliefs=believed((change, None, each in anew)
                         for each, change in plan.objects.items()),
        keep=[
            BelievedShape(id=each, kind=sort_of(what), text=told(what), is_learned_anew=False,
                          words_left=plan.keeping[ObjectId(each)])
            for each, what in kept.items()
        ],
        orphans=believed((change, 0, False) for change in plan.orphans.values()),
        replies=going(last_of(plan.replies)),
        near=going(each for each in plan.near if each.id not in plan.read_from),
        read_from=going(words_kept(plan)),
        beside=believed((change, None, False) for change in plan.beside.values()),
        namesakes=list(plan.namesakes), titles=list(plan.titles), answers=plan.answers,
        calls=[CallsShape(model=model, calls=calls) for model, calls in shown.calls.items()],
        backups=list(shown.backups),
    )  # fmt: skip


def going(said: Iterable[Said]) -> list[GoingShape]:
    """Some messages, each once."""
    return [
        GoingShape(
            id=each.id, role=each.role, speaker=each.speaker, text=each.text,
            at=in_zone(each.said_at, each.zone),
        )
        for each in islice(said, MOST_SHOWN)
    ]  # fmt: skip


def believed(beliefs: Iterable[tuple[Change, int | None, bool]]) -> list[BelievedShape]:
    """Some beliefs, each with how much evidence is left and whether it is learned anew."""
    return [
        BelievedShape(
            id=change.object, kind=sort_of(change.after), text=words_of(change),
            is_learned_anew=is_anew, words_left=left,
        )
        for change, left, is_anew in islice(beliefs, MOST_SHOWN)
    ]  # fmt: skip


def forgotten_shape(report: Report, *, done_at: Micros, zone: str, has_files: bool) -> Forgotten:
    """What was forgotten."""
    return Forgotten(
        digest=report.digest, done_at=in_zone(done_at, zone), counts=dict(report.counts),
        is_proved=report.is_proved,
        left=[LeftShape(place=each.place, what=each.what, count=each.count)
              for each in report.left],
        near=[each for each in report.near if each not in report.read_from],
        read_from=list(report.read_from), orphans=list(report.orphans), files=report.files,
        log_is_empty=report.log_is_empty, was_in_group=report.was_in_group,
        stuck=list(report.stuck),
        remarks=out_of_reach(report, has_files=has_files),
    )  # fmt: skip


def before_shape(entry: Audited, *, zone: str) -> ForgottenBefore:
    """That something was forgotten."""
    return ForgottenBefore(
        digest=entry.digest,
        done_at=in_zone(entry.done_at, zone),
        what=entry.what,
        counts=dict(entry.counts),
    )
