"""Quoted span: a part of a message that is not the author's own words, and how it was found."""

from dataclasses import dataclass
from typing import Final, Literal

BorrowedKind = Literal["quoted", "pasted", "logged", "letter", "machine", "fiction", "disguised"]
SAID_TO_PERSON: Final[frozenset[BorrowedKind]] = frozenset({"quoted"})
"""Kinds that somebody may have said to the person, so that they may be told as an event."""


@dataclass(frozen=True, slots=True)
class BorrowedSpan:
    """A part of a message that is not its author's own statement."""

    start: int
    end: int
    kind: BorrowedKind

    @property
    def is_pasted(self) -> bool:
        """Tell whether the text comes from elsewhere; False if it was said to the person."""
        return self.kind not in SAID_TO_PERSON
