"""Whoever is named by the part they play is told of by what goes on about them."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said
from tests.learning.rule_extraction.test_rule_recall import believed


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        (
            "en",
            "My sister Ana, who works at Siemens, called today.",
            ["Sister: Ana.", "Ana works at Siemens."],
        ),
        (
            "en",
            "My sister Ana, who lives in Porto, is a nurse.",
            ["Sister: Ana.", "Ana lives in Porto.", "Ana works as a nurse."],
        ),
        (
            "en",
            "I visited my brother Tom, who lives in Leeds, last week.",
            ["Brother: Tom.", "Tom lives in Leeds."],
        ),
        (
            "en",
            "I have a sister named Ana who works at Siemens.",
            ["Sister: Ana.", "Ana works at Siemens."],
        ),
        ("en", "Ana, my sister, works at Siemens.", ["Sister: Ana.", "Ana works at Siemens."]),
        (
            "en",
            "Ana, who works at Siemens, is my sister.",
            ["Sister: Ana.", "Ana works at Siemens."],
        ),
        ("en", "My sister, who lives in Porto, called.", ["Sister lives in Porto."]),
        (
            "es",
            "Mi hermana Ana, que trabaja en Siemens, llamó hoy.",
            ["Hermana: Ana.", "Ana trabaja en Siemens."],
        ),
        (
            "es",
            "Mi hermana Ana, que vive en Porto, es enfermera.",
            ["Hermana: Ana.", "Ana vive en Porto.", "Ana trabaja como enfermera."],
        ),
        (
            "es",
            "Tengo una hermana llamada Ana que trabaja en Siemens.",
            ["Hermana: Ana.", "Ana trabaja en Siemens."],
        ),
        (
            "de",
            "Meine Schwester Ana, die bei Siemens arbeitet, hat heute angerufen.",
            ["Schwester: Ana.", "Ana arbeitet bei Siemens."],
        ),
        (
            "de",
            "Meine Schwester Ana, die in Bonn wohnt, ist Lehrerin.",
            ["Schwester: Ana.", "Ana wohnt in Bonn.", "Ana arbeitet als Lehrerin."],
        ),
        (
            "de",
            "Ich habe eine Schwester namens Ana, die bei Siemens arbeitet.",
            ["Schwester: Ana.", "Ana arbeitet bei Siemens."],
        ),
        (
            "fr",
            "Ma sœur Ana, qui habite à Lyon, est infirmière.",
            ["Sœur : Ana.", "Ana vit à Lyon.", "Ana travaille comme infirmière."],
        ),
        ("fr", "J'ai une amie nommée Ana qui habite à Lyon.", ["Amie : Ana.", "Ana vit à Lyon."]),
        ("zh", "我在西门子工作的妹妹小芳今天打电话来了。", ["妹妹：小芳。", "小芳在西门子工作。"]),
        ("zh", "我住在上海的姐姐小红来看我了。", ["姐姐：小红。", "小红住在上海。"]),
    ],
)
def test_relative_clause_about_a_named_person_yields_claims(
    language: str, sentence: str, told: list[str]
) -> None:
    """Who they are, what else is said of them, and nothing besides."""
    claims = said(sentence, language=language).claims

    assert {each.text for each in claims if each.subject == "other"} == {*told}


@pytest.mark.parametrize(
    "sentence",
    [
        "My friend from Porto, who works at Siemens, called.",
        "Ask my sister Ana who works at Siemens.",
        "I asked my sister Ana, who works at Siemens, about it.",
        "My sister Ana, who might work at Siemens, called.",
        "Does my sister Ana, who works at Siemens, know?",
        "My sister Ana, who I met at Siemens, called.",
        "My sister Ana, who is going to work at Siemens, called.",
    ],
)
def test_asked_or_hypothetical_relative_clause_yields_no_claim(sentence: str) -> None:
    """Nor is a town somebody who works."""
    assert not [text for _, text in believed(sentence, "en") if "works at" in text]


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("en", "We own a cat called Mimi.", "Cat: Mimi."),
        ("en", "I got a new cat, her name is Mimi.", "Cat: Mimi."),
        ("es", "Tengo un perro de nombre Rex.", "Perro: Rex."),
        ("de", "Ich habe einen Hund, er heißt Rex.", "Hund: Rex."),
        ("fr", "J'ai un chien, il s'appelle Rex.", "Chien : Rex."),
        ("zh", "我有一只叫咪咪的猫。", "猫：咪咪。"),
        ("zh", "我有一个叫小明的弟弟。", "弟弟：小明。"),
    ],
)
def test_pet_or_relative_named_in_a_have_sentence_is_extracted(
    language: str, sentence: str, told: str
) -> None:
    """However the name is given."""
    assert told in [each.text for each in said(sentence, language=language).claims]


@pytest.mark.parametrize(
    ("language", "introduced", "sentence", "told"),
    [
        ("en", "My son is called Leo.", "Leo turned 6.", ["Leo is 6 years old."]),
        ("en", "My son is called Leo.", "No, Leo is 7, not 6.", ["Leo is 7 years old."]),
        ("en", "My son is called Leo.", "Leo turned two pages.", []),
        ("en", "My son is called Leo.", "Leo is six feet tall.", []),
        ("en", "My son is called Leo.", "Leo is almost 6.", []),
        ("es", "Mi hijo se llama Leo.", "Leo cumplió 6 años.", ["Leo tiene 6 años."]),
        ("es", "Mi hijo se llama Leo.", "Leo tiene 3 perros.", []),
        ("de", "Mein Sohn heißt Leo.", "Leo ist 6 geworden.", ["Leo ist 6 Jahre alt."]),
        ("de", "Mein Sohn heißt Leo.", "Leo ist 2. Sieger geworden.", []),
        ("fr", "Mon fils s'appelle Leo.", "Leo a eu 6 ans.", ["Leo a 6 ans."]),
    ],
)
def test_age_of_another_person_is_extracted_only_in_years(
    language: str, introduced: str, sentence: str, told: list[str]
) -> None:
    """In years, and of nothing else that is counted."""
    claims = said(introduced, sentence, language=language).claims

    assert [each.text for each in claims if each.key == "Leo:age"] == told
