"""Erasure: carries out a deletion plan on the memory tables, in the caller's transaction."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.db.message_numbers import load_all_numbers
from oldfriend.db.stored_table import ErasureRule, RowOwner, StoredTable
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.domain.clock import Micros
from oldfriend.domain.codec import (
    PackedItem,
    join_details,
    pack_items,
    pack_sources,
    split_details,
    unpack_items,
    unpack_sources,
)
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, StoredBelief, Summary
from oldfriend.domain.messages import estimate_tokens
from oldfriend.memory.core_blocks import CHECKLIST, list_block_versions
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.journal_redaction import purge_journal
from oldfriend.memory.deletion.memory_snapshot import MessageVersion, VersionKey
from oldfriend.memory.deletion.verification import has_any_id
from oldfriend.memory.evidence import refresh_evidence_stats
from oldfriend.memory.import_batches import remove_empty_chat
from oldfriend.memory.receipts import RECEIPT_COLUMNS, RECEIPT_TABLES, delete_receipts
from oldfriend.memory.segments import remove_empty_segments, reopen_segments
from oldfriend.memory.working_memory import clear_working_memory

ROWS_PER_STATEMENT: Final = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionMarker:
    """The text that replaces a redacted reply."""

    text: str
    language: str


async def erase(
    tx: Transaction, plan: DeletionPlan, marker: RedactionMarker, *, now: Micros
) -> None:
    """Erase everything in a plan from memory. The caller holds the person's lock."""
    await clear_working_memory(tx, plan.person)
    reopened = await reopen_affected_segments(tx, plan)
    await redact_receipts(tx, plan)
    versions = [(each.id, each.version) for each in plan.redacted_versions]
    await delete_following(tx, plan.person, "version", versions)
    await delete_following(tx, plan.person, "belief", [(each,) for each in sorted(plan.deleted)])
    await purge_journal(tx, plan, now=now)
    await detach_asked_records(tx, plan)
    await delete_following(tx, plan.person, "message", [(each.seq,) for each in plan.messages])
    await restore_earlier_versions(tx, plan)
    await redact_replies(tx, plan, marker)
    await redact_references(tx, plan)
    await delete_following(tx, plan.person, "reply", list_gone_replies(plan))
    await refresh_segments(tx, plan.person, reopened)
    await erase_checklist_lines(tx, plan)
    await apply_erasure_rules(tx, plan)
    await erase_persona_versions(tx, plan)
    await refresh_batches(tx, plan)
    await delete_empty_sessions(tx, plan)
    remaining = [ObjectId(each) for each in (*plan.remaining_evidence, *plan.orphans)]
    for batch in split_into_batches(remaining):
        await refresh_evidence_stats(tx, plan.person, batch)
    await tx.run(
        "UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=plan.person
    )


async def reopen_affected_segments(tx: Transaction, plan: DeletionPlan) -> list[SegmentId]:
    """Reopen the segments of deleted messages and of those to relearn from; return which."""
    messages = sorted({each.id for each in plan.redacted_versions} | plan.reread_messages)
    reopened: dict[SegmentId, None] = {}
    for batch in split_into_batches([MessageId(each) for each in messages]):
        segments = await reopen_segments(tx, plan.person, batch, is_edit=False)
        reopened |= dict.fromkeys(segments)
    return list(reopened)


async def delete_following(
    tx: Transaction, person: PersonId, owner: RowOwner, keys: Sequence[tuple[SqlValue, ...]]
) -> None:
    """Delete the rows of every table that go with some messages, versions, beliefs or replies."""
    for table in reversed(STORED_TABLES):
        columns = table.goes_with.get(owner)
        if columns is None:
            continue
        conditions = " AND ".join(f"{column} = :{column}" for column in columns)
        await tx.run_many(
            f"DELETE FROM {table.name} WHERE person = :person AND {conditions}",
            [{"person": person, **dict(zip(columns, key, strict=True))} for key in keys],
        )


