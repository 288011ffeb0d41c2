"""What is believed of a person now, or was on a day? Reads the views; decides nothing."""

from collections.abc import Collection
from typing import Final

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, ambiguous, patterns_of
from oldfriend.domain.memories import Entity, Known, Memory, MemoryKind, Standing, Summary
from oldfriend.domain.sayings import saying
from oldfriend.memory.rows import COLUMNS, from_row

MEMORY: Final = ", ".join(COLUMNS[Memory])
STANDING: Final = "strength, confidence, times_seen, first_seen, last_seen, change_seq"
ENTITY: Final = ", ".join(COLUMNS[Entity])
SUMMARY: Final = ", ".join(COLUMNS[Summary])
MOST_CANDIDATES: Final = 5


async def list_memories(
    tx: Transaction, person: PersonId, *, kinds: Collection[MemoryKind] = (), live: bool = True
) -> list[Known]:
    """What is believed, of some kinds or of all, oldest first; with ``live`` False ended, too.

    What was learned at once comes in an order that does not depend on ids.
    """
    wanted = {f"kind{place}": kind for place, kind in enumerate(sorted(kinds))}
    of_kinds = f"AND kind IN ({', '.join(f':{name}' for name in wanted)})" if wanted else ""
    rows = await tx.rows(
        f"""SELECT {MEMORY}, {STANDING} FROM memory WHERE person = :person {of_kinds}
           AND (:live = 0 OR ended_at IS NULL) ORDER BY learned_at, id""",
        person=person,
        live=int(live),
        **wanted,
    )
    return sorted(
        map(known_from, rows), key=lambda each: (each.memory.learned_at, each.memory.text)
    )


async def list_until(tx: Transaction, person: PersonId) -> list[Known]:
    """What is believed now of which somebody has said until when it will be so, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY}, {STANDING} FROM memory
           WHERE person = :person AND kind = 'fact' AND holds_until IS NOT NULL
           AND ended_at IS NULL ORDER BY learned_at, id""",
        person=person,
    )
    return [known_from(row) for row in rows]


async def list_of_key(
    tx: Transaction, person: PersonId, kind: MemoryKind, key: str
) -> list[Known]:  # fmt: skip
    """What is believed now of one kind and key, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY}, {STANDING} FROM memory
           WHERE person = :person AND kind = :kind AND key = :key AND ended_at IS NULL
           ORDER BY learned_at, id""",
        person=person,
        kind=kind,
        key=key,
    )
    return sorted(
        map(known_from, rows), key=lambda each: (each.memory.learned_at, each.memory.text)
    )


async def list_decided_since(tx: Transaction, person: PersonId, seq: int) -> list[Known]:
    """The memories about which something was decided after a change, as decided last."""
    rows = await tx.rows(
        f"""SELECT {MEMORY}, {STANDING} FROM memory
           WHERE change_seq > :seq AND id IN
             (SELECT object FROM change WHERE person = :person AND seq > :seq)
           ORDER BY change_seq""",
        person=person,
        seq=seq,
    )
    return [known_from(row) for row in rows]


async def list_weighed_since(tx: Transaction, person: PersonId, weighed: int) -> list[ObjectId]:
    """The memories whose evidence has changed since it was counted so."""
    rows = await tx.rows(
        "SELECT id FROM memory WHERE person = :person AND weighed > :weighed",
        person=person,
        weighed=weighed,
    )
    return [ObjectId(row[0]) for row in rows]


async def list_standings_since(
    tx: Transaction, person: PersonId, weighed: int
) -> dict[ObjectId, Standing]:
    """How memories stand whose evidence has changed since it was counted so."""
    rows = await tx.rows(
        """SELECT id, strength, confidence, times_seen, first_seen, last_seen FROM memory
           WHERE person = :person AND weighed > :weighed AND last_seen IS NOT NULL""",
        person=person,
        weighed=weighed,
    )
    return {
        ObjectId(row[0]): Standing(
            strength=row[1], confidence=row[2], times_seen=row[3], first_seen=row[4],
            last_seen=row[5],
        )
        for row in rows
    }  # fmt: skip


async def list_rejected(tx: Transaction, person: PersonId) -> list[Memory]:
    """What the person has said is not so."""
    rows = await tx.rows(
        f"""SELECT {MEMORY} FROM memory
           WHERE person = :person AND status = 'rejected' AND ended_at IS NOT NULL""",
        person=person,
    )
    return [from_row(Memory, row) for row in rows]


