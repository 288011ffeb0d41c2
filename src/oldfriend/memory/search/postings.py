"""In which messages does a term stand, and how often? Sorted arrays over a stretch of messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.values import Floats

Longs: TypeAlias = NDArray[np.int64]

_MOST: Final = 255  # a word that stands as often counts hardly more the next time

_SHORT: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """Where some words stand: a place in each array for each word and message that holds it."""

    words: Longs  # by their number, ascending
    messages: Longs
    counts: Floats  # how often it stands there

    def between(self, first: int, end: int) -> "Held":
        """Only these words, numbered from 0."""
        some = slice(*np.searchsorted(self.words, (first, end)).tolist())
        return Held(
            words=self.words[some] - first, messages=self.messages[some], counts=self.counts[some]
        )

    def by_word(self, terms: Sequence[int]) -> "Held":
        """The terms of each word, of which it has so many, as one."""
        word = np.repeat(np.arange(len(terms)), terms)
        pairs, at = np.unique(word[self.words] << 32 | self.messages, return_inverse=True)
        return Held(
            words=pairs >> 32,
            messages=pairs & 0xFFFFFFFF,
            counts=np.bincount(at, self.counts, len(pairs)).astype(np.float32),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Postings:
    """For each term the messages that hold it, ascending, with their counts."""

    terms: NDArray[np.uint32]  # ascending
    starts: Longs  # one more than terms
    messages: NDArray[np.uint16 | np.int32]  # from `first` on; short where they fit
    first: int
    counts: NDArray[np.uint8]  # 255 where it is more
    message_count: int

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(part.nbytes for part in (self.terms, self.starts, self.messages, self.counts))

    def holding(self, terms: NDArray[np.uint32]) -> "Held":
        """The messages that hold each of these terms, and how often."""
        first, end = self._stretches(terms)
        counts = end - first
        word = np.repeat(np.arange(len(terms)), counts)
        at = np.arange(len(word)) + (end - np.cumsum(counts))[word]
        messages = self.messages[at].astype(np.int64)
        messages += self.first
        return Held(words=word, messages=messages, counts=self.counts[at].astype(np.float32))

    def frequencies(self, terms: NDArray[np.uint32]) -> Longs:
        """In how many messages each of these terms stands."""
        first, end = self._stretches(terms)
        return end - first

    def _stretches(self, terms: NDArray[np.uint32]) -> tuple[Longs, Longs]:
        """Where the postings of each term begin and end; at the same place where it has none."""
        if not len(self.terms):
            nowhere = np.zeros(len(terms), np.int64)
            return nowhere, nowhere
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        first = self.starts[at]
        return first, np.where(self.terms[at] == terms, self.starts[at + 1], first)


def joined(found: Sequence[Held]) -> Held:
    """What is held in stretches of messages that follow each other."""
    if len(found) == 1:
        return found[0]
    words = np.concatenate([each.words for each in found])
    order = np.argsort(words, kind="stable")
    return Held(
        words=words[order],
        messages=np.concatenate([each.messages for each in found])[order],
        counts=np.concatenate([each.counts for each in found])[order],
    )


def postings_of(stream: NDArray[np.uint32], lengths: Longs, first: int) -> Postings:
    """Postings of messages numbered from `first`, whose terms stand one after the other."""
    # One number holds term and message, so that one sort groups both.
    pairs = stream.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs.sort()
    first_of_pair = _changes(pairs)
    ends = np.append(first_of_pair[1:], len(pairs))
    counts = np.minimum(ends - first_of_pair, _MOST).astype(np.uint8)
    pairs = pairs[first_of_pair]
    terms = (pairs >> np.uint64(32)).astype(np.uint32)
    starts = _changes(terms)
    return Postings(
        terms=terms[starts],
        starts=np.append(starts, len(terms)),
        messages=pairs.astype(np.uint32).astype(np.uint16 if len(lengths) <= _SHORT else np.int32),
        first=first,
        counts=counts,
        message_count=len(lengths),
    )


def _changes(values: NDArray[np.uint32] | NDArray[np.uint64]) -> Longs:
    """The positions at which a new value begins."""
    is_new = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)
