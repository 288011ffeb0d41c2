"""Journal redaction: removes deleted content while the fold still gives the views.

The only module that deletes or rewrites decisions: deleted objects with their whole history,
earlier decisions that contain deleted words, and references to either. The last decision about each
remaining object stays, so that the fold stays sound.
"""

import json
from collections.abc import Collection
from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import (
    JOURNAL_VERSION,
    Entity,
    JournalEntry,
    JournalObject,
    StoredBelief,
    Summary,
)
from oldfriend.memory.belief_views import to_json
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import VersionKey
from oldfriend.memory.journal import (
    Provenance,
    fold_journal,
    list_journal,
    record_decision,
    upsert_view,
)
from oldfriend.memory.retraction import reopen_belief

ORPHAN_AUTHOR = "forget/orphan"
"""The author of decisions about beliefs kept as orphans."""
DELETION_AUTHOR = "forget/1"
"""The author of other decisions that follow from a deletion."""


async def purge_journal(tx: Transaction, plan: DeletionPlan, *, now: Micros) -> None:
    """Remove references to deleted beliefs, and decisions that hold deleted words.

    The deleted beliefs themselves are gone from the journal and the views already.
    """
    await tx.run_many(
        "DELETE FROM change WHERE person = :person AND seq = :seq",
        [{"person": plan.person, "seq": seq} for seq in sorted(plan.stale_entries)],
    )
    deleted_versions = {each.version_key for each in plan.redacted_versions}
    entries = await list_journal(tx, plan.person)
    pairs = [(entry, redact_journal_entry(entry, plan, deleted_versions)) for entry in entries]
    for before, after in pairs:
        if after != before:
            await update_journal_entry(tx, after)
    latest = fold_journal(after for _, after in pairs)
    changed_ids = {before.object_id for before, after in pairs if after.after != before.after}
    for each in sorted(changed_ids):
        await upsert_view(tx, latest[each].after, seq=latest[each].seq)
    for orphan in plan.orphans:
        await record_reopening(
            tx, latest[orphan], latest[orphan].after, author=ORPHAN_AUTHOR, now=now
        )
    for before in plan.reopened.values():
        provenance = Provenance(author=DELETION_AUTHOR)
        await reopen_belief(tx, redact_belief(before.after, plan), provenance=provenance, now=now)
    for summary in plan.reactivated_summaries:
        entry = latest[summary.id]
        assert isinstance(entry.after, Summary)
        await record_reopening(
            tx, entry, replace(entry.after, is_active=True), author=DELETION_AUTHOR, now=now
        )


def redact_journal_entry(
    entry: JournalEntry, plan: DeletionPlan, deleted: Collection[VersionKey]
) -> JournalEntry:
    """Return a decision without references to deleted content."""
    causes = tuple(
        each
        for each in entry.causes
        if (each.message, each.version) not in deleted and each.message not in plan.deleted_ids
    )
    return replace(entry, causes=causes, after=redact_belief(entry.after, plan))


def redact_belief(after: JournalObject, plan: DeletionPlan) -> JournalObject:
    """Return a belief without references to deleted content and without removed aliases and
    descriptions.
    """
    deleted_ids = plan.deleted_ids
    if isinstance(after, StoredBelief):
        return replace(
            after,
            entities=tuple(each for each in after.entities if each not in deleted_ids),
            relations=tuple(each for each in after.relations if each.target not in deleted_ids),
        )
    if isinstance(after, Entity):
        is_undescribed = after.id in plan.cleared_descriptions and not after.is_by_person
        return replace(
            after,
            description="" if is_undescribed else after.description,
            aliases=tuple(each for each in after.aliases if each not in plan.removed_aliases),
            same_as=None if after.same_as in deleted_ids else after.same_as,
        )
    return replace(after, sources=tuple(each for each in after.sources if each not in deleted_ids))


async def update_journal_entry(tx: Transaction, entry: JournalEntry) -> None:
    """Rewrite a decision in place."""
    await tx.run(
        """UPDATE change SET after = :after, cause = :cause, v = :v
           WHERE person = :person AND seq = :seq""",
        after=to_json(entry.after),
        cause=json.dumps([[cause.message, cause.version] for cause in entry.causes]),
        v=JOURNAL_VERSION,
        person=entry.person,
        seq=entry.seq,
    )


async def record_reopening(
    tx: Transaction, last: JournalEntry, after: JournalObject, *, author: str, now: Micros
) -> None:
    """Record that a remaining belief is reopened by a deletion."""
    provenance = Provenance(author=author)
    await record_decision(tx, after, op="reopened", base=last.seq, provenance=provenance, now=now)
