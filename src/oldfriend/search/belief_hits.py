"""Belief hits: beliefs that were found, scored as hits, and the rows that a search index holds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.search.attribute_lookup import (
    REQUESTED_VALUE,
    VALUE_CONFIDENCE,
    AttributeValues,
)
from oldfriend.search.belief_results import ScoredBelief, drop_tentative
from oldfriend.search.belief_score import BeliefRanker
from oldfriend.search.document_terms import encode_document_terms
from oldfriend.search.entity_graph import ReachedRelation
from oldfriend.search.own_names import find_own_names, to_first_person
from oldfriend.search.safety_topic import find_safety_topics
from oldfriend.search.synonyms import build_search_text
from oldfriend.search.types import IndexRow, Reason, SearchQuery

NAME_MENTION: Final = Reason(cause="mentions", strength=0.3)
_NAMED_BONUS: Final = 0.2  # added to the similarity of a belief about an entity that is named


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
    reason = Reason(cause="reached", name=name, strength=reached.score)
    score = ranker.score(reached.known, reached.score, is_named=False)
    return ScoredBelief(known=reached.known, score=score, reasons=(reason,))


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
    hits = [
        build_hit(each, VALUE_CONFIDENCE, (REQUESTED_VALUE,), ranker, is_named=False)
        for each in values
    ]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.known.base_seq))


def build_safety_hits(
    query: SearchQuery, known: Sequence[MemoryState], ranker: BeliefRanker
) -> list[ScoredBelief]:
    """Build hits for what harms somebody, if the question is about food or health."""
    is_asked = bool(known) and bool(find_safety_topics(query.text, query.language))
    return build_value_hits(known, ranker) if is_asked else []


def build_hit(
    known: MemoryState,
    similarity: float,
    reasons: tuple[Reason, ...],
    ranker: BeliefRanker,
    *,
    is_named: bool,
) -> ScoredBelief:
    if is_named:
        similarity, reasons = min(similarity + _NAMED_BONUS, 1.0), (*reasons, NAME_MENTION)
    return ScoredBelief(
        known=known, score=ranker.score(known, similarity, is_named=is_named), reasons=reasons
    )


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
