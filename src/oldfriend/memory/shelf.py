"""Whose history stands ready to be searched? Indexes in memory, in step with the database.

Of messages, and of what is believed (``at_hand``).

Bounded in bytes; the person who was asked about least recently goes first, and who alone would
take more is kept narrow. What other processes wrote is noticed by counters on the person's row, so
that an index is never older than the transaction that asks for it.

One person's index is read on by one at a time, and is off the shelf meanwhile: whoever is stopped
in the middle leaves nothing that is half read. Nothing may be awaited between asking for an index
and the end of the search in it, because the next one changes it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.memory.at_hand import AtHand, current
from oldfriend.memory.search import (
    BeliefIndex,
    PersonIndex,
    imprint_of,
    is_current_imprint,
    vectors_from,
)
from oldfriend.memory.vectors import models_of

SHELF_BYTES = 512 * 1024 * 1024
"""About 300,000 messages with their vectors (1.7 kB each), or 1,250,000 narrow ones."""
ROWS_AT_ONCE = 2_000

Vectors: TypeAlias = tuple[list[int], NDArray[np.float32] | None]
"""Which messages have one, and a row for each; None where there are none."""


@dataclass(slots=True)
class Volume:
    """One person's index, and how far it has read."""

    index: PersonIndex
    last_seq: int
    rewritten: int
    embedded: int
    without_vector: set[int]  # of the present model
    without_any: set[int]  # also of the models of before
    nbytes: int = 0  # as of its last use; to ask every index at each call took milliseconds


