"""Belief results: the beliefs that a search found, and whether they suffice for an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.lang.language_pack import get_traits
from oldfriend.search.attribute_lookup import REQUESTED_VALUE
from oldfriend.search.question_patterns import RequestedAttribute
from oldfriend.search.role_holders import NOBODY_CALLED, CalledByRole
from oldfriend.search.types import Reason, SearchResult

_MIN_COVERAGE: Final = dict.fromkeys(("es", "fr", "pt", "it"), 0.45)
_MIN_CJK_COVERAGE: Final = 0.22
"""Minimum coverage of the question's words by the best belief, in languages with weak embeddings.

In two simulated lives this refused nine in ten unanswerable questions instead of one in three, and
one in twelve answerable ones.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredBelief:
    """Belief that was found, with a score from 0 to 1 like that of a message."""

    known: MemoryState
    score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefSearchResult:
    """Best beliefs, best first, with the answer probability and what the question asks for."""

    hits: tuple[ScoredBelief, ...] = ()
    answer_probability: float = 0.0
    language: str = ""
    named_entities: tuple[Entity, ...] = ()  # named, or called by a role
    called: CalledByRole = NOBODY_CALLED  # whom the question calls by a role
    safety: tuple[ScoredBelief, ...] = ()  # what harms these, if it is about food or health
    requested: RequestedAttribute | None = None  # the attribute that is asked for
    other_times: tuple[ScoredBelief, ...] = ()  # its values of other times, if none matches
    superseded: tuple[MemoryState, ...] = ()  # its ended values, if a current one matches
    is_about_past: bool = False  # the question is about the past
    is_before_now: bool = False  # … and names no time

    @property
    def is_answerable(self) -> bool:
        """Whether answering from these beliefs is better than saying that nothing is known."""
        if self.hits and REQUESTED_VALUE in self.hits[0].reasons:
            return True
        found = SearchResult(
            hits=(), answer_probability=self.answer_probability, language=self.language
        )
        return bool(self.hits) and self.answer_probability >= found.threshold and self._has_coverage

    @property
    def _has_coverage(self) -> bool:
        covered = (reason.strength for reason in self.hits[0].reasons if reason.cause == "words")
        least = _MIN_COVERAGE.get(self.language, 0.0)
        if get_traits(self.language).is_cjk:
            least = _MIN_CJK_COVERAGE
        return max(covered, default=0.0) >= least


EMPTY_BELIEF_RESULT: Final = BeliefSearchResult()


def drop_tentative(best_first: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Drop tentative beliefs that rank below a surer one."""
    kept: list[ScoredBelief] = []
    for hit in best_first:
        if hit.known.memory.status == "tentative" and kept:
            continue
        kept.append(hit)
    return kept
