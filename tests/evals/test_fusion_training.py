"""What is learned is what was taught."""

import json
from dataclasses import replace

import numpy as np

from oldfriend_evals.fusion_training import (
    Lesson,
    learn_falling_off,
    learn_fusion,
    learn_probability,
)
from oldfriend_evals.lbfgs import minimize


def lessons(rule, count=60):
    """Lists of eight candidates, of which the one with the highest `rule` answers."""
    random = np.random.default_rng(3)
    for _ in range(count):
        features = random.normal(size=(8, 3)).astype(np.float32)
        answers = np.zeros(8)
        answers[np.argmax(rule(features))] = 1
        yield Lesson(
            features=features,
            answers=answers,
            chat=np.array([1, 0], np.float32),
            stands_for=np.ones(8),
        )


def share_right(fusion, given):
    right = [
        np.argmax(fusion.score(lesson.features, lesson.chat)) == np.argmax(lesson.answers)
        for lesson in given
    ]
    return float(np.mean(right))


def test_minimizer_finds_the_minimum():
    """Of a long valley."""
    goal, bend = np.array([3.0, -2.0]), np.array([1.0, 50.0])

    found = minimize(
        lambda at: (float((bend * (at - goal) ** 2).sum()), 2 * bend * (at - goal)), np.zeros(2)
    )
    assert np.allclose(found, goal, atol=1e-3)


def test_linear_fusion_learns_feature_weights_from_rankings():
    """The weights show which feature counts, and which way."""
    fusion = learn_fusion(list(lessons(lambda x: 2 * x[:, 0] - x[:, 1], 300)), seeds=())

    first, second, third = fusion.weights[0]
    assert first > 0 > second
    assert abs(third) < abs(second)


def test_neural_fusion_learns_feature_interactions():
    """Two features that count only together."""
    taught = list(lessons(lambda x: x[:, 0] * x[:, 1], 600))
    new = list(lessons(lambda x: x[:, 0] * x[:, 1], 650))[600:]

    assert share_right(learn_fusion(taught), new) > share_right(learn_fusion(taught, ()), new) + 0.2


def test_constant_feature_has_no_weight():
    """Nor is anything divided by its spread, of which there is none."""
    taught = [
        replace(lesson, features=np.pad(lesson.features, ((0, 0), (0, 1))))
        for lesson in lessons(lambda x: x[:, 0], 40)
    ]
    fusion = learn_fusion(taught, (1,))
    new = taught[0].features.copy()
    new[0, -1] = 1

    assert fusion.std[-1] == 1
    assert np.allclose(
        fusion.score(new, taught[0].chat), fusion.score(taught[0].features, taught[0].chat)
    )


def test_learning_is_deterministic():
    """No hidden chance."""
    taught = list(lessons(lambda x: x[:, 0], 40))
    first, second = learn_fusion(taught, (1,)), learn_fusion(taught, (1,))

    assert np.array_equal(first.nets[0].hidden_weights, second.nets[0].hidden_weights)


def test_learn_probability_fits_weight_and_shift():
    """And its shift."""
    table = np.linspace(-2, 2, 200, dtype=np.float32)[:, None]
    weights, shift = learn_probability(table, (table[:, 0] > 0.5).astype(np.float64), 1e-2)

    assert -shift / weights[0] == np.float32(shift / -weights[0])
    assert abs(-shift / weights[0] - 0.5) < 0.1


def test_learn_falling_off_fits_the_decay_of_answers():
    """Those one behind answer half as often as the best."""
    behind = np.repeat(np.array([0.0, -1.0, -2.0], np.float32), 100)
    answers = np.concatenate([np.arange(100) < share for share in (80, 40, 20)]).astype(float)

    assert abs(learn_falling_off(behind, answers) - np.log(2)) < 0.05
    json.dumps(learn_falling_off(behind, answers))
