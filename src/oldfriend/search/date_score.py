"""Date score: how close a message's time is to the dates that a question names."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.date_parser import DateSpan, Granularity
from oldfriend.search.types import Floats

_DAY_US: Final = 86_400_000_000
_EPOCH_ORDINAL: Final = 719_163
_YEAR_OFFSETS: Final = range(-8, 2)
# Days of decay after a span: people talk about an event in the days after it.
_DECAY_DAYS: Final[dict[Granularity, float]] = {
    "day": 4,
    "week": 7,
    "month": 15,
    "season": 30,
    "year": 60,
}
_EARLY_PENALTY: Final = 3


def score_dates(said_at: NDArray[np.int64], spans: tuple[DateSpan, ...]) -> tuple[Floats, Floats]:
    """Return whether each time lies in a span (0 or 1), and how close it is to one (0 to 1)."""
    is_inside = np.zeros(len(said_at), dtype=np.float32)
    closeness = np.zeros(len(said_at), dtype=np.float32)
    if not spans:
        return is_inside, closeness
    day = said_at / _DAY_US
    for span in spans:
        for first, end in to_day_ranges(span):
            gap = np.where(day < first, (first - day) * _EARLY_PENALTY, np.maximum(day - end, 0))
            is_inside = np.maximum(is_inside, (day >= first) & (day < end))
            closeness = np.maximum(closeness, np.exp(-gap / _DECAY_DAYS[span.granularity]))
    return is_inside.astype(np.float32), closeness.astype(np.float32)


def to_day_ranges(span: DateSpan) -> Iterator[tuple[int, int]]:
    """Yield first and end of the span in days since 1970, for every year that it may mean."""
    first = span.first.toordinal() - _EPOCH_ORDINAL
    length = span.end.toordinal() - span.first.toordinal()
    for years in _YEAR_OFFSETS if span.is_any_year else (0,):
        shifted = first + round(years * 365.2425)
        yield shifted, shifted + length
