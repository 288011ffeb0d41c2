"""What does a person's history look like to a search? Columns, postings and vectors in memory.

Built from stored rows and kept in step with them; whose history it is and where the rows come
from it does not know.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.memory.search.columns import (
    Columns,
    GrowingColumns,
    Longs,
    Numbering,
    Row,
    Terms,
    read_rows,
)
from oldfriend.memory.search.directions import Directions
from oldfriend.memory.search.former import Former
from oldfriend.memory.search.growing import Growing
from oldfriend.memory.search.postings import Held, Postings, joined, postings_of
from oldfriend.memory.search.values import Floats, Ints

_Number = TypeVar("_Number", bound=np.generic)

# Where a message has no neighbour. As a position it is the last one: arrays that are read by
# neighbour have one place more, for nobody.
NOBODY: Final = -1
# Appended messages keep postings of their own until they are worth one more sort.
_FOLDED_AT_SHARE: Final = 16
_LARGE: Final = 8192  # messages; so many stay as they are
_USUAL_LENGTH: Final = 20  # terms, where room is made before they are read
# BM25: how soon a repeated word stops counting, and how much a long message is held against it.
SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.6


class PersonIndex:
    """One person's messages, ready to be searched."""

    __slots__ = (
        "_around", "_blocks", "_columns", "_following", "_former", "_log_length", "_previous",
        "_room", "_starts", "_stream", "_understood", "_vectors", "first_at", "has_companion",
        "last_at", "numbering",
    )  # fmt: skip

    def __init__(
        self, columns: Columns, stream: Terms, numbering: Numbering, *, room: int = 0
    ) -> None:
        """Internal: use `build`; the columns are in the order of `_order`."""
        self.numbering = numbering
        self._former: dict[str, Former] = {}
        self._room = room
        self._vectors = Directions(np.zeros((len(columns), 0), np.float32))
        self._lay_out(columns, stream)

    def _lay_out(self, columns: Columns, stream: Terms) -> None:
        count, room = len(columns), self._room
        self._columns = GrowingColumns(columns, room=room)
        self._stream = Growing(stream, room=room * _USUAL_LENGTH)
        self._starts = Growing(_starts(columns.length), room=room)
        self._previous = Growing(np.full(count, NOBODY, dtype=np.int32), room=room)
        self._following = Growing(np.full(count, NOBODY, dtype=np.int32), room=room)
        self._link(np.arange(count, dtype=np.int32))
        around = self._length_around(np.arange(count, dtype=np.int32))
        self._around = Growing(around, room=room)
        self._blocks = [self._postings_between(0, len(columns))]
        self._log_length = 0.0
        self.has_companion = False
        self.first_at = self.last_at = 0
        self._take_stock(columns)
        self._understood = Growing(np.zeros(count, np.float32), room=room)

    @classmethod
    def with_room(cls, count: int) -> Self:
        """An empty one, that may grow to so many messages without copying their vectors."""
        numbering = Numbering()
        return cls(*read_rows([], numbering), numbering, room=count)

    @classmethod
    def build(cls, rows: Sequence[Row], vectors: Floats | None = None) -> Self:
        """An index of these messages; the row of `vectors` is all zeros where one is missing."""
        numbering = Numbering()
        columns, stream = read_rows(rows, numbering)
        order = _order(columns, np.arange(len(columns)))
        if not np.array_equal(order, np.arange(len(order))):
            stream = _reordered(stream, columns.length, order)
            columns = columns.taken(order)
            vectors = None if vectors is None else vectors[order]
        index = cls(columns, stream, numbering)
        if vectors is not None:
            index._place_vectors(np.arange(len(columns)), vectors)
        return index

    def extend(self, rows: Sequence[Row], vectors: Floats | None = None) -> None:
        """Add messages whose `seq` is new; cheap for a few."""
        if not rows:
            return
        before = len(self)
        columns, stream = read_rows(rows, self.numbering)
        self._columns.append(columns)
        self._stream.append(stream)
        self._starts.append(self._starts.now[-1] + np.cumsum(columns.length))
        for links in (self._previous, self._following):
            links.append(np.full(len(rows), NOBODY, dtype=np.int32))
        self._around.append(np.zeros(len(rows), np.float32))
        self._relink(np.unique(columns.session))
        self._append_block(before)
        self._take_stock(columns)
        self._understood.append(np.zeros(len(rows), np.float32))
        self._vectors.append_none(len(rows))
        if vectors is not None:
            self._place_vectors(np.arange(before, len(self)), vectors)

    def remove(self, seqs: Collection[int]) -> None:
        """Take messages out, as if they had never been there."""
        kept = np.flatnonzero(~self.positions_mask(seqs))
        if len(kept) == len(self):
            return
        # Appended messages may stand behind later ones of their session: put all in order.
        kept = kept[_order(self.columns, kept)]
        stream = _reordered(self._stream.now, self.columns.length, kept)
        understood = self.understood[kept]
        moved = np.full(len(self), NOBODY, dtype=np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        self._lay_out(self.columns.taken(kept), stream)
        self._vectors, self._understood = self._vectors.taken(kept), Growing(understood)
        self._former = {model: former.moved(moved) for model, former in self._former.items()}

    def set_vectors(self, seqs: Sequence[int], vectors: Floats) -> None:
        """Give messages that are here already the vectors that they lacked."""
        self._place_vectors(self._places_of(seqs), vectors)

    def set_former(self, model: str, seqs: Sequence[int], vectors: Floats) -> None:
        """Let messages without a vector be found by those of a model of before."""
        places = self._places_of(seqs)
        former = Former(
            positions=places.astype(np.int32),
            vectors=Directions(vectors, is_narrow=self.is_narrow),
            counting=self._understands(places).astype(np.float32),
        )  # fmt: skip
        known = self._former.get(model)
        self._former[model] = former if known is None else known.joined(former)

    def make_narrow(self) -> None:
        """Keep vectors in an eighth of the bytes from now on: see ``Directions``."""
        if not self.is_narrow:
            self._vectors = self._vectors.made_narrow(room=self._room)
            self._former = {model: old.made_narrow() for model, old in self._former.items()}

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def is_narrow(self) -> bool:
        """Whether the vectors here are not exact enough for the last comparison."""
        return self._vectors.is_narrow

    @property
    def columns(self) -> Columns:
        """What is known of each message."""
        return self._columns.now

    @property
    def previous(self) -> Ints:
        """The message before each in its session; NOBODY where there is none."""
        return self._previous.now

    @property
    def following(self) -> Ints:
        """The message after each in its session; NOBODY where there is none."""
        return self._following.now

    @property
    def vectors(self) -> Directions:
        """Where each message points; nowhere where the vector is missing."""
        return self._vectors

    @property
    def understood(self) -> Floats:
        """1 where there is a vector, and one that means something."""
        return self._understood.now

    @property
    def former(self) -> Mapping[str, Former]:
        """What is found by the vectors of models of before, by the model."""
        return self._former

    @property
    def mean_log_length(self) -> float:
        """How long this person's messages usually are."""
        return self._log_length / max(len(self), 1)

    @property
    def nbytes(self) -> int:
        """How much memory the index takes, nearly."""
        arrays = (self._stream, self._starts, self._previous, self._following, self._around)
        return (
            self._columns.nbytes
            + self._vectors.nbytes
            + self._understood.nbytes
            + sum(array.nbytes for array in arrays)
            + sum(block.nbytes for block in self._blocks)
            + sum(former.nbytes for former in self._former.values())
        )

    def neighbour(self, values: NDArray[_Number], at: Ints, none: int = NOBODY) -> NDArray[_Number]:
        """`values` at these positions; `none` where there is nobody."""
        found: NDArray[_Number] = values[at]
        found[at == NOBODY] = none
        return found

    @property
    def damping(self) -> Floats:
        """BM25's length norm of each message; worked out anew at each call."""
        return _damping(self.columns.length)

    @property
    def damping_around(self) -> Floats:
        """BM25's length norm of each message with its neighbours; worked out at each call."""
        return _damping(self._around.now)

    def terms_of(self, positions: Ints) -> tuple[Longs, Longs, Terms]:
        """All terms of these messages: at which of the positions, at which place, which term."""
        length = self.columns.length[positions]
        ends = np.cumsum(length)
        message = np.repeat(np.arange(len(positions)), length)
        place = np.arange(len(message)) - np.repeat(ends - length, length)
        return message, place, self._stream.now[self._starts.now[positions][message] + place]

    def positions_mask(self, seqs: Collection[int]) -> NDArray[np.bool_]:
        """Which positions hold these messages."""
        if not seqs:
            return np.zeros(len(self), dtype=np.bool_)
        wanted = np.fromiter(seqs, np.int64, len(seqs))
        before = int(wanted.min()) - 1
        is_wanted = np.zeros(int(wanted.max()) - before + 2, np.bool_)
        is_wanted[wanted - before] = True
        # Neither end is wanted: whoever lies beyond is not either. `isin` takes longer to begin.
        return is_wanted.take(self.columns.seq - before, mode="clip")

    def holding(self, words: Sequence[Sequence[int]]) -> Held:
        """For each word the messages that hold any of its terms, and how often."""
        terms = _terms_of(words)
        found = joined([block.holding(terms) for block in self._blocks])
        return found if len(terms) == len(words) else found.by_word(list(map(len, words)))

    def knows(self, words: Sequence[Sequence[int]]) -> list[bool]:
        """For each word whether any of its terms stands anywhere."""
        frequency = iter(self._frequencies(_terms_of(words)).tolist())
        return [sum(next(frequency) for _ in word) > 0 for word in words]

    def most_frequent(self, terms: Terms) -> int | None:
        """Which of these terms stands in most messages; None where none stands anywhere."""
        frequency = self._frequencies(terms)
        most = frequency.max(initial=0)
        if not most:
            return None
        equals = np.flatnonzero(frequency == most)
        return int(equals[terms[equals].argmin()])

    def _frequencies(self, terms: Terms) -> Longs:
        frequency: Longs = np.sum([block.frequencies(terms) for block in self._blocks], axis=0)
        return frequency

    def _take_stock(self, added: Columns) -> None:
        if not len(added):
            return
        if len(added) == len(self):
            self.first_at = self.last_at = int(added.said_at[0])
        self._log_length += float(np.log1p(added.characters, dtype=np.float64).sum())
        self.has_companion |= bool(added.is_companion.any())
        self.first_at = min(self.first_at, int(added.said_at.min()))
        self.last_at = max(self.last_at, int(added.said_at.max()))

    def _append_block(self, first: int) -> None:
        """Postings of the messages from `first`, folded into those before as they add up."""
        sizes = [block.message_count for block in self._blocks] + [len(self) - first]
        while len(sizes) > 1 and sizes[-2] < min(_LARGE, sizes[-1] * _FOLDED_AT_SHARE):
            sizes[-2:] = [sizes[-2] + sizes[-1]]
        kept = len(sizes) - 1
        self._blocks[kept:] = [self._postings_between(len(self) - sizes[-1], len(self))]

    def _postings_between(self, first: int, end: int) -> Postings:
        terms = self._stream.now[self._starts.now[first] : self._starts.now[end]]
        return postings_of(terms, self.columns.length[first:end], first)

    def _relink(self, sessions: Ints) -> None:
        """Chain the messages of these sessions anew."""
        session = self.columns.session
        # Mostly it is one; `isin` takes longer to begin.
        is_touched = session == sessions[0] if len(sessions) == 1 else np.isin(session, sessions)
        touched = np.flatnonzero(is_touched).astype(np.int32)
        self.previous[touched] = self.following[touched] = NOBODY
        self._link(touched[_order(self.columns, touched)])
        self._around.now[touched] = self._length_around(touched)

    def _link(self, order: Ints) -> None:
        """Chain messages that follow each other in `order` and share a session."""
        earlier, later = order[:-1], order[1:]
        same = self.columns.session[earlier] == self.columns.session[later]
        self.previous[later[same]] = earlier[same]
        self.following[earlier[same]] = later[same]

    def _length_around(self, positions: Ints) -> Floats:
        """How many terms each message has together with its neighbours."""
        length = self.columns.length
        around = length[positions]
        for links in (self.previous, self.following):
            around = around + self.neighbour(length, links[positions], 0)
        return around.astype(np.float32)

    def _place_vectors(self, places: NDArray[np.integer], vectors: Floats) -> None:
        if vectors.shape[1] != self._vectors.dimension:
            self._vectors = self._none(len(self), vectors.shape[1])
        self._vectors.place(places, vectors)
        there = _is_there(vectors)
        self.understood[places] = there & self._understands(places)
        remaining = {model: old.without(places[there]) for model, old in self._former.items()}
        self._former = {model: old for model, old in remaining.items() if len(old.positions)}

    def _none(self, count: int, dimension: int) -> Directions:
        nothing = np.zeros((count, dimension), np.float32)
        return Directions(nothing, is_narrow=self.is_narrow, room=self._room)

    def _understands(self, places: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether a vector of what is said there means something."""
        mute = [language in CJK_LANGUAGES for language in self.numbering.languages.known]
        understood: NDArray[np.bool_] = ~np.array([*mute, False], np.bool_)[
            self.columns.language[places]
        ]
        return understood

    def _places_of(self, seqs: Sequence[int]) -> NDArray[np.integer]:
        places = np.flatnonzero(self.positions_mask(seqs))
        places = places[np.argsort(self.columns.seq[places])]
        found: NDArray[np.integer] = places[np.searchsorted(self.columns.seq[places], seqs)]
        return found


def _order(columns: Columns, at: NDArray[np.integer]) -> Ints:
    """In which order to take these messages: those of a session as they were said."""
    order = np.lexsort((columns.seq[at], columns.said_at[at], columns.session[at]))
    return order.astype(np.int32)


def _is_there(vectors: Floats) -> NDArray[np.bool_]:
    # Hardly any embedding begins with three zeros: only those that do are looked at whole.
    there: NDArray[np.bool_] = np.logical_or.reduce(vectors[:, :3], axis=1)
    doubtful = np.flatnonzero(~there)
    if len(doubtful):
        there[doubtful] = vectors[doubtful].any(axis=1)
    return there


def _damping(length: NDArray[np.generic]) -> Floats:
    mean = max(float(length.mean(dtype=np.float64)) if len(length) else 0.0, 1.0)
    damping = length.astype(np.float32)
    damping *= np.float32(SATURATION * _LENGTH_SHARE / mean)
    damping += np.float32(SATURATION * (1 - _LENGTH_SHARE))
    return damping


def _terms_of(words: Sequence[Sequence[int]]) -> Terms:
    return np.array([term for word in words for term in word], np.uint32)


def _starts(length: Longs) -> Longs:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])


def _reordered(stream: Terms, length: Longs, order: NDArray[np.integer]) -> Terms:
    """The stream of the messages in `order`."""
    starts, taken = _starts(length)[order], length[order]
    ends = np.cumsum(taken)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - taken, taken)
    reordered: Terms = stream[np.repeat(starts, taken) + within]
    return reordered
