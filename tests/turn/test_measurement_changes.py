"""Numbers that were told are corrected and taken back in words, in five languages."""

import pytest

from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import keep, kept, say


@pytest.mark.parametrize(
    ("told", "correction", "value"),
    [
        ("my weight is 17 kg more or less, no: 77 kg", "no, 71 not 77", None),
        ("71.4 kg this morning", "no, 71 not 71.4", 71),
        ("71.4 kg this morning", "Sorry, 74.1", 74.1),
        ("71.4 kg this morning", "I meant 74.1 kg", 74.1),
        ("71.4 kg this morning", "not 71.4 but 74.1", 74.1),
        ("71.4 kg this morning", "change today's weight to 72", 72),
        ("71.4 kg this morning", "nah wait 74.1", 74.1),
        ("Heute früh 71,4 kg", "nee warte 74,1", 74.1),
        ("Esta mañana 71,4 kg", "espera, 74,1", 74.1),
        ("71,4 kg ce matin", "euh 74,1", 74.1),
        ("今天早上71.4公斤", "不对，是74.1公斤", 74.1),
        ("Heute früh 71,4 kg", "nein, 74,1 statt 71,4", 74.1),
        ("Heute früh 71,4 kg", "nicht 71,4 sondern 74,1", 74.1),
        ("Heute früh 71,4 kg", "ich meinte 74,1 kg", 74.1),
        ("Esta mañana 71,4 kg", "no, 74,1 no 71,4", 74.1),
        ("Esta mañana 71,4 kg", "no 71,4 sino 74,1", 74.1),
        ("Esta mañana 71,4 kg", "perdón, 74,1", 74.1),
        ("71,4 kg ce matin", "non, 74,1 pas 71,4", 74.1),
        ("71,4 kg ce matin", "pardon, 74,1 kg", 74.1),
        ("今天早上71.4公斤", "不对，是74.1，不是71.4", 74.1),
        ("今天早上71.4公斤", "不是71.4，是74.1", 74.1),
    ],
)
async def test_number_is_corrected(
    talk: Talk, told: str, correction: str, value: float | None
) -> None:
    """The right one takes the place of the wrong one, and both are said."""
    await say(talk, told)
    outcome = await say(talk, correction)
    if value is None:
        return
    assert outcome.reply.details["handled"] == ["measurement"]
    assert [each.value for each in await kept(talk, "weight")] == [value]


@pytest.mark.parametrize(
    ("told", "taken_back"),
    [
        ("Yesterday I weighed 71.4 kg", "delete yesterday's weight"),
        ("Yesterday I weighed 71.4 kg", "remove the 71.4 kg"),
        ("Yesterday I weighed 71.4 kg", "take out that number"),
        ("Gestern wog ich 71,4 kg", "Lösche das Gewicht von gestern"),
        ("Ayer pesé 71,4 kg", "borra el peso de ayer"),
        ("Hier je pesais 71,4 kg", "efface le poids d'hier"),
        ("昨天体重71.4公斤", "删掉昨天的体重"),
    ],
)
async def test_number_is_taken_back(talk: Talk, told: str, taken_back: str) -> None:
    """What is taken out is said with its day, so that it can be told again."""
    await say(talk, told)
    assert len(await kept(talk, "weight")) == 1
    outcome = await say(talk, taken_back)

    assert outcome.reply.details["handled"] == ["measurement"]
    assert "71" in outcome.reply.text
    assert await kept(talk, "weight") == []


@pytest.mark.parametrize(
    "text",
    [
        "no, I am not tired",
        "Forget that I slept badly.",
        "delete everything about Ana",
        "no, 5 people came",
        "not 12 but 15",
        "Sorry, I am 5 minutes late.",
        "change the subject",
        "delete my weight of March",
    ],
)
async def test_other_words_change_no_number(talk: Talk, text: str) -> None:
    """A word that is not known, or a value that was never told, is no correction."""
    await keep(talk, "weight", {9: 70.5}, "kg")
    await say(talk, "71.4 kg this morning")
    await say(talk, "I slept 6 hours last night")
    outcome = await say(talk, text)

    assert "measurement" not in outcome.reply.details.get("handled", [])
    assert [each.value for each in await kept(talk, "weight")] == [70.5, 71.4]
    assert [each.value for each in await kept(talk, "sleep")] == [6]


