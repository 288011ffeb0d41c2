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
