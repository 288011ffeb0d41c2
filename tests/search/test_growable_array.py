"""An array that grows holds what was added, in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.search.vector_array import GrowableArray


@given(st.lists(st.lists(st.integers(0, 9), max_size=90), max_size=12))
def test_appended_values_are_kept_in_order(parts):
    """However much at a time."""
    growing = GrowableArray(np.zeros(1, np.int64))
    for part in parts:
        growing.append(np.array(part, np.int64))

    assert growing.values.tolist() == [0, *(number for part in parts for number in part)]


def test_append_within_capacity_does_not_reallocate():
    """A message is added to a hundred thousand without moving them."""
    growing = GrowableArray(np.zeros(100_000, np.float32))
    growing.append(np.ones(1, np.float32))
    room = growing.values.base
    growing.append(np.ones(100, np.float32))

    assert growing.values.base is room
    assert len(growing.values) == 100_101
