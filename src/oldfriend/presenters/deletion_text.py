"""Deletion text: what would be forgotten, and what was, as lines for the terminal."""

from collections.abc import Iterable, Iterator
from typing import Final

from oldfriend.domain.clock import from_micros
from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Entity, JournalEntry, StoredBelief, Summary
from oldfriend.forgetting.delete import ForgetPreview, ForgetReport
from oldfriend.memory.deletion.audit_log import CleanupResult
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import MessageVersion
from oldfriend.memory.deletion.repetitions import drop_canned_replies
from oldfriend.presenters.base_schema import format_count, to_one_line
from oldfriend.turn.attribution.quotations import list_quotations

MAX_SHOWN: Final = 8
"""How many lines of a kind are shown as text."""
QUOTE_CHARS: Final = 30
"""How many characters of what the companion quotes are shown."""
MAX_REPLY_CHARS: Final = 240
"""How many characters of a reply are shown beside what it quotes."""
ID_SUFFIX_CHARS: Final = 8
"""How many characters at the end of an id identify it to the reader."""
COUNT_NOUNS: Final = {
    "messages": ("message", ""),
    "memories": ("belief", ""),
    "entities": ("name", ""),
    "summaries": ("summary", "summaries"),
    "replies": ("reply that loses its words", "replies that lose their words"),
    "measurements": ("number", ""),
    "diary_entries": ("diary entry", "diary entries"),
    "tasks": ("reminder or to-do", "reminders and to-dos"),
    "goals": ("goal", ""),
    "watches": ("watched page", ""),
    "projects": ("project", ""),
    "skills": ("skill", ""),
    "limitations": ("thing that I cannot do yet", "things that I cannot do yet"),
}
BEYOND_REACH: Final = (
    "What I cannot delete: what a model provider or a chat platform keeps of it, exports and "
    "backups that contain it, what a disk keeps of deleted files, and any reply of mine that "
    "says it in other words."
)
WORDS_STAY: Final = (
    "It is gone; the words it came from stay, and I may quote them. To forget these, too: {command}"
)
KEPT_IN_GROUP: Final = (
    "Some of it was said in a group. The group, and each member whom I know, keeps what was said "
    "there in a memory of their own, which I have not touched. Whoever runs this Oldfriend can "
    "have it forgotten there, too: oldfriend forget --person NAME"
)
KEPT_BY_SERVER: Final = (
    "PostgreSQL's own files and archives may keep the bytes until they are used again."
)
LOG_STILL_READ: Final = "Another process is still reading the write-ahead log."
NOT_CLEAN: Final = (
    "It is not yet gone from all files. Oldfriend tries again whenever the memory is opened; "
    "`oldfriend doctor` says when it is done."
)


def is_empty_plan(plan: DeletionPlan) -> bool:
    """Return whether nothing of what was named exists."""
    return not (plan.messages or plan.deleted or plan.orphans or plan.records)


