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
    ("en", "my cat's name is Pixel", "no wait, it's Pixie, not Pixel", "Pixie"),
    ("de", "Meine Katze heißt Pixel", "nein warte, sie heißt Pixie, nicht Pixel", "Pixie"),
    ("es", "Mi gato se llama Pixel", "espera, no, se llama Pixie, no Pixel", "Pixie"),
    ("fr", "Mon chat s'appelle Pixel", "attends, non, c'est Pixie, pas Pixel", "Pixie"),
    ("zh", "我的猫叫小黑", "等等，不对，是小白，不是小黑", "小白"),
]
VALUES = [
    ("en", "I have 3 kids", "Wrong, 2 kids", "2 kids"),
    ("en", "I have three kids", "no, two kids", "two kids"),
    ("de", "Ich habe 3 Kinder", "Falsch, 2 Kinder", "2 Kinder"),
    ("es", "Tengo 3 hijos", "no, 2 hijos", "2 hijos"),
    ("fr", "J'ai 3 enfants", "non, 2 enfants", "2 enfants"),
    ("en", "my birthday is march 12", "actually it's march 13", "march 13"),
    ("en", "my birthday is march 12", "actually it's april 13", "april 13"),
    ("de", "Mein Geburtstag ist am 12. März", "nein, am 13. April", "13. April"),
    ("zh", "我的生日是3月12日", "不对，是4月13日", "4月13日"),
    ("en", "I work as a teacher", "no, a nurse", "a nurse"),
]
PARTS = [
    ("en", "Lena is my cousin", "no, Lena is my sister"),
    ("de", "Meine Cousine heißt Lena", "nein, Lena ist doch meine Schwester"),
    ("es", "Lena es mi prima", "no, Lena es mi hermana"),
    ("fr", "Lena est ma cousine", "non, Lena est ma sœur"),
    ("zh", "莉娜是我表姐", "不对，莉娜是我姐姐"),
]
MOVED_HOME = [
    ("en", "my sister Frieda lives in Kiel", "no, she lives in Flensburg", "Flensburg", "Kiel"),
    (
        "en",
        "my sister Frieda lives in Kiel with her two kids, Ole and Janne",
        "actually no, she lives in Flensburg, not Kiel",
        "Flensburg",
        "Kiel",
    ),
    (
        "de",
        "meine Schwester Frieda wohnt in Kiel",
        "nein, sie wohnt in Flensburg",
        "Flensburg",
        "Kiel",
    ),
    (
        "de",
        "mein bruder heißt Torben und wohnt in Bremen, er arbeitet bei ner werft",
        "nee stimmt nicht, er wohnt jetzt in Oldenburg",
        "Oldenburg",
        "Bremen",
    ),
    ("fr", "ma soeur Frieda habite à Lyon", "non, elle habite à Nice", "Nice", "Lyon"),
    ("es", "mi hermana Frieda vive en Vigo", "no, vive en Lugo", "Lugo", "Vigo"),
    ("zh", "我妹妹小美住在上海", "不对，她住在杭州", "杭州", "上海"),
]
OTHER = [
    ("en", "my cat is called Miso", "I saw Mia not Miso at the vet"),
    ("en", "my cat is called Miso", "no, Mia is my sister"),
    ("en", "my cat is called Miso", "no, Thanks"),
    ("en", "my cat is called Miso", "no, sorry"),
    ("en", "my birthday is march 12", "no, dinner is ready"),
    ("en", "I work as a teacher", "wait, a minute"),
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


@pytest.mark.parametrize(("language", "first", "right", "value"), VALUES)
def test_value_that_is_put_right_takes_the_place_of_the_other(
    language: str, first: str, right: str, value: str
) -> None:
    """A count, a day, or what somebody does, given without the words around it."""
    told = said(first, right, language=language).claims
    assert [each.value for each in told] == [value]
    assert told[0].denied_value


@pytest.mark.parametrize(
    ("first", "line", "value"),
    [
        ("I have 3 kids", "- 2 kids", "3 kids"),
        ("my birthday is march 12", "\N{EN DASH} april 13", "march 12"),
        ("I work as a teacher", ", a nurse", "a teacher"),
    ],
)
def test_dash_or_comma_alone_puts_nothing_right(first: str, line: str, value: str) -> None:
    """A line of a list does not say that what was said before was wrong."""
    assert [each.value for each in said(first, line).claims] == [value]


def test_name_that_was_told_some_turns_ago_is_put_right_where_it_is_denied() -> None:
    """The wrong word tells which statement is meant."""
    turns = ("my cat's name is Pixel", "I like tea", "no wait, it's Pixie, not Pixel")
    told = said(*turns, language="en").claims
    assert {each.value for each in told if each.key == "Pixie:relation"} == {"cat"}
    assert not any("Pixel" in each.key for each in told)


@pytest.mark.parametrize(("language", "first", "right", "home", "before"), MOVED_HOME)
def test_home_that_is_put_right_renames_nobody(
    language: str, first: str, right: str, home: str, before: str
) -> None:
    """What says where somebody lives replaces a home, and no name."""
    role = said(first, language=language).claims[0]
    told = said(first, right, language=language).claims
    assert (told[0].key, told[0].value) == (role.key, role.value)
    assert [(each.value, each.denied_value) for each in told[1:]] == [(home, before)]


@pytest.mark.parametrize("other", ["no, he lives in Flensburg", "no, she works in Flensburg"])
def test_correction_that_does_not_fit_changes_nothing(other: str) -> None:
    """Somebody else's home, or another thing that is told, is no name and no home."""
    first = "my sister Frieda lives in Kiel"
    assert said(first, other).claims == said(first).claims


@pytest.mark.parametrize(("language", "first", "right"), PARTS)
def test_what_somebody_is_to_the_person_is_put_right(language: str, first: str, right: str) -> None:
    """The name stays a name, and what they were called before was wrong."""
    *_, now = said(first, right, language=language).claims
    assert (now.key, now.value, now.denied_value) == (
        said(first, language=language).claims[0].key,
        "sister",
        "cousin",
    )


def test_second_part_that_nothing_calls_a_correction_stands_beside_the_first() -> None:
    """A friend may be a colleague, too."""
    told = said("Lena is my friend", "Lena is my colleague", language="en").claims
    assert {each.value for each in told} == {"friend", "colleague"}
    assert not any(each.denied_value for each in told)


@pytest.mark.parametrize(("language", "first", "other"), OTHER)
def test_other_words_behind_a_name_do_not_change_it(language: str, first: str, other: str) -> None:
    """What tells more, or only declines, gives nobody another name."""
    told = said(first, other, language=language).claims
    (known,) = said(first, language=language).claims
    assert (known.key, known.value) in [(each.key, each.value) for each in told]


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


MEANT = [
    ("en", ("my sister Ana lives in Porto", "no, Lisbon"), "Ana:location", "Lisbon"),
    ("de", ("meine Schwester Ana wohnt in Porto", "nein, Lissabon"), "Ana:location", "Lissabon"),
    ("es", ("mi hermana Ana vive en Lugo", "no, en Vigo"), "Ana:location", "Vigo"),
    ("fr", ("ma sœur Ana habite à Lyon", "non, à Nantes"), "Ana:location", "Nantes"),
    (
        "en",
        ("my sister is called Ana, she lives in Porto", "no, Lisbon"),
        "Ana:location",
        "Lisbon",
    ),
    ("en", ("my sister Ana lives in Porto", "no, Anna"), "Anna:location", "Porto"),
    ("en", ("my sister Ana lives in Porto", "no, she's called Eva"), "Eva:location", "Porto"),
    ("en", ("my cat is called Mopsa", "is actually called Mopsi"), "Mopsi:relation", "cat"),
    ("de", ("meine katze heißt Mopsa", "heißt eigentlich Mopsi"), "Mopsi:relation", "cat"),
    ("es", ("mi gata se llama Luna", "se llama en realidad Lola"), "Lola:relation", "cat"),
    ("fr", ("mon chat s'appelle Filou", "il s'appelle en fait Félix"), "Félix:relation", "cat"),
    ("zh", ("我妹妹叫小红", "，说错了，叫小虹"), "小虹:relation", "sister"),
    ("es", ("tengo 3 hijos", "mal, 2 hijos"), "children", "2 hijos"),
]
"""What was said, the key that is meant, and its right value: a name only where that is told."""
SOME_TURNS_AGO = [
    ("en", ("I have 3 kids", "we have two cars", "Wrong, 2 kids"), "children", "2 kids"),
    (
        "de",
        ("ich habe 3 kinder", "wir haben zwei autos", "falsch, 2 kinder"),
        "children",
        "2 kinder",
    ),
    ("es", ("tengo 3 hijos", "tenemos dos coches", "no, 2 hijos"), "children", "2 hijos"),
    (
        "fr",
        ("j'ai 3 enfants", "nous avons deux voitures", "non, 2 enfants"),
        "children",
        "2 enfants",
    ),
    (
        "fr",
        ("mon chien s'appelle Filou", "ma sœur s'appelle Alice", "non, il s'appelle Félix"),
        "Félix:relation",
        "dog",
    ),
    (
        "en",
        ("my brother is called Tom", "my sister is called Alice", "no, he is called Tim"),
        "Tim:relation",
        "brother",
    ),
    (
        "de",
        ("mein Bruder heißt Tom", "meine Schwester heißt Alice", "nein, er heißt Tim"),
        "Tim:relation",
        "brother",
    ),
]


@pytest.mark.parametrize(("language", "texts", "key", "value"), [*MEANT, *SOME_TURNS_AGO])
def test_right_word_takes_the_place_of_what_it_can_mean(
    language: str, texts: tuple[str, ...], key: str, value: str
) -> None:
    """The home rather than the name, and of several statements the one that it is about."""
    told = {each.key: each.value for each in said(*texts, language=language).claims}
    assert told.get(key) == value


def test_whoever_else_was_told_of_keeps_their_name() -> None:
    """A sister is no "il": the dog is meant."""
    texts = ("mon chien s'appelle Filou", "ma sœur s'appelle Alice", "non, il s'appelle Félix")
    told = {each.key: each.value for each in said(*texts, language="fr").claims}
    assert told == {"Alice:relation": "sister", "Félix:relation": "dog"}


@pytest.mark.parametrize("text", ["is it actually called Mopsi?", "is she really called Mopsi"])
def test_question_puts_nothing_right(text: str) -> None:
    """Whoever asks does not tell."""
    told = said("my cat is called Mopsa", text, language="en").claims
    assert {each.key for each in told} == {"Mopsa:relation"}


@pytest.mark.parametrize(
    ("language", "first", "other"),
    [
        ("en", "I live in Leeds.", "actually Tom called"),
        ("en", "My sister is called Lena.", "actually Paul came"),
        ("en", "I work as a baker.", "no wait, dinner got burnt"),
        ("de", "Ich arbeite als Bäcker.", "nein, der Bus kam zu spät"),
        ("es", "Trabajo de camarera.", "no, perdieron el partido"),
        ("fr", "je bosse à la poste depuis mai", "finalement le concert est annulé"),
        ("fr", "Je travaille comme infirmière.", "en fait on part demain"),
        ("zh", "我在邮局上班。", "不对，音乐会取消了"),
    ],
)
def test_what_happened_is_no_value_of_what_was_told_before(
    language: str, first: str, other: str
) -> None:
    """Though it begins like a correction."""
    told = said(first, language=language).claims
    both = said(first, other, language=language).claims

    assert [(each.key, each.value) for each in both if each.kind == "fact"] == [
        (each.key, each.value) for each in told if each.kind == "fact"
    ]


@pytest.mark.parametrize(
    ("language", "first", "right", "value"),
    [
        ("fr", "Je travaille comme infirmière.", "non, comme médecin", "médecin"),
        ("es", "Trabajo de camarera.", "no, de cocinera", "cocinera"),
        ("de", "Ich arbeite als Bäcker.", "nein, als Koch", "Koch"),
    ],
)
def test_word_before_a_value_is_no_part_of_it(
    language: str, first: str, right: str, value: str
) -> None:
    """Where the correction says it again, too."""
    (fact,) = [each for each in said(first, right, language=language).claims if each.key]
    assert (fact.key, fact.value) == ("occupation", value)


STATED = [
    ("en", "I had coffee with Aylin, my colleague.", "no wait i meant Aylin comes from Izmir"),
    ("de", "Ich war mit Aylin, meiner Kollegin, essen.", "nein, ich meinte Aylin kommt aus Izmir"),
]


@pytest.mark.parametrize(("language", "first", "second"), STATED)
def test_origin_that_was_meant_is_no_name(language: str, first: str, second: str) -> None:
    """Who is named again in a correction is not called by another word of it."""
    messages = [message(t, number=n, language=language) for n, t in enumerate((first, second))]
    told = {each.key for each in read(*messages).claims}

    assert "Izmir:relation" not in told
    assert "Aylin:relation" in told
