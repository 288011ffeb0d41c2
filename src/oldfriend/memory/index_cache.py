"""Index cache: in-memory search indexes of messages and beliefs, in step with the database.

The cache is bounded in bytes: the least recently used person is evicted first, and a person who
alone would exceed the limit gets a quantized index. Writes of other processes are noticed by
counters on the person's row, so an index is never older than the transaction that asks for it.

One person's index is refreshed by one task at a time, and is out of the cache meanwhile, so that a
cancelled task leaves nothing half read. Nothing may be awaited between getting an index and the end
of the search in it, because the next task changes it.

Of beliefs only new decisions, evidence and vectors are read; after a deletion, all are.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.text_cache import clear_text_caches
from oldfriend.memory.belief_views import (
    list_entities,
    list_evidence_stats_since,
    list_memories_changed_since,
)
from oldfriend.memory.vectors import BeliefVectors, list_vector_models, load_belief_vectors
from oldfriend.search import (
    BeliefIndex,
    PersonIndex,
    decode_vectors,
    encode_document_terms,
    is_current_encoding,
)

MAX_IDS_PER_QUERY: Final = 400
"""Up to this many vectors are loaded by id; for more, all are loaded."""


@dataclass(slots=True)
class CachedBeliefs:
    """One person's belief index, and the counters up to which it was read."""

    index: BeliefIndex = field(default_factory=BeliefIndex)
    rewritten: int = 0
    last_change: int = 0
    weighed: int = 0
    nbytes: int = 0  # as of its last use


class MemoryCounters(NamedTuple):
    """Counters on the person's row that show deletions, new decisions and changed evidence."""

    rewritten: int
    last_change: int
    weighed: int


async def load_cached_beliefs(
    tx: Transaction, person: PersonId, model: str | None, cached: CachedBeliefs | None
) -> CachedBeliefs:
    """Return the beliefs as of this transaction, updating the cached ones where possible."""
    rewritten, last_change, weighed = await load_counters(tx, person)
    if cached is None or cached.rewritten != rewritten or cached.last_change > last_change:
        if cached is not None:
            clear_text_caches(person)  # something was deleted, perhaps by another process
        cached = CachedBeliefs(rewritten=rewritten)
    elif (cached.last_change, cached.weighed) == (last_change, weighed):
        return cached
    if cached.last_change != last_change:
        await apply_new_entries(tx, person, cached)
    if cached.weighed != weighed:
        cached.index.update_stats(await list_evidence_stats_since(tx, person, cached.weighed))
    if model is not None:
        lacking = cached.index.list_unembedded()
        cached.index.set_vectors(await load_missing_vectors(tx, person, model, lacking))
    cached.last_change, cached.weighed = last_change, weighed
    cached.nbytes = cached.index.nbytes
    return cached


async def load_counters(tx: Transaction, person: PersonId) -> MemoryCounters:
    """Return the counters of a person, zeros if the person does not exist."""
    row = await tx.row(
        "SELECT rewritten, last_change, weighed FROM person WHERE id = :person", person=person
    )
    return MemoryCounters(0, 0, 0) if row is None else MemoryCounters(*row)


async def apply_new_entries(tx: Transaction, person: PersonId, cached: CachedBeliefs) -> None:
    """Apply the decisions since the last read; ended beliefs are dropped unless superseded."""
    decided = await list_memories_changed_since(tx, person, cached.last_change)
    cached.index.remove([each.memory.id for each in decided])
    cached.index.upsert([each for each in decided if is_searchable(each)], {})
    cached.index.entities = await list_entities(tx, person, live=False)


def is_searchable(known: MemoryState) -> bool:
    """Whether a belief may be recalled.

    A note is found through its message until the person has edited it.
    """
    memory = known.memory
    is_of_kind = memory.kind != "note" or memory.is_by_person
    was_planned = memory.kind == "triple" and memory.status in {"fulfilled", "expired"}
    return is_of_kind and (memory.is_live or memory.status == "superseded" or was_planned)


async def load_missing_vectors(
    tx: Transaction, person: PersonId, model: str, memory_ids: list[MemoryId]
) -> BeliefVectors:
    """Load the vectors of these memories, or of all if these are many."""
    few = memory_ids if len(memory_ids) <= MAX_IDS_PER_QUERY else None
    return await load_belief_vectors(tx, person, model, few)


INDEX_CACHE_BYTES = 512 * 1024 * 1024
"""About 300,000 messages with their vectors (1.7 kB each), or 1,250,000 quantized ones."""
ROWS_PER_READ = 2_000
MAX_SPEAKER_CACHES: Final = 10_000
"""People of whom the names beside their messages stay in memory, some 300 bytes each."""

SeqVectors: TypeAlias = tuple[list[int], NDArray[np.float32] | None]
"""The seqs that have a vector, and one row for each; None where there are none."""


