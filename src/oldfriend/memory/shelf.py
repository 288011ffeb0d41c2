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
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeAlias, TypeVar
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


class Heavy(Protocol):
    """Something that says how much memory it takes."""

    nbytes: int


_Heavy = TypeVar("_Heavy", bound=Heavy)


class Board(Generic[_Heavy]):
    """One thing for each of many people, who was asked about last at its end; and what it bears."""

    def __init__(self) -> None:
        """Nothing stands on it."""
        self._things: OrderedDict[PersonId, _Heavy] = OrderedDict()
        self.nbytes = 0  # kept in step: with many people the sum took longer than a search

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[PersonId]:
        return iter(self._things)

    @property
    def least_recent(self) -> PersonId:
        """Who was asked about longest ago."""
        return next(iter(self._things))

    def take(self, person: PersonId) -> _Heavy | None:
        """Take a person's thing down, where there is one; only then may it change."""
        thing = self._things.pop(person, None)
        self.nbytes -= 0 if thing is None else thing.nbytes
        return thing

    def put(self, person: PersonId, thing: _Heavy) -> None:
        """Put a person's thing back."""
        self._things[person] = thing
        self.nbytes += thing.nbytes


class Shelf:
    """The indexes that are kept ready."""

    def __init__(self, model: str | None, *, limit_bytes: int = SHELF_BYTES) -> None:
        """Hold indexes with the vectors of one embedding model, or of none."""
        self.model = model
        self._limit_bytes = limit_bytes
        self._volumes = Board[Volume]()
        self._beliefs = Board[AtHand]()
        # As long as anybody holds one or waits for it. Whoever does has begun their transaction,
        # so that nobody waits here for a connection.
        self._turns: WeakValueDictionary[PersonId, asyncio.Lock] = WeakValueDictionary()

    async def index_of(
        self, tx: Transaction, person: PersonId, *, besides: Collection[int] = ()
    ) -> PersonIndex:
        """The person's index as of this transaction.

        What was written last may be missing where it is not asked for (``besides``): a message that
        is being answered is read when it has its vector, in one go.
        """
        async with self._turns.setdefault(person, asyncio.Lock()):
            return self._put_back(person, await self._current_volume(tx, person, besides))

    async def beliefs_of(self, tx: Transaction, person: PersonId) -> BeliefIndex:
        """What is believed of the person as of this transaction."""
        async with self._turns.setdefault(person, asyncio.Lock()):
            held = await current(tx, person, self.model, self._beliefs.take(person))
            self._beliefs.put(person, held)
            while self.nbytes > self._limit_bytes and len(self._beliefs) > 1:
                self._beliefs.take(self._beliefs.least_recent)
            return held.index

    def _put_back(self, person: PersonId, volume: Volume) -> PersonIndex:
        volume.nbytes = volume.index.nbytes
        self._volumes.put(person, volume)
        while self.nbytes > self._limit_bytes and len(self._volumes) > 1:
            least_recent = self._volumes.least_recent
            self._volumes.take(least_recent)
            self._beliefs.take(least_recent)
        return volume.index

    @property
    def nbytes(self) -> int:
        """How much memory the indexes take."""
        return self._volumes.nbytes + self._beliefs.nbytes

    async def _current_volume(
        self, tx: Transaction, person: PersonId, besides: Collection[int]
    ) -> Volume:
        row = await tx.row(
            "SELECT last_seq, rewritten, embedded FROM person WHERE id = :person", person=person
        )
        last_seq, rewritten, embedded = row or (0, 0, 0)
        volume = self._volumes.take(person)
        if volume is None or volume.rewritten != rewritten or volume.last_seq > last_seq:
            volume = Volume(
                index=PersonIndex.with_room(last_seq), last_seq=0, rewritten=rewritten,
                embedded=embedded, without_vector=set(), without_any=set(),
            )  # fmt: skip
        if volume.embedded != embedded:  # first: what is read anew comes with its vectors
            await self._read_late_vectors(tx, person, volume)
            volume.embedded = embedded
        if volume.last_seq != last_seq:
            unread = await self._read_new(tx, person, volume, besides)
            volume.last_seq = last_seq if unread is None else unread - 1
        return volume

    async def _read_new(
        self, tx: Transaction, person: PersonId, volume: Volume, besides: Collection[int]
    ) -> int | None:
        """Read what was written since; from which message on nothing is asked for."""
        replaced = await replaced_seqs(tx, person, after=volume.last_seq)
        if replaced:
            volume.index.remove(replaced)
            volume.without_vector.difference_update(replaced)
            volume.without_any.difference_update(replaced)
        unread: int | None = None
        async for rows in findable_parts(tx, person, after=volume.last_seq):
            asked_for, unread = without_last(rows, besides)
            if asked_for:
                await self._read_part(tx, person, volume, asked_for)
                self._keep_within(volume)
        return unread

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


def without_last(rows: list[Row], besides: Collection[int]) -> tuple[list[Row], int | None]:
    """A part's rows without the last ones of all that are not asked for, and the first of those."""
    count, is_last = len(rows), len(rows) < ROWS_AT_ONCE
    while is_last and count and rows[count - 1][0] in besides:
        count -= 1
    return rows[:count], None if count == len(rows) else int(rows[count][0])


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
