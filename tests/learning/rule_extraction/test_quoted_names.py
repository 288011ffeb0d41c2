"""Names in quotation marks, and of whom a sentence only says what they are called."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

NAMED = [
    ("en", 'I have a dog named "Bello".', "Bello"),
    ("de", 'Ich habe einen Hund namens "Bello".', "Bello"),
    ("de", "Ich habe einen Hund namens „Bello“.", "Bello"),
    ("de", "wir haben jetzt einen Hund, heißt Pelle", "Pelle"),
    ("fr", "J'ai un chien nommé « Filou ».", "Filou"),
    ("fr", "On a maintenant un chien, s'appelle Filou.", "Filou"),
    ("es", 'Tengo un perro llamado "Toby".', "Toby"),
    ("es", "Tenemos ahora un perro, se llama Toby.", "Toby"),
    ("zh", "我有一只狗叫“贝洛”。", "贝洛"),
]


@pytest.mark.parametrize(("language", "text", "name"), NAMED)
def test_animal_is_known_by_its_name(language: str, text: str, name: str) -> None:
    """Whatever marks stand around it, and without a pronoun."""
    told = {each.key: each.value for each in said(text, language=language).claims}

    assert told[f"{name}:relation"] == "dog"


@pytest.mark.parametrize(
    "text",
    [
        'My sister called "Help" from the kitchen.',
        'She said "Bello is a dog I have".',
        'My wife called "Tom" a liar.',
        'My friend named "Titanic" as her favourite film.',
    ],
)
def test_quoted_words_that_are_said_name_nobody(text: str) -> None:
    """What somebody calls out is no name."""
    assert not [each.key for each in said(text).claims if each.key.endswith(":relation")]


APPOSED = [
    ("de", "Ich hab heute mit Aylin, meiner Kollegin, Kaffee getrunken. Sie kommt aus Izmir."),
    ("de", "Ich habe gestern Aylin, meine Kollegin, Pizza essen sehen."),
    ("en", "Yesterday I showed Aylin, my colleague, Berlin."),
    ("fr", "Hier j'ai visité avec Aylin, ma collègue, Paris."),
]


@pytest.mark.parametrize(("language", "text"), APPOSED)
def test_part_between_commas_is_that_of_the_name_before_it(language: str, text: str) -> None:
    """What follows the second comma is somebody or something else."""
    told = [each for each in said(text, language=language).claims if each.subject == "other"]

    assert {each.key.partition(":")[0] for each in told} == {"Aylin"}


def test_part_behind_a_greeting_is_that_of_the_name_behind_it() -> None:
    """What begins a sentence may be no name."""
    told = {each.key for each in said("Hey, meine Schwester, Lena, kommt.", language="de").claims}

    assert "Lena:relation" in told
