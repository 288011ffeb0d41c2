"""A history with narrow vectors is searched in two steps, and finds what the whole one does."""

from dataclasses import replace

import numpy as np
import pytest

from oldfriend.search import IndexRow, PersonIndex, encode_document_terms, list_rerank_seqs, search
from oldfriend_evals.corpus import build_sessions, list_questions
from tests.search.conversation import LINES, asking, rows, summary

MESSAGES, ASKED, TOP = 20_000, 40, 10


def vectors_of(texts):
    """Texts that share words are close: the mean of a direction for each word."""
    words = {}
    rng = np.random.default_rng(0)
    vectors = np.zeros((len(texts), 384), np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            if word not in words:
                words[word] = rng.standard_normal(384, dtype=np.float32)
            vectors[row] += words[word]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


@pytest.mark.slow
def test_quantized_index_finds_nearly_the_same_top_ten():
    """Among 20,000 messages, 95 % at least; the first one nearly always."""
    said = [
        (day, each) for day, some in enumerate(build_sessions(MESSAGES, seed=1)) for each in some
    ]
    vectors = vectors_of([each.text for _, each in said] + list_questions(ASKED))
    messages = [
        IndexRow(
            seq,
            "c",
            f"d{day}",
            each.at,
            each.speaker,
            each.role,
            "en",
            encode_document_terms(each.text, language="en"),
        )
        for seq, (day, each) in enumerate(said)
    ]
    whole = PersonIndex.build(messages, vectors[:MESSAGES])
    narrow = PersonIndex.build(messages, vectors[:MESSAGES])
    narrow.quantize()
    same = firsts = 0
    for text, vector in zip(list_questions(ASKED), vectors[MESSAGES:], strict=True):
        question = asking(text, vector=vector)
        compared = list_rerank_seqs(narrow, question)
        exact = dict(zip(compared, (vectors[compared] @ vector).tolist(), strict=True))
        theirs = [hit.seq for hit in search(whole, question, TOP).hits]
        ours = [hit.seq for hit in search(narrow, replace(question, exact_cosines=exact), TOP).hits]
        same += len(set(ours) & set(theirs))
        firsts += ours[0] == theirs[0]

    assert same >= 0.95 * TOP * ASKED
    assert firsts >= 0.9 * ASKED
    assert narrow.nbytes < whole.nbytes / 3


def test_only_a_quantized_index_lists_messages_to_rerank():
    """Only the narrow need it; what is in view already is left out of what is found."""
    index = PersonIndex.build(rows(), vectors_of([text for _, _, text in LINES]))
    question = asking("boat", vector=vectors_of(["boat"])[0])
    assert list_rerank_seqs(index, question) == []
    before = summary(search(index, question, 3))

    index.quantize()

    assert list_rerank_seqs(index, question) == list(range(len(LINES)))
    assert [hit[0] for hit in summary(search(index, question, 3))[0]] == [
        hit[0] for hit in before[0]
    ]


def test_quantized_index_grown_and_shrunk_equals_one_built_at_once():
    """Messages come, get their vectors late, and go."""
    vectors = vectors_of([text for _, _, text in LINES])
    question = asking("boat", vector=vectors_of(["boat"])[0])
    grown = PersonIndex.with_capacity(len(LINES))
    grown.quantize()
    grown.extend(rows()[:3], vectors[:3])
    grown.extend(rows()[3:])
    grown.set_legacy_vectors("old", [3, 4], vectors[[3, 4], :20])
    grown.set_vectors(list(range(3, len(LINES))), vectors[3:])
    grown.remove({1})
    built = PersonIndex.build(rows()[:1] + rows()[2:], vectors[[0, *range(2, len(LINES))]])
    built.quantize()

    assert summary(search(grown, question, 5)) == summary(search(built, question, 5))
    assert not grown.legacy_vectors


def test_late_vectors_are_assigned_to_the_right_messages():
    """Also where the messages stand in another order than they were written in."""
    mixed = [rows()[number] for number in (4, 0, 5, 1, 2, 3)]
    renumbered = [row._replace(seq=seq) for seq, row in enumerate(mixed)]
    vectors = vectors_of([LINES[number][2] for number in (4, 0, 5, 1, 2, 3)])
    late = PersonIndex.build(renumbered)
    late.set_vectors(list(range(6)), vectors)

    places = np.argsort(late.columns.seq)
    assert np.array_equal(late.vectors.get_rows(places), vectors)
