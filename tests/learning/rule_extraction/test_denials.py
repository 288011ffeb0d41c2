"""What is said not to be so, but otherwise; and which word was meant instead: five languages."""

import pytest

from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from oldfriend.learning.rule_extraction.sentences import undenied
from tests.learning.rule_extraction.message_fixtures import message, read, said


@pytest.mark.parametrize(
    ("language", "sentence", "so", "denied"),
    [
        (
            "en",
            "No, Ana doesn't live in Porto, she lives in Faro.",
            "No, Ana lives in Faro.",
            "in Porto",
        ),
        ("en", "Rex isn't five, he's six.", "Rex is six.", "five"),
        ("en", "My cat's name is Mizo, not Miso.", "My cat's name is Mizo.", "Miso"),
        ("es", "Eva no vive en Cádiz, sino en Lugo.", "Eva vive en Lugo.", "en Cádiz"),
        ("fr", "Eva n'est pas à Lyon, elle est à Lille.", "Eva est à Lille.", "à Lyon"),
        ("de", "Eva wohnt nicht in Köln, sondern in Bonn.", "Eva wohnt in Bonn.", "in Köln"),
        ("zh", "小丽不住在成都，她住在重庆。", "小丽住在重庆。", "成都"),
    ],
)
def test_denial_with_replacement_is_split_into_statement_and_denied_value(
    language: str, sentence: str, so: str, denied: str
) -> None:
    """The sentence is read as if only that had been said."""
    assert undenied(sentence, load_rule_book(language)) == (so, denied)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "I am not vegetarian."),
        ("en", "I'm not sure, but I like it."),
        ("en", "My sister doesn't eat meat, she lives in Rome."),
        ("en", "I don't like tea, I like coffee."),
        ("en", "It is cold, not only today."),
        ("en", "Ana doesn't live in Porto any more, she lives in Faro."),
        ("es", "Ya no soy vegetariana, soy vegana."),
        ("es", "No soy vegetariana."),
        ("fr", "Je ne suis pas végétarienne."),
        ("fr", "Eva n'habite plus à Lyon."),
        ("de", "Eva wohnt nicht mehr in Köln, sie wohnt in Bonn."),
        ("de", "Ich bin nicht vegetarisch."),
        ("zh", "小丽不住在成都了，她住在重庆。"),
        ("zh", "我不是素食者。"),
    ],
)
def test_change_over_time_or_bare_denial_is_left_unchanged(language: str, sentence: str) -> None:
    """Nor is a half left out that tells something else."""
    assert undenied(sentence, load_rule_book(language)) == (sentence, "")


def test_change_with_now_records_no_denied_value() -> None:
    """That is no mistake."""
    claims = said("My friend Ana lives in Porto.", "Ana lives in Faro now, not in Porto.").claims

    assert [each.denied_value for each in claims if each.value == "Faro"] == [""]


@pytest.mark.parametrize(
    ("language", "text", "right", "due"),
    [
        ("en", "I'll call the dentist by Friday.", "Sorry, I meant Saturday.", 10),
        ("es", "Le prometí a Luis llamarle el viernes.", "Perdón, quise decir el sábado.", 10),
        ("fr", "Je te promets d'appeler Paul vendredi.", "Pardon, je voulais dire samedi.", 10),
        ("de", "Ich rufe am Freitag den Zahnarzt an, versprochen.", "Ich meinte Samstag.", 10),
        ("zh", "我答应李雷周五修好自行车。", "不好意思，我是说周六。", 10),
    ],
)
def test_correction_of_a_date_moves_the_due_date_and_keeps_both_quotes(
    language: str, text: str, right: str, due: int
) -> None:
    """Only then; both sentences tell it."""
    (promise,) = said(text, right, language=language).claims

    assert f"{due}" in promise.text
    assert [quote.text for quote in promise.quotes] == [right, text]


@pytest.mark.parametrize(
    "texts",
    [
        ("I live in Porto with Ana and Ben.", "Sorry, I meant Cleo."),  # which of them?
        ("I'm 34 years old.", "I meant to call you."),
        ("I'm 34 years old.", "I meant Faro."),
        ("I'm 34 years old. Do I look 30?", "Sorry, I meant 35."),
    ],
)
def test_ambiguous_or_unmatched_correction_changes_no_value(texts: tuple[str, str]) -> None:
    """It stays as it was said."""
    assert [each.value for each in said(*texts).claims] == [
        each.value for each in said(texts[0]).claims
    ]


def test_another_speakers_correction_does_not_change_the_persons_value() -> None:
    """Each speaks for themself."""
    texts = (
        message("I'm 34 years old."),
        message("Sorry, I meant 35.", number=1, role="other", speaker="Tom"),
    )

    assert [each.value for each in read(*texts).claims] == ["34 years"]


@pytest.mark.parametrize(
    ("language", "text", "right", "value"),
    [
        ("en", "I'm 36.", "actually im 37 not 36", "37"),
        ("en", "I'm 36.", "no, 37", "37"),
        ("en", "My sister lives in Yorkton.", "No, she lives in Regina.", "Regina"),
        ("de", "Ich bin 36.", "bin 37 nicht 36", "37"),
        ("es", "Tengo 36 años.", "no, 37", "37"),
        ("fr", "J'ai 36 ans.", "non, 37", "37"),
        ("zh", "我36岁。", "不是36，是37", "37"),
    ],
)
def test_bare_replacement_value_corrects_the_earlier_value(
    language: str, text: str, right: str, value: str
) -> None:
    """By its sort, without a verb of correcting."""
    values = [each.value for each in said(text, right, language=language).claims]

    assert any(value in each for each in values)
    assert not any("36" in each or "Yorkton" in each for each in values)


@pytest.mark.parametrize(
    "other", ["No, I have 4 cats.", "No, I can't stay 37 days.", "Ben is 37.", "I'm not 40."]
)
def test_unrelated_number_does_not_correct_the_earlier_value(other: str) -> None:
    """It has words of its own, or denies another value."""
    values = [each.value for each in said("I'm 36.", other).claims]

    assert any("36" in each for each in values)
