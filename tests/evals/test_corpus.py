"""Made-up histories are like real ones where it matters for speed, and always the same."""

from itertools import chain
from statistics import mean

from oldfriend_evals.corpus import (
    SESSION_LENGTH,
    build_sessions,
    draw_vectors,
    list_questions,
    list_remarks,
)


def test_generated_history_is_deterministic_for_a_seed():
    assert list(build_sessions(60, seed=7)) == list(build_sessions(60, seed=7))
    assert list(build_sessions(60, seed=7)) != list(build_sessions(60, seed=8))


def test_generated_messages_come_in_sessions_in_time_order():
    made = list(build_sessions(60, seed=1))
    times = [spoken.at for spoken in chain.from_iterable(made)]

    assert [len(session) for session in made] == [SESSION_LENGTH, SESSION_LENGTH, 10]
    assert times == sorted(set(times))


def test_generated_messages_are_as_long_as_real_ones():
    real = mean(len(" ".join(remark.sentences)) for remark in list_remarks())
    made = mean(len(spoken.text) for spoken in chain.from_iterable(build_sessions(3000, seed=1)))

    assert 0.8 < made / real < 1.25


def test_longer_generated_history_has_a_larger_vocabulary():
    def vocabulary(count: int) -> int:
        spoken = chain.from_iterable(build_sessions(count, seed=1))
        return len({word for each in spoken for word in each.text.lower().split()})

    assert vocabulary(20_000) > 1.5 * vocabulary(2_000)


def test_generated_questions_are_unique_and_stable():
    assert len(set(list_questions(200))) == 200
    assert list_questions(200)[:50] == list_questions(50)


def test_random_vectors_have_length_one():
    vectors = draw_vectors(5, seed=1, dimension=384)

    assert vectors.shape == (5, 384)
    assert abs((vectors**2).sum(axis=1) - 1).max() < 1e-5
