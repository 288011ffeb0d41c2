"""What is known of each message beside its words and its vector? One array for each property.

Rows come in as the database gives them; their imprints are read here, all at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    is_companion: NDArray[np.bool_]
    signs: Terms
    characters: Ints
    length: Longs  # in terms

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(int(getattr(self, part.name).nbytes) for part in fields(self))

    def taken(self, positions: NDArray[np.integer]) -> Self:
        """The same columns, only these messages, in this order."""
        return type(self)(
            **{part.name: getattr(self, part.name)[positions] for part in fields(self)}
        )

    def followed_by(self, later: Self) -> Self:
        """These messages and then those."""
        return type(self)(
            **{
                part.name: np.concatenate([getattr(self, part.name), getattr(later, part.name)])
                for part in fields(self)
            }
        )


@dataclass(slots=True)
class Numbering:
    """Which number each session, speaker and language has in one person's index."""

    sessions: Names = field(default_factory=Names)
    speakers: Names = field(default_factory=Names)
    languages: Names = field(default_factory=Names)


def read_rows(rows: Sequence[Row], numbering: Numbering) -> tuple[Columns, Terms]:
    """The columns of rows, and their terms one message after the other."""
    seqs, chats, sessions, said_at, speakers, roles, languages, imprints = (
        zip(*rows, strict=True) if rows else ((),) * 8
    )
    numbers = np.frombuffer(b"".join(imprints), dtype="<u4")
    words = np.fromiter(map(len, imprints), np.int64, len(rows)) // 4
    heads = np.cumsum(words) - words
    # A message without an imprint has no header; it reads another's and is blanked below.
    has_words = words > 0
    safe = np.where(has_words, heads, 0)
    padded = numbers if len(numbers) >= HEADER_WORDS else np.zeros(HEADER_WORDS, np.uint32)
    columns = Columns(
        seq=np.array(seqs, dtype=np.int64),
        said_at=np.array(said_at, dtype=np.int64),
        session=numbering.sessions.numbered(
            [f"{chat}\0{session}" for chat, session in zip(chats, sessions, strict=True)]
        ),
        speaker=numbering.speakers.numbered(speakers),
        language=numbering.languages.numbered(languages),
        is_companion=np.fromiter((role == "companion" for role in roles), np.bool_, len(rows)),
        signs=np.where(has_words, padded[safe] >> np.uint32(8), 0).astype(np.uint32),
        characters=np.where(has_words, padded[safe + 1], 0).astype(np.int32),
        length=np.maximum(words - HEADER_WORDS, 0),
    )
    is_term = np.ones(len(numbers), dtype=np.bool_)
    for offset in range(HEADER_WORDS):
        is_term[heads[has_words] + offset] = False
    return columns, numbers[is_term].astype(np.uint32)