def preview_as_text(preview: ForgetPreview) -> str:
    """Format what would be deleted."""
    plan = preview.plan
    if is_empty_plan(plan):
        return "Nothing like that is stored."
    return "\n".join(
        [
            *format_messages("These messages will be deleted:", plan.messages),
            *format_section("These beliefs will be deleted:", format_beliefs(plan)),
            *format_section(
                "These will be deleted, and written again from the words that stay:",
                format_relearned(plan),
            ),
            *format_section("These stay, because they have other evidence:", format_kept(plan)),
            *format_section(
                "These will NOT be forgotten, although no evidence for them is left:",
                (format_change_line(change) for change in plan.orphans.values()),
            ),
            *format_messages(
                "My replies that repeat it will lose their words:", plan.redacted_replies
            ),
            *format_section(
                "These numbers, diary entries, reminders and other things you set will be deleted:",
                (f"  {each.text}" for each in plan.records),
            ),
            *format_section(
                "These chats and imports will lose their names:",
                (f"  {each}" for each in plan.titles),
            ),
            *format_section(
                "This part of the name is said elsewhere and stays; name it, too, to forget it:",
                (f"  {each}" for each in plan.namesakes),
            ),
            *format_section(
                "You wrote this about us yourself, so it stays; oldfriend core changes it:",
                (f"  {each}" for each in plan.written_lines),
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
                "These words stay, although what will be deleted was learned from them:",
                map(format_deleted_message, list_kept_sources(plan)),
            ),
            *format_section(
                "These beliefs stay; they were learned from the same words:",
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


def format_messages(title: str, versions: Iterable[MessageVersion]) -> list[str]:
    """Format messages, each once; canned replies, which say nothing, are only counted."""
    messages = keep_last_versions(versions)
    telling = drop_canned_replies(messages)
    canned = format_count(len(messages) - len(telling), "short reply", "short replies")
    rest = [f"  … and {canned} of mine"] if len(telling) < len(messages) else []
    lines = format_section(title, map(format_deleted_message, telling)) or [title]
    return [*lines, *rest] if messages else []


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


def format_deleted_message(message_version: MessageVersion) -> str:
    """Format a message; of a long reply only how it begins."""
    text = to_one_line(shorten_message(message_version))
    at = from_micros(message_version.said_at, message_version.zone).strftime("%Y-%m-%d %H:%M")
    speaker = message_version.speaker or message_version.role
    return f"  …{message_version.id[-ID_SUFFIX_CHARS:]}  {at}  {speaker}: {text}"


def shorten_message(message_version: MessageVersion) -> str:
    """Return a message's text; of a reply the beginning, and how each quotation in it begins.

    What it quotes is listed where it was said.
    """
    if message_version.role != "companion":
        return message_version.text
    parts: list[str] = []
    at = 0
    for each in list_quotations(message_version.text):
        begin = each.start + QUOTE_CHARS
        if begin < each.end - QUOTE_CHARS // 2:
            parts += [
                message_version.text[at:begin].rstrip(),
                " …",
                message_version.text[each.end - 1],
            ]
            at = each.end
    text = "".join([*parts, message_version.text[at:]])
    return text if len(text) <= MAX_REPLY_CHARS else f"{text[:MAX_REPLY_CHARS].rstrip()} …"


def format_change_line(change: JournalEntry) -> str:
    """Format a belief."""
    return (
        f"  …{change.object_id[-ID_SUFFIX_CHARS:]}  {get_change_kind(change)}: "
        f"{to_one_line(get_change_text(change))}"
    )


def get_change_kind(change: JournalEntry) -> str:
    """Return the kind of object that a decision is about."""
    after = change.after
    if isinstance(after, StoredBelief):
        return after.kind
    return after.kind if isinstance(after, Entity) else "summary"


def get_change_text(change: JournalEntry) -> str:
    """Return the text of a decision."""
    return change.after.name if isinstance(change.after, Entity) else change.after.text


def format_exposure(preview: ForgetPreview) -> Iterator[str]:
    """Format which replies and models have seen it."""
    if preview.plan.affected_replies or preview.calls:
        yield (
            "I had it in view for "
            f"{format_count(preview.plan.affected_replies, 'reply', 'replies')}, and "
            f"{format_count(sum(preview.calls.values()), 'model call')} included "
            f"it{format_models(preview)}. It will be removed from my records of these."
        )
    if preview.backups:
        yield f"These copies of the database will be deleted: {', '.join(preview.backups)}"


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
        what = "what I kept of it" if report.read_from else "it"
        lines.append(f"I looked for {what} in all tables{scanned}: it is gone.")
    lines += [f"It is still in {each.place} ({each.count})." for each in report.left]
    lines += [f"The file {each} could not be cleaned; delete it yourself." for each in report.stuck]
    if not report.is_clean:
        lines.append(NOT_CLEAN)
    lines += list_remarks(report, has_files=has_files)
    return "\n".join([*lines, f"Report {report.digest[:16]}"])


def cleaned_as_text(cleaned: CleanupResult, *, zone: str) -> str:
    """Format the result of finishing an interrupted deletion."""
    when = from_micros(cleaned.begun_at, zone).strftime("%Y-%m-%d %H:%M")
    if cleaned.is_verified:
        return (
            f"What was forgotten on {when} was still in some files. It is now gone from all of "
            "them."
        )
    return (
        f"What was forgotten on {when} is not yet gone from all files: {explain_unproved(cleaned)}"
    )


def explain_unproved(cleaned: CleanupResult) -> str:
    """Explain why a deletion is not verified."""
    left = [f"It is still in {each.place}." for each in cleaned.residuals]
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
