"""Undated facts: search that ignores a question's dates for beliefs of a lasting kind.

A date in a question says when something happened. Of a lasting belief it says which value is
meant; `TimeFrame` selects that by when the value held, not by when somebody spoke of it.
"""

from collections.abc import Callable
from dataclasses import replace

from oldfriend.search.message_search import search
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.types import SearchQuery, SearchResult


def search_with_undated(
    index: PersonIndex, query: SearchQuery, k: int, is_durable: Callable[[int], bool]
) -> SearchResult:
    """Return the best hits for a dated query; lasting beliefs rank as if it named no date."""
    dated = search(index, query, k)
    undated = search(index, replace(query, is_timeless=True), k)
    hits = [hit for hit in dated.hits if not is_durable(hit.seq)]
    hits += [hit for hit in undated.hits if is_durable(hit.seq)]
    return SearchResult(
        hits=tuple(hits),
        answer_probability=max(dated.answer_probability, undated.answer_probability),
        language=dated.language,
    )
