"""What a question asks for has a key, in whatever language and form it is asked."""

import pytest

from oldfriend.search.question_patterns import (
    find_requested_attribute,
    has_any_word,
    is_before_named_time,
)
from tests.learning.segment_fixtures import believed

HOME = [
    "Where do I live?",
    "Do you know where I live?",
    "Hello! Where do I live now, by the way?",
    "¿Dónde vivo?",
    "donde vivo",
    "¿Sabes dónde vivo?",
    "你知道我住在哪里吗",
    "我住哪儿？",
    "Wo wohne ich?",
    "Weißt du, wo ich wohne?",
    "Où est-ce que j’habite ?",
    "Tu sais où j'habite ?",
]
HOME_ONCE = [
    "Where did I live in 2019?",
    "Where did I live before?",
    "¿Dónde vivía en 2019?",
    "¿dónde vivía antes?",
    "我2019年住在哪里？",
    "2019年我住在哪里？",
    "我以前住哪里",
    "Wo habe ich 2019 gewohnt?",
    "Wo wohnte ich früher?",
    "Où habitais-je en 2019 ?",
    "Où est-ce que j'habitais avant ?",
]
HOME_OF_ANA = [
    "Where does Ana live?",
    "¿Dónde vive Ana?",
    "Wo wohnt Ana?",
    "Où habite Ana ?",
    "Ana住在哪里？",
]
ASKED = {
    "occupation": [
        "What do I do for a living?",
        "¿A qué me dedico?",
        "Was ist mein Beruf?",
        "Quel est mon métier ?",
        "我做什么工作？",
    ],
    "name": [
        "What's my name?",
        "¿Cómo me llamo?",
        "Wie heiße ich?",
        "Comment je m'appelle ?",
        "我叫什么名字？",
    ],
    "boss": [
        "Who is my boss?",
        "¿Quién es mi jefa?",
        "Wer ist meine Chefin?",
        "Qui est mon chef ?",
        "我的老板是谁？",
    ],
    "birthday": [
        "When is my birthday?",
        "¿Cuándo es mi cumpleaños?",
        "Wann habe ich Geburtstag?",
        "C'est quand mon anniversaire ?",
        "我的生日是哪天？",
    ],
    "allergies": [
        "What am I allergic to?",
        "¿A qué soy alérgica?",
        "Wogegen bin ich allergisch?",
        "À quoi suis-je allergique ?",
        "我对什么过敏？",
    ],
    "interests": [
        "What do I like?",
        "¿Qué me gusta?",
        "Was mag ich?",
        "Qu'est-ce que j'aime ?",
        "我喜欢什么？",
    ],
    "dislikes": [
        "What don't I like?",
        "¿Qué no me gusta?",
        "Was mag ich nicht?",
        "Qu'est-ce que je n'aime pas ?",
        "我不喜欢什么？",
    ],
    "dietary": [
        "What don't I eat?",
        "¿Qué no como?",
        "Was esse ich nicht?",
        "Qu'est-ce que je ne mange pas ?",
        "我不吃什么？",
    ],
    "promise": [
        "What did I promise Ana?",
        "¿Qué le prometí a Ana?",
        "Was habe ich Ana versprochen?",
        "Qu'est-ce que j'ai promis à Ana ?",
        "我答应过Ana什么？",
    ],
}


FORMER_BOSS = [
    "Who was my boss before?",
    "¿Quién era mi jefe antes?",
    "Wer war früher mein Chef?",
    "Qui était mon patron avant ?",
    "我以前的老板是谁？",
]
FORMER_LOVE = [
    "Who was my girlfriend in 2019?",
    "¿Quién era mi novia en 2019?",
    "Wer war damals mein Freund?",
    "Qui était ma femme avant ?",
    "我2019年的女朋友是谁？",
]


