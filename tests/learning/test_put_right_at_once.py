"""What is put right counts from the next question on, without a model."""

import pytest

from oldfriend.prompts.locale_phrases import load_phrases
from tests.chat_fixtures import Say

NAMED = "my cat is called Miso\nwhat's my cat's name?"
NEIGHBOUR = "Mein Nachbar heißt Kröger\nwie heißt mein Nachbar?"
DENTIST = "i have a dentist appointment on thursday at 7pm\nwhen is my dentist appointment?"
SAID = [
    ("my cat is called Miso", "no, her name is Mia", "what's my cat's name?", "Mia"),
    (NAMED, "it's mia not miso, my cat's name i mean", "what's my cat's name?", "Mia"),
    (NEIGHBOUR, "nein, er heißt Krüger", "wie heißt mein Nachbar?", "Krüger"),
    (
        "i'm meeting Ana on thursday",
        "no, friday not thursday",
        "when do i meet Ana?",
        "17 November",
    ),
    ("my birthday is march 12", "actually it's april 13", "when is my birthday?", "april 13"),
    ("I have 3 kids", "Wrong, 2 kids", "how many kids do I have?", "2 kids"),
    ("Ich habe 3 Kinder", "Falsch, 2 Kinder", "wie viele Kinder habe ich?", "2 Kinder"),
    (
        "my sister Frieda lives in Kiel with her two kids",
        "actually no, she lives in Flensburg, not Kiel",
        "where does Frieda live?",
        "Flensburg",
    ),
    (
        "meine Schwester Frieda wohnt in Kiel",
        "nein, sie wohnt in Flensburg",
        "wo wohnt Frieda?",
        "Flensburg",
    ),
    (DENTIST, "no, friday not thursday", "when is my dentist appointment?", "17 November"),
]


@pytest.mark.parametrize(("said", "right", "question", "value"), SAID)
async def test_next_answer_goes_by_what_was_put_right(
    say: Say, said: str, right: str, question: str, value: str
) -> None:
    """With what is believed now in its first line, not behind what may have changed it."""
    for text in (*said.split("\n"), right):
        await say(text)
    assert value in (await say(question)).reply.text.partition("\n")[0]


@pytest.mark.parametrize(
    ("first", "second", "question", "right"),
    [
        (
            "my cat is called Miso",
            "my cat's name is Mia",
            "what's my cat's name?",
            "my cat's name is Mia, not Miso",
        ),
        (
            "Meine Katze heißt Miso",
            "Meine Katze heißt Mia",
            "wie heißt meine Katze?",
            "Meine Katze heißt Mia, nicht Miso",
        ),
        ("我的猫叫米索", "我的猫叫米娅", "我的猫叫什么名字", "我的猫叫米娅，不是米索"),
    ],
)
async def test_two_names_for_one_part_are_asked_about_and_put_right_by_the_words_offered(
    say: Say, first: str, second: str, question: str, right: str
) -> None:
    """Never two cats without a word of it; the words that are offered leave one."""
    for text in (first, second):
        await say(text)
    assert right in (await say(question)).reply.text
    await say(right)
    assert (
        right.rpartition(" ")[2].rpartition("是")[2]
        not in ((await say(question)).reply.text.partition("\n")[0])
    )


@pytest.mark.parametrize(
    ("told", "other", "question", "answer"),
    [
        ("Lena lives in Hamburg", "Lena is turning 31 not 30", "where does lena live?", "Hamburg"),
        ("Lena wohnt in Hamburg", "Lena wird 31, nicht 30", "wo wohnt Lena?", "Hamburg"),
    ],
)
async def test_number_that_is_put_right_does_not_change_what_has_no_such_number(
    say: Say, told: str, other: str, question: str, answer: str
) -> None:
    """How old she is says nothing about where she lives."""
    await say(told)
    await say(other)
    reply = (await say(question)).reply.text
    assert answer in reply
    assert "31" not in reply


