"""Deletion plan: everything that follows from deleting a selection; nothing is written.

A belief that loses its last evidence is deleted or, on request, kept as an orphan. A belief with
other evidence stays, unless its own words come from what is deleted: then it is deleted, too, and
relearned from the rest. Summaries of the segments are deleted and written again. Replies of the
companion lose their text where it repeats deleted content; what rested on those words is treated
like what rested on any others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Entity, JournalEntry, StoredBelief, Summary
from oldfriend.memory.deletion.memory_snapshot import (
    MemorySnapshot,
    MessageVersion,
    join_entry_text,
    load_snapshot,
)
from oldfriend.memory.deletion.orphan_analysis import (
    LatestEntries,
    SupportState,
    collect_source_ids,
    compute_support,
    get_latest_entries,
    is_rejected,
    is_written_by_person,
    list_reactivated_summaries,
    list_source_versions,
    select_affected_segments,
    select_cleared_descriptions,
    select_derived_beliefs,
    select_lost_beliefs,
    select_reopened,
    select_sibling_beliefs,
    select_summaries,
)
from oldfriend.memory.deletion.own_records import OwnRecord
from oldfriend.memory.deletion.repetitions import (
    LeakSignature,
    add_record_words,
    build_leak_signature,
    list_referring_replies,
    list_repeating_replies,
)
from oldfriend.memory.deletion.selection import (
    DeletionSelection,
    has_any_name,
    list_beliefs_without_evidence,
    select_matching_leftovers,
)
from oldfriend.memory.deletion.tombstones import format_quote_keys, has_any_run, hash_text_shingles


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPlan:
    """What is deleted, and what becomes of the rest."""

    person: PersonId
    selection: DeletionSelection
    messages: tuple[MessageVersion, ...]  # versions to delete
    records: tuple[OwnRecord, ...]  # numbers, reminders, goals and the like to delete
    deleted_ids: frozenset[str]  # of messages, beliefs and records; nothing may refer to them
    deleted: LatestEntries  # beliefs to delete
    relearned: frozenset[ObjectId]  # of those: relearned from other evidence
    orphans: LatestEntries  # beliefs that stay although they have lost all support
    surviving: LatestEntries  # beliefs that stay because of other evidence or by hand …
    remaining_evidence: Mapping[ObjectId, int]  # … and how much evidence they have left
    reopened: LatestEntries  # superseded by what is deleted, with the decision before that
    reactivated_summaries: tuple[Summary, ...]  # summaries that were folded into deleted ones
    stale_entries: frozenset[int]  # earlier decisions that contain deleted words, by seq
    reread_messages: frozenset[str]  # messages whose segments are consolidated again
    redacted_replies: tuple[MessageVersion, ...]  # of the companion, that lose only their text
    affected_replies: int  # replies that rested on deleted content or were about it
    near_duplicates: tuple[MessageVersion, ...]  # messages that stay and say nearly the same, or …
    source_messages: frozenset[str]  # … those of them from which deleted beliefs were learned
    sibling_beliefs: LatestEntries  # beliefs that stay and were learned from the same messages
    removed_aliases: frozenset[str]  # of remaining entities, only in deleted messages
    shingles: frozenset[int]  # hashes of shingles that occur only in deleted content
    short_texts: frozenset[str]  # words of deleted records that are shorter, and occur only there
    titles: tuple[str, ...]  # of chats and files that contain a deleted name
    namesakes: tuple[str, ...]  # parts of deleted names that may mean somebody else in what stays
    written_lines: tuple[str, ...]  # of the core blocks, which stay, that say what is deleted
    cleared_descriptions: frozenset[ObjectId]  # entities that lose their inferred description
    forgotten_quotes: frozenset[str]  # keys of quotes that supported only beliefs deleted for good

    @property
    def redacted_versions(self) -> tuple[MessageVersion, ...]:
        """The versions whose text is removed, whether they are deleted or only redacted."""
        return (*self.messages, *self.redacted_replies)

    def has_deleted_text(self, text: str | None) -> bool:
        """Whether a text contains a shingle or a whole short text of deleted content, or a name."""
        return bool(text) and (
            has_shingle_or_name(text or "", self.shingles, self.selection.names)
            or has_any_run(text or "", self.short_texts)
        )

    def has_asked_words(self, text: str) -> bool:
        """Whether a text contains the words by which somebody asked to forget."""
        return has_any_name(text, self.selection.words)

    def has_deleted_name(self, text: str) -> bool:
        """Whether a text contains a deleted name."""
        return has_any_name(text, self.selection.names)


def has_shingle_or_name(text: str, shingles: frozenset[int], names: Collection[str]) -> bool:
    """Whether a text contains one of some shingles, or one of some names."""
    return has_any_name(text, names) or not shingles.isdisjoint(hash_text_shingles(text))


async def plan_deletion(
    tx: Transaction, person: PersonId, selection: DeletionSelection, *, orphan: bool = False
) -> DeletionPlan:
    """Plan what deleting a selection would remove."""
    return build_deletion_plan(await load_snapshot(tx, person), selection, orphan=orphan)


def build_deletion_plan(
    snapshot: MemorySnapshot, selection: DeletionSelection, *, orphan: bool
) -> DeletionPlan:
    """Plan the deletion of a selection from a snapshot.

    Redacting a reply may cause further replies to be redacted, so the plan is repeated until none
    is added.
    """
    plan = build_plan_with_redactions(snapshot, selection, (), orphan=orphan)
    redacted: tuple[MessageVersion, ...] = ()
    while not {each.seq for each in plan.redacted_replies} <= {each.seq for each in redacted}:
        redacted = plan.redacted_replies
        plan = build_plan_with_redactions(snapshot, selection, redacted, orphan=orphan)
    return plan


def build_plan_with_redactions(
    snapshot: MemorySnapshot,
    selection: DeletionSelection,
    redacted: Sequence[MessageVersion],
    *,
    orphan: bool,
) -> DeletionPlan:
    """Plan the deletion with some replies redacted, and find those to redact because of that."""
    messages, kept = partition_messages(snapshot.messages, selection.seqs)
    textless, remaining = partition_messages(
        snapshot.messages, selection.seqs.union(e.seq for e in redacted)
    )
    version_keys = {each.version_key for each in textless}
    latest = get_latest_entries(snapshot)
    support = compute_support(snapshot, version_keys)
    lost, orphans = split_orphans(
        select_lost_beliefs(latest, support, selection.objects), orphan=orphan
    )
    selected = {each: latest[each] for each in selection.objects} | dict(lost)
    segments = select_affected_segments(snapshot, textless)
    deleted = selected | select_summaries(latest, segments, selected)
    leftovers = select_other_leftovers(snapshot, deleted)
    surviving_texts = list_surviving_texts(
        snapshot, latest, {**deleted, **leftovers}, support, orphan=orphan
    )
    surviving_texts += list_written_texts(snapshot, selection)
    named = select_named_records(snapshot, selection, messages)
    other_words = [text for each in snapshot.records if each not in named for text in each.telling]
    signature = add_belief_shingles(
        build_leak_signature(
            textless, remaining, surviving_texts=surviving_texts, record_texts=other_words
        ),
        selected,
        kept,
        surviving_texts,
    )
    other_words += [*surviving_texts, *snapshot.titles]
    signature = add_record_words(signature, named, kept, other_words)
    records = select_matching_records(snapshot, selection, named, signature)
    relearned = select_tainted_beliefs(
        latest, deleted, frozenset() if orphan else signature.shingles, selection.names
    )
    relearned |= {} if orphan else select_derived_beliefs(latest, {*deleted, *relearned})
    deleted |= select_matching_leftovers(leftovers, deleted | relearned)
    relearned = {each: change for each, change in relearned.items() if each not in leftovers}
    all_deleted = deleted | relearned | select_summaries(latest, segments, {*deleted, *relearned})
    sources = add_makers(
        list_source_versions(snapshot, selection.objects, remaining), records, remaining
    )
    gone_ids = {*(each.id for each in messages), *(each.id for each in records)}
    deleted_ids = frozenset(gone_ids - {each.id for each in kept} | all_deleted.keys())
    repeating = (
        *list_repeating_replies(messages, kept, snapshot.replies, signature, deleted_ids),
        *list_referring_replies(snapshot, kept, records, textless, signature),
    )
    return DeletionPlan(
        person=snapshot.person,
        selection=selection,
        messages=messages,
        records=records,
        deleted_ids=deleted_ids,
        deleted=all_deleted,
        relearned=frozenset(relearned),
        orphans=orphans,
        surviving=(
            surviving := select_surviving_beliefs(support, latest, all_deleted, {**lost, **orphans})
        ),
        remaining_evidence={each: support[each].remaining for each in surviving},
        reopened=select_reopened(snapshot, latest, version_keys, all_deleted),
        reactivated_summaries=tuple(list_reactivated_summaries(latest, all_deleted)),
        stale_entries=frozenset(
            list_stale_entries(snapshot, latest, all_deleted, signature.shingles, selection.names)
        ),
        reread_messages=collect_source_ids(snapshot, relearned) - deleted_ids,
        redacted_replies=tuple(dict.fromkeys(repeating)),
        affected_replies=count_affected_replies(snapshot, deleted_ids),
        near_duplicates=tuple(dict.fromkeys((*sources, *signature.near_duplicates))),
        source_messages=frozenset(each.id for each in sources),
        sibling_beliefs=select_sibling_beliefs(snapshot, latest, all_deleted, sources),
        removed_aliases=collect_removed_aliases(latest, all_deleted, messages, kept),
        shingles=signature.shingles,
        short_texts=signature.short_texts,
        namesakes=tuple(list_namesakes(snapshot, latest, all_deleted, selection)),
        titles=tuple(each for each in snapshot.titles if has_any_name(each, selection.names)),
        written_lines=list_written_lines(snapshot, selection, [*textless, *repeating], all_deleted),
        forgotten_quotes=collect_forgotten_quotes(
            snapshot, latest, all_deleted.keys() - relearned.keys()
        ),
        cleared_descriptions=select_cleared_descriptions(snapshot, version_keys, all_deleted),
    )


def select_named_records(
    snapshot: MemorySnapshot, selection: DeletionSelection, messages: Iterable[MessageVersion]
) -> frozenset[OwnRecord]:
    """Select the own records that were named, and those that deleted messages made.

    What was asked for beside the deletion, in the same message, is not meant by it.
    """
    seqs = {each.seq for each in messages} - selection.asking_seqs
    return frozenset(
        each
        for each in snapshot.records
        if (selection.is_everything and each.id not in selection.later_records)
        or each.id in selection.records
        or each.message_seq in seqs
    )


def select_matching_records(
    snapshot: MemorySnapshot,
    selection: DeletionSelection,
    named: Collection[OwnRecord],
    signature: LeakSignature,
) -> tuple[OwnRecord, ...]:
    """Select the own records that were named, or that hold deleted words or names."""
    return tuple(
        each
        for each in snapshot.records
        if each in named or has_shingle_or_name(each.searched, signature.shingles, selection.names)
    )


def add_makers(
    sources: list[MessageVersion],
    records: Iterable[OwnRecord],
    remaining: Iterable[MessageVersion],
) -> list[MessageVersion]:
    """Return the messages that stay although deleted beliefs or records came from them."""
    makers = {each.message for each in records}
    made = [each for each in remaining if each.is_current and each.id in makers]
    return list(dict.fromkeys((*sources, *made)))


def select_other_leftovers(
    snapshot: MemorySnapshot, deleted_ids: Collection[ObjectId]
) -> dict[ObjectId, JournalEntry]:
    """Select the beliefs without evidence that are not deleted anyhow."""
    leftovers = list_beliefs_without_evidence(snapshot)
    return {each: change for each, change in leftovers.items() if each not in deleted_ids}


def split_orphans(lost: LatestEntries, *, orphan: bool) -> tuple[LatestEntries, LatestEntries]:
    """Split beliefs without support into deleted ones and orphans; rejected ones are never
    orphans.
    """
    orphan_ids = {each for each, entry in lost.items() if orphan and not is_rejected(entry)}
    return (
        {each: entry for each, entry in lost.items() if each not in orphan_ids},
        {each: entry for each, entry in lost.items() if each in orphan_ids},
    )


def partition_messages(
    messages: Iterable[MessageVersion], going: frozenset[int]
) -> tuple[tuple[MessageVersion, ...], list[MessageVersion]]:
    """Split messages by seq into those to delete and those that stay."""
    sides: dict[bool, list[MessageVersion]] = {True: [], False: []}
    for each in messages:
        sides[each.seq in going].append(each)
    return tuple(sides[True]), sides[False]


def count_affected_replies(snapshot: MemorySnapshot, deleted_ids: frozenset[str]) -> int:
    """Count the replies that rested on deleted content, or were about it."""
    references = ({each.asked, each.replied, *each.used} for each in snapshot.replies)
    return sum(not deleted_ids.isdisjoint(each) for each in references)


def list_surviving_texts(
    snapshot: MemorySnapshot,
    latest: LatestEntries,
    deleted: LatestEntries,
    support: Mapping[ObjectId, SupportState],
    *,
    orphan: bool,
) -> list[str]:
    """List the texts of beliefs that stay as they are, because they owe nothing to deleted content,
    were written by the person, or are kept as orphans.
    """
    surviving = {
        each
        for each, entry in latest.items()
        if each not in deleted
        and (
            orphan
            or is_written_by_person(entry)
            or each not in support
            or not support[each].is_affected
        )
    }
    return [join_entry_text(entry) for entry in snapshot.journal if entry.object_id in surviving]


def list_written_texts(snapshot: MemorySnapshot, selection: DeletionSelection) -> Sequence[str]:
    """List the texts about the person and the companion that stay."""
    if selection.is_everything:
        return snapshot.personas
    return (*snapshot.blocks, *snapshot.personas)


def list_written_lines(
    snapshot: MemorySnapshot,
    selection: DeletionSelection,
    textless: Iterable[MessageVersion],
    deleted: LatestEntries,
) -> tuple[str, ...]:
    """List the lines that say what is deleted in what the person wrote of both; they stay."""
    if selection.is_everything:
        return ()
    texts = [each.text for each in textless] + [join_entry_text(each) for each in deleted.values()]
    shingles = frozenset(shingle for each in texts for shingle in hash_text_shingles(each))
    lines = "\n".join(snapshot.blocks).splitlines()
    return tuple(each for each in lines if has_shingle_or_name(each, shingles, selection.words))


def add_belief_shingles(
    signature: LeakSignature,
    deleted: LatestEntries,
    kept: Iterable[MessageVersion],
    surviving_texts: Iterable[str],
) -> LeakSignature:
    """Add the shingles that occur only in deleted beliefs."""
    found: set[int] = set()
    for entry in deleted.values():
        found |= hash_text_shingles(join_entry_text(entry))
    if found:
        message_texts = (each.text for each in kept if each.role != "companion")
        for text in (*message_texts, *surviving_texts):
            found.difference_update(hash_text_shingles(text))
    return replace(signature, shingles=signature.shingles | found)


def list_namesakes(
    snapshot: MemorySnapshot,
    latest: LatestEntries,
    deleted: LatestEntries,
    selection: DeletionSelection,
) -> list[str]:
    """List the parts of deleted longer names, such as first names, that occur in what stays."""
    parts = {
        part
        for name in selection.names
        for part in name.split()
        if part[:1].isupper() and part not in selection.names
    }
    surviving_texts = [each.text for each in snapshot.messages if each.seq not in selection.seqs]
    surviving_texts += [
        join_entry_text(entry) for each, entry in latest.items() if each not in deleted
    ]
    return sorted(
        part
        for part in parts
        if any(part in text and has_any_name(text, [part]) for text in surviving_texts)
    )


def collect_forgotten_quotes(
    snapshot: MemorySnapshot, latest: LatestEntries, deleted_ids: Collection[ObjectId]
) -> frozenset[str]:
    """Return the keys of quotes that support deleted memories and no remaining one."""
    keys_by_deleted: dict[bool, set[str]] = {True: set(), False: set()}
    for each in snapshot.evidence:
        entry = latest.get(ObjectId(each.object))
        if each.supports and entry is not None and isinstance(entry.after, StoredBelief):
            kind, key = entry.after.kind, entry.after.key
            quote_keys = format_quote_keys(kind, key, each.quote, said_at=each.said_at)
            keys_by_deleted[entry.object_id in deleted_ids].update(quote_keys)
    return frozenset(keys_by_deleted[True] - keys_by_deleted[False])


def select_tainted_beliefs(
    latest: LatestEntries, deleted: LatestEntries, shingles: frozenset[int], names: Collection[str]
) -> dict[ObjectId, JournalEntry]:
    """Select the beliefs that would stay, but whose own text comes from deleted content."""
    return {
        each: change
        for each, change in latest.items()
        if each not in deleted
        and not is_written_by_person(change)
        and has_shingle_or_name(join_entry_text(change), shingles, names)
    }


def select_surviving_beliefs(
    support: Mapping[ObjectId, SupportState],
    latest: LatestEntries,
    deleted: LatestEntries,
    lost: LatestEntries,
) -> dict[ObjectId, JournalEntry]:
    """Select the affected beliefs that stay because of other evidence or by hand."""
    return {
        each: latest[each]
        for each, rest in support.items()
        if each in latest and rest.is_affected and each not in deleted and each not in lost
    }


def list_stale_entries(
    snapshot: MemorySnapshot,
    latest: LatestEntries,
    deleted: LatestEntries,
    shingles: frozenset[int],
    names: Collection[str],
) -> Iterable[int]:
    """List the seqs of earlier decisions about remaining beliefs that contain deleted words."""
    return (
        change.seq
        for change in snapshot.journal
        if change.object_id not in deleted
        and change.seq != latest[change.object_id].seq
        and has_shingle_or_name(join_entry_text(change), shingles, names)
    )


def collect_removed_aliases(
    latest: LatestEntries,
    deleted: LatestEntries,
    messages: Iterable[MessageVersion],
    kept: Iterable[MessageVersion],
) -> frozenset[str]:
    """Return the aliases of remaining entities that occur only in deleted messages."""
    names = {
        alias
        for each, entry in latest.items()
        if each not in deleted
        and isinstance(entry.after, Entity)
        and not is_written_by_person(entry)
        for alias in entry.after.aliases
    }
    deleted_text = "\n".join(each.text for each in messages).casefold() if names else ""
    names = {name for name in names if name.casefold() in deleted_text}
    kept_text = "\n".join(each.text for each in kept).casefold() if names else ""
    return frozenset(name for name in names if name.casefold() not in kept_text)
