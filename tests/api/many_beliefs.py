"""Many beliefs at once, as decided over years: written as rows, and folded as any others are."""

import json
from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import SqlValue
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import JOURNAL_VERSION, MemoryKind, StoredBelief
from oldfriend.memory.belief_views import to_json
from oldfriend.memory.journal import rebuild_views

KINDS: Final[tuple[MemoryKind, ...]] = (
    "event",
    "event",
    "event",
    "fact",
    "preference",
    "pattern",
    "commitment",
    "thought",
    "opinion",
    "note",
)
PLACES: Final = ("harbour", "orchard", "library", "workshop", "station")


async def believe_many(
    app: AppContext, person: PersonId, count: int, *, since: Micros, days: int = 1000
) -> list[StoredBelief]:
    """So many beliefs, spread over days; of each hundred one ended on the day after."""
    memories = [made_up(person, number, count, since, days) for number in range(count)]
    rows: list[dict[str, SqlValue]] = []
    for memory in memories:
        rows.append(row_of(memory, "learned", at=memory.learned_at, seq=len(rows) + 1, base=0))
        if is_over(memory):
            rows[-1]["ended_at"] = memory.learned_at + DAY
            ended = replace(memory, status="expired", ended_at=memory.learned_at + DAY)
            rows.append(
                row_of(
                    ended, "expired", at=memory.learned_at + DAY, seq=len(rows) + 1, base=len(rows)
                )
            )
    async with app.db.begin_write() as tx:
        names = ", ".join(rows[0])
        await tx.run_many(
            f"INSERT INTO change ({names}) VALUES ({', '.join(f':{name}' for name in rows[0])})",
            rows,
        )
        await tx.run(
            "UPDATE person SET last_change = :seq WHERE id = :person", seq=len(rows), person=person
        )
        await rebuild_views(tx, person)
    return memories


def is_over(memory: StoredBelief) -> bool:
    """Whether it ends on the day after."""
    number = int(memory.text.rpartition(" ")[2])
    return number > 0 and number % 100 == 0


def made_up(person: PersonId, number: int, count: int, since: Micros, days: int) -> StoredBelief:
    """A belief of some day."""
    at = since + number * days * DAY // count
    kind = KINDS[number % len(KINDS)]
    has_key = kind in {"fact", "preference"}
    return StoredBelief(
        id=MemoryId(ObjectId(new_id(at))),
        person=person,
        kind=kind,
        language="en",
        text=f"At the {PLACES[number % len(PLACES)]} they thought of number {number}",
        key=f"key_{number}" if has_key else "",
        value=f"value {number}" if has_key else "",
        tags=("joy",) if number % 7 == 0 else (),
        is_pinned=number % 50 == 0,
        status="tentative" if number % 9 == 0 else "active",
        happened_at=at if kind == "event" else None,
        due_at=at + 30 * DAY if kind == "commitment" else None,
        learned_at=at,
    )


def row_of(
    memory: StoredBelief, op: str, *, at: Micros, seq: int, base: int
) -> dict[str, SqlValue]:
    """A decision as the journal keeps it."""
    return {
        "person": memory.person,
        "seq": seq,
        "object": memory.id,
        "kind": memory.kind,
        "op": op,
        "v": JOURNAL_VERSION,
        "learned_at": at,
        "after": to_json(memory),
        "cause": json.dumps([]),
        "author": "test/1",
        "base": base,
        "segment": None,
        "ended_at": None,
    }
