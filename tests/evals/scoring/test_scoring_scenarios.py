"""A life is asked as it goes on; what is right depends on when it is asked, and of when."""

import asyncio
from collections.abc import Sequence

import pytest

from oldfriend.domain.clock import from_micros
from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend_evals.lives.life_files import load_life
from oldfriend_evals.lives.questions import load_questions
from oldfriend_evals.scoring.scenarios import build_replay
from oldfriend_evals.scoring.scorer_comparison import (
    Case,
    Moment,
    Question,
    Tallies,
    compare_scorers,
    compute_share,
)

MOVED = "2025-03-30"
"""The day on which the person of the English life moves from Bristol to Bath."""


@pytest.fixture(scope="module")
def moments() -> Sequence[Moment]:
    """The English life, its words understood."""
    life, questions = load_life("en"), load_questions("en")
    return list(asyncio.run(build_replay(life, questions, MiniLM())).moments())


@pytest.fixture(scope="module")
def tallies(moments: Sequence[Moment]) -> Tallies:
    """What each scorer makes of it."""
    return compare_scorers(moments)


def cases(moments: Sequence[Moment], asked: Question, text: str) -> list[tuple[str, Case]]:
    """The questions that begin so, each with the day on which it was asked."""
    return [
        (str(from_micros(case.question.asked_at or 0).date()), case)
        for _, several in moments
        for case in several
        if case.asked == asked and case.question.text.startswith(text)
    ]


def test_right_answer_is_the_value_current_when_asked(moments: Sequence[Moment]) -> None:
    """The right answer is that of the day on which it is asked."""
    asked = cases(moments, "now", "Where do I live?")

    assert {str(*case.right) for day, case in asked if day < MOVED} == {"home"}
    assert not any(case.rivals for day, case in asked if day < MOVED)
    later = [case for day, case in asked if day >= MOVED]
    assert {frozenset(map(str, case.right)) for case in later} == {frozenset({"newhome", "moved"})}
    assert {str(*case.rivals) for case in later} == {"home"}
    assert max(day for day, _ in asked) > "2027"


def test_right_answer_about_a_past_day_is_the_value_of_that_day(moments: Sequence[Moment]) -> None:
    """On the day of the change itself both were so."""
    asked = [case for _, case in cases(moments, "then", "Where do I live? (")]

    assert {(case.question.text[-11:-1], str(*case.right)) for case in asked} == {
        ("2025-03-09", "home"),
        ("2025-03-16", "home"),
        ("2025-03-23", "home"),
        (MOVED, "newhome"),
        ("2025-04-03", "newhome"),
    }
    assert {str(*case.rivals) for case in asked if MOVED not in case.question.text} == {
        "home",
        "newhome",
    }
    assert not any(case.rivals for case in asked if MOVED in case.question.text)


def test_question_about_the_past_is_not_asked_as_a_current_question(
    moments: Sequence[Moment],
) -> None:
    """Other values of the same key contradict it."""
    assert cases(moments, "now", "Where did I live before?") == []
    (_, before), *_ = cases(moments, "then", "Where did I live before?")

    assert set(map(str, before.right)) == {"home"}
    assert "newhome" in map(str, before.rivals)


def test_unnoticed_change_keeps_both_beliefs_active(moments: Sequence[Moment]) -> None:
    """It is asked which of them comes first."""
    index, several = next(
        (index, several)
        for index, several in moments
        if any(
            case.asked == "unnoticed" and case.question.text == "Do I eat meat?" for case in several
        )
    )
    (case,) = [each for each in several if each.question.text == "Do I eat meat?"]
    live = {each.memory.id for each in index.live}

    assert case.right | case.rivals <= live


def test_every_scorer_meets_the_recall_acceptance_targets(tallies: Tallies) -> None:
    """ACCEPTANCE Q2: what held at a time in nine of ten, contradictions under one in twenty."""
    for tally in tallies.values():
        found, then, contradicted = (
            compute_share(tally.of[each]) for each in ("found", "as it was then", "contradicted")
        )
        assert found is not None and then is not None and contradicted is not None
        assert found.questions > 200
        assert found.value >= 0.9
        assert then.value >= 0.9
        assert contradicted.value < 0.05
