"""A talk is too small to be read only if it is short, and nothing weighs in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.learning.validate import has_companion_view, is_trivial
from tests.learning.talking import talk


@pytest.mark.parametrize("lines", [["Hi!"], ["Hola", "companion: ¡Hola!"], ["你好"], []])
def test_a_greeting_is_trivial(lines: list[str]) -> None:
    """Nobody is asked what to make of it."""
    assert is_trivial(talk(*lines).messages)


def test_three_messages_are_read() -> None:
    """Neither the companion's nor a remark of the house is one."""
    assert not is_trivial(talk("Hi!", "companion: Hello.", "All fine.", "And you?").messages)
    assert is_trivial(talk("Hi!", "companion: Hello.", "Fine.", "marker: No answer.").messages)


def test_a_long_message_is_read() -> None:
    """Two hundred tokens."""
    assert not is_trivial(talk("The garden is green. " * 40).messages)


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
def test_a_strong_word_is_always_read(line: str) -> None:
    """Also when it is all that was said (ACCEPTANCE F8)."""
    assert not is_trivial(talk(line).messages)


@pytest.mark.parametrize(
    "line",
    [
        "Tom, my partner, is a translator.",
        "Mi hija Lía estudia música en Cádiz.",
        "Mon frère habite à Lyon depuis mars.",
        "Meine Schwester Ida lebt in Ulm.",
        "我妹妹在成都学画画。",
    ],
)
def test_a_line_that_tells_something_is_read(line: str) -> None:
    """Also when nothing else was said that day; a question tells nothing."""
    assert not is_trivial(talk(line).messages)
    assert is_trivial(talk("Where did you put my big red suitcase?").messages)


def test_a_word_within_another_is_no_strong_word() -> None:
    """Who studied has not died."""
    assert is_trivial(talk("I studied a little.").messages)


@given(st.lists(st.text(max_size=50), max_size=4))
def test_more_words_never_make_a_talk_smaller(lines: list[str]) -> None:
    """What is read stays read when more is said."""
    some, more = talk(*lines).messages, talk(*lines, "And so on.").messages

    assert is_trivial(more) <= is_trivial(some)


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
def test_what_the_companion_thinks_is_heard(line: str) -> None:
    """Also in small talk, for it stands by it from then on; what it asks or praises is not."""
    messages = talk("Hm?", f"companion: {line}").messages

    assert is_trivial(messages)
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
def test_a_kind_word_of_the_companion_is_none(line: str) -> None:
    """It is no opinion of anything."""
    assert not has_companion_view(talk("Hm?", f"companion: {line}").messages)