async def list_merged(tx: Transaction, person: PersonId) -> list[Memory]:
    """What is believed under something else that says the same."""
    rows = await tx.rows(
        f"""SELECT {MEMORY} FROM memory
           WHERE person = :person AND status = 'merged' AND ended_at IS NOT NULL""",
        person=person,
    )
    return [from_row(Memory, row) for row in rows]


async def list_overtaking(tx: Transaction, person: PersonId, memory: ObjectId) -> list[ObjectId]:
    """The memories that have superseded one."""
    rows = await tx.rows(
        "SELECT id FROM memory WHERE person = :person AND relations LIKE :link ORDER BY learned_at",
        person=person,
        link=f'%["supersedes", "{memory}"]%',
    )
    return [ObjectId(row[0]) for row in rows]


async def list_rejected_names(tx: Transaction, person: PersonId) -> list[str]:
    """The names of which the person has said that they are nobody's."""
    entities = await list_entities(tx, person, live=False)
    return [
        name
        for each in entities
        if each.ended_at is not None and each.is_by_person and each.status != "merged"
        for name in (each.name, *each.aliases)
    ]


async def get_memory(tx: Transaction, person: PersonId, memory: MemoryId) -> Memory:
    """One memory as it was decided last. Raises NotFound."""
    row = await tx.row(
        f"SELECT {MEMORY} FROM memory WHERE id = :id AND person = :person",
        id=memory,
        person=person,
    )
    if row is None:
        raise nothing_with(memory)
    return from_row(Memory, row)


async def get_known(tx: Transaction, person: PersonId, memory: MemoryId) -> Known:
    """One memory, and how it stands. Raises NotFound."""
    row = await tx.row(
        f"SELECT {MEMORY}, {STANDING} FROM memory WHERE id = :id AND person = :person",
        id=memory,
        person=person,
    )
    if row is None:
        raise nothing_with(memory)
    return known_from(row)


async def list_entities(
    tx: Transaction, person: PersonId, *, live: bool = True
) -> list[Entity]:  # fmt: skip
    """Whom and what is known by name, oldest first; merged ones are not live."""
    rows = await tx.rows(
        f"""SELECT {ENTITY} FROM entity WHERE person = :person
           AND (:live = 0 OR ended_at IS NULL) ORDER BY learned_at, id""",
        person=person,
        live=int(live),
    )
    entities = [from_row(Entity, row) for row in rows]
    return sorted(entities, key=lambda each: (each.learned_at, each.name))


async def list_summaries(
    tx: Transaction, person: PersonId, *, active: bool = True
) -> list[Summary]:
    """What was said, in short: the highest level first, each in order of time."""
    rows = await tx.rows(
        f"""SELECT {SUMMARY} FROM summary WHERE person = :person AND ended_at IS NULL
           AND (:active = 0 OR is_active = 1) ORDER BY level DESC, from_at, id""",
        person=person,
        active=int(active),
    )
    return [from_row(Summary, row) for row in rows]


async def find_object(tx: Transaction, person: PersonId, prefix: str) -> tuple[str, str]:
    """The id and kind of what a part of an id means. Raises NotFound, InvalidInput."""
    rows = await tx.rows(
        """SELECT DISTINCT object, kind FROM change WHERE person = :person
           AND (object LIKE :begins OR object LIKE :ends OR object LIKE :shown)
           ORDER BY object LIMIT :most""",
        person=person,
        most=MOST_CANDIDATES,
        **patterns_of(prefix),
    )
    if not rows:
        raise nothing_with(prefix)
    if len(rows) > 1:
        raise ambiguous(prefix, {row[0]: row[1] for row in rows})
    return str(rows[0][0]), str(rows[0][1])


def nothing_with(name: str) -> NotFound:
    """That no memory has such an id, or begins so."""
    return NotFound(saying("memory_gone", f"Nothing that is believed has the id {name!r}."))


def known_from(row: Row) -> Known:
    """A memory with how it stands, from the columns in MEMORY and STANDING."""
    *columns, strength, confidence, times_seen, first_seen, last_seen, base = row
    memory = from_row(Memory, tuple(columns))
    first: Micros = memory.learned_at if first_seen is None else first_seen
    standing = Standing(
        strength=strength, confidence=confidence, times_seen=times_seen, first_seen=first,
        last_seen=first if last_seen is None else last_seen,
    )  # fmt: skip
    return Known(memory=memory, standing=standing, base=base)
