"""Deletions: what would be forgotten, and what was, for the API, programs, JSON and text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Self

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, JournalEntry, JournalObject, Memory, Summary
from oldfriend.forgetting.forget import ForgetPreview, ForgetReport
from oldfriend.memory.deletion.audit_log import AuditEntry, DeletionKind
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import MessageVersion
from oldfriend.memory.deletion.pending_cleanups import CleanupResult
from oldfriend.memory.serialization import get_kind
from oldfriend.presenters.beliefs import name_belief
from oldfriend.presenters.formatting import format_count, format_time, to_one_line
from oldfriend.presenters.schema import Schema, describe

MAX_SHOWN: Final = 8
"""How many lines of a kind are shown as text."""
MAX_LISTED: Final = 200
"""How many of a kind the API lists."""
ID_SUFFIX_CHARS: Final = 8
"""How many characters at the end of an id identify it to the reader."""
COUNT_NOUNS: Final = {
    "messages": ("message", ""),
    "memories": ("memory", "memories"),
    "entities": ("name", ""),
    "summaries": ("summary", "summaries"),
    "replies": ("reply that loses its words", "replies that lose their words"),
}
BEYOND_REACH: Final = (
    "What I cannot take back: what a model's provider or a chat platform keeps of it, exports and "
    "backups that were made of it, what a disk keeps of deleted files, and a reply of mine that "
    "says it in other words."
)
WORDS_STAY: Final = (
    "The belief is gone; the words it was read from stay, and I may quote them. To forget these, "
    "too: {command}"
)
KEPT_IN_GROUP: Final = (
    "Some of it was said in a group. The group, and each member whom I know, keeps what was said "
    "there in a memory of their own, which I have not touched. Whoever runs this Oldfriend can "
    "have it forgotten there, too: oldfriend forget --person NAME"
)
KEPT_BY_SERVER: Final = (
    "PostgreSQL's own files and archives may keep the bytes until they are used again."
)
LOG_STILL_READ: Final = "Another process still reads the log of writes."
NOT_CLEAN: Final = (
    "Not all files are clean of it yet. That is tried again by itself, whenever the memory is "
    "opened; oldfriend doctor says when it is done."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoingShape(Schema):
    """A message that goes, loses its words, or stays although it says nearly the same."""

    id: str
    role: str
    speaker: str
    text: str
    at: str

    @classmethod
    def from_domain(cls, message: MessageVersion) -> Self:
        """Present a version of a message."""
        return cls(
            id=message.id,
            role=message.role,
            speaker=message.speaker,
            text=message.text,
            at=format_time(message.said_at, message.zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedShape(Schema):
    """A belief that goes, or stays."""

    id: str
    kind: str
    text: str
    is_learned_anew: bool = field(metadata=describe("From words that stay."))
    words_left: int | None = field(
        metadata=describe("What else speaks for it, where some of that goes.")
    )

    @classmethod
    def from_domain(
        cls, change: JournalEntry, *, words_left: int | None = None, is_learned_anew: bool = False
    ) -> Self:
        """Present a belief, with its remaining evidence and whether it is learned again."""
        return cls(
            id=change.object_id,
            kind=get_kind(change.after),
            text=get_change_text(change),
            is_learned_anew=is_learned_anew,
            words_left=words_left,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsShape(Schema):
    """How many calls of a model had it."""

    model: str = field(metadata=describe(examples=["anthropic:claude-sonnet"]))
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetForeseen(Schema):
    """What would be forgotten; nothing is done yet. Its ETag is asked for when it is done."""

    etag: str = field(metadata=describe("To be sent as If-Match: then exactly this is done."))
    counts: dict[str, int] = field(metadata=describe("Of all that goes or is rewritten."))
    messages: tuple[GoingShape, ...] = field(metadata=describe("Go; the first 200 of them."))
    beliefs: tuple[BelievedShape, ...] = field(metadata=describe("Go; the first 200 of them."))
    keep: tuple[BelievedShape, ...] = field(
        metadata=describe("Stay, with less evidence; the first 200.")
    )
    orphans: tuple[BelievedShape, ...] = field(
        metadata=describe("Are not forgotten; the first 200.")
    )
    replies: tuple[GoingShape, ...] = field(
        metadata=describe("Lose their words; the first 200 of them.")
    )
    near: tuple[GoingShape, ...] = field(
        metadata=describe("Stay, and say nearly the same; the first 200.")
    )
    read_from: tuple[GoingShape, ...] = field(
        metadata=describe("Stay, though what goes was read from them; the first 200.")
    )
    beside: tuple[BelievedShape, ...] = field(
        metadata=describe("Stay, and were read from the very same words; the first 200.")
    )
    namesakes: tuple[str, ...] = field(
        metadata=describe("Parts of the name that are said elsewhere, and stay.")
    )
    titles: tuple[str, ...] = field(metadata=describe("Chats and imports that lose their names."))
    answers: int = field(metadata=describe("Replies that stood on it."))
    calls: tuple[CallsShape, ...] = field(metadata=describe("Models that had it, and how often."))
    backups: tuple[str, ...] = field(metadata=describe("Copies of the database that are deleted."))

    @classmethod
    def from_domain(cls, preview: ForgetPreview, kept: Mapping[str, JournalObject]) -> Self:
        """Present a deletion preview; ``kept`` are beliefs that stay with less evidence."""
        plan = preview.plan
        relearned = list_relearned(plan)
        return cls(
            etag=preview.digest,
            counts=dict(preview.counts),
            messages=list_going(keep_last_versions(plan.messages)),
            beliefs=tuple(
                BelievedShape.from_domain(change, is_learned_anew=each in relearned)
                for each, change in islice(plan.deleted.items(), MAX_LISTED)
            ),
            keep=tuple(
                BelievedShape(
                    id=each,
                    kind=get_kind(content),
                    text=name_belief(content),
                    is_learned_anew=False,
                    words_left=plan.remaining_evidence[ObjectId(each)],
                )
                for each, content in kept.items()
            ),
            orphans=tuple(
                BelievedShape.from_domain(change, words_left=0)
                for change in islice(plan.orphans.values(), MAX_LISTED)
            ),
            replies=list_going(keep_last_versions(plan.redacted_replies)),
            near=list_going(
                each for each in plan.near_duplicates if each.id not in plan.source_messages
            ),
            read_from=list_going(list_kept_sources(plan)),
            beside=tuple(
                BelievedShape.from_domain(change)
                for change in islice(plan.sibling_beliefs.values(), MAX_LISTED)
            ),
            namesakes=tuple(plan.namesakes),
            titles=tuple(plan.titles),
            answers=plan.affected_replies,
            calls=tuple(
                CallsShape(model=model, calls=calls) for model, calls in preview.calls.items()
            ),
            backups=tuple(preview.backups),
        )


def list_going(messages: Iterable[MessageVersion]) -> tuple[GoingShape, ...]:
    """Return the first MAX_LISTED messages."""
    return tuple(GoingShape.from_domain(each) for each in islice(messages, MAX_LISTED))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftShape(Schema):
    """Where something still stands."""

    place: str
    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten(Schema):
    """What was forgotten, without a word of it."""

    digest: str = field(metadata=describe("By which this report is known again."))
    done_at: str
    counts: dict[str, int]
    is_proved: bool = field(
        metadata=describe("It was looked for everywhere in reach, and is nowhere.")
    )
    left: tuple[LeftShape, ...]
    near: tuple[str, ...] = field(
        metadata=describe("Ids of messages that stay and say nearly the same.")
    )
    read_from: tuple[str, ...] = field(
        metadata=describe("Ids of messages that stay, though what went was read from them.")
    )
    orphans: tuple[str, ...] = field(metadata=describe("Ids of beliefs that were not forgotten."))
    files: int = field(metadata=describe("That were looked through; 0: a server has them."))
    log_is_empty: bool
    is_clean: bool = field(
        metadata=describe(
            "No: files of ours are still to be cleaned; that is tried again by itself."
        )
    )
    was_in_group: bool = field(metadata=describe("Some of it was said in a group, which keeps it."))
    stuck: tuple[str, ...] = field(
        metadata=describe("Copies that could not be deleted: delete them yourself.")
    )
    remarks: tuple[str, ...] = field(metadata=describe("What this cannot take back, in sentences."))

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
                LeftShape(place=each.place, what=each.what, count=each.count)
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
class ForgottenBefore(Schema):
    """That something was forgotten, and how much."""

    digest: str
    done_at: str
    what: DeletionKind
    counts: dict[str, int]
    proved_at: str | None = field(
        metadata=describe(
            "When it was looked for everywhere in reach, and was nowhere; null: it was "
            "not yet, or before this was noted."
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
class ForgottenList(Schema):
    """What was forgotten before, the latest first."""

    items: tuple[ForgottenBefore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
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


def is_empty_plan(plan: DeletionPlan) -> bool:
    """Return whether nothing of what was named exists."""
    return not (plan.messages or plan.deleted or plan.orphans)


def preview_as_text(preview: ForgetPreview) -> str:
    """Format what would be deleted."""
    plan = preview.plan
    if is_empty_plan(plan):
        return "Nothing of that is kept."
    return "\n".join(
        [
            *format_section("These messages go:", format_messages(plan)),
            *format_section("These beliefs go:", format_beliefs(plan)),
            *format_section(
                "These go, and are made anew from the words that stay:", format_relearned(plan)
            ),
            *format_section("These stay, for something else speaks for them:", format_kept(plan)),
            *format_section(
                "These are NOT forgotten, though nothing is left that they rest on:",
                (format_change_line(change) for change in plan.orphans.values()),
            ),
            *format_section(
                "My replies that repeat it lose their words:",
                map(format_deleted_message, keep_last_versions(plan.redacted_replies)),
            ),
            *format_section(
                "These chats and imports lose their names:", (f"  {each}" for each in plan.titles)
            ),
            *format_section(
                "This part of the name is said elsewhere and stays; name it, too, to forget it:",
                (f"  {each}" for each in plan.namesakes),
            ),
            *format_section(
                "These say nearly the same and stay; name them, too, to forget them:",
                (
                    format_deleted_message(each)
                    for each in plan.near_duplicates
                    if each.id not in plan.source_messages
                ),
            ),
            *format_section(
                "These words stay, though what goes was read from them:",
                map(format_deleted_message, list_kept_sources(plan)),
            ),
            *format_section(
                "These beliefs stay, and were read from the same words:",
                map(format_change_line, plan.sibling_beliefs.values()),
            ),
            *(
                [f"To forget these, too: {format_followup_command(plan)}"]
                if plan.source_messages
                else []
            ),
            *format_exposure(preview),
        ]
    )


def format_section(title: str, lines: Iterable[str]) -> list[str]:
    """Format a titled section; empty if there are no lines."""
    found = list(lines)
    more = len(found) - MAX_SHOWN
    rest = [f"  … and {more:,} more"] if more > 0 else []
    return [title, *found[:MAX_SHOWN], *rest] if found else []


def format_messages(plan: DeletionPlan) -> Iterator[str]:
    """Format the deleted messages, each once."""
    return map(format_deleted_message, keep_last_versions(plan.messages))


def keep_last_versions(versions: Iterable[MessageVersion]) -> list[MessageVersion]:
    """Return the last of several versions of each message."""
    return list({each.id: each for each in versions}.values())


def format_beliefs(plan: DeletionPlan) -> Iterator[str]:
    """Format the beliefs that are deleted for good."""
    relearned = list_relearned(plan)
    return (
        format_change_line(change) for each, change in plan.deleted.items() if each not in relearned
    )


def format_relearned(plan: DeletionPlan) -> Iterator[str]:
    """Format the beliefs that are learned again."""
    return (format_change_line(plan.deleted[each]) for each in sorted(list_relearned(plan)))


def list_relearned(plan: DeletionPlan) -> frozenset[ObjectId]:
    """Return what is deleted and learned again from what stays: beliefs and summaries."""
    if plan.selection.is_everything:
        return plan.relearned
    summaries = {each for each, change in plan.deleted.items() if isinstance(change.after, Summary)}
    return plan.relearned | (summaries - plan.selection.objects)


def format_kept(plan: DeletionPlan) -> Iterator[str]:
    """Format the beliefs that stay with less evidence, or by the person's own decision."""
    for each, left in plan.remaining_evidence.items():
        by = format_count(left, "other quote") if left else "you have decided so yourself"
        yield f"{format_change_line(plan.surviving[each])} ({by})"


