"""Belief results: the beliefs that a search found, scored, without repetitions and in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Entity, MemoryState, StoredBelief
from oldfriend.domain.supersession import has_same_key
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import get_traits
from oldfriend.search.attribute_lookup import AttributeValues
from oldfriend.search.belief_weight import BeliefRanker
from oldfriend.search.document_terms import encode_document_terms
from oldfriend.search.entity_graph import ReachedRelation
from oldfriend.search.own_names import find_own_names, to_first_person
from oldfriend.search.question_patterns import RequestedAttribute
from oldfriend.search.role_holders import NOBODY_CALLED, CalledByRole
from oldfriend.search.safety_topic import find_safety_topics
from oldfriend.search.score import (
    CURRENT_WHERE_FORMER_ASKED,
    NAMED,
    REQUESTED_VALUE,
    Score,
    find_match,
    move_to_place,
    score_reached,
)
from oldfriend.search.synonyms import build_search_text
from oldfriend.search.time_query import RecencyCandidate, rank_newest_first
from oldfriend.search.tokenizer import to_term, tokenize
from oldfriend.search.types import IndexRow, SearchQuery, SearchResult

_MIN_COVERAGE: Final = dict.fromkeys(("es", "fr", "pt", "it"), 0.45)
_MIN_CJK_COVERAGE: Final = 0.22
"""Minimum coverage of the question's words by the best belief, in languages with weak embeddings.

In two simulated lives this refused nine in ten unanswerable questions instead of one in three, and
one in twelve answerable ones.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredBelief:
    """Belief that was found, with a score like that of a message."""

    known: MemoryState
    score: Score


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
        if self.hits and self.hits[0].score.has_cause("asked_for"):
            return True
        found = SearchResult(
            hits=(), answer_probability=self.answer_probability, language=self.language
        )
        return bool(self.hits) and self.answer_probability >= found.threshold and self._has_coverage

    @property
    def _has_coverage(self) -> bool:
        least = _MIN_COVERAGE.get(self.language, 0.0)
        if get_traits(self.language).is_cjk:
            least = _MIN_CJK_COVERAGE
        return find_match(self.hits[0].score.terms, "words") >= least


EMPTY_BELIEF_RESULT: Final = BeliefSearchResult()


