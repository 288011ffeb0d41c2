"""What is known of each message beside its words and its vector? One array for each property.

Rows come in as the database gives them; their imprints are read here, all at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.growing import Growing
from oldfriend.memory.search.imprint import HEADER_WORDS
from oldfriend.memory.search.values import Ints

Row: TypeAlias = tuple[int, str, str, int, str, str, str, bytes]
Longs: TypeAlias = NDArray[np.int64]
Terms: TypeAlias = NDArray[np.uint32]


@dataclass(slots=True)
class Names:
    """Strings that repeat, each with a number."""

    numbers: dict[str, int] = field(default_factory=dict)

    def numbered(self, names: Sequence[str]) -> Ints:
        """The number of each name; new names get the next ones."""
        for name in dict.fromkeys(names):
            self.numbers.setdefault(name, len(self.numbers))
        return np.fromiter(map(self.numbers.__getitem__, names), np.int32, len(names))

    @property
    def known(self) -> list[str]:
        """The names in the order of their numbers."""
        return list(self.numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """The messages of one person; position i of each array is the same message."""

    seq: Longs
    said_at: Longs
    session: Ints
    speaker: Ints
    language: Ints
    is_person: NDArray[np.bool_]  # the person's own words
    is_companion: NDArray[np.bool_]
    signs: Terms
    characters: Ints
    length: Longs  # in terms

    def __len__(self) -> int:
        return len(self.seq)

    def taken(self, positions: NDArray[np.integer]) -> Self:
        """The same columns, only these messages, in this order."""
        return type(self)(
            **{part.name: getattr(self, part.name)[positions] for part in fields(self)}
        )


class GrowingColumns:
    """Columns to which messages can be added; `now` are those there are."""

    __slots__ = ("_growing", "now")

    def __init__(self, columns: Columns, *, room: int = 0) -> None:
        """Begin with these messages, with room for so many."""
        self.now = columns
        self._growing = {
            part.name: Growing(getattr(columns, part.name), room=room) for part in fields(Columns)
        }

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take with their room."""
        return sum(column.nbytes for column in self._growing.values())

    def append(self, columns: Columns) -> None:
        """Add these messages at the end."""
        for name, column in self._growing.items():
            column.append(getattr(columns, name))
        self.now = Columns(**{name: column.now for name, column in self._growing.items()})


@dataclass(slots=True)
class Numbering:
    """Which number each session, speaker and language has in one person's index."""

    chats: Names = field(default_factory=Names)
    session_names: Names = field(default_factory=Names)
    sessions: dict[int, int] = field(default_factory=dict)  # of a chat and a name
    speakers: Names = field(default_factory=Names)
    languages: Names = field(default_factory=Names)

    def session_numbers(self, chats: Sequence[str], names: Sequence[str]) -> Ints:
        """The number of each session; two chats may call theirs by the same name."""
        pairs = self.chats.numbered(chats).astype(np.int64) << 32
        pairs |= self.session_names.numbered(names)
        numbers = [self.sessions.setdefault(pair, len(self.sessions)) for pair in pairs.tolist()]
        return np.array(numbers, dtype=np.int32)


def read_rows(rows: Sequence[Row], numbering: Numbering) -> tuple[Columns, Terms]:
    """The columns of rows, and their terms one message after the other."""
    seqs = np.fromiter(map(itemgetter(0), rows), np.int64, len(rows))
    said_at = np.fromiter(map(itemgetter(3), rows), np.int64, len(rows))
    chats, sessions, speakers, roles, languages = (
        list(map(itemgetter(at), rows)) for at in (1, 2, 4, 5, 6)
    )
    imprints: list[bytes] = list(map(itemgetter(7), rows))
    numbers = np.frombuffer(b"".join(imprints), dtype="<u4")
    words = np.fromiter(map(len, imprints), np.int64, len(rows)) // 4
    heads = np.cumsum(words) - words
    # A message without an imprint has no header; it reads another's and is blanked below.
    has_words = words > 0
    safe = np.where(has_words, heads, 0)
    padded = numbers if len(numbers) >= HEADER_WORDS else np.zeros(HEADER_WORDS, np.uint32)
    columns = Columns(
        seq=seqs,
        said_at=said_at,
        session=numbering.session_numbers(chats, sessions),
        speaker=numbering.speakers.numbered(speakers),
        language=numbering.languages.numbered(languages),
        is_person=np.fromiter(map("person".__eq__, roles), np.bool_, len(rows)),
        is_companion=np.fromiter(map("companion".__eq__, roles), np.bool_, len(rows)),
        signs=np.where(has_words, padded[safe] >> np.uint32(8), 0).astype(np.uint32),
        characters=np.where(has_words, padded[safe + 1], 0).astype(np.int32),
        length=np.maximum(words - HEADER_WORDS, 0),
    )
    is_term = np.ones(len(numbers), dtype=np.bool_)
    for offset in range(HEADER_WORDS):
        is_term[heads[has_words] + offset] = False
    return columns, numbers[is_term].astype(np.uint32)