def list_kept_sources(plan: DeletionPlan) -> list[MessageVersion]:
    """Return the messages that stay although beliefs read from them are deleted."""
    return [each for each in plan.near_duplicates if each.id in plan.source_messages]


def format_followup_command(plan: DeletionPlan) -> str:
    """Format the command that also forgets the messages and what else was read from them."""
    return format_forget_command(
        (*(each.id for each in list_kept_sources(plan)), *plan.sibling_beliefs)
    )


def format_forget_command(ids: Iterable[str]) -> str:
    """Format the command that forgets some ids."""
    return f"oldfriend forget {' '.join(each[-ID_SUFFIX_CHARS:] for each in ids)}"


def format_deleted_message(message: MessageVersion) -> str:
    """Format a message."""
    at = from_micros(message.said_at, message.zone).strftime("%Y-%m-%d %H:%M")
    return (
        f"  …{message.id[-ID_SUFFIX_CHARS:]}  {at}  {message.speaker or message.role}: "
        f"{to_one_line(message.text)}"
    )


def format_change_line(change: JournalEntry) -> str:
    """Format a belief."""
    return (
        f"  …{change.object_id[-ID_SUFFIX_CHARS:]}  {get_change_kind(change)}: "
        f"{to_one_line(get_change_text(change))}"
    )


