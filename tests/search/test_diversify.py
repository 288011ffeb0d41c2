"""A prompt is filled without repeating itself."""

import numpy as np

from oldfriend.search import diversify

EAST, NORTH = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def test_of_two_copies_the_newer_is_kept():
    """Near-duplicates waste the budget."""
    vectors = np.stack([EAST, EAST, NORTH])

    assert diversify([0.9, 0.8, 0.1], vectors, [1, 2, 3], limit=3) == [1, 2]


def test_something_else_comes_before_more_of_the_same():
    """Relevance counts .7, repetition .3."""
    tilted = (EAST * 0.8 + NORTH * 0.6).astype(np.float32)
    vectors = np.stack([EAST, tilted, NORTH])

    assert diversify([0.9, 0.85, 0.8], vectors, [1, 2, 3], limit=2) == [0, 2]


def test_the_limit_holds_and_nothing_is_nothing():
    """Empty in, empty out."""
    assert diversify([], np.zeros((0, 2), np.float32), [], limit=5) == []
