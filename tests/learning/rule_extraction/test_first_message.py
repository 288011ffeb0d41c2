"""One long first message tells who somebody is, how old, where they live, and who is with them."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

FIRST = [
    (
        "en",
        "Hey, I'm Ruth, 41, I live in Utrecht with my husband Pieter and our kids Ella (7) and "
        "Bram (4).",
    ),
    (
        "de",
        "Hallo, ich bin Ruth, 41, ich wohne in Utrecht mit meinem Mann Pieter, und unsere Kinder "
        "heißen Ella (7) und Bram (4).",
    ),
    (
        "es",
        "Hola, soy Ruth, 41 años, vivo en Utrecht con mi marido Pieter y nuestros hijos Ella (7) "
        "y Bram (4).",
    ),
    (
        "fr",
        "Bonjour, je m'appelle Ruth, 41 ans, j'habite à Utrecht avec mon mari Pieter et nos "
        "enfants Ella (7) et Bram (4).",
    ),
]


@pytest.mark.parametrize(("language", "text"), FIRST)
def test_names_ages_and_children_of_a_first_message_are_read(language: str, text: str) -> None:
    """Each of them, from one sentence."""
    told = {
        each.key: each.value.split()[0]
        for each in said(text, language=language).claims
        if each.kind == "fact"
    }

    assert told["location"] == "Utrecht"
    assert told["age"] == "41"
    assert (told["Ella:age"], told["Bram:age"]) == ("7", "4")
    assert (told["Ella:relation"], told["Bram:relation"]) == ("child", "child")
    assert told["Pieter:relation"] == "husband"


def test_number_in_brackets_behind_what_is_nobody_is_no_age() -> None:
    """As of a film, or of a house."""
    claims = said("We watched Apollo (13) in Porto (2) yesterday.").claims

    assert not any("age" in each.key for each in claims)
