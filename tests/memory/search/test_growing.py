"""An array that grows holds what was added, in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.memory.search.growing import Growing


@given(st.lists(st.lists(st.integers(0, 9), max_size=90), max_size=12))
def test_what_is_appended_stands_at_the_end(parts):
    """However much at a time."""
    growing = Growing(np.zeros(1, np.int64))
    for part in parts:
        growing.append(np.array(part, np.int64))

    assert growing.now.tolist() == [0, *(number for part in parts for number in part)]


def test_growing_rarely_copies():
    """A message is added to a hundred thousand without moving them."""
    growing = Growing(np.zeros(100_000, np.float32))
    growing.append(np.ones(1, np.float32))
    room = growing.now.base
    growing.append(np.ones(100, np.float32))

    assert growing.now.base is room
    assert len(growing.now) == 100_101
