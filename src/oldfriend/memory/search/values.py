"""What goes into a search and what comes out? Plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

# The highest threshold at which nine of ten questions that have an answer are answered, each
# judged by what was learned without its conversation; `scripts/learn_fusion.py` says it.
GOOD_ENOUGH: Final = 0.38
# To an English-only embedder all that is said in a Romance language is alike: in small histories
# .38 answered 83 % of Spanish and 66 % of French questions that had no answer, .6 two of five.
GOOD_ENOUGH_IN: Final[Mapping[str, float]] = dict.fromkeys(("es", "fr", "pt", "it"), 0.6)


class IndexRow(NamedTuple):
    """What the index knows of one message; a database row in this order will do as well."""

    seq: int
    chat: str
    session: str
    said_at: int
    speaker: str
    role: str
    language: str
    imprint: bytes


class Usual(NamedTuple):
    """What the cosines of a question with texts that have nothing to do with it are like."""

    mean: float
    deviation: float


# As the model has it whose cosines the weights were learned on; another's are brought to this.
LEARNED: Final = Usual(mean=0.10, deviation=0.073)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sense:
    """A question as one model understands it."""

    vector: Floats
    usual: Usual = LEARNED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What somebody wants to know."""

    text: str
    language: str
    sense: Sense | None = None  # None: words alone
    former: Mapping[str, Sense | None] = field(default_factory=dict)  # by models of before
    asked_at: int | None = None  # µs since 1970, UTC
    zone_offset_s: int = 0  # where the asker's day begins
    is_timeless: bool = False  # the times that it names are not looked at
    exclude: frozenset[int] = frozenset()
    exact: Mapping[int, float] = field(default_factory=dict)  # cosines by whole vectors, by seq


Cause = Literal[
    "words",  # these words of the question stand in the message
    "words_near",  # … in the messages just before or after it
    "meaning",  # close in meaning
    "said_by",  # said by the one who is asked about
    "own_words",  # the question says "I", and the person said it
    "mentions",  # speaks of the one who is asked about
    "date",  # said when the question asks about
    "session",  # its conversation matches as a whole
    "answers",  # follows a message that asks the same
    "asked_for",  # of a belief: it is a value of what is asked for, in whatever language
    "reached",  # of a tie: it is one of somebody named, or of somebody tied to them
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One cause for which a message was found, with what it rests on."""

    cause: Cause
    words: tuple[str, ...] = ()  # as in the question; a misspelt one as it was read
    name: str | None = None  # who is meant, for said_by and mentions; at whom it was reached
    strength: float = 0.0  # 0…1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that was found; `score` runs from 0 to 1."""

    seq: int
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best messages, best first, and how likely it is that any of them answers."""

    hits: tuple[Hit, ...]
    answerable: float  # probability, 0…1
    language: str = ""  # of the question

    @property
    def threshold(self) -> float:
        """How likely an answer must be for it to be given."""
        return GOOD_ENOUGH_IN.get(self.language, GOOD_ENOUGH)

    @property
    def is_good_enough(self) -> bool:
        """Is it more honest to answer from these hits than to say that nothing is known?"""
        return bool(self.hits) and self.answerable >= self.threshold
