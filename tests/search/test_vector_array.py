"""Narrow vectors point nearly where the whole ones do, in an eighth of the bytes."""

import numpy as np
import pytest

from oldfriend.search.vector_array import VectorArray


def some(count, dimension=384):
    vectors = np.random.default_rng(count).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def every(directions):
    return directions.get_rows(np.arange(len(directions)))


@pytest.mark.parametrize("dimension", [1, 2, 7, 64, 384, 1024])
def test_quantized_cosine_error_is_small(dimension):
    """Of vectors of any length; a missing one stays missing."""
    vectors = some(3000, dimension)
    vectors[5] = 0
    narrow = VectorArray(vectors, is_quantized=True)
    error = narrow.compute_cosines(vectors[0]) - vectors @ vectors[0]

    assert np.abs(error).max() < 0.8 / dimension**0.5
    assert not every(narrow)[5].any()
    assert np.allclose(narrow.compute_cosines(vectors[0]), every(narrow) @ vectors[0], atol=1e-5)


def test_quantization_handles_one_large_component():
    """Some models have a number that is large in every vector; it must not be cut off."""
    vectors = np.hstack([some(1000), np.full((1000, 1), 0.7, np.float32)])
    narrow = VectorArray(vectors, is_quantized=True)

    assert np.abs(narrow.compute_cosines(vectors[0]) - vectors @ vectors[0]).max() < 0.15


@pytest.mark.parametrize("is_narrow", [False, True])
def test_append_assign_extend_and_take_keep_rows_in_place(is_narrow):
    """Both kinds are handled alike."""
    vectors = some(8)
    directions = VectorArray(vectors[:2], is_quantized=is_narrow, capacity=5)
    directions.append(vectors[2:4])
    directions.append_missing(3)
    directions.assign(np.array([6, 1]), vectors[[6, 7]])
    directions.extend(directions.take(np.array([6, 0])))

    expected = [vectors[row] if row is not None else np.zeros(384) for row in (0, 7, 2, 3)]
    expected += [np.zeros(384), np.zeros(384), vectors[6], vectors[6], vectors[0]]
    assert np.allclose(every(directions), expected, atol=0.02)
    assert directions.is_quantized == is_narrow


def test_quantized_vectors_take_an_eighth_of_the_bytes():
    """Made narrow later or kept so from the start."""
    vectors = some(3000)
    whole = VectorArray(vectors)
    narrow = whole.to_quantized()

    assert narrow.nbytes < whole.nbytes / 7
    assert np.array_equal(every(narrow), every(VectorArray(vectors, is_quantized=True)))
