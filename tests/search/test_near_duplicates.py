"""A prompt is filled without repeating itself."""

import numpy as np

from oldfriend.search import list_older_duplicates

EAST, NORTH = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def test_only_the_newest_of_near_duplicates_is_kept():
    """Near-duplicates waste the budget; what is merely alike does not."""
    tilted = (EAST * 0.8 + NORTH * 0.6).astype(np.float32)
    vectors = np.stack([EAST, EAST, NORTH, tilted, EAST])

    assert list_older_duplicates(vectors, [1, 3, 2, 4, 2], [0.5] * 5) == {0, 4}


def test_much_higher_scored_message_is_not_a_near_duplicate():
    """In a language that the model hardly knows, all texts have nearly the same vector."""
    vectors = np.stack([EAST, EAST, EAST])

    assert list_older_duplicates(vectors, [1, 2, 3], [0.7, 0.001, 0.0]) == frozenset()
    assert list_older_duplicates(vectors, [1, 2, 3], [0.7, 0.1, 0.0]) == {0}


def test_no_vectors_yield_no_near_duplicates():
    """Empty in, empty out."""
    assert not list_older_duplicates(np.zeros((0, 2), np.float32), [], [])