@dataclass(slots=True)
class CachedIndex:
    """One person's message index, and how far it has been read."""

    index: PersonIndex
    last_seq: int
    rewritten: int
    embedded: int
    without_current_vector: set[int]  # of the current model
    without_any_vector: set[int]  # nor one of an earlier model
    nbytes: int = 0  # as of its last use; asking every index at each call took milliseconds


@dataclass(slots=True)
class CachedSpeakers:
    """The names that stand beside one person's own messages, and how far these were read."""

    names: tuple[str, ...]  # in order of their first message
    last_seq: int
    rewritten: int
    nbytes: int = 0


class HasByteSize(Protocol):
    """Something with a size in bytes."""

    nbytes: int


_HasByteSizeT = TypeVar("_HasByteSizeT", bound=HasByteSize)


class LruByPerson(Generic[_HasByteSizeT]):
    """A cache of one entry per person, least recently used first, with its total size in bytes."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._entries: OrderedDict[PersonId, _HasByteSizeT] = OrderedDict()
        self.nbytes = 0  # maintained: with many people summing took longer than a search

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[PersonId]:
        return iter(self._entries)

    @property
    def least_recent(self) -> PersonId:
        """The least recently used person."""
        return next(iter(self._entries))

    def pop(self, person: PersonId) -> _HasByteSizeT | None:
        """Remove and return a person's entry, if there is one; it may change only while removed."""
        entry = self._entries.pop(person, None)
        self.nbytes -= 0 if entry is None else entry.nbytes
        return entry

    def put(self, person: PersonId, entry: _HasByteSizeT) -> None:
        """Store a person's entry as the most recently used one."""
        self._entries[person] = entry
        self.nbytes += entry.nbytes