def get_change_kind(change: JournalEntry) -> str:
    """Return the kind of object that a decision is about."""
    after = change.after
    if isinstance(after, Memory):
        return after.kind
    return after.kind if isinstance(after, Entity) else "summary"


def get_change_text(change: JournalEntry) -> str:
    """Return the text of a decision."""
    return change.after.name if isinstance(change.after, Entity) else change.after.text


def format_exposure(preview: ForgetPreview) -> Iterator[str]:
    """Format which replies and models have seen it."""
    if preview.plan.affected_replies or preview.calls:
        yield (
            "It was before me for "
            f"{format_count(preview.plan.affected_replies, 'reply', 'replies')}, and "
            f"{format_count(sum(preview.calls.values()), 'call')} of a model had "
            f"it{format_models(preview)}; my "
            "records of these lose it."
        )
    if preview.backups:
        yield f"These copies of the database are deleted: {', '.join(preview.backups)}"


def format_models(preview: ForgetPreview) -> str:
    """Format the models that have seen it."""
    return f" ({', '.join(preview.calls)})" if preview.calls else ""


def report_as_text(report: ForgetReport, *, has_files: bool) -> str:
    """Format what was deleted; ``has_files``: the database consists of files of ours."""
    counts = [format_count(report.counts[name], *COUNT_NOUNS[name]) for name in COUNT_NOUNS]
    lines = [f"Forgotten: {', '.join(each for each in counts if not each.startswith('0 '))}."]
    if report.orphans:
        kept = format_count(len(report.orphans), "belief")
        lines.append(f"Not forgotten: {kept} that rested on it. See: oldfriend memory list")
    if report.is_proved:
        scanned = f" and {format_count(report.files, 'file')}" if report.files else ""
        what = "what I believed of it" if report.read_from else "it"
        lines.append(f"I looked for {what} in all tables{scanned}: it is gone.")
    lines += [f"It still stands in {each.place} ({each.count})." for each in report.left]
    lines += [f"The file {each} could not be cleaned; delete it yourself." for each in report.stuck]
    if not report.is_clean:
        lines.append(NOT_CLEAN)
    lines += list_remarks(report, has_files=has_files)
    return "\n".join([*lines, f"Report {report.digest[:16]}"])


