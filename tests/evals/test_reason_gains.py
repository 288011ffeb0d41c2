"""A reason is borne out where the ranking gives less without its features."""

from typing import get_args

from oldfriend.search import ReasonCause
from oldfriend.search.fusion import load_weights
from oldfriend_evals.reason_gains import FEATURES, FULL_WHEN_OFF, list_shown_gains
from tests.search.conversation import asking, index_of


def test_every_reason_for_a_message_stands_for_features_that_exist() -> None:
    """What is asked for or reached concerns beliefs alone."""
    features = {name for group in FEATURES.values() for name in group.split()}

    assert features <= set(load_weights().feature_names)
    assert features >= FULL_WHEN_OFF
    assert set(FEATURES) == set(get_args(ReasonCause)) - {"asked_for", "reached"}


def test_words_of_the_question_raise_the_score_of_what_holds_them() -> None:
    """Each reason that is shown has a gain."""
    shown = list(list_shown_gains(index_of(), asking("Who swallowed a hair tie?")))

    assert max(gain for cause, gain in shown if cause == "words") > 2
    assert list(list_shown_gains(index_of(()), asking("Who swallowed a hair tie?"))) == []
