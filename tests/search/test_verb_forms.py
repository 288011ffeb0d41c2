"""What is asked for with "did" is found as it is told."""

import pytest

from oldfriend.search import search
from tests.search.conversation import asking, index_of

TOLD = (
    ("s1", "Ana", "I want to buy a car some day."),
    ("s1", "Ana", "I bought a red bicycle."),
    ("s1", "Ana", "My favourite colour is green by the way."),
    ("s1", "Ana", "On Sunday I met Paul at the fair."),
    ("s1", "Ana", "Good idea, he loves woodworking."),
)


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        ("What did I buy?", 1, "bought"),
        ("What did my sister Ana buy?", 1, "bought"),
        ("What did I want to buy?", 0, "buy"),
        ("Who did I meet at the fair?", 3, "met"),
    ],
)
def test_question_with_did_finds_the_past_tense_form(
    question: str, answer: int, words: str
) -> None:
    """The reason names the word that stands there."""
    best = search(index_of(TOLD, role="person"), asking(question), 1).hits[0]
    held = [word for each in best.reasons if each.cause == "words" for word in each.words]

    assert best.seq == answer
    assert words in held


def test_past_tense_form_absent_from_the_history_is_not_searched() -> None:
    """Then the verb itself may still find it."""
    told = (("s1", "Ana", "I want to buy a car some day."), ("s1", "Ana", "I live in Ghent."))
    best = search(index_of(told, role="person"), asking("What did I buy?"), 1).hits[0]

    assert best.seq == 0
