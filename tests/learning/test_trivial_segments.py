"""Talk of mere questions and greetings needs no model; whatever may tell something is read."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.learning.small_talk import is_small_talk
from oldfriend.learning.validate import has_companion_view
from tests.learning.segment_fixtures import talk


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Hi!"],
        ["Hola", "companion: ¡Hola!"],
        ["你好"],
        ["😂😂"],
        ["bom dia!"],
        ["where did you put my big red suitcase"],
        ["what's the capital of Peru", "companion: Lima.", "thanks!", "marker: No answer."],
        ["como se faz arroz?", "companion: Com água.", "obrigada"],
    ],
)
def test_questions_and_greetings_are_small_talk(lines: list[str]) -> None:
    """With a mark or without, however many."""
    assert is_small_talk(talk(*lines).messages)


@pytest.mark.parametrize("answer", ["Anna", "no", "42", "yes"])
def test_answer_to_the_companions_question_is_not_small_talk(answer: str) -> None:
    """A name alone may be what was asked for."""
    assert not is_small_talk(talk("Hi!", "companion: What is her name?", answer).messages)


def test_message_in_an_untrained_language_is_not_small_talk() -> None:
    """There nobody knows what is a greeting."""
    (message,) = talk("kiitos").messages
    assert not is_small_talk([replace(message, language="fi")])


FOREIGN = """
Babam öldü. | Annem hastanede yatıyor | Kedimin adı Boncuk | İzmir'de oturuyorum
Bố tôi mất rồi | Tôi tên là Linh | Tôi sống ở Huế | Tôi có một con mèo
Isä kuoli | Muutin Turkuun | Kissani nimi on Mirri | Olen raskaana
Min far er død | Jeg bor i Bergen | Katten min heter Pus | Jeg er gravid
Tata nie żyje | Mieszkam w Gdyni | Mój kot nazywa się Mruczek | Jestem w ciąży
Tatăl meu a murit | Locuiesc la Cluj | Sunt însărcinată | Fratele meu e medic
Édesapám meghalt | Szegeden lakom | A macskám neve Cirmos | Várandós vagyok
Baba amekufa | Ninaishi Mombasa | Paka wangu anaitwa Simba | Nina mimba
Ayah saya meninggal | Saya tinggal di Bandung | Kucing saya bernama Manis | Saya hamil
Папа умер | Я живу в Самаре | Мою кошку зовут Мурка | Я беременна
Ο πατέρας μου πέθανε | Μένω στην Πάτρα | Η γάτα μου λέγεται Ψιψίνα | Είμαι έγκυος
पापा गुज़र गए | मैं नागपुर में रहता हूँ | मेरी बिल्ली का नाम मिन्नी है | मेरी बहन डॉक्टर है
أبي مات | أسكن في طنجة | قطتي اسمها لولو | أنا حامل
Otac mi je umro | Živim u Splitu | Mačka mi se zove Maca | Trudna sam
"""
"""Short facts in languages that the acts were not learned from, or hardly."""


@pytest.mark.parametrize(
    "line", [each.strip() for row in FOREIGN.strip().splitlines() for each in row.split("|")]
)
def test_unrecognized_language_labelled_as_the_chats_is_not_small_talk(line: str) -> None:
    """A message whose language nobody recognizes is said to be in that of its chat."""
    (message,) = talk(line).messages
    assert not is_small_talk([replace(message, language="en")])


def test_long_question_is_not_small_talk() -> None:
    """It may tell much."""
    line = "What can I cook for my daughter Mia, who is allergic to nuts, on her birthday in May?"
    assert not is_small_talk(talk(line).messages)


@pytest.mark.parametrize(
    "line",
    [
        "My grandmother DIED.",
        "He passed away.",
        "The funeral is over.",
        "I can't go on",
        "I can’t go on",
        "thinking of suicide",
        "I had a breakdown.",
        "after our breakup",
        "The divorce is through.",
        "I got fired.",
        "She is pregnant!",
        "Murió mi abuela.",
        "Me han despedido.",
        "No puedo más.",
        "Hemos decidido el divorcio.",
        "Elle est morte.",
        "Il est décédé.",
        "Je n'en peux plus.",
        "On m'a viré, licencié.",
        "Oma ist gestorben.",
        "Ich kann nicht mehr.",
        "Wir haben uns getrennt.",
        "Mir wurde gekündigt.",
        "他走了",
        "奶奶去世了",
        "死了",
        "离世",
        "葬礼",
        "人没了",
        "撑不住",
        "不想活",
        "活不下去",
        "自杀",
        "崩溃",
        "分手",
        "离婚",
        "被裁",
    ],
)
def test_serious_statement_is_never_small_talk(line: str) -> None:
    """Also when it is all that was said (ACCEPTANCE F8)."""
    assert not is_small_talk(talk(line).messages)


@pytest.mark.parametrize(
    "line",
    [
        "Tom, my partner, is a translator.",
        "Mi hija Lía estudia música en Cádiz.",
        "Mon frère habite à Lyon depuis mars.",
        "Meine Schwester Ida lebt in Ulm.",
        "我妹妹在成都学画画。",
        "Minha irmã mora em Curitiba.",
        "妹は札幌に住んでる",
        "Siskoni asuu Oulussa.",
    ],
)
def test_statement_of_fact_is_not_small_talk(line: str) -> None:
    """Also when nothing else was said that day, in any language."""
    assert not is_small_talk(talk(line).messages)


@given(st.lists(st.text(max_size=50), max_size=4))
def test_adding_messages_never_turns_a_segment_into_small_talk(lines: list[str]) -> None:
    """What is read stays read when more is said."""
    some, more = talk(*lines).messages, talk(*lines, "And so on.").messages

    assert is_small_talk(more) <= is_small_talk(some)


@pytest.mark.parametrize(
    "line",
    [
        "In my view jazz is best late at night.",
        "I'm on the side of cats, dogs ask too much.",
        "Opino que el jazz suena mejor de noche.",
        "À mon avis, le jazz est mieux la nuit.",
        "Ich finde Jazz am besten spät in der Nacht.",
        "我觉得爵士乐在夜里最好听。",
    ],
)
def test_companions_opinion_in_small_talk_is_detected(line: str) -> None:
    """Also in small talk, for it stands by it from then on; what it asks or praises is not."""
    messages = talk("Oh, really?", f"companion: {line}").messages

    assert is_small_talk(messages)
    assert has_companion_view(messages)


@pytest.mark.parametrize(
    "line",
    [
        "I think so too!",
        "I think you did that really well today.",
        "Do you think jazz is better?",
        "Creo que sí.",
        "Je pense que oui.",
        "Das glaube ich auch!",
        "我觉得你做得真好。",
    ],
)
def test_companions_agreement_or_praise_is_no_opinion(line: str) -> None:
    """It is no opinion of anything."""
    assert not has_companion_view(talk("Oh, really?", f"companion: {line}").messages)
