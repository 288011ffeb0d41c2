"""Which messages of a person's history answer this, and which beliefs? Pure arithmetic.

Works over imprints and vectors; knows no database, no model and no clock: all is given.
"""

from oldfriend.memory.search.beliefs import BeliefIndex
from oldfriend.memory.search.believed import NO_BELIEFS, BeliefHit, FoundBeliefs
from oldfriend.memory.search.diversify import diversify
from oldfriend.memory.search.finding import search, to_compare
from oldfriend.memory.search.graph import Graph, Reached
from oldfriend.memory.search.imprint import imprint_of, is_current_imprint
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.names import named_in
from oldfriend.memory.search.usual import LEARNED_WITH, USUAL_TEXTS, usual_of
from oldfriend.memory.search.values import Cause, Found, Hit, IndexRow, Question, Reason, Sense
from oldfriend.memory.search.vectors import text_to_embed, vectors_from

__all__ = [
    "LEARNED_WITH", "NO_BELIEFS", "USUAL_TEXTS", "BeliefHit", "BeliefIndex", "Cause", "Found",
    "FoundBeliefs", "Graph", "Hit", "IndexRow", "PersonIndex", "Question", "Reached", "Reason",
    "Sense", "diversify", "imprint_of", "is_current_imprint", "named_in", "search", "text_to_embed",
    "to_compare", "usual_of", "vectors_from",
]  # fmt: skip
