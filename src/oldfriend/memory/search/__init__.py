"""Which messages of a person's history answer this? Pure arithmetic over imprints and vectors.

Knows no database, no model and no clock: rows, vectors and times are given.
"""

from oldfriend.memory.search.diversify import diversify
from oldfriend.memory.search.finding import search, to_compare
from oldfriend.memory.search.imprint import imprint_of, is_current_imprint
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.usual import LEARNED_WITH, USUAL_TEXTS, usual_of
from oldfriend.memory.search.values import Cause, Found, Hit, IndexRow, Question, Reason, Sense
from oldfriend.memory.search.vectors import text_to_embed, vectors_from

__all__ = [
    "LEARNED_WITH", "USUAL_TEXTS", "Cause", "Found", "Hit", "IndexRow", "PersonIndex", "Question",
    "Reason", "Sense", "diversify", "imprint_of", "is_current_imprint", "search", "text_to_embed",
    "to_compare", "usual_of", "vectors_from",
]  # fmt: skip
