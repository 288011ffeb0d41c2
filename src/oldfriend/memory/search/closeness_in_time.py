"""How well does the moment of a message fit the days a question asks about?"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.dates import Grain, Span
from oldfriend.memory.search.values import Floats

_DAY_US: Final = 86_400_000_000
_DAYS_TO_1970: Final = 719_163
_YEARS_LOOKED_AT: Final = range(-8, 2)
# People tell of a thing after it was: how many days until a message says little about a span.
_PATIENCE: Final[dict[Grain, float]] = {"day": 4, "week": 7, "month": 15, "season": 30, "year": 60}
_BEFORE_COUNTS: Final = 3


def date_fit(said_at: NDArray[np.int64], spans: tuple[Span, ...]) -> tuple[Floats, Floats]:
    """Whether each moment lies in a span (0 or 1), and how close it is to one (0…1)."""
    inside = np.zeros(len(said_at), dtype=np.float32)
    close = np.zeros(len(said_at), dtype=np.float32)
    if not spans:
        return inside, close
    day = said_at / _DAY_US
    for span in spans:
        for first, end in days_of(span):
            gap = np.where(day < first, (first - day) * _BEFORE_COUNTS, np.maximum(day - end, 0))
            inside = np.maximum(inside, (day >= first) & (day < end))
            close = np.maximum(close, np.exp(-gap / _PATIENCE[span.grain]))
    return inside.astype(np.float32), close.astype(np.float32)


def days_of(span: Span) -> Iterator[tuple[int, int]]:
    """First and end of the span, in days since 1970, in every year it may mean."""
    first = span.first.toordinal() - _DAYS_TO_1970
    length = span.end.toordinal() - span.first.toordinal()
    for years in _YEARS_LOOKED_AT if span.any_year else (0,):
        shifted = first + round(years * 365.2425)
        yield shifted, shifted + length
