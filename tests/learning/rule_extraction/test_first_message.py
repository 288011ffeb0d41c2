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


INTRODUCED = [
    (
        "en",
        "My name is Jana, I'm 34 and live with my husband Tom and my kids Ella (7) and "
        "Ben (4) in Porto",
        "Porto",
    ),
    (
        "en",
        "I'm Jana, 34, living in Porto with my husband Tom and our kids Ella (7) and Ben (4)",
        "Porto",
    ),
    (
        "de",
        "Ich bin Jana, 34 Jahre alt, wohne mit meinem Mann Tom und unseren Kindern Ella "
        "(7) und Ben (4) in Leipzig.",
        "Leipzig",
    ),
    (
        "de",
        "Ich heiße Jana, bin 34 und wohne mit meinem Mann Tom und unseren Kindern Ella "
        "(7) und Ben (4) in Leipzig",
        "Leipzig",
    ),
    (
        "es",
        "Me llamo Jana, tengo 34 años y vivo con mi marido Tom y mis hijos Ella (7) y "
        "Ben (4) en Madrid",
        "Madrid",
    ),
    (
        "fr",
        "Je m'appelle Jana, j'ai 34 ans et je vis avec mon mari Tom et nos enfants Ella "
        "(7) et Ben (4) à Lyon",
        "Lyon",
    ),
]


@pytest.mark.parametrize(("language", "text", "town"), INTRODUCED)
def test_one_long_first_sentence_becomes_several_beliefs(
    language: str, text: str, town: str
) -> None:
    """Age, town, partner, the children and how old they are, each by itself."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert told["location"] == town
    assert told["Tom:relation"] == "husband"
    assert told["Ella:relation"] == told["Ben:relation"] == "child"
    assert [told[key].split()[0] for key in ("age", "Ella:age", "Ben:age")] == ["34", "7", "4"]


@pytest.mark.parametrize(
    ("language", "text", "town"),
    [
        ("en", "Lena is my sister and lives in Porto", "Porto"),
        ("de", "Lena ist meine Schwester und wohnt in Köln", "Köln"),
        ("es", "Lena es mi hermana y vive en Madrid", "Madrid"),
        ("fr", "Lena est ma sœur et habite à Lyon", "Lyon"),
        ("zh", "莉娜是我姐姐，住在上海", "上海"),
        ("en", "My sister Lena lives in Porto and works as a nurse", "Porto"),
        ("de", "Meine Schwester Lena wohnt in Köln und arbeitet als Ärztin", "Köln"),
        ("fr", "Ma sœur Lena habite à Lyon et travaille comme infirmière", "Lyon"),
    ],
)
def test_what_an_and_adds_about_somebody_is_told_of_them(
    language: str, text: str, town: str
) -> None:
    """Who it is about is not said again."""
    told = {
        each.key.rpartition(":")[2]: each.value for each in said(text, language=language).claims
    }
    assert (told["relation"], told["location"]) == ("sister", town)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "My parents retired and live in Spain"),
        ("de", "Meine Eltern sind in Rente und leben in Spanien"),
        ("en", "Tom said Lena is my sister and lives in Porto"),
    ],
)
def test_what_others_do_behind_an_and_is_not_told_of_the_person(language: str, text: str) -> None:
    """Nor what somebody else has said."""
    assert "location" not in {each.key for each in said(text, language=language).claims}


@pytest.mark.parametrize(
    ("language", "text", "name", "home"),
    [
        ("en", "I'm Lena, moved from Hamburg to Leeds", "Lena", "Leeds"),
        ("en", "im Lena and i just moved to Leeds", "Lena", "Leeds"),
        ("es", "soy Marta, me mudé de Lugo a Bilbao", "Marta", "Bilbao"),
        ("fr", "je suis Léa, j'ai déménagé de Lyon à Nantes", "Léa", "Nantes"),
        ("de", "Ich bin Lena und wohne in Ulm", "Lena", "Ulm"),
        ("de", "ich bin Jonas, bin gerade von Jena nach Gotha gezogen", "Jonas", "Gotha"),
        ("de", "Hallo, ich bin die Heike und ich lebe in Bonn.", "Heike", "Bonn"),
        ("zh", "我叫小林，从杭州搬到了成都", "小林", "成都"),
    ],
)
def test_who_moved_from_where_to_where_is_known(
    language: str, text: str, name: str, home: str
) -> None:
    """By the name, and at the new home."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert (told.get("name"), told.get("location")) == (name, home)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I'm Scottish, moved from Oban to Leeds"),
        ("en", "I'm Married and live in Leeds"),
        ("en", "I'm Retired and live in Leeds"),
        ("es", "Soy Médico y vivo en Madrid"),
        ("en", "I'm Vegetarian and I live in Leeds"),
        ("de", "Ich bin Lehrerin und wohne in Köln"),
        ("fr", "je suis Française, j'habite à Lyon"),
        ("en", "I'm Happy, I moved to Leeds"),
        ("en", "I'm Lost and live in Leeds"),
        ("es", "Soy Alemana, vivo en Madrid desde hace dos años."),
        ("es", "soy Profesora y vivo en Lugo"),
        ("fr", "Je suis Content, j'ai déménagé à Lyon."),
        ("de", "Ich bin Müde und wohne in Ulm"),
        ("de", "Ich bin Vegetarierin und lebe in Bonn"),
        ("de", "Hallo, ich bin Krankenschwester und arbeite nachts"),
        ("en", "we moved from Windows to Linux"),
        ("zh", "快递从杭州搬到了成都"),
    ],
)
def test_what_somebody_is_and_what_else_moves_is_no_name_or_home(language: str, text: str) -> None:
    """A nation, a diet, a job, a parcel or a computer."""
    told = {each.key: each.value for each in said(text, language=language).claims}
    assert "name" not in told
    assert told.get("location") not in {"Linux", "成都"}
