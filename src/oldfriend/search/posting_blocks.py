"""Posting blocks: the terms of all messages in order, with postings that grow along."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.postings import Longs, Postings, TermHits, build_postings, concat_hits
from oldfriend.search.term_columns import Terms
from oldfriend.search.vector_array import GrowableArray

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
