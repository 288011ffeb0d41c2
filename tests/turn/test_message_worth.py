"""Bare numbers, corrections and commands hold nothing to find again."""

import pytest

from oldfriend.turn.intent import Addressee, perceive
from oldfriend.turn.message_worth import is_worth_finding
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


@pytest.mark.parametrize(
    ("text", "is_worth"),
    [
        ("71 kg this morning", False),
        ("no, 71.5 not 71", False),
        ("Heute früh 71,4 kg", False),
        ("/tasks", False),
        ("What did I weigh?", False),
        ("My weight is 71 kg", True),
        ("I ran 5 km with my dog", True),
        ("My sister is 71.", True),
        ("The code is 4711.", True),
        ("Ana, 3 May", True),
    ],
)
def test_worth_is_told(text: str, *, is_worth: bool) -> None:
    """What says whose a number is, or of what, is worth finding."""
    perception = perceive(text, Addressee(name="Friend", languages=("en",)))
    assert is_worth_finding(text, perception) == is_worth


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Hi! What can you do?", "about_you"),
        ("hey, who are you?", "about_you"),
        ("Good morning! What do you know about me?", "about_me"),
        ("Hola, ¿quién eres?", "about_you"),
        ("Hallo! Was kannst du?", "about_you"),
        ("Salut ! Que peux-tu faire ?", "about_you"),
        ("你好，你能做什么？", "about_you"),
        ("Hi, what is my sister called?", "question"),
        ("Hi, my sister is called Ana.", "statement"),
    ],
)
def test_greeting_hides_no_question(text: str, intent: str) -> None:
    """Nor the companion what it asks."""
    assert perceive(text, Addressee(name="Friend", languages=("en",))).intent == intent


async def test_bare_number_is_not_quoted_as_a_memory(talk: Talk) -> None:
    """Of what it is stands in the numbers that are kept."""
    outcome = await say(talk, "71 kg this morning")
    assert not outcome.is_informative
