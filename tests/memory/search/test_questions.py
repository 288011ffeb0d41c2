"""What a question asks for has a key, in whatever language and form it is asked."""

import pytest

from oldfriend.memory.search.questions import matter_of, names_a_time_before

HOME = [
    "Where do I live?", "Do you know where I live?", "Hello! Where do I live now, by the way?",
    "¿Dónde vivo?", "donde vivo", "¿Sabes dónde vivo?", "你知道我住在哪里吗", "我住哪儿？",
    "Wo wohne ich?", "Weißt du, wo ich wohne?", "Où est-ce que j’habite ?", "Tu sais où j'habite ?",
]  # fmt: skip
HOME_ONCE = [
    "Where did I live in 2019?", "Where did I live before?", "¿Dónde vivía en 2019?",
    "¿dónde vivía antes?", "我2019年住在哪里？", "2019年我住在哪里？", "我以前住哪里",
    "Wo habe ich 2019 gewohnt?", "Wo wohnte ich früher?", "Où habitais-je en 2019 ?",
    "Où est-ce que j'habitais avant ?",
]  # fmt: skip
HOME_OF_ANA = [
    "Where does Ana live?", "¿Dónde vive Ana?", "Wo wohnt Ana?", "Où habite Ana ?", "Ana住在哪里？"
]  # fmt: skip
ASKED = {
    "occupation": ["What do I do for a living?", "¿A qué me dedico?", "Was ist mein Beruf?",
                   "Quel est mon métier ?", "我做什么工作？"],
    "name": ["What's my name?", "¿Cómo me llamo?", "Wie heiße ich?", "Comment je m'appelle ?",
             "我叫什么名字？"],
    "boss": ["Who is my boss?", "¿Quién es mi jefa?", "Wer ist meine Chefin?",
             "Qui est mon chef ?", "我的老板是谁？"],
    "birthday": ["When is my birthday?", "¿Cuándo es mi cumpleaños?", "Wann habe ich Geburtstag?",
                 "C'est quand mon anniversaire ?", "我的生日是哪天？"],
    "allergies": ["What am I allergic to?", "¿A qué soy alérgica?", "Wogegen bin ich allergisch?",
                  "À quoi suis-je allergique ?", "我对什么过敏？"],
    "interests": ["What do I like?", "¿Qué me gusta?", "Was mag ich?", "Qu'est-ce que j'aime ?",
                  "我喜欢什么？"],
    "dislikes": ["What don't I like?", "¿Qué no me gusta?", "Was mag ich nicht?",
                 "Qu'est-ce que je n'aime pas ?", "我不喜欢什么？"],
    "dietary": ["What don't I eat?", "¿Qué no como?", "Was esse ich nicht?",
                "Qu'est-ce que je ne mange pas ?", "我不吃什么？"],
    "promise": ["What did I promise Ana?", "¿Qué le prometí a Ana?",
                "Was habe ich Ana versprochen?", "Qu'est-ce que j'ai promis à Ana ?",
                "我答应过Ana什么？"],
}  # fmt: skip


FORMER_BOSS = [
    "Who was my boss before?", "¿Quién era mi jefe antes?", "Wer war früher mein Chef?",
    "Qui était mon patron avant ?", "我以前的老板是谁？",
]  # fmt: skip
FORMER_LOVE = [
    "Who was my girlfriend in 2019?", "¿Quién era mi novia en 2019?", "Wer war damals mein Freund?",
    "Qui était ma femme avant ?", "我2019年的女朋友是谁？",
]  # fmt: skip


@pytest.mark.parametrize("text", [*FORMER_BOSS, *FORMER_LOVE])
def test_who_somebody_was_to_the_asker_has_a_key(text: str) -> None:
    """It is asked of before."""
    matter = matter_of(text)

    assert matter is not None
    assert matter.keys[0] == ("boss" if text in FORMER_BOSS else "partner")
    assert matter.is_own
    assert matter.is_past


@pytest.mark.parametrize("text", [*HOME, *HOME_ONCE])
def test_where_one_lives_has_one_key_in_every_language(text: str) -> None:
    """Politely or not, with accents or without, now or once."""
    matter = matter_of(text)

    assert matter is not None
    assert matter.keys[0] == "location"
    assert matter.is_own
    assert matter.is_past == (text in HOME_ONCE)


@pytest.mark.parametrize("text", HOME_OF_ANA)
def test_what_is_asked_of_somebody_else_is_theirs(text: str) -> None:
    """It is never the asker's own."""
    matter = matter_of(text)

    assert matter is not None
    assert matter.keys[0] == "location"
    assert not matter.is_own


@pytest.mark.parametrize(("key", "texts"), ASKED.items())
def test_what_is_asked_for_is_the_same_in_all_five_languages(key: str, texts: list[str]) -> None:
    """Facts, likes and promises."""
    assert [matter and matter.keys[0] for matter in map(matter_of, texts)] == [key] * 5


@pytest.mark.parametrize(
    "text",
    [
        "I live in Bath.", "Where do I work out?", "What did I do yesterday?", "Vivo en Sevilla.",
        "Do I like coriander?", "我住在北京。", "Ich wohne in Bremen.", "J'habite à Nice.", "",
        "Where is the best place to live?", "What do I do?", "?" * 5_000,
    ],
)  # fmt: skip
def test_what_is_told_or_asked_otherwise_has_no_key(text: str) -> None:
    """It is searched by words and meaning alone."""
    assert matter_of(text) is None


@pytest.mark.parametrize(
    ("text", "is_before"),
    [
        ("Where did I live before 2020?", True),
        ("¿Dónde vivía antes de 2020?", True),
        ("Wo habe ich vor 2020 gewohnt?", True),
        ("Wo habe ich vor zwei Jahren gewohnt?", False),
        ("Où habitais-je avant 2020 ?", True),
        ("我2020年以前住在哪里", True),
        ("Where did I live in 2020?", False),
    ],
)
def test_a_time_may_be_named_to_ask_of_the_time_before_it(text: str, *, is_before: bool) -> None:
    """In German the same word means "ago"."""
    assert names_a_time_before(text) == is_before