async def detach_asked_records(tx: Transaction, plan: DeletionPlan) -> None:
    """Let the records stay that were asked for beside the deletion, without their message."""
    asking = sorted(plan.selection.asking_seqs & {each.seq for each in plan.messages})
    for table in STORED_TABLES:
        if table.goes_with.get("message") == ("message_seq",):
            await tx.run_many(
                f"""UPDATE {table.name} SET message = NULL, message_seq = NULL
                    WHERE person = :person AND message_seq = :seq""",
                [{"person": plan.person, "seq": each} for each in asking],
            )


async def restore_earlier_versions(tx: Transaction, plan: DeletionPlan) -> None:
    """Make the latest version that is left of a message its current one."""
    remaining_ids = {each.id for each in plan.messages} - plan.deleted_ids
    await tx.run_many(
        """UPDATE message SET replaced_at = NULL WHERE person = :person AND id = :id
           AND version = (SELECT max(m.version) FROM message m
             WHERE m.person = :person AND m.id = :id)""",
        [{"person": plan.person, "id": each} for each in sorted(remaining_ids)],
    )


async def erase_checklist_lines(tx: Transaction, plan: DeletionPlan) -> None:
    """Take the lines with deleted words, or with those of the request, from the checklist."""
    versions = await list_block_versions(tx, plan.person, CHECKLIST)
    lines = versions[-1].text.splitlines() if versions else []
    kept = [
        each for each in lines if not (plan.has_deleted_text(each) or plan.has_asked_words(each))
    ]
    if kept != lines:
        await tx.run(
            """UPDATE core_block SET text = :text
               WHERE person = :person AND name = :name AND version = :version""",
            person=plan.person,
            name=CHECKLIST,
            version=versions[-1].version,
            text="\n".join(kept),
        )