class Shelf:
    """The indexes that are kept ready."""

    def __init__(self, model: str | None, *, limit_bytes: int = SHELF_BYTES) -> None:
        """Hold indexes with the vectors of one embedding model, or of none."""
        self.model = model
        self._limit_bytes = limit_bytes
        self._volumes: OrderedDict[PersonId, Volume] = OrderedDict()
        self._beliefs: OrderedDict[PersonId, AtHand] = OrderedDict()
        # As long as anybody holds one or waits for it. Whoever does has begun their transaction,
        # so that nobody waits here for a connection.
        self._turns: WeakValueDictionary[PersonId, asyncio.Lock] = WeakValueDictionary()

    async def index_of(self, tx: Transaction, person: PersonId) -> PersonIndex:
        """The person's index as of this transaction."""
        async with self._turns.setdefault(person, asyncio.Lock()):
            return self._put_back(person, await self._current_volume(tx, person))

    async def beliefs_of(self, tx: Transaction, person: PersonId) -> BeliefIndex:
        """What is believed of the person as of this transaction."""
        async with self._turns.setdefault(person, asyncio.Lock()):
            held = await current(tx, person, self.model, self._beliefs.pop(person, None))
            self._beliefs[person] = held
            while self.nbytes > self._limit_bytes and len(self._beliefs) > 1:
                self._beliefs.popitem(last=False)
            return held.index

    def _put_back(self, person: PersonId, volume: Volume) -> PersonIndex:
        volume.nbytes = volume.index.nbytes
        self._volumes[person] = volume
        while self.nbytes > self._limit_bytes and len(self._volumes) > 1:
            least_recent, _ = self._volumes.popitem(last=False)
            self._beliefs.pop(least_recent, None)
        return volume.index

    @property
    def nbytes(self) -> int:
        """How much memory the indexes take."""
        beliefs = sum(held.nbytes for held in self._beliefs.values())
        return beliefs + sum(volume.nbytes for volume in self._volumes.values())

    async def _current_volume(self, tx: Transaction, person: PersonId) -> Volume:
        row = await tx.row(
            "SELECT last_seq, rewritten, embedded FROM person WHERE id = :person", person=person
        )
        last_seq, rewritten, embedded = row or (0, 0, 0)
        volume = self._volumes.pop(person, None)
        if volume is None or volume.rewritten != rewritten or volume.last_seq > last_seq:
            volume = Volume(
                index=PersonIndex.with_room(last_seq), last_seq=0, rewritten=rewritten,
                embedded=embedded, without_vector=set(), without_any=set(),
            )  # fmt: skip
        if volume.last_seq != last_seq:
            await self._read_new(tx, person, volume)
            volume.last_seq = last_seq
        if volume.embedded != embedded:
            await self._read_late_vectors(tx, person, volume)
            volume.embedded = embedded
        return volume

    async def _read_new(self, tx: Transaction, person: PersonId, volume: Volume) -> None:
        replaced = await replaced_seqs(tx, person, after=volume.last_seq)
        if replaced:
            volume.index.remove(replaced)
            volume.without_vector.difference_update(replaced)
            volume.without_any.difference_update(replaced)
        async for rows in findable_parts(tx, person, after=volume.last_seq):
            await self._read_part(tx, person, volume, rows)
            self._keep_within(volume)

    async def _read_part(
        self, tx: Transaction, person: PersonId, volume: Volume, rows: Sequence[Row]
    ) -> None:
        found, vectors = await self._vectors_of(tx, person, [row[0] for row in rows])
        if len(found) == len(rows):
            volume.index.extend(rows, vectors)
        else:
            volume.index.extend(rows)
            await self._read_some_vectors(tx, person, volume, rows, (found, vectors))

    def _keep_within(self, volume: Volume) -> None:
        """Who alone would take more than there is for all is kept in fewer bytes."""
        if volume.index.nbytes > self._limit_bytes:
            volume.index.make_narrow()

    async def _read_some_vectors(
        self, tx: Transaction, person: PersonId, volume: Volume, rows: Sequence[Row], there: Vectors
    ) -> None:
        """Place the vectors of messages that do not all have one of the present model."""
        missing = {int(row[0]) for row in rows}.difference(there[0])
        volume.without_vector |= missing
        volume.without_any |= missing
        self._place(volume, there)
        await self._read_former_vectors(tx, person, volume, missing)

    async def _read_late_vectors(self, tx: Transaction, person: PersonId, volume: Volume) -> None:
        for _, stretch in groupby(sorted(volume.without_vector), lambda seq: seq // ROWS_AT_ONCE):
            some = list(stretch)
            self._place(volume, await self._vectors_of(tx, person, some))
            await self._read_former_vectors(tx, person, volume, some)
            self._keep_within(volume)

    def _place(self, volume: Volume, there: Vectors) -> None:
        seqs, vectors = there
        if vectors is not None:
            volume.index.set_vectors(seqs, vectors)
            volume.without_vector.difference_update(seqs)
            volume.without_any.difference_update(seqs)

    async def _read_former_vectors(
        self, tx: Transaction, person: PersonId, volume: Volume, seqs: Iterable[int]
    ) -> None:
        """Let models of before stand in where the present one has not come yet."""
        lacking = volume.without_any.intersection(seqs)
        if self.model is None or not lacking:
            return
        for model in await models_of(tx, person):
            if model != self.model and lacking:
                found, vectors = await vectors_among(tx, person, model, sorted(lacking))
                if vectors is not None:
                    volume.index.set_former(model, found, vectors)
                    volume.without_any.difference_update(found)
                    lacking.difference_update(found)

    async def _vectors_of(self, tx: Transaction, person: PersonId, seqs: Sequence[int]) -> Vectors:
        """Which of these have a vector of the present model, and their vectors."""
        if self.model is None:
            return list(seqs), None
        return await vectors_among(tx, person, self.model, seqs)


async def findable_parts(
    tx: Transaction, person: PersonId, *, after: int
) -> AsyncIterator[list[Row]]:
    """What the index needs of the findable message versions after a seq, in order, some at once."""
    rows = await findable_rows(tx, person, after=after)
    while rows:
        yield rows
        is_last = len(rows) < ROWS_AT_ONCE
        rows = [] if is_last else await findable_rows(tx, person, after=rows[-1][0])


async def findable_rows(tx: Transaction, person: PersonId, *, after: int) -> list[Row]:
    """What the index needs of the next findable message versions written after a seq, in order.

    What the person only passed on is not their own.
    """
    rows = await tx.rows(
        """SELECT seq, chat, session, said_at, speaker,
             CASE WHEN role = 'person' AND trust <> 'person' THEN 'other' ELSE role END,
             language, imprint
           FROM message WHERE person = :person AND seq > :after AND replaced_at IS NULL
           AND length(imprint) > 0 ORDER BY seq LIMIT :most""",
        person=person,
        after=after,
        most=ROWS_AT_ONCE,
    )
    outdated = [place for place, row in enumerate(rows) if not is_current_imprint(row[7])]
    for place in outdated:
        rows[place] = await with_new_imprint(tx, person, rows[place])
    return rows


async def with_new_imprint(tx: Transaction, person: PersonId, row: Row) -> Row:
    """The row with an imprint made anew, as this version makes it."""
    text = await tx.row(
        "SELECT text FROM message WHERE person = :person AND seq = :seq", person=person, seq=row[0]
    )
    assert text is not None
    return (*row[:7], imprint_of(text[0], language=row[6]))


async def replaced_seqs(tx: Transaction, person: PersonId, *, after: int) -> list[int]:
    """The versions up to a seq that versions written after it have replaced."""
    if not after:
        return []
    rows = await tx.rows(
        """SELECT earlier.seq FROM message later JOIN message earlier
             ON earlier.id = later.id AND earlier.person = later.person
             AND earlier.version < later.version
           WHERE later.person = :person AND later.seq > :after AND later.version > 1
           AND earlier.seq <= :after""",
        person=person,
        after=after,
    )
    return [int(row[0]) for row in rows]


async def vectors_among(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> Vectors:
    """Which of these (ascending) have a vector of this model, and their vectors."""
    if not seqs:
        return [], None
    stored = await stored_vectors(tx, person, model, seqs[0], seqs[-1])
    there = [seq for seq in seqs if seq in stored]
    return there, vectors_from([stored[seq] for seq in there]) if there else None


async def stored_vectors(
    tx: Transaction, person: PersonId, model: str, first: int, last: int
) -> dict[int, bytes]:
    """The vectors of a stretch of the log, by seq."""
    rows = await tx.rows(
        """SELECT seq, bytes FROM message_vector
           WHERE person = :person AND model = :model AND seq BETWEEN :first AND :last""",
        person=person, model=model, first=first, last=last,
    )  # fmt: skip
    return dict(rows)