@pytest.mark.parametrize("text", [*FORMER_BOSS, *FORMER_LOVE])
def test_question_about_a_former_boss_or_partner_maps_to_its_key(text: str) -> None:
    """It is asked of before."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert matter.keys[0] == ("boss" if text in FORMER_BOSS else "partner")
    assert matter.is_own
    assert matter.is_past


@pytest.mark.parametrize("text", [*HOME, *HOME_ONCE])
def test_question_about_own_home_maps_to_location_in_every_language(text: str) -> None:
    """Politely or not, with accents or without, now or once."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert matter.keys[0] == "location"
    assert matter.is_own
    assert matter.is_past == (text in HOME_ONCE)


@pytest.mark.parametrize("text", HOME_OF_ANA)
def test_question_about_the_home_of_another_is_not_own(text: str) -> None:
    """It is never the asker's own."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert matter.keys[0] == "location"
    assert not matter.is_own


@pytest.mark.parametrize(
    "text",
    [
        "Are Ana and Ben married?",
        "Is Ana still married to Ben?",
        "Are Ana and Ben still together?",
        "¿Están casados Ana y Ben?",
        "¿Ana y Ben siguen juntos?",
        "Sind Ana und Ben noch zusammen?",
        "Ist Ana noch mit Ben verheiratet?",
        "Est-ce qu'Ana et Ben sont encore mariés ?",
        "Ana et Ben sont-ils toujours ensemble ?",
        "小红和小林还在一起吗？",
    ],
)
def test_question_whether_two_others_are_a_couple_maps_to_relationship(text: str) -> None:
    """Also asked of both at once."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert (matter.keys[0], matter.is_own) == ("relationship_status", False)
    assert "partner" in matter.keys


@pytest.mark.parametrize(("key", "texts"), ASKED.items())
def test_question_maps_to_the_same_key_in_five_languages(key: str, texts: list[str]) -> None:
    """Facts, likes and promises."""
    assert [matter and matter.keys[0] for matter in map(find_requested_attribute, texts)] == [
        key
    ] * 5


KIN = {
    "mother": [
        "What is my mother called?",
        "¿Cómo se llama mi madre?",
        "Wie heißt meine Mutter?",
        "Comment s'appelle ma mère ?",
        "我妈妈叫什么名字？",
    ],
    "parents": [
        "Who are my parents?",
        "¿Quiénes son mis padres?",
        "Wer sind meine Eltern?",
        "Qui sont mes parents ?",
        "我父母是谁？",
    ],
    "siblings": [
        "Do I have any siblings?",
        "¿Tengo hermanos?",
        "Habe ich Geschwister?",
        "Ai-je des frères et sœurs ?",
        "我有兄弟姐妹吗？",
    ],
    "children": [
        "What are my kids called?",
        "¿Cómo se llaman mis hijos?",
        "Habe ich Kinder?",
        "J'ai combien d'enfants ?",
        "我有几个孩子？",
    ],
    "pets": [
        "Do I have any pets?",
        "¿Tengo mascotas?",
        "Habe ich ein Haustier?",
        "Ai-je un animal de compagnie ?",
        "我有宠物吗？",
    ],
    "partner": [
        "Who am I married to?",
        "¿Con quién estoy casada?",
        "Wer ist meine Frau?",
        "Qui est mon mari ?",
        "我跟谁结婚了？",
    ],
    "best friend": [
        "Who is my best friend?",
        "¿Quién es mi mejor amiga?",
        "Wer ist meine beste Freundin?",
        "Qui est ma meilleure amie ?",
        "我最好的朋友是谁？",
    ],
}
FAMILY = [
    "Who is in my family?",
    "¿Quién está en mi familia?",
    "Wer gehört zu meiner Familie?",
    "Qui fait partie de ma famille ?",
    "我家里有谁？",
]


@pytest.mark.parametrize(("key", "texts"), KIN.items())
def test_question_about_own_kin_maps_to_its_key_in_five_languages(
    key: str, texts: list[str]
) -> None:
    """There may be several of a sort, so all are asked for; and words must speak of such."""
    for text in texts:
        matter = find_requested_attribute(text)

        assert matter is not None, text
        assert (matter.keys[0], matter.is_own, matter.is_multi_key) == (key, True, True), text
        assert not matter.can_match_text("I am 41 years old."), text


