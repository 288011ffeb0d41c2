"""Forgetting: previews, deletes and verifies content that a person wants forgotten.

First a preview is built for the person to look at. Then everything is deleted in one transaction,
the files are cleaned, and every place that could still hold it is searched again. Forgotten content
is recognized by keyed fingerprints from then on, so that the same words are not imported or learned
again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from oldfriend.app.app_context import StoreContext
from oldfriend.app.dead_processes import drain_spools
from oldfriend.app.event_log import log_warning
from oldfriend.config.keys import ensure_deletion_key
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, MAX_TIME, Clock, Micros, get_start_of_day, parse_timestamp
from oldfriend.domain.errors import InvalidInput, OldfriendError, StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import BatchId, PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.forgetting.cleanup import plan_cleanup, run_cleanups
from oldfriend.inbound.failed_events import has_failed_event, is_forgotten_event
from oldfriend.learning.learning_scheduler import enqueue_learning
from oldfriend.memory.attachments import Attachment, list_attachments, remove_attachments
from oldfriend.memory.deletion.audit_log import (
    AuditEntry,
    Cleanup,
    DeletionKind,
    ResidualFinding,
    list_cleanups,
    save_audit_entry,
)
from oldfriend.memory.deletion.deletion_plan import DeletionPlan, plan_deletion
from oldfriend.memory.deletion.erase import RedactionMarker, count_deletions, erase
from oldfriend.memory.deletion.own_records import TABLES as OWN_RECORD_TABLES
from oldfriend.memory.deletion.selection import DeletionRequest, select_for_deletion
from oldfriend.memory.deletion.tombstones import (
    fingerprint_belief,
    fingerprint_external_id,
    fingerprint_measurement,
    fingerprint_message,
    fingerprint_words,
    save_key_tombstone,
    save_tombstones,
)
from oldfriend.memory.deletion.verification import build_text_fingerprints, format_fingerprints_json
from oldfriend.memory.groups import list_group_chats
from oldfriend.memory.import_writer import ExternalIdEntry, list_external_ids
from oldfriend.memory.oauth_grants import end_all_connections
from oldfriend.memory.people import get_person_by_id, list_people, lock_person
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.queues.purge import delete_inbox_keys, purge_jobs
from oldfriend.tasks.calendar_imports import undo_calendar
from oldfriend.transfer.oura_connection import get_token_file
from oldfriend.transfer.oura_pull import end_connection
from oldfriend.usage.model_calls import (
    ExposedCalls,
    count_calls_by_model,
    find_exposed_calls,
    redact_calls,
)

RETENTION_JOB: Final = "retain"
"""The job that deletes messages older than the retention setting."""
DATE_CHARS: Final = 10
"""The length of a date such as "2024-05-03"."""
PREVIEW_CHANGED: Final = localizable(
    "forget_changed",
    "Something has changed since you looked. Look again at what would be deleted.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What would be forgotten, and which models have seen it."""

    plan: DeletionPlan
    counts: Mapping[str, int]
    receipts: int  # of replies that rest on it
    calls: Mapping[str, int]  # model calls that were shown it, or contain it, by model
    backups: tuple[str, ...]  # backups of the database that are deleted

    @property
    def digest(self) -> str:
        """Hash that tells whether the same would be deleted now."""
        return hash_plan(self.plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What was forgotten, without any of its words."""

    counts: Mapping[str, int]
    ids: tuple[str, ...]
    near: tuple[str, ...]  # messages that stay and say nearly the same
    read_from: tuple[str, ...]  # the ones among them that deleted beliefs were read from
    orphans: tuple[str, ...]  # beliefs that were not forgotten
    left: tuple[ResidualFinding, ...]  # where something remains; empty: it is gone
    files: int  # scanned files; 0 if a database server holds them
    # False: others still read the write-ahead log, or a database server keeps it
    log_is_empty: bool
    stuck: tuple[str, ...]  # files of ours that could not be cleaned
    is_clean: bool  # False: files remain to be cleaned, which is retried automatically
    was_in_group: bool  # for some of it; the group and its members keep their own copies

    @property
    def is_proved(self) -> bool:
        """Whether everything in reach was searched, and nothing of it was found.

        Messages that a deleted belief was read from may stay, as ``read_from`` says.
        """
        return self.is_clean and not self.left

    @property
    def digest(self) -> str:
        """Hash that identifies this report."""
        fields: dict[str, JsonValue] = {"counts": dict(self.counts), "ids": list(self.ids)}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


async def preview_forget(
    db: Database, person: PersonId, deletion_request: DeletionRequest, *, orphan: bool = False
) -> ForgetPreview:
    """Preview what a request would delete, without writing. Raises NotFound, InvalidInput."""
    async with db.begin_read() as tx:
        plan = await plan_deletion(
            tx, person, await select_for_deletion(tx, person, deletion_request), orphan=orphan
        )
        exposed = await load_exposed_calls(tx, plan)
        calls = await count_calls_by_model(
            tx, person, {*exposed.shown_calls, *exposed.quoting_calls}
        )
    return ForgetPreview(
        plan=plan,
        counts=count_all(plan),
        receipts=plan.affected_replies,
        calls=calls,
        backups=tuple(each.name for each in db.list_backups()),
    )


async def forget(
    context: StoreContext,
    person: PersonId,
    deletion_request: DeletionRequest,
    *,
    orphan: bool = False,
    deed: DeletionKind = "forget",
    seen_digest: str | None = None,
    on_deleted: Callable[[Transaction, str], Awaitable[None]] | None = None,
) -> ForgetReport:
    """Delete everything that a request names, with all that follows from it, and verify it.

    ``seen_digest`` is the digest of the preview that the person has seen; nothing is deleted that
    was not in it. ``on_deleted`` writes in the transaction of the deletion, given the id of its
    audit entry. Raises NotFound, InvalidInput, StoreError, and StaleDecision if the preview has
    changed.
    """
    await drain_spools(context)  # spooled calls reach the ledger first, and are redacted there
    async with context.db.begin_write() as tx:
        await lock_person(tx, person)
        plan = await plan_deletion(
            tx, person, await select_for_deletion(tx, person, deletion_request), orphan=orphan
        )
        if seen_digest is not None and seen_digest != hash_plan(plan):
            raise StaleDecision(PREVIEW_CHANGED)
        was_in_group = await is_from_group(tx, plan)
        attachments = await remove_audio_rows(tx, plan)
        deliveries = [
            each
            for each in await list_external_ids(tx, person)
            if each.message in plan.deleted_ids or plan.has_deleted_text(each.external_id)
        ]
        named_events = build_event_filter(deletion_request, deliveries)
        await remove_planned(tx, context.settings, plan, named_events, now=context.clock())
        if deletion_request.everything:
            await end_connection(tx, person)  # else the next reading brought its values back
            await end_all_connections(tx, person)
        await delete_inbox_keys(tx, [(each.chat, each.external_id) for each in deliveries])
        if deed != "retain":
            await write_tombstones(tx, context.clock, context.settings, plan, deliveries)
        report = build_report(plan, was_in_group=was_in_group)
        entry = await save_audit_entry(
            tx, person, build_audit_entry(report, deletion_request, deed, now=context.clock())
        )
        cleanup = Cleanup(
            id=entry,
            person=person,
            begun_at=context.clock(),
            what=deed,
            is_everything=deletion_request.everything,
            sounds=tuple(each.file_name for each in attachments),
            traces=format_fingerprints_json(
                build_text_fingerprints(plan, ensure_deletion_key(context.settings))
            ),
        )
        await plan_cleanup(tx, cleanup, now=context.clock())
        if on_deleted is not None:
            await on_deleted(tx, entry)
        if context.settings.memory.forms and (plan.messages or plan.reread_messages):
            await enqueue_learning(tx, person, now=context.clock(), due_at=context.clock())
        if deletion_request.everything:
            get_token_file(context.settings, person).delete()
        await tx.notify()
    context.notifier.notify()
    return await verify_deletion(context, entry, report)


async def verify_deletion(
    context: StoreContext, cleanup_id: str, report: ForgetReport
) -> ForgetReport:
    """Run the cleanup and return the report with its result; what remains is done later."""
    try:
        cleaned = (await run_cleanups(context)).get(cleanup_id)
    except (OldfriendError, OSError) as error:
        log_warning("cleanup-failed", error)
        return report
    if cleaned is None:  # another process was faster, or it cannot be done here
        async with context.db.begin_read() as tx:
            is_done = cleanup_id not in {each.id for each in await list_cleanups(tx)}
        return replace(report, is_clean=is_done, log_is_empty=is_done)
    return replace(
        report,
        left=cleaned.residuals,
        stuck=cleaned.stuck_files,
        files=cleaned.files_scanned,
        log_is_empty=cleaned.is_log_empty,
        is_clean=cleaned.is_clean,
    )


def hash_plan(plan: DeletionPlan) -> str:
    """Hash what is deleted, and what becomes of the rest."""
    fields: dict[str, object] = {
        "messages": sorted([each.id, each.version] for each in plan.messages),
        "objects": sorted(plan.deleted),
        "records": sorted([each.id, each.text] for each in plan.records),
        "anew": sorted(plan.relearned),
        "orphans": sorted(plan.orphans),
        "freed": sorted(plan.reopened),
        "keeping": dict(plan.remaining_evidence),
        "outdated": sorted(plan.stale_entries),
        "replies": sorted([each.id, each.version] for each in plan.redacted_replies),
        "titles": sorted(plan.titles),
    }
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def parse_span(first: str, last: str, zone: str) -> tuple[Micros, Micros]:
    """Parse a span from the start of the first day to the end of the last, or between times.

    Raises InvalidInput.
    """
    since, until = parse_timestamp(first, zone)[0], parse_timestamp(last, zone)[0]
    if len(last) == DATE_CHARS:
        until = get_start_of_day(until, zone, days_back=-1)
    if until <= since:
        raise InvalidInput(
            localizable(
                "span_backwards",
                f"Give the earlier date first: {first} is after {last}.",
                first=str(first),
                last=str(last),
            )
        )
    return since, until


async def load_exposed_calls(tx: Transaction, plan: DeletionPlan) -> ExposedCalls:
    """Find the model calls that saw what is deleted, also in a reply that is redacted."""
    seen = plan.deleted_ids | {each.id for each in plan.redacted_replies}
    return await find_exposed_calls(tx, plan.person, seen, plan.has_deleted_text)


def build_event_filter(
    deletion_request: DeletionRequest, deliveries: Iterable[ExternalIdEntry]
) -> Callable[[Job], bool]:
    """Build what tells which failed events go: those of a named time and of deleted messages."""
    since, until = deletion_request.since or 0, MAX_TIME
    if deletion_request.retained_since is not None:
        since, until = 0, deletion_request.retained_since
    elif deletion_request.until is not None:
        until = deletion_request.until
    elif deletion_request.up_to is not None:
        until = deletion_request.up_to.at
    elif deletion_request.since is None and not deletion_request.everything:
        until = 0  # no time is named
    return partial(
        is_forgotten_event,
        since=since,
        until=until,
        external_ids={each.external_id for each in deliveries},
    )


async def remove_planned(
    tx: Transaction,
    settings: Settings,
    plan: DeletionPlan,
    named_events: Callable[[Job], bool],
    *,
    now: Micros,
) -> None:
    """Delete what is planned from every table, in the caller's transaction."""
    person = await get_person_by_id(tx, plan.person)
    exposed = await load_exposed_calls(tx, plan)
    turns = {
        each.turn for each in (*plan.messages, *plan.redacted_replies) if each.turn is not None
    }
    await redact_calls(tx, plan.person, exposed, plan.deleted_ids, turns=turns)
    await erase(tx, plan, build_redaction_marker(person, settings), now=now)
    redacted = frozenset(each.id for each in plan.redacted_replies)
    await purge_jobs(
        tx, plan.person, plan.deleted_ids | redacted, plan.has_deleted_text, named_events
    )
    for batch in () if plan.selection.is_everything else sorted(plan.selection.batches):
        await undo_calendar(tx, plan.person, BatchId(batch), now=now)  # of what it only moved


async def remove_audio_rows(tx: Transaction, plan: DeletionPlan) -> list[Attachment]:
    """Delete the rows of audio that contains what is deleted; the files go after the commit."""
    deleted = {*plan.deleted_ids, *(each.id for each in (*plan.messages, *plan.redacted_replies))}
    attachments = [
        each for each in await list_attachments(tx, plan.person) if each.message in deleted
    ]
    await remove_attachments(tx, plan.person, attachments)
    return attachments


def build_redaction_marker(person: Person, settings: Settings) -> RedactionMarker:
    """Build the marker for a redacted reply, in the person's language."""
    language = choose_language(person.language, settings.language)
    return RedactionMarker(text=load_phrases(language).phrases["taken_back"], language=language)


async def write_tombstones(
    tx: Transaction,
    clock: Clock,
    settings: Settings,
    plan: DeletionPlan,
    deliveries: Iterable[ExternalIdEntry],
) -> None:
    """Store fingerprints of what was forgotten, except for what is to be learned again."""
    key = ensure_deletion_key(settings)
    fingerprints = {
        each
        for message in plan.messages
        for each in fingerprint_message(key, message.text, said_at=message.said_at)
    }
    for each, change in plan.deleted.items():
        if each not in plan.relearned and isinstance(change.after, StoredBelief):
            fingerprints.update(fingerprint_belief(key, change.after))
    fingerprints.update(fingerprint_words(key, each) for each in plan.forgotten_quotes)
    if not plan.selection.is_everything:  # what a ring measured is read in again
        fingerprints.update(
            fingerprint_measurement(each.id)
            for each in plan.records
            if each.kind == "measurements" and each.message is None
        )
    fingerprints.update(
        fingerprint_external_id(key, each.channel, each.address, each.external_id)
        for each in deliveries
    )
    await save_tombstones(tx, plan.person, fingerprints, now=clock())
    await save_key_tombstone(tx, plan.person, key)


async def is_from_group(tx: Transaction, plan: DeletionPlan) -> bool:
    """Return whether something that is deleted was said in a group."""
    chats = await list_group_chats(tx, plan.person)
    return any(each.chat in chats for each in plan.messages)


def count_all(plan: DeletionPlan) -> dict[str, int]:
    """Count everything that is deleted and redacted, without content."""
    kinds = Counter(each.kind for each in plan.records)
    return {**count_deletions(plan), **{kind: kinds[kind] for kind in OWN_RECORD_TABLES}}


def build_report(plan: DeletionPlan, *, was_in_group: bool) -> ForgetReport:
    """Build the report before verification."""
    return ForgetReport(
        counts=count_all(plan),
        ids=tuple(sorted(plan.deleted_ids)),
        near=tuple(each.id for each in plan.near_duplicates),
        read_from=tuple(sorted(plan.source_messages)),
        orphans=tuple(sorted(plan.orphans)),
        left=(),
        files=0,
        log_is_empty=False,
        stuck=(),
        is_clean=False,
        was_in_group=was_in_group,
    )


def build_audit_entry(
    report: ForgetReport, deletion_request: DeletionRequest, deed: DeletionKind, *, now: Micros
) -> AuditEntry:
    """Build the audit entry: that it was done, and how much; all of it is a purge."""
    what: DeletionKind = "purge" if deletion_request.everything else deed
    return AuditEntry(done_at=now, what=what, counts=report.counts, digest=report.digest)


async def apply_retention(context: StoreContext, person: PersonId) -> ForgetReport | None:
    """Delete messages older than the retention setting; beliefs from them stay, as orphans.

    Returns None if everything may stay, or nothing is that old.
    """
    days = context.settings.retention.messages_days
    if days is None:
        return None
    request = DeletionRequest(retained_since=context.clock() - days * DAY)
    async with context.db.begin_read() as tx:
        has_old = bool((await select_for_deletion(tx, person, request)).seqs)
        if not has_old and not await has_failed_event(tx, person, build_event_filter(request, ())):
            return None
    return await forget(context, person, request, orphan=True, deed="retain")


async def apply_retention_to_all(context: StoreContext) -> None:
    """Apply the retention setting to everybody."""
    async with context.db.begin_read() as tx:
        people = await list_people(tx)
    for person in people:
        await apply_retention(context, person.id)
