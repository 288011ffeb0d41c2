"""Search: ranks a person's messages and beliefs by how well they answer a query.

Works on encoded terms and vectors that the caller passes in; uses no database, model or clock.
"""

from oldfriend.search.belief_results import EMPTY_BELIEF_RESULT, BeliefSearchResult, ScoredBelief
from oldfriend.search.belief_search import BeliefIndex
from oldfriend.search.document_terms import encode_document_terms, is_current_encoding
from oldfriend.search.entity_graph import EntityGraph, ReachedRelation
from oldfriend.search.later_links import (
    LaterLink,
    compute_novelty,
    extract_link_terms,
    list_earlier_links,
    list_later_links,
)
from oldfriend.search.message_search import list_rerank_seqs, search
from oldfriend.search.name_index import list_named_entities
from oldfriend.search.near_duplicates import list_older_duplicates
from oldfriend.search.score import Reason, ReasonCause, Score
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.similarity_baseline import (
    CALIBRATION_MODEL,
    CALIBRATION_TEXTS,
    compute_baseline,
)
from oldfriend.search.types import (
    IndexRow,
    QueryEmbedding,
    ScoredMessage,
    SearchQuery,
    SearchResult,
)
from oldfriend.search.vector_codec import build_embedding_text, decode_vectors, encode_vectors

__all__ = [
    "CALIBRATION_MODEL",
    "CALIBRATION_TEXTS",
    "EMPTY_BELIEF_RESULT",
    "BeliefIndex",
    "BeliefSearchResult",
    "EntityGraph",
    "IndexRow",
    "LaterLink",
    "PersonIndex",
    "QueryEmbedding",
    "ReachedRelation",
    "Reason",
    "ReasonCause",
    "Score",
    "ScoredBelief",
    "ScoredMessage",
    "SearchQuery",
    "SearchResult",
    "build_embedding_text",
    "compute_baseline",
    "compute_novelty",
    "decode_vectors",
    "encode_document_terms",
    "encode_vectors",
    "extract_link_terms",
    "is_current_encoding",
    "list_earlier_links",
    "list_later_links",
    "list_named_entities",
    "list_older_duplicates",
    "list_rerank_seqs",
    "search",
]
