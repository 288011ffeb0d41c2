"""Search types: the values that go into a search and come out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.score import Reason, Score

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


def multiply(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """Return the matrix product of finite arrays.

    BLAS sometimes flags what lies beyond the arrays as invalid, which says nothing of the product.
    """
    with np.errstate(invalid="ignore"):
        product: Floats = left @ right
    return product


# The highest threshold at which nine of ten answerable questions are answered, cross-validated by
# conversation; `scripts/learn_fusion.py` prints it.
MIN_ANSWER_PROBABILITY: Final = 0.37
# To an English-only embedder all texts in a Romance language are similar: in small histories .37
# answered 71 % of the Spanish and 58 % of the French questions without an answer, .6 a quarter to a
# third.
MIN_ANSWER_PROBABILITY_BY_LANGUAGE: Final[Mapping[str, float]] = dict.fromkeys(
    ("es", "fr", "pt", "it"), 0.6
)


class IndexRow(NamedTuple):
    """Input of the index for one message; a database row in this order works as well."""

    seq: int
    chat: str
    session: str
    said_at: int
    speaker: str
    role: str
    language: str
    imprint: bytes


class SimilarityBaseline(NamedTuple):
    """Mean and standard deviation of a query's cosines with unrelated texts."""

    mean: float
    deviation: float


# Baseline of the model that the weights were trained with; other models' cosines are scaled to it.
TRAINING_BASELINE: Final = SimilarityBaseline(mean=0.10, deviation=0.073)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryEmbedding:
    """Query embedding of one model, with its baseline."""

    vector: Floats
    baseline: SimilarityBaseline = TRAINING_BASELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageScope:
    """Limits on the messages that may be found; those left at their defaults do not apply."""

    since: int | None = None  # µs since 1970, UTC
    until: int | None = None  # excluded
    role: Literal["", "person", "companion"] = ""  # who said it
    speakers: tuple[str, ...] = ()  # one of these said it, by the name that stands in the log
    names: tuple[str, ...] = ()  # one of these says it, or it or a message beside it names them
    seqs: frozenset[int] | None = None  # it is one of these


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchQuery:
    """Query of a search and its context."""

    text: str
    language: str
    embedding: QueryEmbedding | None = None  # None: search by words alone
    # By previous embedding model.
    legacy_embeddings: Mapping[str, QueryEmbedding | None] = field(default_factory=dict)
    asked_at: int | None = None  # µs since 1970, UTC
    zone_offset_s: int = 0  # of the asker's time zone
    is_timeless: bool = False  # ignore the dates in the text
    own_names: tuple[str, ...] = ()  # names of the asker
    # By a word for a role, folded, the names of those whom it means.
    names_by_role: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: frozenset[int] = frozenset()
    scope: MessageScope | None = None  # None: all messages
    exact_cosines: Mapping[int, float] = field(default_factory=dict)  # of exact vectors, by seq


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMessage:
    """Message that was found."""

    seq: int
    score: Score

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it was found."""
        return self.score.reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Best messages, best first, and the probability that any of them answers."""

    hits: tuple[ScoredMessage, ...]
    answer_probability: float  # probability, 0…1
    language: str = ""  # of the question

    @property
    def threshold(self) -> float:
        """Minimum answer probability for giving an answer."""
        return MIN_ANSWER_PROBABILITY_BY_LANGUAGE.get(self.language, MIN_ANSWER_PROBABILITY)

    @property
    def is_answerable(self) -> bool:
        """Whether answering from these hits is better than saying that nothing is known."""
        return bool(self.hits) and self.answer_probability >= self.threshold
