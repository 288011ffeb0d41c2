"""Vectors: stored embeddings of messages and beliefs, and the progress of embedding.

The vectors are computed elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, PersonId, TurnId
from oldfriend.memory.evidence import bump_evidence_counter
from oldfriend.search import QueryEmbedding, decode_vectors, encode_vectors
from oldfriend.search.types import multiply

BeliefVectors = dict[MemoryId, NDArray[np.float32]]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnembeddedBelief:
    """A belief whose text has no vector yet."""

    memory: MemoryId
    text: str
    language: str
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
    tx: Transaction, person: PersonId, model: str, memory_ids: Sequence[MemoryId] | None = None
) -> BeliefVectors:
    """Load the vectors of a person's memories, all or some; those without one are left out."""
    parameters = {f"memory{index}": each for index, each in enumerate(memory_ids or ())}
    condition = (
        ""
        if memory_ids is None
        else f"AND memory IN ({', '.join(f':{name}' for name in parameters)})"
    )
    if memory_ids is not None and not memory_ids:
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
        """SELECT m.id, m.text, m.language, m.change_seq FROM memory m LEFT JOIN memory_vector v
             ON v.person = m.person AND v.model = :model AND v.memory = m.id
             AND v.change_seq = m.change_seq
           WHERE m.person = :person AND m.ended_at IS NULL AND m.kind <> 'note'
           AND v.memory IS NULL
           ORDER BY m.learned_at, m.id LIMIT :limit""",
        person=person,
        model=model,
        limit=limit,
    )
    return [
        UnembeddedBelief(memory=id_, text=text, language=language, base=base)
        for id_, text, language, base in rows
    ]


