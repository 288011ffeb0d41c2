"""Redaction of receipts: removes deleted content from receipts and their traces."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeAlias

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.db.message_numbers import load_all_numbers
from oldfriend.domain.codec import (
    PackedItem,
    join_details,
    pack_items,
    pack_sources,
    split_details,
    unpack_items,
    unpack_sources,
)
from oldfriend.domain.json import JsonValue
from oldfriend.memory.deletion.deletion_plan import DeletionPlan
from oldfriend.memory.deletion.memory_snapshot import VersionKey
from oldfriend.memory.deletion.verification import has_any_id
from oldfriend.memory.receipts import RECEIPT_COLUMNS, RECEIPT_TABLES, delete_receipts

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
    """Remove these ids from all lists in a JSON value."""
    match value:
        case dict():
            return {name: remove_ids(each, deleted_ids) for name, each in value.items()}
        case list():
            kept = (each for each in value if not (isinstance(each, str) and each in deleted_ids))
            return [remove_ids(each, deleted_ids) for each in kept]
        case _:
            return value
