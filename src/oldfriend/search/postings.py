"""Postings: an inverted index over messages, in blocks of sorted arrays that grow along."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.term_columns import Terms
from oldfriend.search.types import Floats
from oldfriend.search.vector_array import GrowableArray

Longs: TypeAlias = NDArray[np.int64]

_MAX_COUNT: Final = 255  # BM25 saturates long before; a count fits in a byte

_MAX_SHORT: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TermHits:
    """Occurrences of query words: one element per word and message that contains it."""

    words: Longs  # index of the query word, ascending
    messages: Longs
    counts: Floats  # term frequency

    def slice_words(self, first: int, end: int) -> "TermHits":
        """Return the hits of words `first` to `end` - 1, renumbered from 0."""
        some = slice(*np.searchsorted(self.words, (first, end)).tolist())
        return TermHits(
            words=self.words[some] - first, messages=self.messages[some], counts=self.counts[some]
        )

    def group_by_word(self, term_counts: Sequence[int]) -> "TermHits":
        """Merge hits of terms into hits of words; word i has the next `term_counts[i]` terms."""
        word = np.repeat(np.arange(len(term_counts)), term_counts)
        pairs, at = np.unique(word[self.words] << 32 | self.messages, return_inverse=True)
        return TermHits(
            words=pairs >> 32,
            messages=pairs & 0xFFFFFFFF,
            counts=np.bincount(at, self.counts, len(pairs)).astype(np.float32),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Postings:
    """For each term the messages that contain it, ascending, with term frequencies."""

    terms: NDArray[np.uint32]  # ascending
    starts: Longs  # one more than terms
    messages: NDArray[np.uint16 | np.int32]  # relative to `first`; 16 bits where they suffice
    first: int
    counts: NDArray[np.uint8]  # capped at 255
    message_count: int

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return sum(part.nbytes for part in (self.terms, self.starts, self.messages, self.counts))

    def find_hits(self, terms: NDArray[np.uint32]) -> "TermHits":
        """Find the messages that contain each of these terms, and how often."""
        first, end = self._find_ranges(terms)
        counts = end - first
        word = np.repeat(np.arange(len(terms)), counts)
        at = np.arange(len(word)) + (end - np.cumsum(counts))[word]
        messages = self.messages[at].astype(np.int64)
        messages += self.first
        return TermHits(words=word, messages=messages, counts=self.counts[at].astype(np.float32))

    def count_documents(self, terms: NDArray[np.uint32]) -> Longs:
        """Count for each of these terms the messages that contain it."""
        first, end = self._find_ranges(terms)
        return end - first

    def _find_ranges(self, terms: NDArray[np.uint32]) -> tuple[Longs, Longs]:
        """Return where the postings of each term begin and end; equal where it has none."""
        if not len(self.terms):
            nowhere = np.zeros(len(terms), np.int64)
            return nowhere, nowhere
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        first = self.starts[at]
        return first, np.where(self.terms[at] == terms, self.starts[at + 1], first)


def concat_hits(parts: Sequence[TermHits]) -> TermHits:
    """Combine the hits of consecutive blocks of messages."""
    if len(parts) == 1:
        return parts[0]
    words = np.concatenate([each.words for each in parts])
    order = np.argsort(words, kind="stable")
    return TermHits(
        words=words[order],
        messages=np.concatenate([each.messages for each in parts])[order],
        counts=np.concatenate([each.counts for each in parts])[order],
    )


def build_postings(term_stream: NDArray[np.uint32], lengths: Longs, first: int) -> Postings:
    """Build postings of messages numbered from `first`; `lengths` splits the term stream."""
    # Packs term and message into one number, so that a single sort groups both.
    pairs = term_stream.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs.sort()
    first_of_pair = _find_boundaries(pairs)
    ends = np.append(first_of_pair[1:], len(pairs))
    counts = np.minimum(ends - first_of_pair, _MAX_COUNT).astype(np.uint8)
    pairs = pairs[first_of_pair]
    terms = (pairs >> np.uint64(32)).astype(np.uint32)
    starts = _find_boundaries(terms)
    return Postings(
        terms=terms[starts],
        starts=np.append(starts, len(terms)),
        messages=pairs.astype(np.uint32).astype(
            np.uint16 if len(lengths) <= _MAX_SHORT else np.int32
        ),
        first=first,
        counts=counts,
        message_count=len(lengths),
    )


def _find_boundaries(values: NDArray[np.uint32] | NDArray[np.uint64]) -> Longs:
    """Return the positions at which a new value begins."""
    is_new = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)


# A block of postings is merged with the next one while it is less than this many times as large.
_MERGE_RATIO: Final = 16
_LARGE_BLOCK: Final = 8192  # messages; a block of this size is not merged again


class PostingBlocks:
    """Terms by message and messages by term; a message is a position, numbered from 0."""

    __slots__ = ("_blocks", "_starts", "_terms")

    def __init__(
        self, terms: Terms, lengths: NDArray[np.integer], *, capacity: int = 0, per_message: int = 0
    ) -> None:
        """Take the terms of all messages, concatenated, and how many each message has.

        There is room for `capacity` messages of `per_message` terms before anything is copied.
        """
        self._terms = GrowableArray(terms, capacity=capacity * per_message)
        self._starts = GrowableArray(_compute_starts(lengths), capacity=capacity)
        self._blocks = [self._build_block(0, len(lengths))]

    @property
    def nbytes(self) -> int:
        """Memory use in bytes, spare capacity included."""
        own = self._terms.nbytes + self._starts.nbytes
        return own + sum(block.nbytes for block in self._blocks)

    @property
    def is_empty(self) -> bool:
        """Whether no message has any term."""
        return not len(self._terms.values)

    def append(self, terms: Terms, lengths: NDArray[np.integer]) -> None:
        """Append messages, merging small blocks of postings before them."""
        first, count = len(self._starts.values) - 1, len(lengths)
        self._terms.append(terms)
        self._starts.append(self._starts.values[-1] + np.cumsum(lengths))
        sizes = [block.message_count for block in self._blocks] + [count]
        while len(sizes) > 1 and sizes[-2] < min(_LARGE_BLOCK, sizes[-1] * _MERGE_RATIO):
            sizes[-2:] = [sizes[-2] + sizes[-1]]
        kept = len(sizes) - 1
        end = first + count
        self._blocks[kept:] = [self._build_block(end - sizes[-1], end)]

    def take_terms(self, positions: NDArray[np.integer]) -> Terms:
        """Return the terms of these messages, concatenated in this order."""
        return reorder_terms(self._terms.values, np.diff(self._starts.values), positions)

    def read_terms(self, positions: NDArray[np.integer]) -> tuple[Longs, Longs, Terms]:
        """Return the terms of these messages: index in `positions`, place in the message, term."""
        starts = self._starts.values[positions]
        length = self._starts.values[positions + 1] - starts
        ends = np.cumsum(length)
        message = np.repeat(np.arange(len(positions)), length)
        place = np.arange(len(message)) - np.repeat(ends - length, length)
        return message, place, self._terms.values[starts[message] + place]

    def find_hits(self, terms: Terms) -> TermHits:
        """Find the messages that contain each of these terms, and how often."""
        return concat_hits([block.find_hits(terms) for block in self._blocks])

    def count_documents(self, terms: Terms) -> Longs:
        """Count for each of these terms the messages that contain it."""
        frequency: Longs = np.sum([block.count_documents(terms) for block in self._blocks], axis=0)
        return frequency

    def _build_block(self, first: int, end: int) -> Postings:
        starts = self._starts.values
        terms = self._terms.values[starts[first] : starts[end]]
        return build_postings(terms, np.diff(starts[first : end + 1]), first)


def reorder_terms(terms: Terms, lengths: NDArray[np.integer], order: NDArray[np.integer]) -> Terms:
    """Return the terms of the messages in `order`, concatenated; `lengths` splits them."""
    first, taken = _compute_starts(lengths)[order], lengths[order]
    ends = np.cumsum(taken, dtype=np.int64)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - taken, taken)
    reordered: Terms = terms[np.repeat(first, taken) + within]
    return reordered


def flatten_terms(words: Sequence[Sequence[int]]) -> Terms:
    """Return the terms of all words, concatenated."""
    return np.array([term for word in words for term in word], np.uint32)


def _compute_starts(lengths: NDArray[np.integer]) -> Longs:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
