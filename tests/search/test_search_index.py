"""An index that grew is the index that was built."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oldfriend.search import (
    PersonIndex,
    QueryEmbedding,
    compute_baseline,
    decode_vectors,
    encode_vectors,
    search,
)
from oldfriend.search.full_scan import scan
from oldfriend.search.query_parser import parse_query
from oldfriend.search.search_index import PersonIndex as Index
from tests.search.conversation import LINES, asking, rows, summary

QUESTIONS = ("What is the boat's name?", "vet", "Which bakery?", "Who is Mochi?")


def some_vectors(count):
    vectors = np.random.default_rng(1).normal(size=(count, 384)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def answers(index):
    vector = some_vectors(1)[0]
    return [summary(search(index, asking(text, vector=vector), 5)) for text in QUESTIONS]


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(len(LINES))), st.integers(0, len(LINES)))
def test_extending_in_any_order_equals_building(order, at):
    """Messages arrive late, and in the middle of sessions."""
    given_rows, vectors = rows(), some_vectors(len(LINES))
    mixed = [given_rows[number] for number in order]
    grown = PersonIndex.build(mixed[:at], vectors[list(order[:at])])
    for number in order[at:]:
        grown.extend([given_rows[number]], vectors[number : number + 1])

    assert answers(grown) == answers(PersonIndex.build(given_rows, vectors))


def test_many_small_extensions_equal_one_building():
    """Postings are folded together as they add up; no order of sizes may lose a message."""
    lines = [
        (f"s{number // 7}", "Ana", f"boat {number} {'vet ' * (number % 3)}")
        for number in range(200)
    ]
    built, grown = PersonIndex.build(rows(lines)), PersonIndex.build(rows(lines[:40]))
    for first in (*range(40, 60), *range(60, 200, 20)):
        step = 1 if first < 60 else 20
        grown.extend(rows(lines[first : first + step], first=first))

    for text in ("boat", "vet", "boat 57", "boat 199"):
        ours, theirs = search(grown, asking(text), 9), search(built, asking(text), 9)
        assert summary(ours) == summary(theirs)


def test_same_session_id_in_another_chat_is_a_separate_session():
    """Neighbours are only those of the same chat."""
    here, there = rows()[:2], [row._replace(chat="other") for row in rows()[2:4]]
    index = PersonIndex.build([*here, *there])

    assert sorted(index.previous.tolist()) == [-1, -1, 0, 2]


def test_late_vectors_give_the_same_results_as_early_ones():
    """Words are stored first; vectors follow."""
    vectors = some_vectors(len(LINES))
    late = PersonIndex.build(rows())
    late.set_vectors([6, 2, 9], vectors[[6, 2, 9]])
    late.set_vectors([0, 1, 3, 4, 5, 7, 8], vectors[[0, 1, 3, 4, 5, 7, 8]])

    assert answers(late) == answers(PersonIndex.build(rows(), vectors))


def test_removed_messages_leave_no_trace_in_the_index():
    """Forgetting leaves no trace in anybody's score."""
    given_rows, vectors = rows(), some_vectors(len(LINES))
    index = PersonIndex.build(given_rows, vectors)
    index.remove({1, 6})

    kept = [number for number in range(len(LINES)) if number not in {1, 6}]
    without = PersonIndex.build([given_rows[number] for number in kept], vectors[kept])
    assert answers(index) == answers(without)
    assert len(index) == len(LINES) - 2


def test_messages_without_vectors_are_still_found():
    """Words are findable at once."""
    index = PersonIndex.build(rows()[:5])
    index.extend(rows()[5:], some_vectors(5))

    assert search(index, asking("bakery", vector=some_vectors(1)[0]), 1).hits[0].seq == 7


@pytest.mark.parametrize("dimension", [384, 5, 1])
def test_vectors_are_decoded_from_int8_float16_and_missing(dimension):
    """Eight bits a number, before that half precision; zeros where none is stored."""
    one, other = np.random.default_rng(1).standard_normal((2, dimension)).astype(np.float32)
    (stored,) = encode_vectors(one[None])
    read = decode_vectors([stored, None, other.astype("<f2").tobytes(), stored])

    assert np.allclose(read[0], one, atol=np.abs(one).max() / 250)
    assert np.allclose(read[2], other, atol=2e-3)
    assert (read[3] == read[0]).all()
    assert not read[1].any()
    assert len(stored) <= dimension + 6