async def test_bare_correction_is_of_what_was_just_told(talk: Talk) -> None:
    """After something else was said, a bare number corrects nothing; with the wrong one it does."""
    await say(talk, "I ran 5 km today")
    await say(talk, "My sister is called Ana.")
    await say(talk, "no, 6")
    assert [each.value for each in await kept(talk, "running")] == [5]
    await say(talk, "6 km, not 5")
    assert [each.value for each in await kept(talk, "running")] == [6]


async def test_correction_of_a_number_moves_no_reminder(talk: Talk) -> None:
    """The number was told last, so it is meant."""
    await say(talk, "remind me tomorrow at 9am to walk the dog")
    await say(talk, "I ran 5 km this morning")
    outcome = await say(talk, "no, 6 km")
    assert outcome.reply.details["handled"] == ["measurement"]
    assert [each.value for each in await kept(talk, "running")] == [6]


@pytest.mark.parametrize(
    ("told", "between", "correction"),
    [
        ("I weigh 74 kg today", "I like tea", "no, the weight was 70.4"),
        ("Ich wiege heute 74 kg", "Ich mag Tee", "nein, das Gewicht war 70,4"),
        ("Hoy peso 74 kg", "Me gusta el té", "no, el peso era 70,4"),
        ("Je pèse 74 kg aujourd'hui", "J'aime le thé", "non, le poids était 70,4"),
        ("我今天体重74公斤", "我喜欢茶", "不对，体重是70.4"),
    ],
)
async def test_number_that_is_named_is_corrected_some_turns_later(
    talk: Talk, told: str, between: str, correction: str
) -> None:
    """What the number is of tells which is meant; the reply says what it was."""
    await say(talk, told)
    await say(talk, between)
    outcome = await say(talk, correction)

    assert [each.value for each in await kept(talk, "weight")] == [70.4]
    assert "74" in outcome.reply.text


@pytest.mark.parametrize(
    ("told", "correction", "undo"),
    [
        ("71.4 kg this morning", "Sorry, 74.1", "undo"),
        ("Heute früh 71,4 kg", "ich meinte 74,1 kg", "rückgängig"),
        ("Esta mañana 71,4 kg", "perdón, 74,1", "deshazlo"),
        ("71,4 kg ce matin", "pardon, 74,1 kg", "défaire"),
        ("今天早上71.4公斤", "不对，是74.1公斤", "撤销"),
    ],
)
async def test_undo_takes_back_a_correction_and_then_a_number(
    talk: Talk, told: str, correction: str, undo: str
) -> None:
    """The value before a correction comes back; a number that was just told goes."""
    await say(talk, told)
    await say(talk, correction)
    await say(talk, undo)
    assert [each.value for each in await kept(talk, "weight")] == [71.4]

    await say(talk, told)
    await say(talk, undo)
    assert [each.value for each in await kept(talk, "weight")] == []


@pytest.mark.parametrize(
    ("told", "other", "correction"),
    [
        ("I weigh 74 kg", "My suitcase is 23 kg", "no, the weight was 25 kg"),
        ("Ich wiege 74 kg", "Mein Koffer hat 23 kg", "nein, das Gewicht war 25 kg"),
        ("Peso 74 kg", "Mi maleta pesa 23 kg", "no, el peso era 25 kg"),
        ("Je pèse 74 kg", "Ma valise fait 23 kg", "non, le poids était 25 kg"),
        ("我体重74公斤", "我的箱子是23公斤", "不对，体重是25公斤"),
    ],
)
async def test_weight_of_a_thing_does_not_correct_that_of_the_person(
    talk: Talk, told: str, other: str, correction: str
) -> None:
    """It was told just before, so it is asked which is meant."""
    await say(talk, told)
    await say(talk, other)
    outcome = await say(talk, correction)

    assert [each.value for each in await kept(talk, "weight")] == [74]
    assert "25" in outcome.reply.text


async def test_weight_that_is_far_from_the_earlier_ones_is_asked_for(talk: Talk) -> None:
    """The one that it would correct was not."""
    await keep(talk, "weight", {9: 73.5}, "kg")
    await say(talk, "I weigh 74 kg today")
    outcome = await say(talk, "no, the weight was 25 kg")
    assert "25" in outcome.reply.text
    assert [each.value for each in await kept(talk, "weight")] == [73.5, 74]

    await say(talk, "no, the weight was 75 kg")
    assert [each.value for each in await kept(talk, "weight")] == [73.5, 75]
