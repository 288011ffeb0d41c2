"""What holds for a while is found whenever it was last said, also where a question names a time.

That a day is named tells when something happened; of what holds it says which value is asked for,
and that is looked up by when it held (``past``), not by when somebody spoke of it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from oldfriend.domain.memories import MemoryKind
from oldfriend.memory.search.finding import search
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.values import Found, Question

HOLDING: Final[frozenset[MemoryKind]] = frozenset({"fact", "preference"})


def search_whenever(
    index: PersonIndex, question: Question, k: int, holds: Callable[[int], bool]
) -> Found:
    """The k that answer best; those that hold for a while, as if no time were named."""
    dated = search(index, question, k)
    timeless = search(index, replace(question, is_timeless=True), k)
    hits = [hit for hit in dated.hits if not holds(hit.seq)]
    hits += [hit for hit in timeless.hits if holds(hit.seq)]
    return Found(
        hits=tuple(hits), answerable=max(dated.answerable, timeless.answerable),
        language=dated.language,
    )  # fmt: skip