@pytest.mark.parametrize("text", FAMILY)
def test_question_about_family_maps_to_all_kin_keys(text: str) -> None:
    """And neither friends nor dogs."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert {"mother", "son", "husband", "sister", "cousin"} <= {*matter.keys}
    assert {"friend", "dog", "boss"}.isdisjoint(matter.keys)


def test_question_about_a_sister_does_not_match_sister_in_law() -> None:
    """Though the word stands in it; and a family tells nothing of who is in it."""
    matter = find_requested_attribute("Do I have a sister?")

    assert matter is not None
    assert matter.can_match_text("My sister lives in Porto.")
    assert not matter.can_match_text("My sister-in-law Emma is here.")
    assert not matter.can_match_text("My family is loud.")


@pytest.mark.parametrize(
    ("text", "favourite", "another", "beside"),
    [
        (
            "What is my favourite color?",
            "Favourite colour: green.",
            "Favourite food: lasagna.",
            "I love the colour of the sea.",
        ),
        (
            "¿Cuál es mi color favorito?",
            "Preferencia (color): el verde.",
            "Preferencia (comida): la paella.",
            "Odio el color gris.",
        ),
        (
            "Was ist meine Lieblingsfarbe?",
            "Liebling (Farbe): Grün.",
            "Liebling (Essen): Pizza.",
            "Die Farbe ist ab.",
        ),
        (
            "Quelle est ma couleur préférée ?",
            "Préférence (couleur) : le vert.",
            "Préférence (film) : Amélie.",
            "La couleur me plaît.",
        ),
        (
            "我最喜欢的颜色是什么？",
            "最喜欢的颜色是绿色。",
            "最喜欢的电影是《活着》。",
            "这个颜色不好看。",
        ),
    ],
)
def test_question_about_a_favorite_matches_only_that_category(
    text: str, favourite: str, another: str, beside: str
) -> None:
    """A favourite food is no favourite colour."""
    matter = find_requested_attribute(text)

    assert matter is not None
    told = [
        matter.find_key(believed("x", "preference", each, key="interests").memory)
        for each in (favourite, another, beside)
    ]
    assert told == ["interests", None, None]


def test_sibling_relation_answers_siblings_but_not_sister() -> None:
    """Whoever asks for siblings is told of either."""
    tie = believed("tie", "triple", "Ana and I are siblings.", key="sibling_of").memory
    sister, siblings = (
        find_requested_attribute("Do I have a sister?"),
        find_requested_attribute("Who are my siblings?"),
    )

    assert sister is not None
    assert siblings is not None
    assert (sister.find_key(tie) is None, siblings.find_key(tie) is None) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "Where does my mum live?",
        "¿Dónde vive mi madre?",
        "Wo wohnt meine Mutter?",
        "Où habite ma mère ?",
        "我妈妈住在哪里？",
    ],
)
def test_question_about_a_relative_by_role_yields_the_kin_key(text: str) -> None:
    """By whatever name they are known."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert (matter.keys[0], matter.is_own, matter.kin_keys) == ("location", False, ("mother",))