class IndexCache:
    """In-memory indexes of messages and beliefs for many people."""

    def __init__(self, model: str | None, *, limit_bytes: int = INDEX_CACHE_BYTES) -> None:
        """Create a cache for the vectors of one embedding model, or for none."""
        self.model = model
        self._limit_bytes = limit_bytes
        self._indexes = LruByPerson[CachedIndex]()
        self._belief_caches = LruByPerson[CachedBeliefs]()
        self._speaker_caches = LruByPerson[CachedSpeakers]()
        # A lock exists while a task holds it or waits for it. Such a task has its transaction, so
        # no task waits for a connection while it holds a lock.
        self._locks: WeakValueDictionary[PersonId, asyncio.Lock] = WeakValueDictionary()

    async def get_message_index(
        self, tx: Transaction, person: PersonId, *, exclude: Collection[int] = ()
    ) -> PersonIndex:
        """Return the person's message index as of this transaction.

        The newest messages in ``exclude`` may be missing: a message that is being answered is read
        later together with its vector.
        """
        async with self._locks.setdefault(person, asyncio.Lock()):
            return self._store(person, await self._refresh_index(tx, person, exclude))

    async def get_belief_index(self, tx: Transaction, person: PersonId) -> BeliefIndex:
        """Return the person's belief index as of this transaction."""
        async with self._locks.setdefault(person, asyncio.Lock()):
            beliefs = await load_cached_beliefs(
                tx, person, self.model, self._belief_caches.pop(person)
            )
            self._belief_caches.put(person, beliefs)
            while self.nbytes > self._limit_bytes and len(self._belief_caches) > 1:
                self._belief_caches.pop(self._belief_caches.least_recent)
            return beliefs.index

    async def list_own_speakers(self, tx: Transaction, person: PersonId) -> tuple[str, ...]:
        """Return the names beside the person's own messages, without their message index."""
        async with self._locks.setdefault(person, asyncio.Lock()):
            cached = await load_cached_speakers(tx, person, self._speaker_caches.pop(person))
            self._speaker_caches.put(person, cached)
            while len(self._speaker_caches) > MAX_SPEAKER_CACHES:
                self._speaker_caches.pop(self._speaker_caches.least_recent)
            return cached.names

    def _store(self, person: PersonId, cached: CachedIndex) -> PersonIndex:
        cached.nbytes = cached.index.nbytes
        self._indexes.put(person, cached)
        while self.nbytes > self._limit_bytes and len(self._indexes) > 1:
            least_recent = self._indexes.least_recent
            self._indexes.pop(least_recent)
            self._belief_caches.pop(least_recent)
        return cached.index

    @property
    def nbytes(self) -> int:
        """The memory that the indexes take."""
        return self._indexes.nbytes + self._belief_caches.nbytes

    async def _refresh_index(
        self, tx: Transaction, person: PersonId, exclude: Collection[int]
    ) -> CachedIndex:
        row = await tx.row(
            "SELECT last_seq, rewritten, embedded FROM person WHERE id = :person", person=person
        )
        last_seq, rewritten, embedded = row or (0, 0, 0)
        cached = self._indexes.pop(person)
        if cached is None or cached.rewritten != rewritten or cached.last_seq > last_seq:
            cached = CachedIndex(
                index=PersonIndex.with_capacity(last_seq),
                last_seq=0,
                rewritten=rewritten,
                embedded=embedded,
                without_current_vector=set(),
                without_any_vector=set(),
            )
        if (
            cached.embedded != embedded
        ):  # first: messages that are read below come with their vectors
            await self._read_late_vectors(tx, person, cached)
            cached.embedded = embedded
        if cached.last_seq != last_seq:
            unread = await self._read_new_messages(tx, person, cached, exclude)
            cached.last_seq = last_seq if unread is None else unread - 1
        return cached

    async def _read_new_messages(
        self, tx: Transaction, person: PersonId, cached: CachedIndex, exclude: Collection[int]
    ) -> int | None:
        """Read newly written messages; return the seq of the first excluded one, if any."""
        replaced = await list_replaced_seqs(tx, person, after=cached.last_seq)
        if replaced:
            cached.index.remove(replaced)
            cached.without_current_vector.difference_update(replaced)
            cached.without_any_vector.difference_update(replaced)
        unread: int | None = None
        async for rows in iterate_searchable_batches(tx, person, after=cached.last_seq):
            included, unread = drop_excluded_tail(rows, exclude)
            if included:
                await self._add_rows(tx, person, cached, included)
                self._quantize_if_over_limit(cached)
        return unread

    async def _add_rows(
        self, tx: Transaction, person: PersonId, cached: CachedIndex, rows: Sequence[Row]
    ) -> None:
        found, vectors = await self._load_vectors(tx, person, [row[0] for row in rows])
        if len(found) == len(rows):
            cached.index.extend(rows, vectors)
        else:
            cached.index.extend(rows)
            await self._read_partial_vectors(tx, person, cached, rows, (found, vectors))

    def _quantize_if_over_limit(self, cached: CachedIndex) -> None:
        """Quantize an index that alone exceeds the limit of the whole cache."""
        if cached.index.nbytes > self._limit_bytes:
            cached.index.quantize()

    async def _read_partial_vectors(
        self,
        tx: Transaction,
        person: PersonId,
        cached: CachedIndex,
        rows: Sequence[Row],
        found: SeqVectors,
    ) -> None:
        """Set the vectors of messages of which some lack one of the current model."""
        missing = {int(row[0]) for row in rows}.difference(found[0])
        cached.without_current_vector |= missing
        cached.without_any_vector |= missing
        self._set_vectors(cached, found)
        await self._read_legacy_vectors(tx, person, cached, missing)

    async def _read_late_vectors(
        self, tx: Transaction, person: PersonId, cached: CachedIndex
    ) -> None:
        for _, seq_group in groupby(
            sorted(cached.without_current_vector), lambda seq: seq // ROWS_PER_READ
        ):
            seqs = list(seq_group)
            self._set_vectors(cached, await self._load_vectors(tx, person, seqs))
            await self._read_legacy_vectors(tx, person, cached, seqs)
            self._quantize_if_over_limit(cached)

    def _set_vectors(self, cached: CachedIndex, found: SeqVectors) -> None:
        seqs, vectors = found
        if vectors is not None:
            cached.index.set_vectors(seqs, vectors)
            cached.without_current_vector.difference_update(seqs)
            cached.without_any_vector.difference_update(seqs)

    async def _read_legacy_vectors(
        self, tx: Transaction, person: PersonId, cached: CachedIndex, seqs: Iterable[int]
    ) -> None:
        """Use vectors of earlier models where the current one has none yet."""
        lacking = cached.without_any_vector.intersection(seqs)
        if self.model is None or not lacking:
            return
        for model in await list_vector_models(tx, person):
            if model != self.model and lacking:
                found, vectors = await load_vectors_by_seq(tx, person, model, sorted(lacking))
                if vectors is not None:
                    cached.index.set_legacy_vectors(model, found, vectors)
                    cached.without_any_vector.difference_update(found)
                    lacking.difference_update(found)

    async def _load_vectors(
        self, tx: Transaction, person: PersonId, seqs: Sequence[int]
    ) -> SeqVectors:
        """Return which of these have a vector of the current model, and their vectors."""
        if self.model is None:
            return list(seqs), None
        return await load_vectors_by_seq(tx, person, self.model, seqs)