VECTORS_PER_QUERY: Final = 256
"""A fixed number, because each other number would be another prepared statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnembeddedMessage:
    """A searchable message version without a vector."""

    seq: int
    turn: TurnId | None  # that answers it
    speaker: str
    text: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModelChoice:
    """An embedding model, and when a program that uses it was started."""

    model: str
    chosen_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingProgress:
    """How far a person's messages and beliefs are known to have vectors of a model.

    Valid as long as nothing of the person is removed or rebuilt (``rewritten``).
    """

    seq: int  # no message version up to this one lacks a vector
    last_change: int  # no belief lacked one after this decision
    rewritten: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStatus:
    """Embedding progress, and where the log and the journal stand now."""

    done: EmbeddingProgress
    last_seq: int
    last_change: int


async def get_embedding_status(tx: Transaction, person: PersonId, model: str) -> EmbeddingStatus:
    """Return how far embedding has come; progress is zero where it is no longer valid."""
    row = await tx.row(
        """SELECT coalesce(done.seq, 0), coalesce(done.last_change, 0), p.rewritten, p.last_seq,
             p.last_change
           FROM person p LEFT JOIN embedding_progress done
             ON done.person = p.id AND done.model = :model AND done.rewritten = p.rewritten
           WHERE p.id = :person""",
        person=person,
        model=model,
    )
    seq, change, rewritten, last_seq, last_change = row or (0, 0, 0, 0, 0)
    done = EmbeddingProgress(seq=seq, last_change=change, rewritten=rewritten)
    return EmbeddingStatus(done=done, last_seq=last_seq, last_change=last_change)


async def save_embedding_progress(
    tx: Transaction, person: PersonId, model: str, progress: EmbeddingProgress
) -> None:
    """Store progress, as it was read before the embedding was done."""
    await tx.run(
        """INSERT INTO embedding_progress (person, model, seq, last_change, rewritten)
           VALUES (:person, :model, :seq, :last_change, :rewritten)
           ON CONFLICT (person, model) DO UPDATE SET seq = excluded.seq,
             last_change = excluded.last_change, rewritten = excluded.rewritten""",
        person=person,
        model=model,
        seq=progress.seq,
        last_change=progress.last_change,
        rewritten=progress.rewritten,
    )


async def delete_embedding_progress(tx: Transaction, person: PersonId, model: str) -> None:
    """Let everything be checked again for vectors of a model."""
    await tx.run(
        "DELETE FROM embedding_progress WHERE person = :person AND model = :model",
        person=person,
        model=model,
    )


async def save_message_vectors(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int], vectors: NDArray[np.float32]
) -> None:
    """Store one vector for each message version; existing ones stay."""
    await tx.run(  # first, since it locks the person: no message may be deleted meanwhile
        "UPDATE person SET embedded = embedded + :count WHERE id = :person",
        count=len(seqs),
        person=person,
    )
    await tx.run_many(
        """INSERT INTO message_vector (person, model, seq, bytes)
           SELECT :person, :model, :seq, :bytes
           WHERE EXISTS (SELECT 1 FROM message WHERE person = :person AND seq = :seq)
           ON CONFLICT (person, model, seq) DO NOTHING""",
        (
            {"person": person, "model": model, "seq": int(seq), "bytes": stored}
            for seq, stored in zip(seqs, encode_vectors(vectors), strict=True)
        ),
    )


async def list_unembedded_messages(
    tx: Transaction, person: PersonId, model: str, *, after: int = 0, limit: int = 1000
) -> list[UnembeddedMessage]:
    """List the next searchable messages without a vector of this model, in order of writing."""
    rows = await tx.rows(
        """SELECT m.seq, m.turn, m.speaker, m.text, m.language FROM message m
           WHERE m.person = :person AND m.seq > :after AND m.replaced_at IS NULL
           AND length(m.imprint) > 0 AND NOT EXISTS (SELECT 1 FROM message_vector v
             WHERE v.person = m.person AND v.model = :model AND v.seq = m.seq)
           ORDER BY m.seq LIMIT :limit""",
        person=person,
        model=model,
        after=after,
        limit=limit,
    )
    return [
        UnembeddedMessage(seq=seq, turn=turn, speaker=speaker, text=text, language=language)
        for seq, turn, speaker, text, language in rows
    ]


async def count_searchable_messages(
    tx: Transaction, person: PersonId, model: str
) -> tuple[int, int]:
    """Count the searchable messages, and those of them that have a vector."""
    row = await tx.row(
        """SELECT count(*), count(v.seq) FROM message m LEFT JOIN message_vector v
             ON v.person = m.person AND v.model = :model AND v.seq = m.seq
           WHERE m.person = :person AND m.replaced_at IS NULL AND length(m.imprint) > 0""",
        person=person,
        model=model,
    )
    assert row is not None
    return int(row[0]), int(row[1])


async def count_legacy_only_messages(
    tx: Transaction, person: PersonId, model: str, legacy_model: str
) -> int:
    """Count the messages that have a vector of an earlier model but none of the current one."""
    row = await tx.row(
        """SELECT count(*) FROM message m JOIN message_vector old
             ON old.person = m.person AND old.model = :former AND old.seq = m.seq
           WHERE m.person = :person AND m.replaced_at IS NULL AND length(m.imprint) > 0
           AND NOT EXISTS (SELECT 1 FROM message_vector v
             WHERE v.person = m.person AND v.model = :model AND v.seq = m.seq)""",
        person=person,
        model=model,
        former=legacy_model,
    )
    assert row is not None
    return int(row[0])


async def list_vector_models(tx: Transaction, person: PersonId) -> list[str]:
    """List the models of which a person has vectors, with one index lookup for each."""
    rows = await tx.rows(
        """WITH RECURSIVE found(model) AS (
             SELECT min(model) FROM message_vector WHERE person = :person
             UNION ALL
             SELECT (SELECT min(model) FROM message_vector
               WHERE person = :person AND model > found.model)
             FROM found WHERE found.model IS NOT NULL)
           SELECT model FROM found WHERE model IS NOT NULL""",
        person=person,
    )
    return sorted(str(row[0]) for row in rows)


async def find_newest_model_choice(tx: Transaction) -> EmbeddingModelChoice | None:
    """Return the choice of the program started last, or None while all use the same model."""
    row = await tx.row(
        "SELECT model, chosen_at FROM embedder ORDER BY chosen_at DESC, model LIMIT 1"
    )
    return (
        None if row is None else EmbeddingModelChoice(model=str(row[0]), chosen_at=Micros(row[1]))
    )


async def record_model_choice(tx: Transaction, choice: EmbeddingModelChoice) -> None:
    """Store which model replaces the vectors of the others."""
    await tx.run(  # later dates come from a clock that was ahead
        "UPDATE embedder SET chosen_at = :before WHERE chosen_at >= :at",
        before=choice.chosen_at - 1,
        at=choice.chosen_at,
    )
    await tx.run(
        """INSERT INTO embedder (model, chosen_at) VALUES (:model, :at)
           ON CONFLICT (model) DO UPDATE SET chosen_at = excluded.chosen_at""",
        model=choice.model,
        at=choice.chosen_at,
    )


async def delete_legacy_vectors(
    tx: Transaction, person: PersonId, model: str, legacy_model: str, *, after: int, limit: int
) -> int | None:
    """Delete the next vectors of an earlier model; return the seq to continue after, None at the
    end.

    Messages without a vector of the current model keep theirs.
    """
    row = await tx.row(
        """SELECT max(seq) FROM (SELECT seq FROM message_vector WHERE person = :person
             AND model = :former AND seq > :after ORDER BY seq LIMIT :limit) part""",
        person=person,
        former=legacy_model,
        after=after,
        limit=limit,
    )
    if row is None or row[0] is None:
        return None
    await tx.run(
        """DELETE FROM message_vector WHERE person = :person AND model = :former
           AND seq > :after AND seq <= :last AND (
             EXISTS (SELECT 1 FROM message_vector v WHERE v.person = :person
               AND v.model = :model AND v.seq = message_vector.seq)
             OR NOT EXISTS (SELECT 1 FROM message m WHERE m.person = :person
               AND m.seq = message_vector.seq AND m.replaced_at IS NULL
               AND length(m.imprint) > 0))""",
        person=person,
        model=model,
        former=legacy_model,
        after=after,
        last=row[0],
    )
    return int(row[0])


async def load_message_vectors(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> NDArray[np.float32]:
    """Load the vectors of a few message versions in the given order, zeros where one is missing.

    All are of one model, since those of several cannot be compared: an earlier model is used where
    it has more of them.
    """
    stored = await load_stored_vectors(tx, person, model, seqs)
    if None in stored:
        for former in await list_vector_models(tx, person):
            others = await load_stored_vectors(tx, person, former, seqs)
            stored = others if others.count(None) < stored.count(None) else stored
    return decode_vectors(stored)


async def load_stored_vectors(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> list[bytes | None]:
    """Load the encoded vectors of a few message versions, in the given order."""
    if not seqs:
        return []
    names = {f"seq{index}": int(seq) for index, seq in enumerate(seqs)}
    rows = await tx.rows(
        f"""SELECT seq, bytes FROM message_vector WHERE person = :person AND model = :model
           AND seq IN ({", ".join(f":{name}" for name in names)})""",
        person=person,
        model=model,
        **names,
    )
    stored: dict[int, bytes] = dict(rows)
    return [stored.get(seq) for seq in names.values()]


async def compute_exact_cosines(
    tx: Transaction,
    person: PersonId,
    query_embeddings: Mapping[str, QueryEmbedding | None],
    seqs: Sequence[int],
) -> dict[int, float]:
    """Compute the cosines of messages with a query, each by the first model that has its vector."""
    cosines: dict[int, float] = {}
    for model, embedding in query_embeddings.items():
        missing = [seq for seq in seqs if seq not in cosines] if embedding is not None else []
        for first in range(0, len(missing), VECTORS_PER_QUERY):
            chunk = missing[first : first + VECTORS_PER_QUERY]
            padded = [*chunk, *chunk[-1:] * (VECTORS_PER_QUERY - len(chunk))]
            stored = await load_stored_vectors(tx, person, model, padded)
            found = {seq: vector for seq, vector in zip(padded, stored, strict=True) if vector}
            if found and embedding is not None:
                similarities = multiply(decode_vectors(list(found.values())), embedding.vector)
                cosines.update(zip(found, similarities.tolist(), strict=True))
    return cosines
