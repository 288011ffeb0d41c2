"""Which messages have a vector, and what is it? Bytes only; the embedding is done elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.memory.search import Sense, vectors_from

COMPARED_AT_ONCE: Final = 256
"""Always as many: each other number would be another statement to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A message version that search could find by its meaning, had it a vector."""

    seq: int
    turn: TurnId | None  # by which it is answered
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An embedding model, and since when a program runs that has chosen it."""

    model: str
    at: Micros


async def save_vectors(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int], vectors: NDArray[np.float32]
) -> None:
    """Keep one vector for each message version, as float16; one that is there already stays."""
    halves = vectors.astype("<f2")
    await tx.run(  # first, for it locks the person: no message may go while its vector comes
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
            {"person": person, "model": model, "seq": int(seq), "bytes": half.tobytes()}
            for seq, half in zip(seqs, halves, strict=True)
        ),
    )


async def list_unembedded(
    tx: Transaction, person: PersonId, model: str, *, after: int = 0, limit: int = 1000
) -> list[Unembedded]:
    """The next findable messages without a vector of this model, in the order of writing."""
    rows = await tx.rows(
        """SELECT m.seq, m.turn, m.speaker, m.text FROM message m
           WHERE m.person = :person AND m.seq > :after AND m.replaced_at IS NULL
           AND length(m.imprint) > 0 AND NOT EXISTS (SELECT 1 FROM message_vector v
             WHERE v.person = m.person AND v.model = :model AND v.seq = m.seq)
           ORDER BY m.seq LIMIT :limit""",
        person=person, model=model, after=after, limit=limit,
    )  # fmt: skip
    return [
        Unembedded(seq=seq, turn=turn, speaker=speaker, text=text)
        for seq, turn, speaker, text in rows
    ]


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


async def count_standing_in(tx: Transaction, person: PersonId, model: str, former: str) -> int:
    """How many messages are found by a model of before, as they have nothing of the present one."""
    row = await tx.row(
        """SELECT count(*) FROM message m JOIN message_vector old
             ON old.person = m.person AND old.model = :former AND old.seq = m.seq
           WHERE m.person = :person AND m.replaced_at IS NULL AND length(m.imprint) > 0
           AND NOT EXISTS (SELECT 1 FROM message_vector v
             WHERE v.person = m.person AND v.model = :model AND v.seq = m.seq)""",
        person=person,
        model=model,
        former=former,
    )
    assert row is not None
    return int(row[0])


async def models_of(tx: Transaction, person: PersonId) -> list[str]:
    """Of which models a person has vectors; each is found by one look into the key."""
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


async def newest_choice(tx: Transaction) -> Choice | None:
    """Which embedding model the program chose that was started last; None while all have one."""
    row = await tx.row(
        "SELECT model, chosen_at FROM embedder ORDER BY chosen_at DESC, model LIMIT 1"
    )
    return None if row is None else Choice(model=str(row[0]), at=Micros(row[1]))


async def note_choice(tx: Transaction, choice: Choice) -> None:
    """Keep which model embeds anew what others have embedded."""
    await tx.run(
        """INSERT INTO embedder (model, chosen_at) VALUES (:model, :at)
           ON CONFLICT (model) DO UPDATE SET chosen_at = excluded.chosen_at""",
        model=choice.model,
        at=choice.at,
    )


async def delete_former_vectors(
    tx: Transaction, person: PersonId, model: str, former: str, *, after: int, limit: int
) -> int | None:
    """Delete the next vectors of a model of before; the seq to go on after, None at the end.

    Those of messages that have none of the present model stay.
    """
    row = await tx.row(
        """SELECT max(seq) FROM (SELECT seq FROM message_vector WHERE person = :person
             AND model = :former AND seq > :after ORDER BY seq LIMIT :limit) part""",
        person=person, former=former, after=after, limit=limit,
    )  # fmt: skip
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
        person=person, model=model, former=former, after=after, last=row[0],
    )  # fmt: skip
    return int(row[0])


async def vectors_of(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> NDArray[np.float32]:
    """The vectors of a few message versions, as asked; a row of zeros where one is missing.

    All are of one model, for others cannot be compared: another than the present one where that
    has more of them.
    """
    stored = await stored_of(tx, person, model, seqs)
    if None in stored:
        for former in await models_of(tx, person):
            others = await stored_of(tx, person, former, seqs)
            stored = others if others.count(None) < stored.count(None) else stored
    return vectors_from(stored)


async def stored_of(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> list[bytes | None]:
    """The stored vectors of a few message versions, as asked."""
    if not seqs:
        return []
    places = {f"seq{place}": int(seq) for place, seq in enumerate(seqs)}
    rows = await tx.rows(
        f"""SELECT seq, bytes FROM message_vector WHERE person = :person AND model = :model
           AND seq IN ({", ".join(f":{name}" for name in places)})""",
        person=person,
        model=model,
        **places,
    )
    stored: dict[int, bytes] = dict(rows)
    return [stored.get(seq) for seq in places.values()]


async def exact_cosines(
    tx: Transaction, person: PersonId, senses: Mapping[str, Sense | None], seqs: Sequence[int]
) -> dict[int, float]:
    """How close messages are to a question, by the stored vectors of the first model with one."""
    cosines: dict[int, float] = {}
    for model, sense in senses.items():
        left = [seq for seq in seqs if seq not in cosines] if sense is not None else []
        for first in range(0, len(left), COMPARED_AT_ONCE):
            some = left[first : first + COMPARED_AT_ONCE]
            padded = [*some, *some[-1:] * (COMPARED_AT_ONCE - len(some))]
            stored = await stored_of(tx, person, model, padded)
            there = {seq: vector for seq, vector in zip(padded, stored, strict=True) if vector}
            if there and sense is not None:
                close = vectors_from(list(there.values())) @ sense.vector
                cosines.update(zip(there, close.tolist(), strict=True))
    return cosines
