"""What was decided, and what is believed now? The journal of decisions and its fold.

The only module that writes the views. Folding copies what was decided: it runs no formula,
clock or model, so that folding the journal into empty tables finds the same rows again.
"""

import json
from collections.abc import Iterable

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.errors import NotFound, StaleDecision
from oldfriend.domain.ids import MemoryId, MessageId, PersonId
from oldfriend.domain.memories import CHANGE_VERSION, Cause, Change, ChangeOp, Memory


async def decide(
    tx: Transaction, after: Memory, *, op: ChangeOp, causes: Iterable[Cause], author: str, base: int
) -> Change:
    """Write a decision down and fold it into the views. Raises StaleDecision, NotFound.

    ``base`` is the object's newest change when this was decided, 0 for a new object.
    """
    row = await tx.row(
        "UPDATE person SET last_change = last_change + 1 WHERE id = :person RETURNING last_change",
        person=after.person,
    )
    assert row is not None
    newest = await newest_change_of(tx, after.person, after.id)
    if newest != base:
        raise StaleDecision(f"{after.id} has changed since ({newest} instead of {base}).")
    change = Change(
        person=after.person, seq=int(row[0]), object=after.id, op=op, v=CHANGE_VERSION,
        after=after, causes=tuple(causes), author=author, base=base,
    )  # fmt: skip
    await write_change(tx, change)
    await write_view(tx, change)
    return change


async def newest_change_of(tx: Transaction, person: PersonId, memory: MemoryId) -> int:
    """The seq of an object's newest change; 0 when it has none."""
    row = await tx.row(
        "SELECT max(seq) FROM change WHERE person = :person AND object = :object",
        person=person,
        object=memory,
    )
    return 0 if row is None or row[0] is None else int(row[0])


async def write_change(tx: Transaction, change: Change) -> None:
    """Append one record to the journal."""
    after = change.after
    await tx.run(
        """INSERT INTO change (person, seq, object, kind, op, v, learned_at, ended_at, after,
             cause, author, base)
           VALUES (:person, :seq, :object, :kind, :op, :v, :learned_at, :ended_at, :after,
             :cause, :author, :base)""",
        person=change.person, seq=change.seq, object=change.object, kind=after.kind,
        op=change.op, v=change.v, learned_at=after.learned_at, ended_at=after.ended_at,
        after=json.dumps({"text": after.text, "language": after.language}, ensure_ascii=False),
        cause=json.dumps([[cause.message, cause.version] for cause in change.causes]),
        author=change.author, base=change.base,
    )  # fmt: skip


async def write_view(tx: Transaction, change: Change) -> None:
    """Make the view of one object what the change says. Raises NotFound if it is another's."""
    after = change.after
    touched = await tx.run(
        """INSERT INTO memory (id, person, kind, text, language, learned_at, ended_at, change_seq)
           VALUES (:id, :person, :kind, :text, :language, :learned_at, :ended_at, :seq)
           ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, text = excluded.text,
             language = excluded.language, learned_at = excluded.learned_at,
             ended_at = excluded.ended_at, change_seq = excluded.change_seq
           WHERE memory.person = excluded.person""",
        id=after.id, person=after.person, kind=after.kind, text=after.text,
        language=after.language, learned_at=after.learned_at, ended_at=after.ended_at,
        seq=change.seq,
    )  # fmt: skip
    if touched == 0:
        raise NotFound(f"There is no memory {after.id}.")


async def list_changes(tx: Transaction, person: PersonId) -> list[Change]:
    """The whole journal of a person, in order."""
    rows = await tx.rows(
        """SELECT person, seq, object, kind, op, v, learned_at, ended_at, after, cause, author,
             base FROM change WHERE person = :person ORDER BY seq""",
        person=person,
    )
    return [change_from(row) for row in rows]


async def check_fold(tx: Transaction, person: PersonId) -> list[MemoryId]:
    """The memories whose stored row is not what folding the journal gives; empty when sound."""
    folded = {change.object: change.after for change in await list_changes(tx, person)}
    stored = {memory.id: memory for memory in await list_view(tx, person)}
    return sorted(
        object_id
        for object_id in folded.keys() | stored.keys()
        if folded.get(object_id) != stored.get(object_id)
    )


async def list_view(tx: Transaction, person: PersonId) -> list[Memory]:
    """All memories of a person as they stand in the view, ended ones too, oldest first."""
    rows = await tx.rows(
        """SELECT id, person, kind, text, language, learned_at, ended_at FROM memory
           WHERE person = :person ORDER BY learned_at, id""",
        person=person,
    )
    return [memory_from(row) for row in rows]


async def get_memory(tx: Transaction, person: PersonId, memory: MemoryId) -> Memory:
    """One memory as it stands in the view. Raises NotFound."""
    row = await tx.row(
        """SELECT id, person, kind, text, language, learned_at, ended_at FROM memory
           WHERE id = :id AND person = :person""",
        id=memory,
        person=person,
    )
    if row is None:
        raise NotFound(f"There is no memory {memory}.")
    return memory_from(row)


def memory_from(row: Row) -> Memory:
    """A memory from (id, person, kind, text, language, learned_at, ended_at)."""
    memory_id, person, kind, text, language, learned_at, ended_at = row
    return Memory(
        id=MemoryId(memory_id), person=PersonId(person), kind=kind, text=text,
        language=language, learned_at=learned_at, ended_at=ended_at,
    )  # fmt: skip


def change_from(row: Row) -> Change:
    """A change from its columns, in the order in which list_changes reads them."""
    person, seq, object_id, kind, op, v, learned_at, ended_at, after, cause, author, base = row
    decided = json.loads(after)
    memory = memory_from(
        (object_id, person, kind, decided["text"], decided["language"], learned_at, ended_at)
    )
    return Change(
        person=PersonId(person), seq=seq, object=MemoryId(object_id), op=op, v=v, after=memory,
        causes=tuple(Cause(message=MessageId(m), version=n) for m, n in json.loads(cause)),
        author=author, base=base,
    )  # fmt: skip
