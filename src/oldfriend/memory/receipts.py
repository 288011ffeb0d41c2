"""Why was a reply given? What each reply stood on, kept for whoever asks."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import (
    MessageId,
    ObjectId,
    PersonId,
    ReceiptId,
    TurnId,
    ambiguous,
    first_id,
    patterns_of,
)
from oldfriend.domain.json import JsonValue
from oldfriend.memory.search import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItem:
    """One message version or memory that was considered for a reply."""

    kind: Literal["message", "memory"]
    object: str
    version: int
    used: bool  # whether the reply quotes it
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a reply stood on."""

    id: ReceiptId
    person: PersonId
    turn: TurnId
    asked: MessageId
    asked_seq: int  # the version of it that was answered
    replied: MessageId
    made_at: Micros
    details: Mapping[str, JsonValue]  # intent, language, rule, answerable, degraded
    items: tuple[ReceiptItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """How often a memory came to mind for a reply, and how often the reply stood on it."""

    replies: int
    used: int
    last_at: Micros


async def write_receipt(tx: Transaction, receipt: Receipt) -> None:
    """Keep a receipt, in the transaction that keeps its reply."""
    await tx.run(
        """INSERT INTO receipt (id, person, turn, asked, asked_seq, replied, made_at, details)
           VALUES (:id, :person, :turn, :asked, :asked_seq, :replied, :made_at, :details)""",
        id=receipt.id, person=receipt.person, turn=receipt.turn, asked=receipt.asked,
        asked_seq=receipt.asked_seq, replied=receipt.replied, made_at=receipt.made_at,
        details=json.dumps(dict(receipt.details), ensure_ascii=False),
    )  # fmt: skip
    await tx.run_many(
        """INSERT INTO receipt_item (receipt, ordinal, person, kind, object, version, used,
             score, why)
           VALUES (:receipt, :ordinal, :person, :kind, :object, :version, :used, :score, :why)""",
        (
            {
                "receipt": receipt.id, "ordinal": ordinal, "person": receipt.person,
                "kind": item.kind, "object": item.object, "version": item.version,
                "used": int(item.used), "score": float(item.score),
                "why": reasons_to_json(item.why),
            }
            for ordinal, item in enumerate(receipt.items)
        ),
    )  # fmt: skip


async def remove_receipt(tx: Transaction, person: PersonId, turn: TurnId) -> None:
    """Let go of what the reply to a turn stood on: it is answered anew."""
    await tx.run(
        """DELETE FROM receipt_item WHERE person = :person AND receipt IN
             (SELECT id FROM receipt WHERE person = :person AND turn = :turn)""",
        person=person,
        turn=turn,
    )
    await tx.run(
        "DELETE FROM receipt WHERE person = :person AND turn = :turn", person=person, turn=turn
    )


async def find_receipt(
    tx: Transaction, person: PersonId, reply: str | None = None
) -> Receipt | None:
    """The receipt of a reply, by the id of the reply, turn or receipt; None: of the last one."""
    row = await tx.row(
        """SELECT id, person, turn, asked, asked_seq, replied, made_at, details
           FROM receipt WHERE person = :person
           AND (:reply IS NULL OR replied = :reply OR turn = :reply OR id = :reply)
           ORDER BY made_at DESC, id DESC LIMIT 1""",
        person=person,
        reply=reply,
    )
    if row is None:
        return None
    items = await tx.rows(
        """SELECT kind, object, version, used, score, why FROM receipt_item
           WHERE person = :person AND receipt = :receipt ORDER BY ordinal""",
        person=person,
        receipt=row[0],
    )
    return receipt_from(row, items)


async def find_receipt_named(tx: Transaction, person: PersonId, part: str) -> Receipt | None:
    """The receipt of the one reply, turn or receipt that a part of an id means, if there is one.

    Raises InvalidInput.
    """
    rows = await tx.rows(
        """SELECT id, asked_seq FROM receipt WHERE person = :person
           AND (replied LIKE :begins OR replied LIKE :ends OR replied LIKE :shown
             OR turn LIKE :begins OR turn LIKE :ends OR turn LIKE :shown
             OR id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY made_at LIMIT 5""",
        person=person,
        **patterns_of(part),
    )
    if len(rows) > 1:
        raise ambiguous(part, {row[0]: f"the reply to message {row[1]}" for row in rows})
    return await find_receipt(tx, person, rows[0][0]) if rows else None


async def list_receipts(tx: Transaction, person: PersonId, *, limit: int) -> list[Receipt]:
    """The receipts of a person's last replies, newest first."""
    rows = await tx.rows(
        """SELECT id FROM receipt WHERE person = :person
           ORDER BY made_at DESC, id DESC LIMIT :limit""",
        person=person,
        limit=limit,
    )
    found = [await find_receipt(tx, person, str(row[0])) for row in rows]
    return [each for each in found if each is not None]


async def find_uses(tx: Transaction, person: PersonId, memory: ObjectId) -> Uses | None:
    """How often a memory came to mind; None: for no reply yet."""
    row = await tx.row(
        """SELECT count(*), sum(i.used), max(r.made_at)
           FROM receipt_item i JOIN receipt r ON r.id = i.receipt
           WHERE i.person = :person AND i.object = :memory AND i.kind = 'memory'""",
        person=person,
        memory=memory,
    )
    if row is None or not row[0]:
        return None
    return Uses(replies=int(row[0]), used=int(row[1]), last_at=int(row[2]))


async def count_quoted(
    tx: Transaction, person: PersonId, replies: Sequence[MessageId], *, author: str
) -> dict[MessageId, int]:
    """How many messages each of these replies stands on, of those that this author has written."""
    if not replies:
        return {}
    names = {f"reply{place}": reply for place, reply in enumerate(replies)}
    rows = await tx.rows(
        f"""SELECT replied, details, (SELECT count(*) FROM receipt_item i
             WHERE i.receipt = receipt.id AND i.kind = 'message' AND i.used = 1)
           FROM receipt WHERE person = :person
           AND replied IN ({", ".join(f":{name}" for name in names)}) AND details LIKE :likely""",
        person=person,
        likely=f'%"author": "{author}"%',  # mostly it is another: most details are not read
        **names,
    )
    return {
        MessageId(replied): int(quoted)
        for replied, details, quoted in rows
        if json.loads(details).get("author") == author
    }


def receipt_from(row: Row, items: list[Row]) -> Receipt:
    """A receipt from its row and its items' rows."""
    receipt_id, person, turn, asked, asked_seq, replied, made_at, details = row
    return Receipt(
        id=ReceiptId(receipt_id), person=PersonId(person), turn=TurnId(turn),
        asked=MessageId(asked), asked_seq=asked_seq, replied=MessageId(replied), made_at=made_at,
        details=json.loads(details),
        items=tuple(
            ReceiptItem(
                kind=kind, object=object_id, version=version, used=bool(used), score=score,
                why=reasons_from_json(why),
            )
            for kind, object_id, version, used, score, why in items
        ),
    )  # fmt: skip


def reasons_to_json(reasons: tuple[Reason, ...]) -> str:
    """Reasons as they are stored."""
    return json.dumps([fields_of(reason) for reason in reasons], ensure_ascii=False)


def fields_of(reason: Reason) -> dict[str, JsonValue]:
    """A reason as JSON takes it; not copied all the way down, as ``asdict`` does."""
    return {
        "cause": reason.cause, "words": list(reason.words), "name": reason.name,
        "strength": reason.strength,
    }  # fmt: skip


def reasons_from_json(text: str) -> tuple[Reason, ...]:
    """Reasons as they were stored."""
    return tuple(
        Reason(
            cause=each["cause"], words=tuple(each["words"]), name=each["name"],
            strength=each["strength"],
        )
        for each in json.loads(text)
    )  # fmt: skip


async def count_receipts(tx: Transaction, *, since: Micros) -> int:
    """How many replies everybody was given since a moment, to the millisecond."""
    row = await tx.row("SELECT count(*) FROM receipt WHERE id >= :first", first=first_id(since))
    assert row is not None
    return int(row[0])
