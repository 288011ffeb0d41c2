"""Which messages have a vector, and what is it? Bytes only; the embedding is done elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.search import vectors_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A message version that search could find by its meaning, had it a vector."""

    seq: int
    speaker: str
    text: str


async def save_vectors(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int], vectors: NDArray[np.float32]
) -> None:
    """Keep one vector for each message version, as float16; one that is there already stays."""
    halves = vectors.astype("<f2")
    await tx.run_many(
        """INSERT INTO message_vector (person, model, seq, bytes)
           SELECT :person, :model, :seq, :bytes
           WHERE EXISTS (SELECT 1 FROM message WHERE person = :person AND seq = :seq)
           ON CONFLICT (person, model, seq) DO NOTHING""",
        (
            {"person": person, "model": model, "seq": int(seq), "bytes": half.tobytes()}
            for seq, half in zip(seqs, halves, strict=True)
        ),
    )
    await tx.run(
        "UPDATE person SET embedded = embedded + :count WHERE id = :person",
        count=len(seqs),
        person=person,
    )


async def list_unembedded(
    tx: Transaction, person: PersonId, model: str, *, after: int = 0, limit: int = 1000
) -> list[Unembedded]:
    """The next findable messages without a vector of this model, in the order of writing."""
    rows = await tx.rows(
        """SELECT m.seq, m.speaker, m.text FROM message m
           WHERE m.person = :person AND m.seq > :after AND m.replaced_at IS NULL
           AND length(m.imprint) > 0 AND NOT EXISTS (SELECT 1 FROM message_vector v
             WHERE v.person = m.person AND v.model = :model AND v.seq = m.seq)
           ORDER BY m.seq LIMIT :limit""",
        person=person, model=model, after=after, limit=limit,
    )  # fmt: skip
    return [Unembedded(seq=seq, speaker=speaker, text=text) for seq, speaker, text in rows]


async def count_findable(tx: Transaction, person: PersonId, model: str) -> tuple[int, int]:
    """How many messages can be found, and how many of them by meaning too."""
    row = await tx.row(
        """SELECT count(*), count(v.seq) FROM message m LEFT JOIN message_vector v
             ON v.person = m.person AND v.model = :model AND v.seq = m.seq
           WHERE m.person = :person AND m.replaced_at IS NULL AND length(m.imprint) > 0""",
        person=person,
        model=model,
    )
    assert row is not None
    return int(row[0]), int(row[1])


async def vectors_of(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> NDArray[np.float32]:
    """The vectors of a few message versions, as asked; a row of zeros where one is missing."""
    stored: list[bytes | None] = []
    for seq in seqs:
        row = await tx.row(
            """SELECT bytes FROM message_vector
               WHERE person = :person AND model = :model AND seq = :seq""",
            person=person,
            model=model,
            seq=int(seq),
        )
        stored.append(None if row is None else row[0])
    return vectors_from(stored)