async def test_statement_is_not_answered_with_guesses(say: Say) -> None:
    """Without a mark it may ask, but it likelier tells."""
    await say("my sister lives in Porto")
    assert "Porto" not in (await say("Lena wohnt in Hamburg")).reply.text


@pytest.mark.parametrize(
    ("told", "right", "question", "now", "before"),
    [
        ("Lena is my cousin", "no, Lena is my sister", "who is Lena?", "Sister", "Cousin"),
        (
            "Meine Cousine heißt Lena",
            "nein, Lena ist doch meine Schwester",
            "wer ist Lena?",
            "Schwester",
            "Cousine",
        ),
        ("Lena es mi prima", "no, Lena es mi hermana", "¿quién es Lena?", "Hermana", "Prima"),
        ("Lena est ma cousine", "non, Lena est ma sœur", "qui est Lena ?", "Sœur", "Cousine"),
        ("莉娜是我表姐", "不对，莉娜是我姐姐", "莉娜是谁？", "姐姐", "表姐"),
    ],
)
async def test_what_somebody_is_to_the_person_is_put_right_some_turns_later(
    say: Say, told: str, right: str, question: str, now: str, before: str
) -> None:
    """Also where it is believed already; the reply to the correction quotes what was wrong."""
    await say(told)
    await say(question)
    await say(right)
    answer = (await say(question)).reply.text
    assert now in answer
    assert f"{before}: " not in answer


@pytest.mark.parametrize(
    ("told", "right", "was"),
    [
        ("my cat's name is Pixel", "no wait, it's Pixie, not Pixel", "my cat's name is Pixel"),
        ("Meine Cousine heißt Lena", "nein, Lena ist doch meine Schwester", "Cousine: Lena."),
    ],
)
async def test_correction_is_thanked_for_with_what_was_said_before(
    say: Say, told: str, right: str, was: str
) -> None:
    """Who puts something right is told so, and sees what it was."""
    await say(told)
    await say("I like tea" if told.startswith("my") else "Ich mag Tee")
    reply = (await say(right)).reply
    assert reply.text.startswith(get_thanks(reply.language))
    assert was in reply.text


def get_thanks(language: str) -> str:
    """The words that a reply to what was put right begins with."""
    return load_phrases(language).phrases["put_right"].partition("{")[0]


CHANGES = [
    ("I have 3 kids\nwe have two cars", "Wrong, 2 kids", "2 kids"),
    ("my sister Ana lives in Porto\nwho is my sister?", "no, Lisbon", "Ana lives in Lisbon."),
    ("i'm meeting Ana on thursday", "no, friday not thursday", "17 November"),
    ("meine katze heißt Mopsa", "heißt eigentlich Mopsi", "Mopsi"),
    ("mi hermana Ana vive en Lugo", "no, en Vigo", "Ana vive en Vigo."),
    ("mon chien s'appelle Filou\nma sœur s'appelle Alice", "non, il s'appelle Félix", "Félix"),
    ("我妹妹叫小红", "，说错了，叫小虹", "小虹"),
]


@pytest.mark.parametrize(("told", "right", "now"), CHANGES)
async def test_reply_to_a_correction_tells_what_was_and_what_is_now(
    say: Say, told: str, right: str, now: str
) -> None:
    """Whatever words it is in: what it changes counts."""
    for text in told.split("\n"):
        await say(text)
    reply = (await say(right)).reply
    assert reply.text.startswith(get_thanks(reply.language))
    assert now in reply.text.rpartition("\n")[2]


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ("my cat is called Pixel\nmy phone is a Pixel", "no wait, it's Pixie, not Pixel"),
        ("Ana is my sister", "no way, my sister Ana came by today"),
        ("Ana is my sister", "actually it's fine"),
    ],
)
async def test_nothing_is_thanked_for_where_nothing_was_changed(
    say: Say, told: str, right: str
) -> None:
    """Which of two is meant is asked, and what only begins so is no correction."""
    for text in told.split("\n"):
        await say(text)
    reply = (await say(right)).reply
    assert get_thanks(reply.language) not in reply.text
