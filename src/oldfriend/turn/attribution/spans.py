"""Spans: the sentences of a message, and the parts that are not the author's own words."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import LANGUAGES, get_traits
from oldfriend.turn.attribution.cues import fold_punctuation

CACHE_SIZE: Final = 512
ENDS: Final = frozenset(".!?。！？…\n．")
SHORTENED: Final = re.compile(
    r"""
    (?: ^ | [^\w.] )
    (?:
        (?P<word> [^\W\d_]{2,6} )          # "Dr", if it is an abbreviation of some language
        | (?P<initial> [^\W\d_] )          # "J" of "J. Mackie"
        | [^\W\d_]{1,2} (?: \.[^\W\d_]{1,2} )+  # "e.g", "z.B"
    )
    \Z
    """,
    re.VERBOSE,
)
MAX_SHORTENED_LENGTH: Final = 10
SPACED_INITIAL: Final = re.compile(r"[ \u00a0][^\W\d_]\.")
"""The rest of "z. B.", behind its first full stop."""


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """A sentence of a message with its offsets."""

    start: int
    end: int
    text: str  # folded


@text_lru_cache(CACHE_SIZE)
def find_sentences(text: str) -> tuple[SentenceSpan, ...]:
    """Return the sentences of a text with their offsets."""
    sentences: list[SentenceSpan] = []
    start = 0
    for at, character in enumerate(text):
        is_last = at + 1 == len(text)
        following = text[at + 1 : at + 2]
        is_end = character in ENDS and not (
            character == "." and (following.isalnum() or is_shortened(text, at))
        )
        if (is_end and following not in ENDS) or is_last:
            if any(map(str.isalnum, text[start : at + 1])):
                sentences.append(
                    SentenceSpan(start, at + 1, fold_punctuation(text[start : at + 1]))
                )
            start = at + 1
    return tuple(sentences)


def is_shortened(text: str, at: int) -> bool:
    """Return whether a full stop ends only an abbreviation or an initial, and more follows it.

    A single letter counts if it is a capital, or another follows: "J. Mackie", "z. B. Eis".
    """
    behind = text[at + 1 : at + 3]
    found = SHORTENED.search(text[max(0, at - MAX_SHORTENED_LENGTH) : at])
    if found is None or behind[:1] not in {" ", "\u00a0"} or not behind[1:].isalnum():
        return False
    if (initial := found["initial"]) is not None:
        is_capital = initial.isupper() and initial != "I"
        return is_capital or SPACED_INITIAL.match(text, at + 1) is not None
    return found["word"] is None or found["word"].casefold() in load_abbreviations()


@cache
def load_abbreviations() -> frozenset[str]:
    """Return the abbreviations of all languages."""
    return frozenset[str]().union(*(get_traits(code).abbreviations for code in LANGUAGES))


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
