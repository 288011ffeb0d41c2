"""Spans: the sentences of a message, and the parts that are not the author's own words."""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.turn.attribution.cues import fold_punctuation

ENDS: Final = frozenset(".!?。！？…\n．")


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """A sentence of a message with its offsets."""

    start: int
    end: int
    text: str  # folded


def find_sentences(text: str) -> list[SentenceSpan]:
    """Return the sentences of a text with their offsets."""
    sentences, start = [], 0
    for at, character in enumerate(text):
        is_last = at + 1 == len(text)
        following = text[at + 1 : at + 2]
        is_end = character in ENDS and not (character == "." and following.isalnum())
        if (is_end and following not in ENDS) or is_last:
            if any(map(str.isalnum, text[start : at + 1])):
                sentences.append(
                    SentenceSpan(start, at + 1, fold_punctuation(text[start : at + 1]))
                )
            start = at + 1
    return sentences


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
