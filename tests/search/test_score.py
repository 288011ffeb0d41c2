"""A score is what its terms make of it, and says by the same terms why something was found."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import oldfriend
from oldfriend.search import Reason, Score, search
from oldfriend.search.score import (
    CURRENT_WHERE_FORMER_ASKED,
    LISTED,
    NAMED,
    REQUESTED_VALUE,
    Operation,
    ScoreTerm,
    find_match,
    give_score,
    lower_below_values,
    move_to_place,
    raise_to_value,
    score_message,
    weigh_score,
)
from tests.search.conversation import asking, index_of

WORDS = ScoreTerm(cause="words", match=0.7, words=("boat",))


@pytest.mark.parametrize(
    ("operation", "gain", "value"),
    [
        ("set", 0.9, 0.9),
        ("multiply", 0.5, 0.2),
        ("multiply", 9.0, 1.0),
        ("add", 0.2, 0.4 + 0.2),
        ("add", 0.9, 1.0),
        ("at_least", 0.3, 0.4),
        ("at_least", 0.6, 0.6),
        ("at_most", 0.3, 0.3),
        ("at_most", 0.6, 0.4),
        ("part", 9.0, 0.4),
    ],
)
def test_term_changes_the_score_by_its_operation_within_zero_to_one(
    operation: Operation, gain: float, value: float
) -> None:
    """What belongs to the rank is counted there already."""
    assert (
        give_score(0.4).then(ScoreTerm(cause="rank", operation=operation, gain=gain)).value == value
    )


def test_only_the_module_of_the_score_makes_terms_that_change_one() -> None:
    """What the ranking saw are parts; everything else calls a function of that module."""
    files = Path(oldfriend.__file__).parent.rglob("*.py")
    calls = [
        (path.name, {argument.arg for argument in call.keywords})
        for path in files
        if "ScoreTerm(" in (text := path.read_text("utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "ScoreTerm"
    ]
    changing = {name for name, arguments in calls if {"operation", None} & arguments}

    assert changing == {"score.py"}


def test_value_cannot_be_set_beside_the_terms() -> None:
    """Whoever changes a score says why."""
    with pytest.raises((TypeError, ValueError)):
        replace(give_score(0.4), value=0.9)  # type: ignore[call-arg]


def test_message_score_is_its_share_of_the_answer_probability() -> None:
    """And the reasons are those of its terms that a person can check."""
    found = score_message(0.8, 0.25, [WORDS])

    assert found.value == 0.8 * 0.25
    assert found.reasons == (Reason(cause="words", words=("boat",), strength=0.7),)
    assert find_match(found.terms, "words") == 0.7
    assert find_match(found.terms, "meaning") == 0.0


@pytest.mark.parametrize("text", ["What is the name of the boat?", "What is the latest about Ana?"])
def test_every_hit_says_by_its_terms_how_its_score_came_about(text: str) -> None:
    """The ranking gives a share of the answer probability, and its evidence."""
    result = search(index_of(), asking(text), 5)

    assert result.hits
    for hit in result.hits:
        first, second, *evidence = hit.score.terms
        assert (first.cause, first.gain) == ("answer_probability", result.answer_probability)
        assert hit.score.value == first.gain * second.gain
        assert {each.operation for each in evidence} <= {"part"}
        assert [each.cause for each in hit.reasons] == [each.cause for each in evidence]


def test_named_entity_adds_to_a_belief_and_is_a_reason() -> None:
    """Found by words or not."""
    assert Score().then(NAMED).value == 0.2
    assert [each.cause for each in score_message(1.0, 0.5, [WORDS]).then(NAMED).reasons] == [
        "words",
        "mentions",
    ]


def test_evidence_for_values_moves_and_says_why() -> None:
    """That of a current value comes before that of a former one."""
    said = score_message(0.8, 0.25, [WORDS])
    current, former = raise_to_value(said, 0.9), lower_below_values(said, [0.3, 0.9])

    assert current.value == 0.9
    assert [each.cause for each in current.reasons] == ["words", "asked_for"]
    assert raise_to_value(said, 0.1).value == said.value
    assert former.value == 0.15
    assert former.reasons == said.reasons


def test_weight_time_and_emotion_of_a_belief_multiply_its_score() -> None:
    """A boost of one is no term."""
    weighed = weigh_score(give_score(0.5), weight=0.5, time_boost=1.2, emotion_boost=1.05)

    assert weighed.value == 0.5 * 0.5 * 1.2 * 1.05
    causes = ["given", "belief_weight", "belief_time", "emotion"]
    assert [each.cause for each in weighed.terms] == causes
    plain = weigh_score(give_score(0.5), weight=0.5, time_boost=1.0, emotion_boost=1.0)
    assert [each.cause for each in plain.terms] == causes[:2]


def test_place_by_date_keeps_the_reasons() -> None:
    """The newest takes the score of the place."""
    moved = move_to_place(score_message(0.8, 0.25, [WORDS]), give_score(0.7))

    assert moved.value == 0.7
    assert [each.cause for each in moved.reasons] == ["words"]


def test_requested_value_is_demoted_where_a_former_one_is_asked_for() -> None:
    """And is still what is asked for."""
    demoted = Score((REQUESTED_VALUE,)).then(CURRENT_WHERE_FORMER_ASKED)

    assert demoted.value == 0.95 * 0.5
    assert demoted.has_cause("asked_for")


def test_given_score_has_the_given_reasons() -> None:
    """What is listed has none."""
    reason = Reason(cause="date", strength=1.0)

    assert give_score(0.3, reason).reasons == (reason,)
    assert (LISTED.value, LISTED.reasons) == (1.0, ())