@pytest.mark.parametrize(
    "text",
    [
        "Where does my older sister currently live?",
        "When is my sister's birthday?",
        "¿Dónde vive mi hermana mayor?",
        "Wo wohnt denn meine kleine Schwester?",
        "Où habite ma petite sœur ?",
        "我的妹妹现在住在哪里？",
        "Where did my sister use to live?",
        "¿Dónde vive ahora mi hermana?",
        "¿Dónde vivía antes mi hermana?",
        "Wo wohnt meine Schwester inzwischen?",
        "Wo wohnte meine Schwester früher?",
        "Wo hat meine Schwester früher gewohnt?",
        "Où habite actuellement ma sœur ?",
        "Où habitait ma sœur avant ?",
        "Où habitait ma sœur en 2019 ?",
        "我姐姐以前住在哪里？",
    ],
)
def test_adjectives_and_adverbs_around_a_role_are_accepted(text: str) -> None:
    """She is the sister still."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert (matter.kin_keys, matter.is_own) == (("sister",), False)
    assert not matter.is_of_third_party


@pytest.mark.parametrize(
    ("text", "not_of"),
    [
        ("Where does my sister's husband live?", "My sister lives in Porto."),
        ("¿Dónde vive la novia de mi hermano?", "Mi hermano vive en Faro."),
        ("Wo wohnt die Freundin meines Bruders?", "Mein Bruder wohnt in Bonn."),
        ("Wo wohnte die Freundin meines Bruders?", "Mein Bruder wohnte in Bonn."),
        ("Où habitait la copine de mon frère ?", "Mon frère habitait à Nice."),
        ("Où habite la copine de mon frère ?", "Mon frère habite à Nice."),
        ("我哥哥的老婆住在哪里？", "我哥哥住在北京。"),
        ("Where does Ana's mother live?", "My mother lives in Braga."),
        ("Wo wohnt Anas Mutter?", "Meine Mutter wohnt in Bonn."),
        ("小明的妈妈住在哪里", "我妈妈住在上海。"),
    ],
)
def test_relative_of_another_person_is_marked_third_party(text: str, not_of: str) -> None:
    """Nor is the one whom they belong to meant."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert (matter.kin_keys, matter.is_of_third_party) == ((), True)
    assert not matter.can_match_text(not_of)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Al is here.", True),
        ("I called Al's boss.", True),
        ("我给Al打了电话。", True),
        ("Also me.", False),
        ("Al-Anon met.", False),
        ("Royal", False),
    ],
)
def test_name_is_matched_as_a_whole_word_only(text: str, *, is_named: bool) -> None:
    """Beside Chinese signs it stands alone."""
    assert has_any_word(frozenset({"Al"}), text) == is_named


def test_marriage_question_about_another_yields_no_own_kin_key() -> None:
    """A word in the question that could name a partner names nobody."""
    matter = find_requested_attribute("李雷结婚了没有")

    assert matter is not None
    assert (matter.keys[0], matter.is_own, matter.kin_keys) == ("relationship_status", False, ())


@pytest.mark.parametrize(
    "text",
    [
        "What can't I eat?",
        "¿Qué no puedo comer?",
        "Was darf ich nicht essen?",
        "Qu'est-ce que je ne peux pas manger ?",
        "我不能吃什么？",
    ],
)
def test_question_what_one_cannot_eat_includes_allergies(text: str) -> None:
    """Both are told."""
    matter = find_requested_attribute(text)

    assert matter is not None
    assert {"dietary", "allergies"} <= {*matter.keys}
    assert matter.is_multi_key


@pytest.mark.parametrize(
    "text",
    [
        "I live in Bath.",
        "Where do I work out?",
        "What did I do yesterday?",
        "Vivo en Sevilla.",
        "Do I like coriander?",
        "我住在北京。",
        "Ich wohne in Bremen.",
        "J'habite à Nice.",
        "",
        "Where is the best place to live?",
        "What do I do?",
        "?" * 5_000,
    ],
)
def test_statement_or_other_question_maps_to_no_key(text: str) -> None:
    """It is searched by words and meaning alone."""
    assert find_requested_attribute(text) is None


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
def test_before_a_named_time_is_detected(text: str, *, is_before: bool) -> None:
    """In German the same word means "ago"."""
    assert is_before_named_time(text) == is_before


@pytest.mark.parametrize("question", ["¿Qué me prometí", "Qu'est-ce que j'ai promis"])
def test_repetitive_question_is_matched_without_backtracking(question: str) -> None:
    """However many ways there are to read whom something was promised to."""
    assert find_requested_attribute(f"{question}{' a a' * 30} %") is None
    assert find_requested_attribute(f"{question}{' à à' * 30} %") is None
