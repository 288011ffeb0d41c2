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
WITHIN = [
    ("en", "my cat is called Moppel, shes 9", "Moppel:age"),
    ("en", "my sister is called Nora, she lives in Leeds", "Nora:location"),
    ("de", "meine katze heißt Moppel, sie ist 9", "Moppel:age"),
    ("de", "Meine Schwester Nora ist Ärztin, sie wohnt in Köln", "Nora:location"),
    ("es", "mi gata se llama Luna, tiene 9 años", "Luna:age"),
    ("es", "mi hermano se llama Luis, él vive en Lugo", "Luis:location"),
    ("fr", "ma chatte s'appelle Mimi, elle a 9 ans", "Mimi:age"),
    ("fr", "mon frère s'appelle Paul, il habite à Lyon", "Paul:location"),
    ("zh", "我的猫叫米粒，它9岁", "米粒:age"),
    ("zh", "我妹妹叫小红，她住在上海", "小红:location"),
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


@pytest.mark.parametrize(("language", "text", "key"), WITHIN)
def test_pronoun_means_whoever_the_same_sentence_names(language: str, text: str, key: str) -> None:
    """Behind the name, whatever is told of them."""
    assert key in {each.key for each in said(text, language=language).claims}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "my brother is called Tom, she lives in Leeds"),
        ("zh", "我妹妹叫小红，它9岁"),
        ("fr", "ma sœur s'appelle Alice, il a 9 ans"),
        ("en", "my sister Nora met my boss Ana, she lives in Leeds"),
    ],
)
def test_pronoun_of_somebody_else_in_a_sentence_tells_nothing_of_whoever_it_names(
    language: str, text: str
) -> None:
    """A brother is no "she", a sister no "it", and two may be meant."""
    claims = said(text, language=language).claims
    assert all(each.key.endswith(":relation") for each in claims)


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


@pytest.mark.parametrize(
    "text",
    [
        "Mi hermano Tom me recomendó un libro. Es de Cervantes.",
        "Mi hijo Leo juega con el perro. Tiene 5 años y es labrador.",
    ],
)
def test_spanish_sentence_without_a_subject_is_not_of_whom_the_one_before_names(text: str) -> None:
    """It may be of the book or the dog; with "ella", or behind a comma, it is of them."""
    told = {each.key for each in said(text, language="es").claims}
    assert told <= {"Tom:relation", "Leo:relation"}


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("我妈妈退休了。在银行工作三十年了。", False),
        ("我叔叔对花生过敏。在工厂上班十年了。", False),
        ("我退休了。在银行工作三十年了。", True),
        ("我和妈妈吵架了。我在银行工作三十年了。", True),
        ("今天好累。在银行工作三十年了。", True),
    ],
)
def test_sentence_without_a_subject_is_about_whom_the_one_before_is_about(
    text: str, *, is_own: bool
) -> None:
    """In Chinese, where a verb does not tell who does it."""
    keys = {each.key for each in said(text, language="zh").claims if each.subject == "person"}

    assert ("workplace" in keys) is is_own


ALSO_TOLD = [
    ("en", "My sister's name is Katha and she lives in Dresden.", "Katha", "Dresden"),
    ("en", "my sister's name is Katha and she lives in Dresden", "Katha", "Dresden"),
    ("en", "My brother's name is Tom and he lives in Leeds.", "Tom", "Leeds"),
    ("de", "Meine Schwester heißt Katha und sie wohnt in Dresden.", "Katha", "Dresden"),
    ("es", "Mi hermana se llama Katha y vive en Sevilla.", "Katha", "Sevilla"),
    ("fr", "Ma sœur s'appelle Katha et elle habite à Lyon.", "Katha", "Lyon"),
    ("zh", "我姐姐叫王丽，她住在上海。", "王丽", "上海"),
]


@pytest.mark.parametrize(("language", "text", "name", "place"), ALSO_TOLD)
def test_pronoun_behind_an_and_is_whom_the_sentence_named(
    language: str, text: str, name: str, place: str
) -> None:
    """Where no comma parts the two statements."""
    told = {each.key: each.value for each in said(text, language=language).claims}

    assert told.get(f"{name}:location") == place


def test_pronoun_behind_an_and_is_none_of_two() -> None:
    """It may be either of them."""
    told = said("My sister Katha met my friend Anna and she lives in Dresden.").claims

    assert not [each.key for each in told if each.key.endswith(":location")]
