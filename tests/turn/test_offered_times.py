"""What is answered to a time that was offered: "Did I get it right …?"."""

import pytest

from tests.chat_fixtures import Say

TRAIN = "wake me up in time for the 7am train tomorrow"


@pytest.fixture
def engine() -> str:
    """One is enough: nothing here depends on it."""
    return "sqlite"


@pytest.mark.parametrize(
    ("answer", "hour"),
    [
        ("no, at 6:30", "06:30"),
        ("no, at 6:30am", "06:30"),
        ("yes, but at 6", "15 November, 06:00"),
        ("yes, on Friday", "17 November, 07:00"),
        ("nein, um halb 7", "06:30"),
        ("sí, pero a las 6", "06:00"),
        ("non, plutôt à 6h", "06:00"),
        ("不，早上6点", "06:00"),
    ],
)
async def test_answer_that_names_another_time_sets_that_one(
    say: Say, answer: str, hour: str
) -> None:
    """Of the day that was offered, even beside a reminder of the same words."""
    await say(TRAIN)
    await say("yes")
    assert "07:00" in (await say(TRAIN)).reply.text
    await say(answer)
    listed = (await say("/tasks")).reply.text
    assert hour in listed
    assert "\n2." in listed
    assert "?" not in listed


@pytest.mark.parametrize("answer", ["nope, never mind", "no", "nein", "non", "no, gracias", "不"])
async def test_answer_that_declines_drops_it(say: Say, answer: str) -> None:
    """Nothing is left to be asked."""
    await say(TRAIN)
    await say(answer)
    assert "\n" not in (await say("/tasks")).reply.text


async def test_yes_beside_another_request_is_heard(say: Say) -> None:
    """Both are set."""
    await say(TRAIN)
    await say("yes and remind me to pack a bag tomorrow at 8pm")
    listed = (await say("/tasks")).reply.text
    assert "07:00" in listed
    assert "pack a bag" in listed
    assert "20:00" in listed


async def test_second_yes_sets_nothing_twice(say: Say) -> None:
    """An older offer of the same goes, and is not asked about again."""
    await say(TRAIN)
    await say(TRAIN)
    await say("yes")
    second = (await say("yes")).reply.text
    assert "already" in second
    listed = (await say("/tasks")).reply.text
    assert "\n2." not in listed
    assert "07:00" in listed


async def test_other_talk_after_a_no_leaves_the_offer(say: Say) -> None:
    """It may be about something else."""
    await say(TRAIN)
    await say("No, my cat is called Pixie.")
    assert "07:00" in (await say("yes")).reply.text
