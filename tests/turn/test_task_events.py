"""Reminders that come before something: they move with it, and both times are told."""

import pytest

from tests.chat_fixtures import Say


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here depends on it."""
    return "sqlite"


DENTIST = "got a dentist thing on thursday at half 3, can you remind me an hour before"


@pytest.mark.parametrize(
    ("asked", "corrected", "day"),
    [
        (DENTIST, "shit no the dentist is friday not thursday", "Fri 17 November, 14:30"),
        (DENTIST, "no, it's friday", "Fri 17 November, 14:30"),
        (DENTIST, "no, the dentist is at 5", "Thu 16 November, 16:00"),
        (DENTIST, "no wait, two hours before", "Thu 16 November, 13:30"),
        (
            "it's lena's birthday on saturday, remind me the day before to get her a present",
            "no wait, two days before",
            "Thu 16 November",
        ),
        (
            "ich hab am donnerstag um 15 uhr zahnarzt, erinner mich eine stunde vorher",
            "nein, der zahnarzt ist am freitag, nicht am donnerstag",
            "Fr, 17. November, 14:00",
        ),
        (
            "tengo dentista el jueves a las 15:00, recuérdamelo una hora antes",
            "no, el dentista es el viernes, no el jueves",
            "vie 17 de noviembre, 14:00",
        ),
        (
            "j'ai dentiste jeudi à 15h, rappelle-le-moi une heure avant",
            "non, le dentiste c'est vendredi pas jeudi",
            "ven. 17 novembre, 14:00",
        ),
        (
            "我周四下午三点看牙医，提前一小时提醒我",
            "不对，看牙医不是周四，是周五",
            "11月17日周五 14:00",
        ),
    ],
)
async def test_reminder_moves_with_what_it_comes_before(
    say: Say, asked: str, corrected: str, day: str
) -> None:
    """As long before as was asked for."""
    await say(asked)
    assert day in (await say(corrected)).reply.text
    assert day in (await say("/tasks")).reply.text


@pytest.mark.parametrize(
    "said",
    [
        "no, anna comes on friday",
        "no, i went to the dentist last friday",
        "is the dentist friday, not thursday?",
    ],
)
async def test_other_words_move_no_reminder(say: Say, said: str) -> None:
    """What is about something else, or asks."""
    await say(DENTIST)
    await say(said)
    assert "Thu 16 November, 14:30" in (await say("/tasks")).reply.text


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        (DENTIST, "when's the dentist?"),
        (
            "ich hab am donnerstag um 15:30 zahnarzt, erinner mich eine stunde vorher",
            "wann muss ich zum zahnarzt?",
        ),
    ],
)
async def test_when_something_is_tells_both_times(say: Say, asked: str, question: str) -> None:
    """When it is, and when the reminder comes; also once it has moved."""
    await say(asked)
    told = (await say(question)).reply.text
    assert "15:30" in told
    assert "14:30" in told


async def test_moved_event_is_told_as_it_is_now(say: Say) -> None:
    """And not as the first message told it."""
    await say(DENTIST)
    await say("no, the dentist is friday not thursday")
    told = (await say("when's the dentist?")).reply.text
    assert "Fri 17 November, 15:30" in told
