"""Search index: one person's messages in memory, as columns, postings and vectors.

Built from stored rows and updated along with them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.language_pack import get_traits
from oldfriend.search.postings import PostingBlocks, TermHits, flatten_terms, reorder_terms
from oldfriend.search.term_columns import (
    Columns,
    GrowableColumns,
    InternTables,
    Longs,
    Row,
    Terms,
    build_columns,
)
from oldfriend.search.types import Floats, Ints
from oldfriend.search.vector_array import GrowableArray, LegacyVectors, VectorArray

_Number = TypeVar("_Number", bound=np.generic)

# Marks a missing neighbor. As an index it reads the last element, so arrays that are indexed by
# neighbor have one extra element for it.
NO_NEIGHBOR: Final = -1
_TYPICAL_TERMS: Final = 20  # terms per message, to reserve capacity
# BM25: saturation of term frequency (k1) and normalization by length (b).
BM25_K1: Final = 1.2
_BM25_B: Final = 0.6


class PersonIndex:
    """Search index over one person's messages."""

    __slots__ = (
        "_capacity",
        "_columns",
        "_context_lengths",
        "_following",
        "_legacy_vectors",
        "_log_length_sum",
        "_ngrams",
        "_previous",
        "_terms",
        "_vector_mask",
        "_vectors",
        "first_at",
        "has_companion",
        "last_at",
        "own_speakers",
        "tables",
    )

    def __init__(
        self,
        columns: Columns,
        terms: Terms,
        ngrams: Terms,
        tables: InternTables,
        *,
        capacity: int = 0,
    ) -> None:
        """Internal: use `build`; the columns are in the order of `_sort_positions`."""
        self.tables = tables
        self._legacy_vectors: dict[str, LegacyVectors] = {}
        self._capacity = capacity
        self._vectors = VectorArray(np.zeros((len(columns), 0), np.float32))
        self._build_arrays(columns, terms, ngrams)

    def _build_arrays(self, columns: Columns, terms: Terms, ngrams: Terms) -> None:
        count, capacity = len(columns), self._capacity
        self._columns = GrowableColumns(columns, capacity=capacity)
        self._terms = PostingBlocks(
            terms, columns.length, capacity=capacity, per_message=_TYPICAL_TERMS
        )
        self._ngrams = PostingBlocks(ngrams, columns.ngram_count, capacity=capacity)
        self._previous = GrowableArray(
            np.full(count, NO_NEIGHBOR, dtype=np.int32), capacity=capacity
        )
        self._following = GrowableArray(
            np.full(count, NO_NEIGHBOR, dtype=np.int32), capacity=capacity
        )
        self._link(np.arange(count, dtype=np.int32))
        context_lengths = self._sum_context_lengths(np.arange(count, dtype=np.int32))
        self._context_lengths = GrowableArray(context_lengths, capacity=capacity)
        self._log_length_sum = 0.0
        self.has_companion = False
        self.own_speakers: set[int] = set()  # as whom the person speaks
        self.first_at = self.last_at = 0
        self._update_stats(columns)
        self._vector_mask = GrowableArray(np.zeros(count, np.float32), capacity=capacity)

    @classmethod
    def with_capacity(cls, capacity: int) -> Self:
        """Create an empty index that can grow to `capacity` messages without copying vectors."""
        tables = InternTables()
        return cls(*build_columns([], tables), tables, capacity=capacity)

    @classmethod
    def build(cls, rows: Sequence[Row], vectors: Floats | None = None) -> Self:
        """Build an index of these messages; a missing vector is a row of zeros in `vectors`."""
        tables = InternTables()
        columns, terms, ngrams = build_columns(rows, tables)
        order = _sort_positions(columns, np.arange(len(columns)))
        if not np.array_equal(order, np.arange(len(order))):
            terms = reorder_terms(terms, columns.length, order)
            ngrams = reorder_terms(ngrams, columns.ngram_count, order)
            columns = columns.take(order)
            vectors = None if vectors is None else vectors[order]
        index = cls(columns, terms, ngrams, tables)
        if vectors is not None:
            index._assign_vectors(np.arange(len(columns)), vectors)
        return index

    def extend(self, rows: Sequence[Row], vectors: Floats | None = None) -> None:
        """Add messages whose `seq` is new; cheap for a few."""
        if not rows:
            return
        before = len(self)
        columns, terms, ngrams = build_columns(rows, self.tables)
        self._columns.append(columns)
        self._terms.append(terms, columns.length)
        self._ngrams.append(ngrams, columns.ngram_count)
        for links in (self._previous, self._following):
            links.append(np.full(len(rows), NO_NEIGHBOR, dtype=np.int32))
        self._context_lengths.append(np.zeros(len(rows), np.float32))
        self._relink(_unique(columns.session))
        self._update_stats(columns)
        self._vector_mask.append(np.zeros(len(rows), np.float32))
        self._vectors.append_missing(len(rows))
        if vectors is not None:
            self._assign_vectors(np.arange(before, len(self)), vectors)

    def remove(self, seqs: Collection[int]) -> None:
        """Remove messages as if they had never been added."""
        kept = np.flatnonzero(~self.build_mask(seqs))
        if len(kept) == len(self):
            return
        # An appended message may come after later ones of its session, so sort everything.
        kept = kept[_sort_positions(self.columns, kept)]
        terms, ngrams = self._terms.take_terms(kept), self._ngrams.take_terms(kept)
        vector_mask = self.vector_mask[kept]
        new_positions = np.full(len(self), NO_NEIGHBOR, dtype=np.int32)
        new_positions[kept] = np.arange(len(kept), dtype=np.int32)
        self._build_arrays(self.columns.take(kept), terms, ngrams)
        self._vectors, self._vector_mask = self._vectors.take(kept), GrowableArray(vector_mask)
        self._legacy_vectors = {
            model: legacy.remap(new_positions) for model, legacy in self._legacy_vectors.items()
        }

    def set_vectors(self, seqs: Sequence[int], vectors: Floats) -> None:
        """Set the vectors of messages that are in the index already."""
        self._assign_vectors(self._find_positions(seqs), vectors)

    def set_legacy_vectors(self, model: str, seqs: Sequence[int], vectors: Floats) -> None:
        """Let messages without a current vector be found by their vectors of a previous model."""
        positions = self._find_positions(seqs)
        added = LegacyVectors(
            positions=positions.astype(np.int32),
            vectors=VectorArray(vectors, is_quantized=self.is_quantized),
            mask=self._is_embeddable(positions).astype(np.float32),
        )
        known = self._legacy_vectors.get(model)
        self._legacy_vectors[model] = added if known is None else known.concat(added)

    def quantize(self) -> None:
        """Keep vectors in an eighth of the bytes from now on: see `VectorArray`."""
        if not self.is_quantized:
            self._vectors = self._vectors.to_quantized(capacity=self._capacity)
            self._legacy_vectors = {
                model: old.to_quantized() for model, old in self._legacy_vectors.items()
            }

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def is_quantized(self) -> bool:
        """Whether the vectors are quantized, and so too inexact for the final comparison."""
        return self._vectors.is_quantized

    @property
    def columns(self) -> Columns:
        """The properties of each message."""
        return self._columns.current

    @property
    def previous(self) -> Ints:
        """Position of the previous message in its session; NO_NEIGHBOR where there is none."""
        return self._previous.values

    @property
    def following(self) -> Ints:
        """Position of the next message in its session; NO_NEIGHBOR where there is none."""
        return self._following.values

    @property
    def vectors(self) -> VectorArray:
        """The vector of each message; zeros where it is missing."""
        return self._vectors

    @property
    def vector_mask(self) -> Floats:
        """1 where there is a vector that is meaningful in the message's language, else 0."""
        return self._vector_mask.values

    @property
    def legacy_vectors(self) -> Mapping[str, LegacyVectors]:
        """Vectors of previous embedding models, by model."""
        return self._legacy_vectors

    @property
    def mean_log_length(self) -> float:
        """Mean of log(1 + characters) over all messages."""
        return self._log_length_sum / max(len(self), 1)

    @property
    def companion_share(self) -> float:
        """Share of the characters that the companion wrote: large in chats with an assistant."""
        if not self.has_companion:
            return 0.0
        characters = self.columns.characters
        by_companion = int(characters[self.columns.is_companion].sum(dtype=np.int64))
        return by_companion / max(int(characters.sum(dtype=np.int64)), 1)

    @property
    def nbytes(self) -> int:
        """Approximate memory use in bytes."""
        arrays = (self._previous, self._following, self._context_lengths)
        return (
            self._columns.nbytes
            + self._vectors.nbytes
            + self._vector_mask.nbytes
            + sum(array.nbytes for array in arrays)
            + self._terms.nbytes
            + self._ngrams.nbytes
            + sum(legacy.nbytes for legacy in self._legacy_vectors.values())
        )

    def take_neighbors(
        self, values: NDArray[_Number], positions: Ints, default: int = NO_NEIGHBOR
    ) -> NDArray[_Number]:
        """Return `values` at these positions, and `default` where there is no neighbor."""
        found: NDArray[_Number] = values[positions]
        found[positions == NO_NEIGHBOR] = default
        return found

    def find_neighbors(self, seqs: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
        """Return the messages just before and after each of these in its session, by seq."""
        positions = np.flatnonzero(self.build_mask(seqs)).astype(np.int32)
        columns = (
            self.columns.seq[positions],
            self.take_neighbors(self.columns.seq, self.previous[positions]),
            self.take_neighbors(self.columns.seq, self.following[positions]),
        )
        return {
            seq: (
                None if before == NO_NEIGHBOR else before,
                None if after == NO_NEIGHBOR else after,
            )
            for seq, before, after in zip(*(each.tolist() for each in columns), strict=True)
        }

    @property
    def length_norms(self) -> Floats:
        """BM25 length norm of each message; computed anew at each access."""
        return _compute_length_norms(self.columns.length)

    @property
    def context_length_norms(self) -> Floats:
        """BM25 length norm of each message with its neighbors; computed anew at each access."""
        return _compute_length_norms(self._context_lengths.values)

    def read_terms(self, positions: Ints) -> tuple[Longs, Longs, Terms]:
        """Return the terms of these messages: index in `positions`, place in the message, term."""
        return self._terms.read_terms(positions)

    def build_mask(self, seqs: Collection[int]) -> NDArray[np.bool_]:
        """Return a mask of the positions that hold these messages."""
        if not seqs:
            return np.zeros(len(self), dtype=np.bool_)
        wanted = np.fromiter(seqs, np.int64, len(seqs))
        before = int(wanted.min()) - 1
        is_wanted = np.zeros(int(wanted.max()) - before + 2, np.bool_)
        is_wanted[wanted - before] = True
        # Neither end is wanted, so clipping is safe beyond them. `isin` has a higher fixed cost.
        return is_wanted.take(self.columns.seq - before, mode="clip")

    def find_known_positions(self, seqs: Collection[int]) -> dict[int, int]:
        """Return the positions of those of some messages that are in the index, by seq."""
        positions = np.flatnonzero(self.build_mask(seqs))
        return dict(zip(self.columns.seq[positions].tolist(), positions.tolist(), strict=True))

    def find_hits(self, words: Sequence[Sequence[int]]) -> TermHits:
        """Find for each word the messages that hold any of its terms, and how often."""
        terms = flatten_terms(words)
        found = self._terms.find_hits(terms)
        return found if len(terms) == len(words) else found.group_by_word(list(map(len, words)))

    @property
    def has_ngrams(self) -> bool:
        """Whether any message is indexed by the character n-grams of its words."""
        return not self._ngrams.is_empty

    def find_ngram_hits(self, ngrams: Sequence[int]) -> TermHits:
        """Find the messages that hold each of these n-grams, and how often."""
        return self._ngrams.find_hits(np.array(ngrams, np.uint32))

    def list_ngrams(self, positions: Ints) -> list[set[int]]:
        """Return the n-grams of each of these messages."""
        message, _, ngrams = self._ngrams.read_terms(positions)
        ends = np.searchsorted(message, np.arange(1, len(positions)))
        return [set(each.tolist()) for each in np.split(ngrams, ends)]

    @property
    def ngram_length_norms(self) -> Floats:
        """BM25 length norm of each message by its n-grams; computed anew at each access."""
        return _compute_length_norms(self.columns.ngram_count)

    def contains_words(self, words: Sequence[Sequence[int]]) -> list[bool]:
        """Tell for each word whether any message holds one of its terms."""
        return [count > 0 for count in self.count_documents(words)]

    def count_documents(self, words: Sequence[Sequence[int]]) -> list[int]:
        """Count for each word the messages that hold its terms."""
        frequency = iter(self._terms.count_documents(flatten_terms(words)).tolist())
        return [sum(next(frequency) for _ in word) for word in words]

    def find_most_frequent(self, terms: Terms) -> int | None:
        """Return the term in most messages, the smallest of equals; None if no message has any."""
        frequency = self._terms.count_documents(terms)
        most = frequency.max(initial=0)
        if not most:
            return None
        tied = np.flatnonzero(frequency == most)
        return int(tied[terms[tied].argmin()])

    def _update_stats(self, added: Columns) -> None:
        if not len(added):
            return
        if len(added) == len(self):
            self.first_at = self.last_at = int(added.said_at[0])
        self._log_length_sum += float(np.log1p(added.characters, dtype=np.float64).sum())
        self.has_companion |= bool(added.is_companion.any())
        self.own_speakers.update(set(added.speaker[added.is_person].tolist()))
        self.first_at = min(self.first_at, int(added.said_at.min()))
        self.last_at = max(self.last_at, int(added.said_at.max()))

    def _relink(self, sessions: Ints) -> None:
        """Link the messages of these sessions to their neighbors again."""
        session = self.columns.session
        # Usually one session; `isin` has a higher fixed cost.
        is_touched = session == sessions[0] if len(sessions) == 1 else np.isin(session, sessions)
        touched = np.flatnonzero(is_touched).astype(np.int32)
        self.previous[touched] = self.following[touched] = NO_NEIGHBOR
        self._link(touched[_sort_positions(self.columns, touched)])
        self._context_lengths.values[touched] = self._sum_context_lengths(touched)

    def _link(self, order: Ints) -> None:
        """Link messages that follow each other in `order` and share a session."""
        earlier, later = order[:-1], order[1:]
        same = self.columns.session[earlier] == self.columns.session[later]
        self.previous[later[same]] = earlier[same]
        self.following[earlier[same]] = later[same]

    def _sum_context_lengths(self, positions: Ints) -> Floats:
        """Return the number of terms of each message together with its neighbors."""
        length = self.columns.length
        lengths = length[positions]
        for links in (self.previous, self.following):
            lengths = lengths + self.take_neighbors(length, links[positions], 0)
        return lengths.astype(np.float32)

    def _assign_vectors(self, positions: NDArray[np.integer], vectors: Floats) -> None:
        if vectors.shape[1] != self._vectors.dimension:
            self._vectors = self._build_empty_vectors(len(self), vectors.shape[1])
        self._vectors.assign(positions, vectors)
        has_vector = _is_nonzero(vectors)
        self.vector_mask[positions] = has_vector & self._is_embeddable(positions)
        remaining = {
            model: old.drop(positions[has_vector]) for model, old in self._legacy_vectors.items()
        }
        self._legacy_vectors = {
            model: old for model, old in remaining.items() if len(old.positions)
        }

    def _build_empty_vectors(self, count: int, dimension: int) -> VectorArray:
        zeros = np.zeros((count, dimension), np.float32)
        return VectorArray(zeros, is_quantized=self.is_quantized, capacity=self._capacity)

    def _is_embeddable(self, positions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell whether vectors are meaningful in the languages of these messages."""
        traits = map(get_traits, self.tables.languages.strings)
        is_known = [each.is_glossed or not each.is_cjk for each in traits]
        is_embeddable: NDArray[np.bool_] = np.array([*is_known, True], np.bool_)[
            self.columns.language[positions]
        ]
        return is_embeddable

    def _find_positions(self, seqs: Sequence[int]) -> NDArray[np.integer]:
        positions = np.flatnonzero(self.build_mask(seqs))
        positions = positions[np.argsort(self.columns.seq[positions])]
        found: NDArray[np.integer] = positions[np.searchsorted(self.columns.seq[positions], seqs)]
        return found


def _sort_positions(columns: Columns, positions: NDArray[np.integer]) -> Ints:
    """Return these positions sorted by session, time and seq."""
    order = np.lexsort(
        (columns.seq[positions], columns.said_at[positions], columns.session[positions])
    )
    return order.astype(np.int32)


def _is_nonzero(vectors: Floats) -> NDArray[np.bool_]:
    # Hardly any embedding begins with three zeros; only those that do are checked in full.
    is_nonzero: NDArray[np.bool_] = np.logical_or.reduce(vectors[:, :3], axis=1)
    doubtful = np.flatnonzero(~is_nonzero)
    if len(doubtful):
        is_nonzero[doubtful] = vectors[doubtful].any(axis=1)
    return is_nonzero


def _compute_length_norms(length: NDArray[np.generic]) -> Floats:
    mean = max(float(length.mean(dtype=np.float64)) if len(length) else 0.0, 1.0)
    norms = length.astype(np.float32)
    norms *= np.float32(BM25_K1 * _BM25_B / mean)
    norms += np.float32(BM25_K1 * (1 - _BM25_B))
    return norms


def _unique(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the distinct values, ascending; np.unique would first import numpy.ma."""
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]