def cleaned_as_text(cleaned: CleanupResult, *, zone: str) -> str:
    """Format the result of finishing an interrupted deletion."""
    when = from_micros(cleaned.begun_at, zone).strftime("%Y-%m-%d %H:%M")
    if cleaned.is_verified:
        return f"What was forgotten on {when} had not left all files. It has now: it is gone."
    return f"What was forgotten on {when} is not gone from all files: {explain_unproved(cleaned)}"


def explain_unproved(cleaned: CleanupResult) -> str:
    """Explain why a deletion is not verified."""
    left = [f"It still stands in {each.place}." for each in cleaned.residuals]
    stuck = [f"The file {each} could not be cleaned." for each in cleaned.stuck_files]
    return " ".join([*left, *stuck]) or "The database is in use, or there is no room to clean it."


def list_remarks(report: ForgetReport, *, has_files: bool) -> list[str]:
    """Return, in sentences, what stays unexpectedly and what cannot be taken back."""
    sources_remark = WORDS_STAY.format(command=format_forget_command(report.read_from))
    return [
        *([sources_remark] if report.read_from else []),
        *list_deletion_limits(report, has_files=has_files),
    ]


def list_deletion_limits(report: ForgetReport, *, has_files: bool) -> list[str]:
    """Return, in sentences, what no deletion here takes back."""
    log_remark = [LOG_STILL_READ if has_files else KEPT_BY_SERVER]
    group_remark = [KEPT_IN_GROUP] if report.was_in_group else []
    return [*([] if report.log_is_empty else log_remark), *group_remark, BEYOND_REACH]


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
        "near": [deleted_message_as_json(each) for each in plan.near_duplicates],
        "read_from": list[JsonValue](sorted(plan.source_messages)),
        "beside": [
            {"id": each, "kind": get_change_kind(change), "text": get_change_text(change)}
            for each, change in plan.sibling_beliefs.items()
        ],
        "namesakes": list[JsonValue](plan.namesakes),
        "titles": list[JsonValue](plan.titles),
        "exposed": {
            "replies": plan.affected_replies,
            "calls": sum(preview.calls.values()),
            "models": dict(preview.calls),
            "backups": list[JsonValue](preview.backups),
        },
    }


def deleted_message_as_json(message: MessageVersion) -> JsonValue:
    """Return a message as JSON."""
    at = from_micros(message.said_at, message.zone).isoformat(timespec="seconds")
    return {"id": message.id, "at": at, "speaker": message.speaker, "text": message.text}


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
