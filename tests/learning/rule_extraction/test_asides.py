"""What is said beside a list of things is none of them."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

ASIDES = [
    ("en", "im allergic to penicillin, important!", ["penicillin"]),
    ("en", "I'm allergic to nuts and eggs, dangerous.", ["nuts", "eggs"]),
    ("en", "I'm allergic to nuts, serious!", ["nuts"]),
    ("de", "Ich bin allergisch gegen Penicillin, wichtig!", ["Penicillin"]),
    ("es", "Soy alérgica a la penicilina, importante!", ["penicilina"]),
    ("fr", "Je suis allergique à la pénicilline, important !", ["pénicilline"]),
    ("zh", "我对青霉素过敏，重要！", ["青霉素"]),
]
LISTS = [
    ("en", "I'm allergic to nuts, eggs!", ["nuts", "eggs"]),
    ("en", "I'm allergic to latex, deodorant", ["latex", "deodorant"]),
    ("en", "I'm allergic to wheat, couscous", ["wheat", "couscous"]),
    ("de", "Ich bin allergisch gegen Milch, Eier und Nüsse", ["Milch", "Eier", "Nüsse"]),
    ("es", "Soy alérgica a la leche, huevos", ["leche", "huevos"]),
    ("fr", "Je suis allergique au lait, oeufs", ["lait", "oeufs"]),
]


@pytest.mark.parametrize(("language", "text", "things"), [*ASIDES, *LISTS])
def test_aside_is_no_further_thing(language: str, text: str, things: list[str]) -> None:
    """Only what can be one is kept as something that a person is allergic to."""
    told = [each.value for each in said(text, language=language).claims if each.key == "allergies"]

    assert told == things


FAVOURITES = [
    ("en", "my favourite cake is still cheesecake", "cheesecake"),
    ("en", "My favourite song is now Hurt.", "Hurt"),
    ("de", "Mein Lieblingskuchen ist immer noch Käsekuchen", "Käsekuchen"),
    ("es", "Mi postre favorito es todavía el flan", "el flan"),
    ("fr", "Mon gâteau préféré est toujours le fraisier", "le fraisier"),
]


@pytest.mark.parametrize(("language", "text", "value"), FAVOURITES)
def test_word_for_how_long_is_no_part_of_a_favourite(language: str, text: str, value: str) -> None:
    """What is liked best is kept, not that it still is."""
    told = [each.value for each in said(text, language=language).claims]

    assert told == [value]
