"""Names of people and places are read as people write them, in small letters, too."""

import pytest

from tests.learning.rule_extraction.message_fixtures import said

NAMED = [
    ("en", "im lena, moved from leeds to hamburg", "Lena", "Hamburg"),
    ("en", "i'm sam and i live in london", "Sam", "London"),
    ("de", "ich bin lena und wohne in köln", "Lena", "Köln"),
    ("de", "ich heiße paul und wohne in dresden", "Paul", "Dresden"),
    ("es", "soy ana, vivo en madrid", "Ana", "Madrid"),
    ("es", "me llamo lucía y vivo en sevilla", "Lucía", "Sevilla"),
    ("fr", "je suis paul et j'habite à lyon", "Paul", "Lyon"),
    ("fr", "je m'appelle luc et je vis à marseille", "Luc", "Marseille"),
]
UNNAMED = [
    ("en", "i live in fear of the dentist"),
    ("en", "i moved to management last week"),
    ("en", "im knackered, moved to bed at nine"),
    ("en", "my sister gonna visit"),
    ("en", "I'm tired and live in hope, Tom says"),
    ("de", "ich wohne in untermiete"),
    ("de", "ich bin erkältet und lebe in angst"),
    ("es", "soy feliz, vivo en paz"),
    ("fr", "je suis content, j'habite à côté"),
]


@pytest.mark.parametrize(("language", "text", "name", "place"), NAMED)
def test_names_in_small_letters_are_read(language: str, text: str, name: str, place: str) -> None:
    """Who somebody is, and where they live, each with its capital."""
    told = {each.key: each.value for each in said(text, language=language).claims}

    assert (told["name"], told["location"]) == (name, place)


@pytest.mark.parametrize(("language", "text"), UNNAMED)
def test_common_words_in_small_letters_are_no_names(language: str, text: str) -> None:
    """How somebody feels, and what they live in, is no name and no place."""
    keys = {each.key for each in said(text, language=language).claims}

    assert keys.isdisjoint({"name", "location"})


OTHERS = [
    ("en", "im omw, moved to london"),
    ("en", "im hangry and live in london"),
    ("en", "im polyamorous and live in london"),
    ("en", "im preggers, moved to london"),
    ("de", "ich bin ossi und wohne in köln"),
    ("es", "soy friki, vivo en madrid"),
    ("fr", "je suis pacsé et j'habite à lyon"),
    ("fr", "je suis végane et j'habite à lyon"),
]
NOWHERE = [
    ("en", "i moved to spotify last week"),
    ("en", "i moved to linux"),
    ("en", "i moved to kubernetes"),
    ("en", "i live in denial"),
    ("en", "i live in squalor"),
    ("en", "i live in limbo"),
    ("en", "i live in pyjamas"),
    ("en", "i live in suburbia"),
    ("de", "ich wohne in scheidung"),
    ("de", "ich lebe in scheidung"),
    ("es", "vivo en pijama"),
    ("fr", "je vis en autarcie"),
    ("es", "Soy de letras."),
]


@pytest.mark.parametrize(("language", "text"), OTHERS)
def test_what_somebody_is_in_small_letters_is_no_name(language: str, text: str) -> None:
    """A word that no list of names has may be how somebody is."""
    keys = {each.key for each in said(text, language=language).claims}

    assert "name" not in keys


@pytest.mark.parametrize(("language", "text"), NOWHERE)
def test_unknown_word_in_small_letters_is_no_place(language: str, text: str) -> None:
    """What somebody lives in, or has moved to, may be anything that is no place."""
    keys = {each.key for each in said(text, language=language).claims}

    assert keys.isdisjoint({"location", "birthplace"})


def test_unknown_name_in_small_letters_is_read_where_it_is_told_as_one() -> None:
    """Nothing but a name follows "my name is"."""
    told = {each.key: each.value for each in said("my name is xochitl").claims}

    assert told["name"] == "Xochitl"


def test_name_beside_an_unknown_place_is_read() -> None:
    """The place is left, as it may be none."""
    told = {each.key: each.value for each in said("im lena and i live in bristol").claims}

    assert told["name"] == "Lena"
    assert "location" not in told


MOVED = [
    ("en", "I moved from Hamburg to Leeds.", "no, to Lisbon", "Lisbon"),
    ("en", "I moved from Hamburg to Leeds.", "no, Lisbon", "Lisbon"),
    ("de", "Ich bin von Hamburg nach Leeds gezogen.", "nein, nach Lissabon", "Lissabon"),
    ("es", "Me mudé de Hamburgo a Leeds.", "no, a Lisboa", "Lisboa"),
    ("fr", "J'ai déménagé de Hambourg à Leeds.", "non, à Lisbonne", "Lisbonne"),
]


@pytest.mark.parametrize(("language", "moved", "right", "place"), MOVED)
def test_where_a_move_went_is_put_right(language: str, moved: str, right: str, place: str) -> None:
    """Of two places that a move names, a correction means where it went."""
    told = [each.value for each in said(moved, right, language=language).claims if each.key]

    assert told == [place]