def test_zero_vector_is_encoded_and_decoded():
    """There is nothing to divide by."""
    assert not decode_vectors(encode_vectors(np.zeros((1, 4), np.float32))).any()


def test_encoded_vectors_keep_cosines_within_tolerance():
    """Far closer than any two texts are apart: people's cosines spread by .08."""
    whole = np.random.default_rng(1).standard_normal((500, 384)).astype(np.float32)
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    stored = decode_vectors(encode_vectors(whole))

    assert np.abs(stored @ whole[0] - whole @ whole[0]).max() < 0.003


def test_index_reports_its_size_in_bytes():
    """The cache is bounded in bytes."""
    small, large = PersonIndex.build(rows()[:2]), PersonIndex.build(rows(), some_vectors(10))

    assert 0 < small.nbytes < large.nbytes
    assert isinstance(small, Index)


def test_legacy_vectors_are_compared_with_the_legacy_query_vector():
    """However the messages are divided between them, and whatever becomes of some of them."""
    vectors, others = some_vectors(len(LINES)), -some_vectors(len(LINES))[:, ::2]
    senses = {
        "embedding": QueryEmbedding(vector=vectors[0]),
        "legacy_embeddings": {"old": QueryEmbedding(vector=others[0])},
    }
    index = PersonIndex.build(rows())
    index.set_legacy_vectors("old", [2, 6, 9], others[[2, 6, 9]])
    index.set_legacy_vectors("old", [0, 1], others[[0, 1]])
    index.set_vectors([1, 4], vectors[[1, 4]])
    index.extend(rows([("s9", "Ana", "the vet again")], first=len(LINES)))
    index.remove({9})

    def cosines(**how):
        question = asking("vet", **how)
        scanned = scan(
            index, question, parse_query(question, ["en"]), np.ones(len(index), np.bool_)
        )
        return dict(zip(index.columns.seq.tolist(), scanned.cosine.tolist(), strict=False))

    def expected(*, old=True):
        own = {seq: float(vectors[seq] @ vectors[0]) for seq in (1, 4)}
        return own | {seq: float(others[seq] @ others[0]) for seq in (0, 2, 6) if old}

    both, alone = cosines(**senses), cosines(embedding=senses["embedding"])
    assert {seq: value for seq, value in both.items() if value} == pytest.approx(expected())
    assert {seq: value for seq, value in alone.items() if value} == pytest.approx(
        expected(old=False)
    )
    index.set_vectors([0, 2, 6], vectors[[0, 2, 6]])
    assert not index.legacy_vectors


def test_cosines_of_another_embedder_are_calibrated_by_its_baseline():
    """One to whom everything is close finds, and judges, as one to whom little is."""
    vectors, usual = some_vectors(len(LINES) + 40), some_vectors(len(LINES) + 80)[-32:]

    def raised(given):
        floor = np.full((len(given), 1), np.sqrt(0.8), np.float32)
        return np.hstack([np.sqrt(0.2) * given, floor]).astype(np.float32)

    def found(given, usual_given, text):
        index = PersonIndex.build(rows(), given[: len(LINES)])
        sense = QueryEmbedding(vector=given[0], baseline=compute_baseline(given[0], usual_given))
        return summary(search(index, asking(text, embedding=sense), 5))

    for text in QUESTIONS:
        hits, answerable = found(vectors, usual, text)
        raised_hits, raised_answerable = found(raised(vectors), raised(usual), text)
        assert [seq for seq, _, _ in hits] == [seq for seq, _, _ in raised_hits]
        assert answerable == pytest.approx(raised_answerable, abs=1e-3)


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 384])
def test_vectors_of_any_dimension_are_decoded(dimension):
    """Each model has its own."""
    vectors = some_vectors(3)[:, :dimension]
    read = decode_vectors([None, *(vector.astype("<f2").tobytes() for vector in vectors)])

    assert read.shape == (4, dimension)
    assert decode_vectors([None, None]).shape == (2, 0)
