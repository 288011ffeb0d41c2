"""What is new of somebody since one last looked? For whoever has their page open.

Where somebody has looked to is three numbers that every write raises, in any process: nothing has
to be kept for those who look. Knows nothing of pages.
"""

from collections.abc import Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Change, ObjectKind
from oldfriend.domain.messages import Message
from oldfriend.memory.changes import COLUMNS as CHANGE_COLUMNS
from oldfriend.memory.changes import change_from
from oldfriend.memory.log import COLUMNS, TABLES, message_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far somebody has looked: what was said, what was decided, how often something went."""

    said: int = 0
    decided: int = 0
    rewritten: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """A message version that was written, and whether a talk begins with it."""

    message: Message
    opens_session: bool


async def position_of(tx: Transaction, person: PersonId) -> Position:
    """Where there is nothing newer."""
    row = await tx.row(
        "SELECT last_seq, last_change, rewritten FROM person WHERE id = :person", person=person
    )
    assert row is not None
    return Position(said=row[0], decided=row[1], rewritten=row[2])


async def list_appended(
    tx: Transaction, person: PersonId, *, after: int, limit: int
) -> list[Appended]:
    """What was written on all channels after a seq, in order of writing; as it reads now."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS}, NOT EXISTS (SELECT 1 FROM message e WHERE e.person = m.person
             AND e.chat = m.chat AND e.session = m.session AND e.seq < m.seq)
           FROM {TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.replaced_at IS NULL
           ORDER BY m.seq LIMIT :limit""",
        person=person, after=after, limit=limit,
    )  # fmt: skip
    return [Appended(message=message_from(row[:-1]), opens_session=bool(row[-1])) for row in rows]


async def list_decided(
    tx: Transaction, person: PersonId, *, after: int, limit: int
) -> list[Change]:
    """What was decided after a seq, in order."""
    rows = await tx.rows(
        f"""SELECT {CHANGE_COLUMNS} FROM change WHERE person = :person AND seq > :after
           ORDER BY seq LIMIT :limit""",
        person=person, after=after, limit=limit,
    )  # fmt: skip
    return [change_from(row) for row in rows]


async def list_standing(
    tx: Transaction, person: PersonId, *, kinds: Collection[ObjectKind],
    before: int | None, limit: int,
) -> list[Change]:  # fmt: skip
    """The newest decision about each thing of some kinds, the latest first; also where it ended."""
    wanted = {f"kind{place}": kind for place, kind in enumerate(sorted(kinds))}
    rows = await tx.rows(
        f"""SELECT {CHANGE_COLUMNS} FROM change WHERE person = :person AND ended_at IS NULL
           AND (:before IS NULL OR seq < :before)
           AND kind IN ({", ".join(f":{name}" for name in wanted)})
           ORDER BY seq DESC LIMIT :limit""",
        person=person, before=before, limit=limit, **wanted,
    )  # fmt: skip
    return [change_from(row) for row in rows]
