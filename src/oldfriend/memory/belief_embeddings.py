"""Belief embeddings: stored vectors of the text that was last decided for each memory.

The vectors are computed elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.memory.evidence import bump_evidence_counter
from oldfriend.search.vector_codec import decode_vectors, encode_vectors

BeliefVectors = dict[MemoryId, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnembeddedBelief:
    """A belief whose text has no vector yet."""

    memory: MemoryId
    text: str
    base: int  # the newest decision about it; a later one may change the text


async def save_belief_vectors(
    tx: Transaction,
    person: PersonId,
    model: str,
    vectors: Mapping[MemoryId, NDArray[np.float32]],
    *,
    bases: Mapping[MemoryId, int] | None = None,
) -> None:
    """Store vectors of memories, made from the text of their newest decision.

    Where another decision was made since ``bases``, the text was a different one, and nothing is
    stored.
    """
    await tx.run_many(
        """INSERT INTO memory_vector (person, model, memory, change_seq, bytes)
           SELECT :person, :model, id, change_seq, :bytes FROM memory
           WHERE id = :memory AND person = :person AND change_seq = coalesce(:base, change_seq)
           ON CONFLICT (person, model, memory) DO UPDATE SET
             change_seq = excluded.change_seq, bytes = excluded.bytes""",
        [
            {
                "person": person,
                "model": model,
                "memory": memory,
                "base": None if bases is None else bases[memory],
                "bytes": stored,
            }
            for memory, stored in zip(vectors, serialize_vectors(vectors), strict=True)
        ],
    )
    await bump_evidence_counter(tx, person)


def serialize_vectors(vectors: Mapping[MemoryId, NDArray[np.float32]]) -> list[bytes]:
    """Encode vectors as they are stored."""
    return encode_vectors(np.stack(list(vectors.values()))) if vectors else []


async def load_belief_vectors(
    tx: Transaction, person: PersonId, model: str, memories: Sequence[MemoryId] | None = None
) -> BeliefVectors:
    """Load the vectors of a person's memories, all or some; those without one are left out."""
    parameters = {f"memory{index}": each for index, each in enumerate(memories or ())}
    condition = (
        ""
        if memories is None
        else f"AND memory IN ({', '.join(f':{name}' for name in parameters)})"
    )
    if memories is not None and not memories:
        return {}
    rows = await tx.rows(
        f"""SELECT memory, bytes FROM memory_vector
           WHERE person = :person AND model = :model {condition}""",
        person=person,
        model=model,
        **parameters,
    )
    if not rows:
        return {}
    vectors = decode_vectors([row[1] for row in rows])
    return {row[0]: vector for row, vector in zip(rows, vectors, strict=True)}


async def list_unembedded_beliefs(
    tx: Transaction, person: PersonId, model: str, *, limit: int
) -> list[UnembeddedBelief]:
    """List live beliefs without a current vector of a model."""
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
    return [UnembeddedBelief(memory=row[0], text=row[1], base=row[2]) for row in rows]
