"""What is put right counts from the next question on, without a model."""

import pytest

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
