"""The same questions are put to each scorer, and what comes of them is told fairly."""

import pytest

from oldfriend.domain.ids import MemoryId, ObjectId
from oldfriend.search import SearchQuery
from oldfriend.search.scorers import SCORERS, ScorerName
from oldfriend_evals.scoring.comparison_report import ReplayResult, format_text, is_clear, to_json
from oldfriend_evals.scoring.scorer_comparison import (
    ASPECTS,
    Aspect,
    Case,
    Question,
    Tally,
    compute_difference,
    compute_share,
    judge_answer,
    merge_tallies,
)


def ids(text: str) -> frozenset[MemoryId]:
    """Some beliefs, each by a letter."""
    return frozenset(MemoryId(ObjectId(each)) for each in text)


def said_of(asked: Question, right: str, rivals: str, answer: str) -> dict[Aspect, float]:
    """What is said of an answer."""
    case = Case(
        question=SearchQuery(text="", language="en"),
        asked=asked,
        right=ids(right),
        rivals=ids(rivals),
    )
    return dict(judge_answer(case, [MemoryId(ObjectId(each)) for each in answer]))


@pytest.mark.parametrize(
    ("asked", "right", "rivals", "answer", "told"),
    [
        ("now", "ab", "", "axyz", {"found": 0.5, "contradicted": 0.0}),
        ("now", "a", "o", "axo", {"found": 1.0, "contradicted": 1.0}),
        ("now", "abcdefg", "", "abcde", {"found": 1.0, "contradicted": 0.0}),
        ("then", "a", "o", "xao", {"as it was then": 1.0, "contradicted": 1.0}),
        ("then", "a", "o", "xoa", {"as it was then": 0.0, "contradicted": 1.0}),
        ("then", "a", "o", "", {"as it was then": 0.0, "contradicted": 0.0}),
        ("unnoticed", "a", "o", "ao", {"newest first": 1.0}),
        ("unnoticed", "a", "o", "oa", {"newest first": 0.0}),
    ],
)
def test_answer_is_judged_by_the_kind_of_question(
    asked: Question, right: str, rivals: str, answer: str, told: dict[Aspect, float]
) -> None:
    """What overtook, or was overtaken, contradicts wherever it stands."""
    assert said_of(asked, right, rivals, answer) == told


def test_share_of_has_a_wilson_interval() -> None:
    """Wilson's: of ten right ones in ten nobody may say that it is always right."""
    share = compute_share([1.0] * 10)

    assert share is not None
    assert (share.value, share.questions) == (1.0, 10)
    assert share.least == pytest.approx(0.7225, abs=0.001)
    assert share.most == 1.0
    assert compute_share([]) is None


def tallies(**of: dict[Aspect, list[float]]) -> dict[ScorerName, Tally]:
    """What came of the questions, for those scorers that did otherwise than the default."""
    made = {name: Tally() for name in SCORERS}
    for name, tally in made.items():
        for aspect in ASPECTS:
            tally.of[aspect] = of.get(name, of["typed_decay"]).get(aspect, [])
    return made


def test_scorers_are_compared_pairwise_per_question() -> None:
    """Of contradictions, fewer are better."""
    ours = {"found": [0.0, 1.0, 1.0], "contradicted": [1.0, 0.0]}
    theirs = {"found": [1.0, 1.0, 0.5], "contradicted": [0.0, 0.0]}
    made = tallies(typed_decay=ours, act_r=theirs)

    found, contradicted = (
        compute_difference(made, "act_r", each) for each in ("found", "contradicted")
    )
    assert (found.better, found.worse) == (1, 1)
    assert (contradicted.better, contradicted.worse) == (1, 0)
    twice = merge_tallies([made, made])
    assert twice["act_r"].of["found"] == theirs["found"] * 2


def test_difference_is_clear_only_if_significant() -> None:
    """Three better and none worse may be luck; ten and one are not."""
    made = {
        better: compute_difference(
            tallies(
                typed_decay={"found": [0.0] * better + [1.0]},
                act_r={"found": [1.0] * better + [0.0]},
            ),
            "act_r",
            "found",
        )
        for better in (2, 12)
    }

    assert [is_clear(each) for each in made.values()] == [False, True]
    assert not is_clear(compute_difference(tallies(typed_decay={"found": [1.0]}), "act_r", "found"))


def test_comparison_is_reported_as_text_and_json() -> None:
    """Numbers with their intervals, and how much was asked."""
    replayed = [ReplayResult(name="a life", tallies=tallies(typed_decay={"found": [1.0, 0.0]}))]
    (told,) = to_json(replayed)

    text = format_text(replayed)
    assert "typed_decay  50.0% (9%–91%)" in text
    assert "a life: act_r beside typed_decay: no question is answered otherwise." in text
    assert told["scorers"]["dual_trace"]["found"]["questions"] == 2
    assert "as it was then" not in told["scorers"]["dual_trace"]
