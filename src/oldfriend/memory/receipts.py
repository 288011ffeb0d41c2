"""Receipts: what each reply rested on, kept for whoever asks why it was given.

A small row is kept for good: the sources of the reply and the reasons for them. A trace is kept
beside it for 14 days: everything that was considered, with scores, words and the context budget.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from oldfriend.db.database import Row, Transaction
from oldfriend.db.message_numbers import load_numbers, load_versions
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.codec import (
    PackedItem,
    PackedReason,
    Reference,
    join_details,
    pack_id,
    pack_items,
    pack_sources,
    split_details,
    unpack_items,
    unpack_sources,
)
from oldfriend.domain.ids import (
    MessageId,
    ObjectId,
    PersonId,
    ReceiptId,
    TurnId,
    build_ambiguous_id_error,
    build_id_patterns,
    build_min_id,
)
from oldfriend.domain.json import JsonValue
from oldfriend.search import Reason, ReasonCause

TRACE_TTL: Final = 14 * DAY
UNPROMPTED_KEY: Final = "unprompted"
"""In the details: why something was said that answers nobody, as kind and reason."""
RECORDS_KEY: Final = "records"
SET_KEY: Final = "set"
"""In the details: ids of the own records, such as reminders, that a reply lists or confirms."""
MAX_EXPIRED_PER_WRITE: Final = 10
"""Expired traces deleted with each new receipt, limited so that no write takes long."""
CAUSE_BY_NAME: Final[Mapping[str, ReasonCause]] = {each: each for each in get_args(ReasonCause)}
RECEIPT_COLUMNS: Final = """r.id, r.person, r.turn, r.asked, r.asked_seq, r.replied, r.made_at,
           r.details,
    r.stood_on, t.details, t.terms, t.items"""
"""The columns of a receipt and of its trace, where it still exists."""
RECEIPT_TABLES: Final = (
    "FROM receipt r LEFT JOIN receipt_trace t ON t.receipt = r.id AND t.person = r.person"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItem:
    """A message version or memory that was considered for a reply."""

    kind: Literal["message", "memory"]
    object: str
    version: int
    used: bool  # whether the reply rests on it
    score: float  # 0 once the trace is gone
    reasons: tuple[Reason, ...]
    is_cited: bool | None = None  # whether the reply cites it; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a reply rested on."""

    id: ReceiptId
    person: PersonId
    turn: TurnId
    asked: MessageId
    asked_seq: int  # the seq of the version that was answered
    replied: MessageId
    made_at: Micros
    details: Mapping[str, JsonValue]  # intent, language, rule, answerable, degraded
    items: tuple[ReceiptItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUsage:
    """How often a memory was considered for a reply, and how often it was used."""

    replies: int
    used: int
    last_at: Micros


async def write_receipt(tx: Transaction, receipt: Receipt) -> None:
    """Store a receipt with its trace, in the transaction that stores its reply."""
    items = await to_packed_items(tx, receipt.person, receipt.items)
    details, trace_details = split_details(receipt.details, [item.object for item in receipt.items])
    await tx.run(
        """INSERT INTO receipt (id, person, turn, asked, asked_seq, replied, made_at, details,
             stood_on)
           VALUES (:id, :person, :turn, :asked, :asked_seq, :replied, :made_at, :details,
             :stood_on)""",
        id=receipt.id,
        person=receipt.person,
        turn=receipt.turn,
        asked=receipt.asked,
        asked_seq=receipt.asked_seq,
        replied=receipt.replied,
        made_at=receipt.made_at,
        details=details,
        stood_on=pack_sources(items),
    )
    packed, terms = pack_items(items)
    await tx.run(
        """INSERT INTO receipt_trace (receipt, person, details, terms, items)
           VALUES (:receipt, :person, :details, :terms, :items)""",
        receipt=receipt.id,
        person=receipt.person,
        details=trace_details,
        terms=terms,
        items=packed,
    )
    await tx.run(
        """DELETE FROM receipt_trace WHERE person = :person AND receipt IN
             (SELECT receipt FROM receipt_trace WHERE person = :person AND receipt < :before
              ORDER BY receipt LIMIT :most)""",
        person=receipt.person,
        before=build_min_id(receipt.made_at - TRACE_TTL),
        most=MAX_EXPIRED_PER_WRITE,
    )


async def delete_expired_traces(tx: Transaction, person: PersonId, *, now: Micros) -> int:
    """Delete expired traces and return how many."""
    return await tx.run(
        "DELETE FROM receipt_trace WHERE person = :person AND receipt < :before",
        person=person,
        before=build_min_id(now - TRACE_TTL),
    )


async def find_next_trace_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the oldest trace expires, or None if there is none."""
    row = await tx.row(
        """SELECT r.made_at FROM receipt_trace t JOIN receipt r ON r.id = t.receipt
           WHERE t.person = :person ORDER BY t.receipt LIMIT 1""",
        person=person,
    )
    return None if row is None else int(row[0]) + TRACE_TTL


async def delete_turn_receipt(tx: Transaction, person: PersonId, turn_id: TurnId) -> None:
    """Delete the receipt of a turn that is answered again."""
    rows = await tx.rows(
        "SELECT id FROM receipt WHERE person = :person AND turn = :turn",
        person=person,
        turn=turn_id,
    )
    await delete_receipts(tx, person, [row[0] for row in rows])


async def delete_receipts(tx: Transaction, person: PersonId, receipts: Iterable[str]) -> None:
    """Delete receipts with their traces."""
    values = [{"person": person, "id": each} for each in receipts]
    await tx.run_many("DELETE FROM receipt_trace WHERE person = :person AND receipt = :id", values)
    await tx.run_many("DELETE FROM receipt WHERE person = :person AND id = :id", values)


async def find_receipt(
    tx: Transaction, person: PersonId, reply: str | None = None
) -> Receipt | None:
    """Return the receipt with this reply, turn or receipt id; None gives the last one."""
    row = await tx.row(
        f"""SELECT {RECEIPT_COLUMNS} {RECEIPT_TABLES} WHERE r.person = :person
           AND (:reply IS NULL OR r.replied = :reply OR r.turn = :reply OR r.id = :reply)
           ORDER BY r.made_at DESC, r.asked_seq DESC, r.id DESC LIMIT 1""",
        person=person,
        reply=reply,
    )
    return None if row is None else await parse_receipt_row(tx, row)


async def find_receipt_by_partial_id(
    tx: Transaction, person: PersonId, partial_id: str
) -> Receipt | None:
    """Return the receipt that a partial id of a reply, turn or receipt means, if there is one.

    Raises InvalidInput.
    """
    rows = await tx.rows(
        """SELECT id, asked_seq FROM receipt WHERE person = :person
           AND (replied LIKE :begins OR replied LIKE :ends OR replied LIKE :shown
             OR turn LIKE :begins OR turn LIKE :ends OR turn LIKE :shown
             OR id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY made_at LIMIT 5""",
        person=person,
        **build_id_patterns(partial_id),
    )
    if len(rows) > 1:
        raise build_ambiguous_id_error(
            partial_id, {row[0]: f"the reply to message {row[1]}" for row in rows}
        )
    return await find_receipt(tx, person, rows[0][0]) if rows else None


async def list_receipts(tx: Transaction, person: PersonId, *, limit: int) -> list[Receipt]:
    """List the receipts of a person's last replies, newest first."""
    rows = await tx.rows(
        f"""SELECT {RECEIPT_COLUMNS} {RECEIPT_TABLES} WHERE r.person = :person
           ORDER BY r.made_at DESC, r.asked_seq DESC, r.id DESC LIMIT :limit""",
        person=person,
        limit=limit,
    )
    return [await parse_receipt_row(tx, row) for row in rows]


async def find_memory_usage(
    tx: Transaction, person: PersonId, memory_id: ObjectId
) -> MemoryUsage | None:
    """Return how often a memory was considered, or None if it never was.

    Replies whose trace is gone count only if they used it. The database searches for the bytes of
    the id, so that no receipt is unpacked.
    """
    row = await tx.row(
        f"""SELECT count(*), count(CASE WHEN instr(r.stood_on, :memory) > 0 THEN 1 END),
             max(r.made_at)
           {RECEIPT_TABLES} WHERE r.person = :person
           AND (instr(r.stood_on, :memory) > 0 OR instr(t.items, :memory) > 0)""",
        person=person,
        memory=pack_id(memory_id),
    )
    assert row is not None
    replies, used, last_at = row
    return MemoryUsage(replies=replies, used=used, last_at=last_at) if replies else None


async def count_source_messages(
    tx: Transaction, person: PersonId, replies: Sequence[MessageId], *, author: str
) -> dict[MessageId, int]:
    """Count the messages that each of these replies rests on, for replies by this author."""
    if not replies:
        return {}
    names = {f"reply{index}": reply for index, reply in enumerate(replies)}
    rows = await tx.rows(
        f"""SELECT replied, details, stood_on FROM receipt WHERE person = :person
           AND replied IN ({", ".join(f":{name}" for name in names)})
           AND (details LIKE :likely OR details LIKE :spaced)""",
        person=person,
        likely=f'%"author":"{author}"%',  # most have another author: their details are not read
        spaced=f'%"author": "{author}"%',  # as they were stored before
        **names,
    )
    return {
        MessageId(replied): sum(not item.is_memory for item in unpack_sources(stood_on))
        for replied, details, stood_on in rows
        if json.loads(details).get("author") == author
    }


async def parse_receipt_row(tx: Transaction, row: Row) -> Receipt:
    """Parse a row of RECEIPT_COLUMNS."""
    receipt_id, person, turn, asked, asked_seq, replied, made_at, details, *packed = row
    stood_on, trace_details, terms, items = packed
    considered = unpack_considered_items(stood_on, terms, items)
    versions = await load_versions(tx, person, [item.reference for item in considered])
    receipt_items = tuple(to_receipt_item(item, versions) for item in considered)
    return Receipt(
        id=ReceiptId(receipt_id),
        person=PersonId(person),
        turn=TurnId(turn),
        asked=MessageId(asked),
        asked_seq=asked_seq,
        replied=MessageId(replied),
        made_at=made_at,
        details=join_details(details, trace_details, [item.object for item in receipt_items]),
        items=receipt_items,
    )


def unpack_considered_items(
    stood_on: bytes, terms: str | None, items: bytes | None
) -> list[PackedItem]:
    """Unpack all considered items or, without a trace, those that were used."""
    if items is None or terms is None:
        return unpack_sources(stood_on)
    return unpack_items(items, terms)


async def to_packed_items(
    tx: Transaction, person: PersonId, items: Collection[ReceiptItem]
) -> list[PackedItem]:
    """Convert items to packed items, with numbers for message versions that have one."""
    messages = list({item.object for item in items if item.kind == "message"})
    numbers = await load_numbers(tx, person, messages)
    return [to_packed_item(item, numbers) for item in items]


def to_packed_item(item: ReceiptItem, numbers: Mapping[tuple[str, int], int]) -> PackedItem:
    """Convert one item to a packed item."""
    number = numbers.get((item.object, item.version)) if item.kind == "message" else None
    reference: Reference = item.object if number is None else number
    return PackedItem(
        is_memory=item.kind == "memory",
        reference=reference,
        version=item.version if number is None else 0,
        is_used=item.used,
        score=float(item.score),
        reasons=tuple(
            PackedReason(each.cause, each.words, each.name, each.strength) for each in item.reasons
        ),
        is_cited=item.is_cited,
    )


def to_receipt_item(item: PackedItem, versions: Mapping[int, tuple[str, int]]) -> ReceiptItem:
    """Convert a packed item; a message that is gone gets an empty id."""
    if isinstance(item.reference, int):
        name, version = versions.get(item.reference, ("", 0))
    else:
        name, version = item.reference, item.version
    return ReceiptItem(
        kind="memory" if item.is_memory else "message",
        object=name,
        version=version,
        used=item.is_used,
        score=item.score,
        is_cited=item.is_cited,
        reasons=tuple(
            Reason(
                cause=CAUSE_BY_NAME[reason.cause],
                words=reason.words,
                name=reason.name,
                strength=reason.strength,
            )
            for reason in item.reasons
            if reason.cause in CAUSE_BY_NAME
        ),
    )


def to_reason_dict(reason: Reason) -> dict[str, JsonValue]:
    """Convert a reason to a JSON object, without the deep copy that ``asdict`` makes."""
    return {
        "cause": reason.cause,
        "words": list(reason.words),
        "name": reason.name,
        "strength": reason.strength,
    }


async def count_receipts(tx: Transaction, *, since: Micros) -> int:
    """Count everybody's replies since a moment, to the millisecond."""
    row = await tx.row("SELECT count(*) FROM receipt WHERE id >= :first", first=build_min_id(since))
    assert row is not None
    return int(row[0])