async def apply_erasure_rules(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete or rewrite every row in which deleted words, names or ids stand, as its table says."""
    for table in STORED_TABLES:
        for rule in table.erasure_rules:
            await apply_erasure_rule(tx, plan, table, rule)


async def apply_erasure_rule(
    tx: Transaction, plan: DeletionPlan, table: StoredTable, erasure_rule: ErasureRule
) -> None:
    """Delete or rewrite the rows of a table to which a rule applies."""
    cites = () if erasure_rule.cites is None else (erasure_rule.cites,)
    makers = table.goes_with.get("message", ())
    names = tuple(dict.fromkeys((*table.key_columns, *erasure_rule.searched, *cites, *makers)))
    is_filled = " OR ".join(f"{name} IS NOT NULL" for name in erasure_rule.searched)
    found = await tx.rows(
        f"SELECT {', '.join(names)} FROM {table.name} WHERE person = :person AND ({is_filled})",
        person=plan.person,
    )
    rows = [dict(zip(names, row, strict=True)) for row in found]
    newest = find_newest_versions(rows, erasure_rule.newest_of)
    changes = ", ".join(f"{name} = {value}" for name, value in erasure_rule.replace.items())
    key = " AND ".join(f"{name} = :{name}" for name in table.key_columns)
    await tx.run_many(
        f"UPDATE {table.name} SET {changes} WHERE person = :person AND {key}"
        if changes
        else f"DELETE FROM {table.name} WHERE person = :person AND {key}",
        [
            {"person": plan.person, **{name: row[name] for name in table.key_columns}}
            for row in rows
            if (
                erasure_rule.goes_with_everything
                and plan.selection.is_everything
                and not any(row[each] in plan.selection.later_seqs for each in makers)
                and not any(row[each] in plan.selection.later_records for each in names)
            )
            or (
                has_deleted_content(row, erasure_rule, plan)
                and not is_newest(row, erasure_rule.newest_of, newest)
            )
        ],
    )


def has_deleted_content(
    row: Mapping[str, SqlValue], erasure_rule: ErasureRule, plan: DeletionPlan
) -> bool:
    """Whether a row is deleted content, holds its words, names or ids, or cites it."""
    texts = [str(row[name]) for name in erasure_rule.searched if row[name] is not None]
    if row.get("id") in plan.deleted_ids or any(
        has_any_id(each, plan.deleted_ids) for each in texts
    ):
        return True
    if any(map(plan.has_deleted_name if erasure_rule.names_only else plan.has_deleted_text, texts)):
        return True
    if erasure_rule.with_request and any(map(plan.has_asked_words, texts)):
        return True
    return erasure_rule.cites is not None and not plan.deleted_ids.isdisjoint(
        json.loads(str(row[erasure_rule.cites]))
    )


def find_newest_versions(
    rows: Iterable[Mapping[str, SqlValue]], columns: Sequence[str]
) -> dict[tuple[SqlValue, ...], int]:
    """Return the newest version of the rows that share some columns; empty without columns."""
    newest: dict[tuple[SqlValue, ...], int] = {}
    for row in rows if columns else ():
        shared = tuple(row[name] for name in columns)
        newest[shared] = max(newest.get(shared, 0), int(str(row["version"])))
    return newest


def is_newest(
    row: Mapping[str, SqlValue],
    columns: Sequence[str],
    newest: Mapping[tuple[SqlValue, ...], int],
) -> bool:
    """Whether a row is the newest of those that share some columns with it."""
    return bool(columns) and newest[tuple(row[name] for name in columns)] == row["version"]


def list_gone_replies(plan: DeletionPlan) -> list[tuple[str]]:
    """Return the replies that are deleted or redacted here, although they stay on the platforms."""
    replies = sorted(plan.deleted_ids | {each.id for each in plan.redacted_replies})
    return [(each,) for each in replies]


async def erase_persona_versions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete earlier versions of the global persona, which is nobody's, with deleted words."""
    rows = await tx.rows("SELECT companion, version, text FROM soul ORDER BY companion, version")
    newest = {companion: version for companion, version, _ in rows}
    await tx.run_many(
        "DELETE FROM soul WHERE companion = :companion AND version = :version",
        [
            {"companion": companion, "version": version}
            for companion, version, text in rows
            if version < newest[companion] and plan.has_deleted_text(text)
        ],
    )


async def redact_replies(tx: Transaction, plan: DeletionPlan, marker: RedactionMarker) -> None:
    """Replace the text of the redacted replies by a marker."""
    parameters = build_seq_params(plan.person, plan.redacted_replies)
    await tx.run_many(
        "DELETE FROM message_vector WHERE person = :person AND seq = :seq", parameters
    )
    await tx.run_many(
        """UPDATE message SET text = :text, language = :language, tokens = :tokens,
             imprint = :imprint, details = NULL WHERE person = :person AND seq = :seq""",
        [
            {
                **version,
                "text": marker.text,
                "language": marker.language,
                "imprint": b"",
                "tokens": estimate_tokens(marker.text),
            }
            for version in parameters
        ],
    )


async def redact_references(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete the ids of what is deleted from the details of messages that stay.

    A press stays one, but no longer tells below what it was.
    """
    rows = await tx.rows(
        "SELECT seq, details FROM message WHERE person = :person AND details IS NOT NULL",
        person=plan.person,
    )
    await tx.run_many(
        "UPDATE message SET details = :details WHERE person = :person AND seq = :seq",
        [
            {"person": plan.person, "seq": seq, "details": empty_references(details, plan)}
            for seq, details in rows
            if has_any_id(details, plan.deleted_ids)
        ],
    )


def empty_references(details: str, plan: DeletionPlan) -> str:
    """Return a message's details with nothing where a deleted id stood."""
    known: dict[str, str] = json.loads(details)
    kept = {
        name: "" if has_any_id(value, plan.deleted_ids) else value for name, value in known.items()
    }
    return json.dumps(kept, ensure_ascii=False)


async def refresh_segments(
    tx: Transaction, person: PersonId, reopened: Iterable[SegmentId]
) -> None:
    """Count the messages of reopened segments again and clear their outcome; delete empty ones."""
    await remove_empty_segments(tx, person)
    await tx.run_many(
        """UPDATE segment SET outcome = NULL, error = NULL,
             mood_phrase = '', mood_energy = NULL, mood_signal = NULL,
             messages = (SELECT count(*) FROM message m WHERE m.person = :person
               AND m.session = segment.session AND m.version = 1
               AND m.seq BETWEEN segment.first_seq AND segment.last_seq),
             tokens = (SELECT sum(m.tokens) FROM message m WHERE m.person = :person
               AND m.session = segment.session AND m.version = 1
               AND m.seq BETWEEN segment.first_seq AND segment.last_seq)
           WHERE person = :person AND id = :id""",
        [{"person": person, "id": each} for each in reopened],
    )


async def refresh_batches(tx: Transaction, plan: DeletionPlan) -> None:
    """Count again what imports have brought; one with nothing left loses its file name and
    options.
    """
    rows = await tx.rows(
        """SELECT b.id, count(m.id), sum(CASE WHEN m.version = 1 THEN 1 ELSE 0 END)
           FROM import_batch b LEFT JOIN message m ON m.batch = b.id AND m.person = b.person
           WHERE b.person = :person AND NOT EXISTS
             (SELECT 1 FROM task t WHERE t.person = b.person
                AND t.calendar_state LIKE '%' || b.id || '%')
           GROUP BY b.id""",
        person=plan.person,
    )
    for batch, remaining, added in rows:
        await tx.run(
            """UPDATE import_batch SET added = :added
               WHERE person = :person AND id = :id AND added > :added""",
            added=int(added or 0),
            person=plan.person,
            id=batch,
        )
        if not remaining or batch in plan.selection.batches:
            await tx.run(
                """UPDATE import_batch SET status = 'undone', file = '', me = '', sha256 = ''
                   WHERE person = :person AND id = :id""",
                person=plan.person,
                id=batch,
            )


async def delete_empty_sessions(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete closed sessions without messages, and chats without sessions."""
    await tx.run(
        """DELETE FROM session WHERE person = :person AND status = 'closed'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.session = session.id)
           AND NOT EXISTS (SELECT 1 FROM segment g WHERE g.session = session.id)""",
        person=plan.person,
    )
    for chat in sorted({each.chat for each in plan.messages}):
        await remove_empty_chat(tx, plan.person, chat)


def count_deletions(plan: DeletionPlan) -> dict[str, int]:
    """Count what is deleted and redacted, without content."""
    kinds = Counter(type(entry.after) for entry in plan.deleted.values())
    plurals = {StoredBelief: "memories", Entity: "entities", Summary: "summaries"}
    return {
        "messages": len({each.id for each in plan.messages}),
        **{plural: kinds[kind] for kind, plural in plurals.items()},
        "replies": len({each.id for each in plan.redacted_replies}),
        "orphans": len(plan.orphans),
    }


def build_seq_params(
    person: PersonId, messages: Iterable[MessageVersion]
) -> list[dict[str, SqlValue]]:
    """Return the statement parameters for some message versions."""
    return [{"person": person, "seq": each.seq} for each in messages]


def split_into_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield as many values at a time as fit into one statement."""
    for start in range(0, len(values), ROWS_PER_STATEMENT):
        yield values[start : start + ROWS_PER_STATEMENT]


RowValues: TypeAlias = dict[str, SqlValue]


async def redact_receipts(tx: Transaction, plan: DeletionPlan) -> None:
    """Delete receipts of deleted content, and its references in the receipts of other replies."""
    rows = await tx.rows(
        f"SELECT {RECEIPT_COLUMNS} {RECEIPT_TABLES} WHERE r.person = :person", person=plan.person
    )
    deleted_receipts = [
        row[0] for row in rows if row[3] in plan.deleted_ids or row[5] in plan.deleted_ids
    ]
    await delete_receipts(tx, plan.person, deleted_receipts)
    versions = await load_all_numbers(tx, plan.person)
    deleted_versions = {each.version_key for each in plan.redacted_versions}

    def key_of(item: PackedItem) -> VersionKey:
        if isinstance(item.reference, int):
            return versions.get(item.reference, ("", 0))
        return item.reference, item.version

    def goes(item: PackedItem) -> bool:
        name, version = key_of(item)
        return name in plan.deleted_ids or (name, version) in deleted_versions

    remaining = {row[0]: row for row in rows}
    for each in deleted_receipts:
        del remaining[each]
    await tx.run_many(
        """UPDATE receipt SET details = :details, stood_on = :stood_on
           WHERE person = :person AND id = :id""",
        select_changed(iterate_redacted_receipts(remaining.values(), plan, goes)),
    )
    await tx.run_many(
        """UPDATE receipt_trace SET details = :details, terms = :terms, items = :items
           WHERE person = :person AND receipt = :receipt""",
        select_changed(
            iterate_redacted_traces(remaining.values(), plan, goes, lambda item: key_of(item)[0])
        ),
    )


def iterate_redacted_receipts(
    rows: Iterable[Row], plan: DeletionPlan, is_deleted: Callable[[PackedItem], bool]
) -> Iterator[tuple[RowValues, RowValues]]:
    """Yield the values of receipts before and after redaction."""
    for row in rows:
        keys: RowValues = {"person": plan.person, "id": row[0]}
        items = [item for item in unpack_sources(row[8]) if not is_deleted(item)]
        yield (
            {**keys, "details": row[7], "stood_on": row[8]},
            {
                **keys,
                "details": redact_details(row[7], plan),
                "stood_on": pack_sources(items),
            },
        )


def iterate_redacted_traces(
    rows: Iterable[Row],
    plan: DeletionPlan,
    is_deleted: Callable[[PackedItem], bool],
    get_id: Callable[[PackedItem], str],
) -> Iterator[tuple[RowValues, RowValues]]:
    """Yield the values of existing traces before and after redaction."""
    for receipt, *_, details, terms, packed in rows:
        if packed is None:
            continue
        keys: RowValues = {"person": plan.person, "receipt": receipt}
        considered = unpack_items(packed, terms)
        joined = json.dumps(join_details("{}", details, [*map(get_id, considered)]))
        items = [
            item
            for item in considered
            if not is_deleted(item) and not plan.has_deleted_text(join_reason_words(item))
        ]
        _, trace_details = split_details(
            json.loads(redact_details(joined, plan)), [*map(get_id, items)]
        )
        packed_items, redacted_terms = pack_items(items)
        yield (
            {**keys, "details": details, "terms": terms, "items": packed},
            {**keys, "details": trace_details, "terms": redacted_terms, "items": packed_items},
        )


def select_changed(pairs: Iterable[tuple[RowValues, RowValues]]) -> list[RowValues]:
    """Return the values after redaction where they differ from those before."""
    return [after for before, after in pairs if after != before]


def join_reason_words(item: PackedItem) -> str:
    """Return the words in the reasons of an item."""
    return json.dumps([[*reason.words, reason.name] for reason in item.reasons], ensure_ascii=False)


def redact_details(details: str, plan: DeletionPlan) -> str:
    """Return a receipt's details without deleted ids, or empty if they contain deleted words."""
    if plan.has_deleted_text(details):
        return "{}"
    if not has_any_id(details, plan.deleted_ids):
        return details
    return json.dumps(remove_ids(json.loads(details), plan.deleted_ids), ensure_ascii=False)


def remove_ids(value: JsonValue, deleted_ids: Collection[str]) -> JsonValue:
    """Remove these ids from all lists in a JSON value, and what is told under them by name."""
    match value:
        case dict():
            left = {name: each for name, each in value.items() if name not in deleted_ids}
            return {name: remove_ids(each, deleted_ids) for name, each in left.items()}
        case list():
            kept = (each for each in value if not (isinstance(each, str) and each in deleted_ids))
            return [remove_ids(each, deleted_ids) for each in kept]
        case _:
            return value
