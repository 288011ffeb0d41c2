"""Term columns: one array for each property of the messages in an index.

Built from database rows; the encoded terms of all rows are decoded at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.document_terms import HEADER_WORDS, NGRAM_TERMS_VERSION
from oldfriend.search.types import Ints
from oldfriend.search.vector_array import GrowableArray

Row: TypeAlias = tuple[int, str, str, int, str, str, str, bytes]
Longs: TypeAlias = NDArray[np.int64]
Terms: TypeAlias = NDArray[np.uint32]


@dataclass(slots=True)
class StringInterner:
    """Strings with consecutive ids."""

    ids: dict[str, int] = field(default_factory=dict)

    def intern(self, strings: Sequence[str]) -> Ints:
        """Return the id of each string; a new string gets the next id."""
        for name in dict.fromkeys(strings):
            self.ids.setdefault(name, len(self.ids))
        return np.fromiter(map(self.ids.__getitem__, strings), np.int32, len(strings))

    @property
    def strings(self) -> list[str]:
        """The strings in the order of their ids."""
        return list(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """Message properties as arrays; position i of each array belongs to the same message."""

    seq: Longs
    said_at: Longs
    session: Ints
    speaker: Ints
    language: Ints
    is_person: NDArray[np.bool_]  # said by the person
    is_companion: NDArray[np.bool_]
    features: Terms
    characters: Ints
    length: Longs  # in terms
    ngram_count: Ints

    def __len__(self) -> int:
        return len(self.seq)

    def take(self, positions: NDArray[np.integer]) -> Self:
        """Return columns with only the messages at these positions, in this order."""
        return type(self)(
            **{part.name: getattr(self, part.name)[positions] for part in fields(self)}
        )


class GrowableColumns:
    """Columns that can grow; `current` holds the messages so far."""

    __slots__ = ("_arrays", "current")

    def __init__(self, columns: Columns, *, capacity: int = 0) -> None:
        """Start with these messages, and capacity for `capacity`."""
        self.current = columns
        self._arrays = {
            part.name: GrowableArray(getattr(columns, part.name), capacity=capacity)
            for part in fields(Columns)
        }

    @property
    def nbytes(self) -> int:
        """Memory use in bytes, spare capacity included."""
        return sum(column.nbytes for column in self._arrays.values())

    def append(self, columns: Columns) -> None:
        """Append these messages."""
        for name, column in self._arrays.items():
            column.append(getattr(columns, name))
        self.current = Columns(**{name: column.values for name, column in self._arrays.items()})


@dataclass(slots=True)
class InternTables:
    """Ids of the sessions, speakers and languages in one person's index."""

    chats: StringInterner = field(default_factory=StringInterner)
    session_names: StringInterner = field(default_factory=StringInterner)
    sessions: dict[int, int] = field(default_factory=dict)  # by chat id << 32 | session name id
    speakers: StringInterner = field(default_factory=StringInterner)
    languages: StringInterner = field(default_factory=StringInterner)

    def intern_sessions(self, chats: Sequence[str], names: Sequence[str]) -> Ints:
        """Return the id of each session; equal names in two chats are different sessions."""
        pairs = self.chats.intern(chats).astype(np.int64) << 32
        pairs |= self.session_names.intern(names)
        numbers = [self.sessions.setdefault(pair, len(self.sessions)) for pair in pairs.tolist()]
        return np.array(numbers, dtype=np.int32)


def build_columns(rows: Sequence[Row], tables: InternTables) -> tuple[Columns, Terms, Terms]:
    """Build the columns of these rows; also return their terms and n-grams, concatenated."""
    seqs = np.fromiter(map(itemgetter(0), rows), np.int64, len(rows))
    said_at = np.fromiter(map(itemgetter(3), rows), np.int64, len(rows))
    chats, sessions, speakers, roles, languages = (
        list(map(itemgetter(at), rows)) for at in (1, 2, 4, 5, 6)
    )
    encoded: list[bytes] = list(map(itemgetter(7), rows))
    numbers = np.frombuffer(b"".join(encoded), dtype="<u4")
    words = np.fromiter(map(len, encoded), np.int64, len(rows)) // 4
    header_starts = np.cumsum(words) - words
    # A message without encoded terms has no header: it reads another one's and is zeroed below.
    has_header = words > 0
    safe_starts = np.where(has_header, header_starts, 0)
    padded = numbers if len(numbers) >= HEADER_WORDS else np.zeros(HEADER_WORDS, np.uint32)
    has_ngrams = has_header & (padded[safe_starts] & np.uint32(0xFF) == NGRAM_TERMS_VERSION)
    ngram_counts = np.where(has_ngrams, padded[safe_starts + 2], 0).astype(np.int32)
    columns = Columns(
        seq=seqs,
        said_at=said_at,
        session=tables.intern_sessions(chats, sessions),
        speaker=tables.speakers.intern(speakers),
        language=tables.languages.intern(languages),
        is_person=np.fromiter(map("person".__eq__, roles), np.bool_, len(rows)),
        is_companion=np.fromiter(map("companion".__eq__, roles), np.bool_, len(rows)),
        features=np.where(has_header, padded[safe_starts] >> np.uint32(8), 0).astype(np.uint32),
        characters=np.where(has_header, padded[safe_starts + 1], 0).astype(np.int32),
        length=np.maximum(words - HEADER_WORDS - ngram_counts, 0),
        ngram_count=ngram_counts,
    )
    is_term = np.ones(len(numbers), dtype=np.bool_)
    for offset in range(HEADER_WORDS):
        is_term[header_starts[has_header] + offset] = False
    if not has_ngrams.any():
        return columns, numbers[is_term].astype(np.uint32), np.zeros(0, np.uint32)
    ends = np.cumsum(words)
    is_ngram = np.zeros(len(numbers), dtype=np.bool_)
    within = np.arange(int(ngram_counts.sum())) - np.repeat(
        np.cumsum(ngram_counts) - ngram_counts, ngram_counts
    )
    is_ngram[np.repeat(ends - ngram_counts, ngram_counts) + within] = True
    is_term &= ~is_ngram
    return columns, numbers[is_term].astype(np.uint32), numbers[is_ngram].astype(np.uint32)