def drop_tentative(best_first: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Drop tentative beliefs that rank below a surer one."""
    kept: list[ScoredBelief] = []
    for hit in best_first:
        if hit.known.memory.status == "tentative" and kept:
            continue
        kept.append(hit)
    return kept


def ask_in_first_person(
    query: SearchQuery, named_entities: Sequence[Entity]
) -> tuple[SearchQuery, bool]:
    """Return the query as the person would ask it of themselves, and whether it named them."""
    names = find_own_names(query.text, query.own_names, query.language, others=named_entities)
    text = to_first_person(query.text, names, query.language)
    return replace(query, text=text), bool(names)


def build_reached_hit(
    reached: ReachedRelation, name: str | None, ranker: BeliefRanker
) -> ScoredBelief:
    return build_hit(reached.known, score_reached(reached.score, name), ranker, is_named=False)


def put_requested_first(
    values: AttributeValues, others: Sequence[ScoredBelief], ranker: BeliefRanker
) -> list[ScoredBelief]:
    """Put the values of the requested attribute before what was found by words."""
    found = {hit.known.base_seq: hit for hit in others}
    first = drop_tentative(build_value_hits(values.matching, ranker))
    first_seqs = {hit.known.base_seq for hit in first}
    return [*first, *(hit for base, hit in found.items() if base not in first_seqs)]


def build_value_hits(values: Sequence[MemoryState], ranker: BeliefRanker) -> list[ScoredBelief]:
    """Build hits for values of the requested attribute, best first."""
    requested = Score((REQUESTED_VALUE,))
    hits = [build_hit(each, requested, ranker, is_named=False) for each in values]
    return sorted(hits, key=lambda hit: (-hit.score.value, -hit.known.base_seq))


def build_safety_hits(
    query: SearchQuery, known: Sequence[MemoryState], ranker: BeliefRanker
) -> list[ScoredBelief]:
    """Build hits for what harms somebody, if the question is about food or health."""
    is_asked = bool(known) and bool(find_safety_topics(query.text, query.language))
    return build_value_hits(known, ranker) if is_asked else []


def build_hit(
    known: MemoryState, found: Score, ranker: BeliefRanker, *, is_named: bool
) -> ScoredBelief:
    """Build the hit for a belief with the score that its words have."""
    if is_named:
        found = found.then(NAMED)
    return ScoredBelief(known=known, score=ranker.weigh(found, known, is_named=is_named))


def to_index_row(known: MemoryState) -> IndexRow:
    memory = known.memory
    when = memory.happened_at if memory.kind == "event" else None
    return IndexRow(
        seq=known.base_seq,
        chat="",
        session=memory.id,
        speaker="",
        language=memory.language,
        said_at=known.stats.last_seen if when is None else when,
        role="person" if memory.subject in {"person", "shared"} else "other",
        imprint=encode_document_terms(build_search_text(memory), language=memory.language),
    )


DedupKey: TypeAlias = tuple[object, ...]

CACHE_SIZE: Final = 65_536


def demote_current_values(hits: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Lower the scores of current values that have a former one among the hits."""
    past = [each.known.memory for each in hits if each.known.memory.ended_at is not None]
    return [
        replace(each, score=each.score.then(CURRENT_WHERE_FORMER_ASKED))
        if _is_successor(each.known.memory, past)
        else each
        for each in hits
    ]


def _is_successor(memory: StoredBelief, past: Sequence[StoredBelief]) -> bool:
    """Tell whether a belief is current and its key has a former value in `past`."""
    if memory.ended_at is not None:
        return False
    is_relation = memory.kind == "triple"
    return any(
        has_same_key(memory, each) if is_relation else memory.key == each.key for each in past
    )


def deduplicate(best_first: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Keep the best of the hits that say the same."""
    best: dict[DedupKey, ScoredBelief] = {}
    for hit in best_first:
        best.setdefault(build_dedup_key(hit.known.memory), hit)
    return list(best.values())


def sort_by_date(best_first: Sequence[ScoredBelief], now: Micros | None) -> list[ScoredBelief]:
    """Sort comparably good hits by date, newest first; those in the future come last."""
    dates = [get_belief_date(hit.known) for hit in best_first]
    past_dates = [at if now is None or at <= now else 0 for at in dates]
    order = rank_newest_first(
        [
            RecencyCandidate(hit.score.value, find_match(hit.score.terms, "words"), at)
            for hit, at in zip(best_first, past_dates, strict=True)
        ]
    )
    return [
        replace(best_first[index], score=move_to_place(best_first[index].score, hit.score))
        for index, hit in zip(order, best_first, strict=True)
    ]


def get_belief_date(known: MemoryState) -> Micros:
    """Return when it happened, began or was last observed."""
    memory, stats = known.memory, known.stats
    if memory.kind == "pattern":
        return stats.last_seen
    return memory.happened_at or memory.holds_from or stats.first_seen


def build_dedup_key(memory: StoredBelief) -> DedupKey:
    """Return the key that a belief shares with every other that says the same."""
    about = (memory.subject, memory.key.casefold(), _time_key(memory))
    if memory.kind == "triple":
        return (*about, *memory.entities)
    if memory.key and memory.value:
        return (*about, "value", *normalize_terms(memory.value, memory.language))
    return (*about, memory.kind, *normalize_terms(memory.text, memory.language))


@text_lru_cache(CACHE_SIZE)
def normalize_terms(text: str, language: str) -> tuple[int, ...]:
    """Return the terms of a text's words, in order."""
    return tuple(to_term(word, language) for word in tokenize(text))


def _time_key(memory: StoredBelief) -> tuple[Micros | None, ...]:
    """Return the times that tell beliefs apart: of an event, and of what has ended."""
    if memory.ended_at is None:
        return memory.happened_at, memory.due_at
    return memory.happened_at, memory.due_at, memory.holds_from, memory.holds_until
