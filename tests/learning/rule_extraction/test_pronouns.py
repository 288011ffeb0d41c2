"""What is told with a pronoun right after somebody was named is told of them."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

TOLD = [
    ("en", "Lena is my sister", "she's vegan", "Lena:diet"),
    ("en", "My brother Tom called", "he works as a nurse", "Tom:occupation"),
    ("de", "Lena ist meine Schwester", "sie wohnt in Bonn", "Lena:location"),
    ("es", "Lena es mi hermana", "ella es vegana", "Lena:diet"),
    ("fr", "Lena est ma sœur", "elle est végane", "Lena:diet"),
    ("zh", "莉娜是我姐姐", "她住在上海", "莉娜:location"),
]
OTHERS = [
    ("en", "Tom is my brother", "she's vegan"),
    ("en", "I saw a film", "she's vegan"),
    ("en", "My sister Lena met my boss Ana", "she's vegan"),
    ("fr", "Lena est ma sœur", "il y a du pain"),
    ("zh", "莉娜是我姐姐", "她们住在上海"),
]


@pytest.mark.parametrize(("language", "first", "then", "key"), TOLD)
def test_pronoun_means_whoever_was_named_just_before(
    language: str, first: str, then: str, key: str
) -> None:
    """In the same message or in the next, and resting on both sentences."""
    for texts in ((first, then), (f"{first}. {then}",)):
        (claim,) = [each for each in said(*texts, language=language).claims if each.key == key]
        assert len(claim.quotes) == 2


@pytest.mark.parametrize(("language", "first", "then"), OTHERS)
def test_pronoun_of_somebody_else_tells_nothing_of_whoever_was_named(
    language: str, first: str, then: str
) -> None:
    """A brother is no "she", two may be meant, and some pronouns mean nobody."""
    told = {each.key for each in said(first, then, language=language).claims}
    assert all(key.endswith(":relation") for key in told)


def test_pronoun_goes_on_from_sentence_to_sentence_until_something_else_is_told() -> None:
    """Behind other words it is not known any more who is meant."""
    goes_on = said("Lena is my sister", "she's 34", "she lives in Porto", language="en").claims
    broken = said("Lena is my sister", "I like tea", "she lives in Porto", language="en").claims
    assert {"Lena:age", "Lena:location"} <= {each.key for each in goes_on}
    assert "Lena:location" not in {each.key for each in broken}
