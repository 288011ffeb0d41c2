"""What is measured about finding is what was meant."""

import zlib

import numpy as np
import pytest

from oldfriend_evals.datasets import load_own_conversations
from oldfriend_evals.retrieval_eval import (
    build_judgement_inputs,
    compute_abstention,
    compute_auc,
    compute_recall,
    judge_left_out,
    learn_by_fold,
    list_answerable_cases,
    list_kinds_left_out,
    list_unanswerable_cases,
)
from oldfriend_evals.training_cases import list_quoted_cases, list_small_history_cases


def embed(texts):
    """Vectors that mean nothing, but always the same."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    vectors = np.stack([np.random.default_rng(seed).normal(size=384) for seed in seeds])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def conversations():
    """Two of ours, with few questions each, so that learning is quick."""
    chosen = [
        given for given in load_own_conversations() if given.name in {"companion_en", "friends_en"}
    ]
    return [
        type(given)(
            **{part: getattr(given, part) for part in given.__dataclass_fields__}
            | {"queries": given.queries[:20]}
        )
        for given in chosen
    ]


@pytest.fixture(scope="module")
def cases(conversations):
    return list_answerable_cases(conversations, embed)


def test_recall_is_the_share_of_evidence_found(cases):
    """One of two messages among the first is a half."""
    case = next(case for case in cases if case.evidence_count == 1 and case.answers.any())
    right, wrong = case.answers.astype(np.float32), -case.answers.astype(np.float32)

    assert compute_recall([case, case], [right, wrong]).at_1 == 50
    assert compute_recall([case], [right]).session_at_1 == 100
    assert compute_recall([case, case], [right, wrong]).whole_at_10 == 1


def test_each_kind_is_evaluated_with_weights_learned_from_the_others(cases):
    """Nothing that was learned has seen the questions that it is measured on."""
    learned = learn_by_fold(cases)
    results = list_kinds_left_out(cases, learned)

    assert set(learned) == {"companion", "friends"}
    assert [result.kind for result in results] == ["companion_en", "friends_en"]
    assert all(result.ours.at_10 > 30 for result in results)


def test_abstention_is_measured_on_own_conversations(conversations, cases):
    """What is told of answers that are missing is told of our own conversations."""
    told = compute_abstention(
        cases,
        [
            *list_unanswerable_cases(conversations, embed),
            *list_small_history_cases(conversations, embed),
        ],
        threshold=0.4,
        learned=learn_by_fold(cases),
    )

    assert 0.5 < told.wrong_conversation <= 1
    assert 0.5 < told.small_histories <= 1


def test_small_history_cases_contain_the_answer_or_none(conversations):
    """Otherwise the judgement would learn from wrong examples."""
    small = list_small_history_cases(conversations, embed)

    assert {bool(case.evidence_count) for case in small} == {True, False}
    assert all(len(case.evidence.index) <= 12 for case in small)
    assert all(case.answers.sum() <= case.evidence_count for case in small)


def test_said_words_case_has_exactly_one_answer(conversations):
    """The message that says them."""
    said = list_quoted_cases(conversations, embed)

    assert said
    assert all(case.answers.sum() == 1 for case in said)


def test_answerability_is_cross_validated_by_conversation(conversations, cases):
    """A probability for each."""
    everything = [*cases, *list_unanswerable_cases(conversations, embed)]
    likely = judge_left_out(everything, build_judgement_inputs(everything, learn_by_fold(cases)))

    assert likely.shape == (len(everything),)
    assert ((likely >= 0) & (likely <= 1)).all()


def test_area_under_curve_is_one_when_separable_and_half_when_not():
    """And a half when none is."""
    truth = np.array([True, True, False, False])

    assert compute_auc(np.array([0.9, 0.8, 0.2, 0.1]), truth) == 1
    assert compute_auc(np.array([0.5, 0.5, 0.5, 0.5]), truth) == 0.5
