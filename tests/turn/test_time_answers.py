"""Answers to the question about a reminder's time, in few words and after other talk."""

import pytest

from tests.chat_fixtures import Say


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here depends on it."""
    return "sqlite"


@pytest.mark.parametrize(
    ("asked", "between", "answer", "due"),
    [
        (
            "ich hab morgen um 7 frühdienst, erinner mich um 5:30 ans aufstehen",
            "mir ist heute kalt",
            "um 5:30 morgens natürlich",
            "05:30",
        ),
        ("remind me at 6 tomorrow to feed mopsi", "it's cold", "in the morning of course", "06:00"),
        (
            "recuérdame mañana a las 6 dar de comer",
            "hace frío",
            "claro, a las 6 de la mañana",
            "06",
        ),
        ("rappelle-moi de nourrir le chat", "il fait froid", "demain à 8h bien sûr", "08:00"),
        ("明天6点提醒我喂猫", "今天很冷", "当然是早上6点", "06:00"),
    ],
)
async def test_answer_with_of_course_after_other_talk(
    say: Say, asked: str, between: str, answer: str, due: str
) -> None:
    """It is no second reminder."""
    question = (await say(asked)).reply.text
    assert "?" in question or "？" in question
    await say(between)
    await say(answer)
    listed = (await say("/tasks")).reply.text
    assert due in listed
    assert len([each for each in listed.splitlines() if each[:1].isdigit()]) == 1
