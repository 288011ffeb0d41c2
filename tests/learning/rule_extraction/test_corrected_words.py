"""Names and days that are put right in the next words, in five languages."""

import pytest

from tests.learning.rule_extraction.message_fixtures import message, read, said

RENAMED = [
    ("en", "my cat is called Miso", "actually it's mia not Miso, my cat's name i mean", "Mia"),
    ("en", "my cat is called Miso", "no, her name is Mia", "Mia"),
    ("en", "my cat is called Miso", "no, it's mia, not miso", "Mia"),
    ("de", "Mein Nachbar heißt Kröger", "nein, er heißt Krüger", "Krüger"),
    ("de", "Meine Katze heißt Miso", "Mia, nicht Miso, der Name meiner Katze, meine ich", "Mia"),
    ("es", "Mi gato se llama Miso", "en realidad su nombre es Mia, no Miso", "Mia"),
    ("fr", "Mon chat s'appelle Miso", "non, son nom est Mia", "Mia"),
    ("zh", "我的猫叫米索", "不对，它叫米娅", "米娅"),
    ("zh", "我的猫叫米索", "是米娅，不是米索", "米娅"),
]
OTHER = [
    ("en", "my cat is called Miso", "I saw Mia not Miso at the vet"),
    ("en", "my cat is called Miso", "no, Mia is my sister"),
    ("en", "my cat is called Miso", "no, Thanks"),
    ("en", "my cat is called Miso", "no, sorry"),
    ("de", "Meine Katze heißt Miso", "nein, Danke"),
    ("de", "Meine Katze heißt Miso", "nein, Mia wohnt bei uns"),
    ("es", "Mi gato se llama Miso", "no, gracias"),
    ("fr", "Mon chat s'appelle Miso", "non, merci"),
    ("zh", "我的猫叫米索", "不对，是三岁"),
]
MOVED = [
    ("en", "i'm meeting Ana on thursday at 7pm", "no, friday not thursday"),
    ("de", "ich treffe Ana am Donnerstag um 19 Uhr", "nein, Freitag, nicht Donnerstag"),
    ("es", "quedo con Ana el jueves a las 19", "no, el viernes, no el jueves"),
    ("fr", "je vois Ana jeudi à 19h", "non, vendredi, pas jeudi"),
]
FRIDAY_EVENING = 1_746_817_200_000_000
"""Friday, 9 May 2025, at seven in the evening, in microseconds."""


@pytest.mark.parametrize(("language", "first", "right", "name"), RENAMED)
def test_name_that_is_put_right_takes_the_place_of_the_other(
    language: str, first: str, right: str, name: str
) -> None:
    """Also in small letters, where the wrong one is denied or it is said to be a name."""
    told = said(first, right, language=language).claims
    assert [each.key for each in told] == [f"{name}:relation"]


@pytest.mark.parametrize(("language", "first", "other"), OTHER)
def test_other_words_behind_a_name_do_not_change_it(language: str, first: str, other: str) -> None:
    """What tells more, or only declines, gives nobody another name."""
    told = said(first, other, language=language).claims
    name = said(first, language=language).claims[0].key
    assert name in [each.key for each in told]


@pytest.mark.parametrize(("language", "first", "right"), MOVED)
def test_meeting_moves_to_the_day_that_is_given_instead_and_keeps_its_hour(
    language: str, first: str, right: str
) -> None:
    """One meeting, on the other day."""
    told = said(first, right, language=language).claims
    assert [(each.kind, each.due_at) for each in told] == [("expectation", FRIDAY_EVENING)]


def test_statement_that_the_answer_quotes_is_put_right() -> None:
    """Not the one said last, where the person has asked since."""
    texts = ("my cat is called Miso", "my neighbour is called Kroger", "what is my cat's name?")
    asked = [message(text, number=number) for number, text in enumerate(texts)]
    answer = message("You said: “my cat is called Miso”", number=3, role="companion")
    told = read(*asked, answer, message("no, her name is Mia", number=4)).claims
    assert {each.key: each.value for each in told} == {
        "Mia:relation": "cat",
        "Kroger:relation": "neighbour",
    }