class MessageIndexCache(IndexCache):
    """The message indexes of another cache, with no beliefs: for where these cannot be read."""

    def __init__(self, cache: IndexCache) -> None:
        """Share the message indexes of a cache."""
        super().__init__(cache.model)
        self._cache = cache

    @override
    async def get_message_index(
        self, tx: Transaction, person: PersonId, *, exclude: Collection[int] = ()
    ) -> PersonIndex:
        """Return the person's message index as of this transaction."""
        return await self._cache.get_message_index(tx, person, exclude=exclude)

    @override
    async def list_own_speakers(self, tx: Transaction, person: PersonId) -> tuple[str, ...]:
        """Return the names beside the person's own messages."""
        return await self._cache.list_own_speakers(tx, person)

    @override
    async def get_belief_index(self, tx: Transaction, person: PersonId) -> BeliefIndex:
        """Return an empty belief index."""
        return BeliefIndex()


def drop_excluded_tail(rows: list[Row], exclude: Collection[int]) -> tuple[list[Row], int | None]:
    """Drop the excluded rows at the end of the last batch; also return the seq of the first dropped
    one.
    """
    count, is_last = len(rows), len(rows) < ROWS_PER_READ
    while is_last and count and rows[count - 1][0] in exclude:
        count -= 1
    return rows[:count], None if count == len(rows) else int(rows[count][0])


async def iterate_searchable_batches(
    tx: Transaction, person: PersonId, *, after: int
) -> AsyncIterator[list[Row]]:
    """Yield batches of rows of searchable message versions after a seq, in order."""
    rows = await list_searchable_rows(tx, person, after=after)
    while rows:
        yield rows
        is_last = len(rows) < ROWS_PER_READ
        rows = [] if is_last else await list_searchable_rows(tx, person, after=rows[-1][0])


async def list_searchable_rows(tx: Transaction, person: PersonId, *, after: int) -> list[Row]:
    """List rows of the next searchable message versions after a seq, in order.

    What the person only passed on gets the role "other".
    """
    rows = await tx.rows(
        """SELECT seq, chat, session, said_at, speaker,
             CASE WHEN role = 'person' AND trust <> 'person' THEN 'other' ELSE role END,
             language, imprint
           FROM message WHERE person = :person AND seq > :after AND replaced_at IS NULL
           AND length(imprint) > 0 ORDER BY seq LIMIT :most""",
        person=person,
        after=after,
        most=ROWS_PER_READ,
    )
    outdated = {row[0] for row in rows if not is_current_encoding(row[7], row[6])}
    if not outdated:
        return rows
    texts = {
        int(seq): str(text)
        for seq, text in await tx.rows(
            """SELECT seq, text FROM message
               WHERE person = :person AND seq BETWEEN :first AND :last""",
            person=person,
            first=min(outdated),
            last=max(outdated),
        )
    }
    return [
        (*row[:7], encode_document_terms(texts[row[0]], language=row[6]))
        if row[0] in outdated
        else row
        for row in rows
    ]


async def load_cached_speakers(
    tx: Transaction, person: PersonId, cached: CachedSpeakers | None
) -> CachedSpeakers:
    """Return the names beside a person's own messages as of this transaction.

    Only messages written since the last read are read; after a deletion, all are.
    """
    row = await tx.row("SELECT last_seq, rewritten FROM person WHERE id = :person", person=person)
    last_seq, rewritten = row or (0, 0)
    if cached is None or cached.rewritten != rewritten or cached.last_seq > last_seq:
        cached = CachedSpeakers(names=(), last_seq=0, rewritten=rewritten)
    if cached.last_seq != last_seq:
        rows = await tx.rows(
            """SELECT speaker FROM message WHERE person = :person AND seq > :after
               AND role = 'person' AND trust = 'person' AND replaced_at IS NULL
               AND length(imprint) > 0 GROUP BY speaker ORDER BY min(seq)""",
            person=person,
            after=cached.last_seq,
        )
        cached.names = tuple(dict.fromkeys((*cached.names, *(str(name) for (name,) in rows))))
        cached.last_seq = last_seq
    return cached


async def list_replaced_seqs(tx: Transaction, person: PersonId, *, after: int) -> list[int]:
    """List the versions up to a seq that were replaced by versions written after it."""
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


async def load_vectors_by_seq(
    tx: Transaction, person: PersonId, model: str, seqs: Sequence[int]
) -> SeqVectors:
    """Return which of these ascending seqs have a vector of this model, and their vectors."""
    if not seqs:
        return [], None
    stored = await load_vectors_in_range(tx, person, model, seqs[0], seqs[-1])
    found = [seq for seq in seqs if seq in stored]
    return found, decode_vectors([stored[seq] for seq in found]) if found else None


async def load_vectors_in_range(
    tx: Transaction, person: PersonId, model: str, first: int, last: int
) -> dict[int, bytes]:
    """Return the encoded vectors of a seq range, by seq."""
    rows = await tx.rows(
        """SELECT seq, bytes FROM message_vector
           WHERE person = :person AND model = :model AND seq BETWEEN :first AND :last""",
        person=person,
        model=model,
        first=first,
        last=last,
    )
    return dict(rows)
