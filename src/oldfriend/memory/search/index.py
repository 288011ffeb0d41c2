"""What does a person's history look like to a search? Columns, postings and vectors in memory.

Built from stored rows and kept in step with them; whose history it is and where the rows come
from it does not know.
"""

from collections.abc import Collection, Sequence
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.memory.search.columns import Columns, Longs, Numbering, Row, Terms, read_rows
from oldfriend.memory.search.postings import Postings, postings_of
from oldfriend.memory.search.values import Floats, Ints

_Number = TypeVar("_Number", bound=np.integer)

# Appended messages keep postings of their own until they are worth one more sort.
_SMALL_TAIL: Final = 1024
_TAIL_SHARE: Final = 16
_SPARE_VECTORS: Final = 256
# BM25: how soon a repeated word stops counting, and how much a long message is held against it.
SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.6


class PersonIndex:
    """One person's messages, ready to be searched."""

    __slots__ = (
        "_main_count", "_vector_room", "blocks", "columns", "damping", "damping_around",
        "first_at", "following", "has_companion", "last_at", "mean_log_length", "numbering",
        "previous", "starts", "stream", "understood",
    )  # fmt: skip

    def __init__(self, columns: Columns, stream: Terms, numbering: Numbering) -> None:
        """Internal: use `build`; the columns are in the order of `_order`."""
        self.numbering = numbering
        self.columns = columns
        self.stream = stream
        self.starts: Longs
        self.blocks: list[Postings]
        self.previous: Ints  # the message before in the same session; len(self) where none is
        self.following: Ints
        self.understood: Floats  # 1 where there is a vector, and one that means something
        self.damping: Floats  # BM25's length norm of each message
        self.damping_around: Floats  # … of each with its neighbours
        self.has_companion = False
        self.first_at = self.last_at = 0
        self.mean_log_length = 0.0
        self._vector_room: Floats
        self._main_count = 0
        self._lay_out(np.arange(len(columns), dtype=np.int32))

    @classmethod
    def build(cls, rows: Sequence[Row], vectors: Floats | None = None) -> Self:
        """An index of these messages; the row of `vectors` is all zeros where one is missing."""
        numbering = Numbering()
        columns, stream = read_rows(rows, numbering)
        order = _order(columns)
        if np.array_equal(order, np.arange(len(order))):
            index = cls(columns, stream, numbering)
        else:
            index = cls(columns.taken(order), _reordered(stream, columns.length, order), numbering)
            vectors = None if vectors is None else vectors[order]
        index._set_vectors(vectors)
        return index

    def extend(self, rows: Sequence[Row], vectors: Floats | None = None) -> None:
        """Add messages whose `seq` is new; cheap for a few."""
        if not rows:
            return
        before = len(self)
        columns, stream = read_rows(rows, self.numbering)
        self.columns = self.columns.followed_by(columns)
        self.stream = np.concatenate([self.stream, stream])
        self._append_vectors(vectors, before)
        if len(self) - self._main_count > max(_SMALL_TAIL, self._main_count // _TAIL_SHARE):
            self._lay_out(_order(self.columns))
        else:
            self.starts = _starts(self.columns.length)
            self.blocks[1:] = [self._postings_between(self._main_count, len(self))]
            self._relink(before, np.unique(columns.session))
        self._take_stock()

    def remove(self, seqs: Collection[int]) -> None:
        """Take messages out, as if they had never been there."""
        kept = np.flatnonzero(~self.positions_mask(seqs))
        if len(kept) == len(self):
            return
        vectors = self.vectors[kept]
        self.stream = _reordered(self.stream, self.columns.length, kept)
        self.columns = self.columns.taken(kept)
        self._lay_out(_order(self.columns))
        self._set_vectors(vectors)

    def set_vectors(self, seqs: Sequence[int], vectors: Floats) -> None:
        """Give messages that are here already the vectors that they lacked."""
        if not self._vector_room.shape[1]:
            self._vector_room = np.zeros((len(self), vectors.shape[1]), dtype=np.float32)
        by_seq = np.argsort(self.columns.seq, kind="stable")
        places = by_seq[np.searchsorted(self.columns.seq, seqs, sorter=by_seq)]
        self._vector_room[places] = vectors
        self._take_stock()

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def vectors(self) -> Floats:
        """One row for each message; zeros where the vector is missing."""
        return self._vector_room[: len(self)]

    @property
    def nbytes(self) -> int:
        """How much memory the index takes, nearly."""
        arrays = (self.stream, self.starts, self.previous, self.following, self._vector_room)
        return (
            self.columns.nbytes
            + sum(array.nbytes for array in arrays)
            + sum(block.nbytes for block in self.blocks)
        )

    def neighbour(
        self, values: NDArray[_Number], at: Ints, none: int | None = None
    ) -> NDArray[_Number]:
        """`values` at these positions; `none`, or "no neighbour", where there is no position."""
        absent = at == len(self)
        found: NDArray[_Number] = values[np.where(absent, 0, at)]
        found[absent] = len(self) if none is None else none
        return found

    def terms_of(self, positions: Ints) -> tuple[Longs, Longs, Terms]:
        """All terms of these messages: at which of the positions, at which place, which term."""
        length = self.columns.length[positions]
        ends = np.cumsum(length)
        message = np.repeat(np.arange(len(positions)), length)
        place = np.arange(len(message)) - np.repeat(ends - length, length)
        return message, place, self.stream[self.starts[positions][message] + place]

    def positions_mask(self, seqs: Collection[int]) -> NDArray[np.bool_]:
        """Which positions hold these messages."""
        if not seqs:
            return np.zeros(len(self), dtype=np.bool_)
        return np.isin(self.columns.seq, np.fromiter(seqs, np.int64, len(seqs)))

    def holding(self, terms: Collection[int]) -> tuple[Ints, Floats]:
        """The messages that hold any of these terms, ascending, and how often."""
        found = [block.holding(term) for term in terms for block in self.blocks]
        found = [part for part in found if len(part[0])]
        if len(found) == 1:
            return found[0]
        messages = np.concatenate([np.empty(0, np.int32), *(part[0] for part in found)])
        counts = np.concatenate([np.empty(0, np.float32), *(part[1] for part in found)])
        if len(terms) == 1:
            return messages, counts
        distinct, at = np.unique(messages, return_inverse=True)
        return distinct, np.bincount(at, counts, len(distinct)).astype(np.float32)

    def knows(self, terms: Collection[int]) -> bool:
        """Does any of these terms stand anywhere?"""
        return any(len(block.holding(term)[0]) for term in terms for block in self.blocks)

    def known_among(self, terms: Terms) -> list[int]:
        """Those of these terms that stand somewhere, the most frequent first."""
        known = [block.frequencies(terms) for block in self.blocks]
        frequency = np.sum(known, axis=0)
        order = np.lexsort((terms, -frequency))
        return [int(terms[at]) for at in order if frequency[at]]

    def _lay_out(self, order: Ints) -> None:
        self._main_count = len(self)
        self.starts = _starts(self.columns.length)
        self.blocks = [self._postings_between(0, len(self))]
        none = len(self)
        self.previous = np.full(none, none, dtype=np.int32)
        self.following = np.full(none, none, dtype=np.int32)
        self._link(order)

    def _postings_between(self, first: int, end: int) -> Postings:
        terms = self.stream[self.starts[first] : self.starts[end]]
        return postings_of(terms, self.columns.length[first:end], first)

    def _link(self, order: Ints) -> None:
        """Chain messages that follow each other in `order` and share a session."""
        earlier, later = order[:-1], order[1:]
        same = self.columns.session[earlier] == self.columns.session[later]
        self.previous[later[same]] = earlier[same]
        self.following[earlier[same]] = later[same]

    def _relink(self, before: int, sessions: Ints) -> None:
        grown, none = len(self) - before, len(self)
        tail = np.full(grown, none, dtype=np.int32)
        self.previous = np.concatenate(
            [np.where(self.previous == before, none, self.previous), tail]
        )
        self.following = np.concatenate(
            [np.where(self.following == before, none, self.following), tail]
        )
        touched = np.flatnonzero(np.isin(self.columns.session, sessions))
        seq, said_at = self.columns.seq[touched], self.columns.said_at[touched]
        order = touched[np.lexsort((seq, said_at, self.columns.session[touched]))]
        self._link(order.astype(np.int32))

    def _set_vectors(self, vectors: Floats | None) -> None:
        if vectors is None:
            vectors = np.zeros((len(self), 0), dtype=np.float32)
        self._vector_room = np.ascontiguousarray(vectors, dtype=np.float32)
        self._take_stock()

    def _append_vectors(self, vectors: Floats | None, before: int) -> None:
        added = len(self) - before
        if vectors is None:
            vectors = np.zeros((added, self._vector_room.shape[1]), dtype=np.float32)
        width = max(self._vector_room.shape[1], vectors.shape[1])
        if len(self) > len(self._vector_room) or width > self._vector_room.shape[1]:
            room = np.zeros((len(self) + len(self) // 16 + _SPARE_VECTORS, width), np.float32)
            room[:before, : self._vector_room.shape[1]] = self._vector_room[:before]
            self._vector_room = room
        self._vector_room[before : len(self), : vectors.shape[1]] = vectors

    def _take_stock(self) -> None:
        """Reckon once what every search needs of all messages."""
        columns = self.columns
        mute = [language in CJK_LANGUAGES for language in self.numbering.languages.known]
        is_mute = np.array([*mute, False], np.bool_)[columns.language]
        self.understood = (_is_there(self.vectors) & ~is_mute).astype(np.float32)
        length = np.append(columns.length, 0).astype(np.float32)
        around = length.copy()
        around[:-1] += length[self.previous] + length[self.following]
        self.damping, self.damping_around = _damping(length), _damping(around)
        self.has_companion = bool(columns.is_companion.any())
        if len(self):
            self.first_at, self.last_at = int(columns.said_at.min()), int(columns.said_at.max())
            self.mean_log_length = float(np.log1p(columns.characters, dtype=np.float32).mean())


def _order(columns: Columns) -> Ints:
    """Messages of a session one after the other, as they were said."""
    order = np.lexsort((columns.seq, columns.said_at, columns.session))
    return order.astype(np.int32)


def _is_there(vectors: Floats) -> NDArray[np.bool_]:
    # No embedding begins with three zeros.
    there: NDArray[np.bool_] = (vectors[:, :3] != 0).any(axis=1, keepdims=False)
    return there


def _damping(length: Floats) -> Floats:
    mean = max(float(length[:-1].mean()) if len(length) > 1 else 0.0, 1.0)
    damping: Floats = SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE / mean * length)
    return damping


def _starts(length: Longs) -> Longs:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])


def _reordered(stream: Terms, length: Longs, order: NDArray[np.integer]) -> Terms:
    """The stream of the messages in `order`."""
    starts, taken = _starts(length)[order], length[order]
    ends = np.cumsum(taken)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - taken, taken)
    reordered: Terms = stream[np.repeat(starts, taken) + within]
    return reordered
