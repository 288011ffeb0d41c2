"""Numbers of which it is not clear what they count: asked about or left alone."""

import pytest

from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import keep, kept, say


async def test_thousands_of_steps_are_no_kilometers(talk: Talk) -> None:
    """The word behind the number says what it counts."""
    assert "8,400" in (await say(talk, "walked 8.4k steps")).reply.text
    assert [each.value for each in await kept(talk, "steps")] == [8400]
    assert not await kept(talk, "walking")


@pytest.mark.parametrize(
    "text",
    [
        "I am 71 today",
        "I'm 71 today",
        "ich bin heute 71",
        "hoy tengo 71",
        "j'ai 71 ans aujourd'hui",
    ],
)
async def test_age_is_no_weight(talk: Talk, text: str) -> None:
    """A number that is somebody's, without a unit, may be their age."""
    await keep(talk, "weight", {1: 71.4}, "kg")
    await say(talk, text)
    assert len(await kept(talk, "weight")) == 1


async def test_bare_number_is_a_weight_only_where_one_is_known(talk: Talk) -> None:
    """Else it is asked what it is."""
    asked = await say(talk, "71.4 this morning")
    assert "Is 71.4 your weight?" in asked.reply.text
    assert not await kept(talk, "weight")
    await keep(talk, "weight", {1: 71.6}, "kg")
    await say(talk, "71.4 this morning")
    assert [each.value for each in await kept(talk, "weight")] == [71.6, 71.4]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I weighed 7140 kg this morning", "7,140 kg can hardly be right"),
        ("I slept 90 hours", "90 h can hardly be right"),
        ("/log weight 7140", "7,140 kg can hardly be right"),
        ("hoy he dormido 90 horas", "difícilmente"),
        ("ich habe heute 90 Stunden geschlafen", "kann kaum stimmen"),
        ("j'ai dormi 90 heures cette nuit", "difficile à croire"),
        ("我昨晚睡了90个小时", "不太可能"),
    ],
)
async def test_number_that_cannot_be_right_is_refused_aloud(
    talk: Talk, text: str, shown: str
) -> None:
    """Nothing is kept, and it is said why."""
    assert shown in (await say(talk, text)).reply.text
    assert not await kept(talk, "weight")
    assert not await kept(talk, "sleep")


@pytest.mark.parametrize(
    "text",
    ["We bought 7140 kg of sand", "My car weighs 7140 kg", "He slept 90 hours", "I own 90 books"],
)
async def test_large_number_of_something_else_is_no_matter(talk: Talk, text: str) -> None:
    """Only the person's own measures are looked at."""
    assert "hardly" not in (await say(talk, text)).reply.text


async def test_mood_is_kept_on_the_scale_that_was_told(talk: Talk) -> None:
    """A scale that nobody named is not added."""
    told = (await say(talk, "my mood is a 3")).reply.text
    assert "3" in told
    assert "/10" not in told
    assert [(each.value, each.unit) for each in await kept(talk, "mood")] == [(3, "")]


async def test_trend_names_its_period_and_one_value_is_one_value(talk: Talk) -> None:
    """Three values may be kept, of which one lies in the time that is looked at."""
    await keep(talk, "weight", {1: 71.4, 300: 73, 301: 73.5}, "kg")
    told = (await say(talk, "is my weight going up this month?")).reply.text
    assert "I have 1" in told
    assert " to " in told
    assert "1 values" not in told
