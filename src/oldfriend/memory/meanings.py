"""What do beliefs mean? Their vectors, made elsewhere, of the text that was decided last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.memory.evidence import note_weighed
from oldfriend.memory.search.vectors import vectors_from

Meanings = dict[MemoryId, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaningless:
    """A belief whose words were not embedded yet."""

    memory: MemoryId
    text: str
    base: int  # the newest decision about it; another may bring other words


async def save_meanings(
    tx: Transaction, person: PersonId, model: str, vectors: Mapping[MemoryId, NDArray[np.float32]],
    *, bases: Mapping[MemoryId, int] | None = None,
) -> None:  # fmt: skip
    """Keep what beliefs mean to a model, in the words of their newest decision.

    Where another decision was made since ``bases`` the words were others, and nothing is kept.
    """
    await tx.run_many(
        """INSERT INTO memory_vector (person, model, memory, change_seq, bytes)
           SELECT :person, :model, id, change_seq, :bytes FROM memory
           WHERE id = :memory AND person = :person AND change_seq = coalesce(:base, change_seq)
           ON CONFLICT (person, model, memory) DO UPDATE SET
             change_seq = excluded.change_seq, bytes = excluded.bytes""",
        [
            {
                "person": person, "model": model, "memory": memory,
                "base": None if bases is None else bases[memory],
                "bytes": np.asarray(vector, dtype="<f2").tobytes(),
            }
            for memory, vector in vectors.items()
        ],
    )  # fmt: skip
    await note_weighed(tx, person)


async def load_meanings(
    tx: Transaction, person: PersonId, model: str, memories: Sequence[MemoryId] | None = None
) -> Meanings:
    """What a person's beliefs mean to a model, all or some, as far as that is known."""
    names = {f"memory{place}": each for place, each in enumerate(memories or ())}
    some = "" if memories is None else f"AND memory IN ({', '.join(f':{name}' for name in names)})"
    if memories is not None and not memories:
        return {}
    rows = await tx.rows(
        f"""SELECT memory, bytes FROM memory_vector
           WHERE person = :person AND model = :model {some}""",
        person=person,
        model=model,
        **names,
    )
    if not rows:
        return {}
    vectors = vectors_from([row[1] for row in rows])
    return {row[0]: vector for row, vector in zip(rows, vectors, strict=True)}


async def list_meaningless(
    tx: Transaction, person: PersonId, model: str, *, limit: int
) -> list[Meaningless]:
    """Live beliefs whose words a model has not seen yet."""
    rows = await tx.rows(
        """SELECT m.id, m.text, m.change_seq FROM memory m LEFT JOIN memory_vector v
             ON v.person = m.person AND v.model = :model AND v.memory = m.id
             AND v.change_seq = m.change_seq
           WHERE m.person = :person AND m.ended_at IS NULL AND m.kind <> 'note'
           AND v.memory IS NULL
           ORDER BY m.learned_at, m.id LIMIT :limit""",
        person=person,
        model=model,
        limit=limit,
    )
    return [Meaningless(memory=row[0], text=row[1], base=row[2]) for row in rows]
