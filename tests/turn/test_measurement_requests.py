"""Numbers that the person keeps: told in words, kept whole, and asked for again."""

import re
from dataclasses import replace
from datetime import date, timedelta

import pytest

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, from_micros
from oldfriend.domain.ids import new_id
from oldfriend.forgetting.delete import forget
from oldfriend.measurements.measurement_store import (
    Measurement,
    delete_measurement,
    list_kept_measures,
    list_measurements,
    save_measurements,
)
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.turn.store_change import ChangeScope
from oldfriend.turn.turn_outcome import Outcome, Utterance
from tests.turn.conftest import Talk


async def say(talk: Talk, text: str, *, trust: str = "person") -> Outcome:
    """Say something to the offline companion, and commit what it decides."""
    said = await talk.hears(text, trust=trust)  # type: ignore[arg-type]
    outcome = await talk.turn(said, talk.mind())
    await apply(talk, said, outcome)
    return outcome


async def apply(talk: Talk, said: Utterance, outcome: Outcome) -> None:
    """Commit what a turn has decided."""
    scope = ChangeScope(person=said.person, message=said.message, now=talk.clock())
    async with talk.app.db.begin_write() as tx:
        for each in outcome.changes:
            await each.apply(tx, scope)


async def kept(talk: Talk, name: str) -> list[Measurement]:
    """All values of a measure."""
    async with talk.app.db.begin_read() as tx:
        return await list_measurements(tx, talk.chat_context.person.id, name)


def today(talk: Talk) -> date:
    """The day in the person's zone."""
    return from_micros(talk.clock(), "Europe/Lisbon").date()


async def keep(talk: Talk, name: str, values: dict[int, float], unit: str) -> None:
    """Keep values by how many days ago they were measured."""
    rows = [
        Measurement(
            id=new_id(talk.clock()),
            person=talk.chat_context.person.id,
            name=name,
            day=today(talk) - timedelta(days=ago),
            measured_at=talk.clock() - ago * DAY,
            zone="Europe/Lisbon",
            value=value,
            unit=unit,
        )
        for ago, value in values.items()
    ]
    async with talk.app.db.begin_write() as tx:
        await save_measurements(tx, talk.chat_context.person.id, rows, now=talk.clock())


async def test_weight_is_confirmed_in_one_line_with_value_day_and_change(talk: Talk) -> None:
    """From what is stored (ACCEPTANCE W10)."""
    await keep(talk, "weight", {7: 72.0}, "kg")
    outcome = await say(talk, "71.4 kg this morning")

    (before, now) = await kept(talk, "weight")
    assert (now.value, now.unit, now.day) == (71.4, "kg", today(talk))
    line = outcome.reply.text.splitlines()[-1]
    assert "71.4 kg" in line
    assert "0.6 kg less" in line
    assert before.value == 72.0


async def test_a_day_has_one_weight(talk: Talk) -> None:
    """The later one replaces the earlier (ACCEPTANCE E13)."""
    await say(talk, "I weigh 72 kg")
    outcome = await say(talk, "/log weight 71.4")

    (only,) = await kept(talk, "weight")
    assert only.value == 71.4
    assert "it was 72 kg" in outcome.reply.text


async def test_a_bare_number_is_a_weight_only_after_one_was_kept_lately(talk: Talk) -> None:
    """Else it may be anything."""
    await say(talk, "71.4 this morning")
    assert await kept(talk, "weight") == []
    await keep(talk, "weight", {3: 71.9}, "kg")
    await say(talk, "71.4 this morning")
    assert [each.value for each in await kept(talk, "weight")] == [71.9, 71.4]
    await say(talk, "18.5 this morning")
    assert len(await kept(talk, "weight")) == 2


async def test_number_without_a_unit_is_in_the_unit_told_last(talk: Talk) -> None:
    """Pounds stay pounds, and are compared in kilograms."""
    await keep(talk, "weight", {5: 158.0}, "lb")
    outcome = await say(talk, "weighed in at 157")

    assert (await kept(talk, "weight"))[-1].unit == "lb"
    assert "1 lb less" in outcome.reply.text


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("I ran 5 km and 3 miles", 9.83, "km"),
        ("I ran 3 miles and then 5 km", 6.11, "mi"),
        ("I ran 5 km and 30 min", 5.0, "km"),
        ("Ich bin 5 km und 3 Meilen gelaufen", 9.83, "km"),
        ("corrí 5 km y 3 millas", 9.83, "km"),
        ("J'ai couru 5 km et 3 km", 8.0, "km"),
        ("我跑了5公里和3英里", 9.83, "km"),
    ],
)
async def test_joined_amounts_of_one_deed_are_one_number(
    talk: Talk, text: str, value: float, unit: str
) -> None:
    """In the unit that is told first; what measures something else is none of it."""
    await say(talk, text)
    assert [(each.value, each.unit) for each in await kept(talk, "running")] == [(value, unit)]


async def test_message_that_tells_more_goes_on(talk: Talk) -> None:
    """Nothing of it is lost to the talk."""
    said = await talk.hears("I ran 5 km in 31 min with Ana today, who is back from Rome")
    deps = talk.mind("How lovely that she is back!")
    outcome = await talk.turn(said, deps)

    assert outcome.reply.text.startswith("How lovely")
    assert "running 5 km in 31 min" in outcome.reply.text


@pytest.mark.parametrize(
    "text",
    [
        "my brother weighs 90",
        "the fish weighed 4 kg",
        "I want to weigh 65 kg",
        "Do I weigh 70 kg?",
        "She slept 6 hours",
    ],
)
async def test_what_is_not_the_persons_own_is_not_kept(talk: Talk, text: str) -> None:
    """Nor a wish, nor a question."""
    await say(talk, text)
    async with talk.app.db.begin_read() as tx:
        assert await list_kept_measures(tx, talk.chat_context.person.id) == []


async def test_forwarded_numbers_are_not_kept(talk: Talk) -> None:
    """They are somebody else's (ACCEPTANCE L8)."""
    await say(talk, "I weighed 71.4 kg", trust="outside")
    assert await kept(talk, "weight") == []


async def test_own_names_are_kept_and_asked_for(talk: Talk) -> None:
    """Any number with a unit."""
    await say(talk, "/LOG@friend coffee 3 cups")
    outcome = await say(talk, "/log")
    assert "coffee" in outcome.reply.text
    outcome = await say(talk, "How much coffee today?")
    assert "3 cup" in outcome.reply.text


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("weighed myself uh eighty three point six this morning write that down", "weight", 83.6),
        ("blood sugar 6.2 before breakfast, put that down please love", "glucose", 6.2),
        ("me he pesado hoy sesenta y ocho coma cinco apunta", "weight", 68.5),
        ("今早体重六十三点二公斤，记一下", "weight", 63.2),
    ],
)
async def test_number_is_kept_as_people_say_it(
    talk: Talk, text: str, name: str, value: float
) -> None:
    """Spelled out as speech recognition gives it, or under a name of their own."""
    await say(talk, text)

    assert [each.value for each in await kept(talk, name)] == [value]


async def test_value_is_corrected_by_its_name(talk: Talk) -> None:
    """Also one under a name of the person's own, and days later."""
    await say(talk, "/log cholesterol 8.1")
    await say(talk, "Lovely weather.")
    await say(
        talk,
        "The cholesterol I gave you was wrong, I hadn't my glasses on. It should read 7.1.",
    )

    assert [each.value for each in await kept(talk, "cholesterol")] == [7.1]


async def test_question_about_a_time_that_is_not_read_is_not_answered_from_another(
    talk: Talk,
) -> None:
    """The memory is asked instead."""
    await say(talk, "/log weight 90 kg")
    asked = await say(talk, "What did I weigh at the beginning of November? I told you.")

    assert "90 kg on" not in asked.reply.text


async def test_command_that_cannot_be_read_says_how(talk: Talk) -> None:
    """And keeps nothing."""
    outcome = await say(talk, "/log something")
    assert "/log weight 71.4" in outcome.reply.text


async def test_spring_is_answered_from_the_rows(talk: Talk) -> None:
    """With numbers and dates."""
    now = today(talk)
    spring = date(now.year if now.month > 5 else now.year - 1, 4, 10)
    ago = (now - spring).days
    await keep(talk, "weight", {ago: 73.0, ago - 10: 72.0, 1: 70.0}, "kg")
    text = (await say(talk, "What did I weigh in spring?")).reply.text

    assert "2 values" in text
    assert "72.5 kg on average" in text
    assert "70" not in re.sub(r"\d{4}", "", text)


async def test_spans_are_compared(talk: Talk) -> None:
    """This month with the last one."""
    day = today(talk).day
    await keep(talk, "sleep", {0: 8.0, day + 2: 6.0, day + 4: 7.0}, "h")
    text = (await say(talk, "Am I sleeping better than last month?")).reply.text

    assert "8 h" in text
    assert "6 h 30 min" in text
    assert "1 h 30 min more" in text


async def test_two_measures_are_set_side_by_side_with_a_caution(talk: Talk) -> None:
    """With n, and what so few days say (ACCEPTANCE K3)."""
    await keep(talk, "sleep", {1: 8.0, 2: 6.0, 3: 8.0, 4: 6.5, 5: 8.0}, "h")
    await keep(talk, "running", {1: 5.0, 3: 5.0, 5: 6.0}, "km")
    text = (await say(talk, "How did I sleep when I ran?")).reply.text

    assert "8 h on average (3 days)" in text
    assert "(2 days)" in text
    assert "hint" in text


async def test_trend_is_told_as_a_slope_a_week(talk: Talk) -> None:
    """By least squares."""
    await keep(talk, "weight", {21: 73.0, 14: 72.5, 7: 72.0, 0: 71.5}, "kg")
    text = (await say(talk, "Is my weight going down?")).reply.text

    assert "0.5 kg less with each week" in text
    assert "4 values" in text


async def test_pairs_are_answered_as_pairs(talk: Talk) -> None:
    """Both values of each blood pressure count."""
    await say(talk, "bp 120/80")
    await say(talk, "blood pressure yesterday: 130/90")
    text = (await say(talk, "What was my average blood pressure?")).reply.text

    assert "125/85 mmHg on average" in text
    assert "lowest 120/80 mmHg" in text


async def test_last_night_is_the_night_that_ended_today(talk: Talk) -> None:
    """As it was kept."""
    await say(talk, "I slept 6.5 hours last night")
    assert "6 h 30 min" in (await say(talk, "How did I sleep last night?")).reply.text


async def test_nothing_kept_goes_to_the_memory(talk: Talk) -> None:
    """What was told in words may answer."""
    await talk.tell("I weigh myself every Sunday, it was 71 kilos with my shoes on.")
    said = await talk.hears("How much do I weigh?")
    outcome = await talk.turn(said, talk.mind())
    assert "handled" not in outcome.reply.details


async def test_kept_numbers_are_one_persons(talk: Talk) -> None:
    """Never another's."""
    await say(talk, "I weigh 72 kg")

    async def of_another(tx: Transaction) -> list[tuple[str, int, date]]:
        return await list_kept_measures(tx, replace(talk.chat_context.person, id="other").id)  # type: ignore[arg-type]

    async with talk.app.db.begin_read() as tx:
        assert await of_another(tx) == []


@pytest.mark.parametrize(
    "said", ['"I weigh 80 kg", said Paul.', "I weigh 80 kg, said Paul.", "Mum: I weigh 80 kg"]
)
async def test_number_that_somebody_else_said_is_not_kept(talk: Talk, said: str) -> None:
    """It is not the person's."""
    outcome = await talk.turn(await talk.hears(said), talk.mind())

    assert outcome.changes == ()


async def test_lines_of_numbers_are_kept(talk: Talk) -> None:
    """They look like the lines of a chat, and are none."""
    said = await talk.hears("Sleep: 7 h\nWeight: 71 kg\nMood: 8/10")
    outcome = await talk.turn(said, talk.mind())

    assert outcome.reply.text.count("Noted:") == 3


async def test_forgotten_message_leaves_what_another_said_of_the_day(talk: Talk) -> None:
    """The newest value of a day counts; when its message goes, the one before counts again."""
    first = await say(talk, "My weight is 71.4 kg")
    second = await say(talk, "My weight is 72 kg")
    assert "it was 71.4 kg" in second.reply.text
    assert [each.value for each in await kept(talk, "weight")] == [72]
    async with talk.app.db.begin_read() as tx:
        assert [
            count for _, count, _ in await list_kept_measures(tx, talk.chat_context.person.id)
        ] == [1]

    (newest,) = await kept(talk, "weight")
    await forget(talk.app, talk.chat_context.person.id, DeletionRequest(ids=(str(newest.message),)))
    assert [each.value for each in await kept(talk, "weight")] == [71.4]
    assert first.changes


async def test_deleted_value_of_a_day_does_not_give_way_to_an_older_one(talk: Talk) -> None:
    """Who takes out the value of a day means that day."""
    await say(talk, "My weight is 71.4 kg")
    await say(talk, "My weight is 72 kg")
    (newest,) = await kept(talk, "weight")
    async with talk.app.db.begin_write() as tx:
        assert await delete_measurement(tx, talk.chat_context.person.id, newest.id, now=0)
    assert await kept(talk, "weight") == []


@pytest.mark.parametrize(
    ("told", "again"),
    [
        ("71.4 this morning", "71.4 kg"),
        ("heute früh 71,4", "71,4 kg"),
        ("maybe 71.4 kg", "my weight is 71.4 kg"),
        ("71,4 kg", "mein Gewicht ist 71,4 kg"),
        ("71,4 kg", "mi peso es 71,4 kg"),
        ("71,4 kg", "mon poids est de 71,4 kg"),
        ("71.4公斤", "我的体重是71.4公斤"),
    ],
)
async def test_first_number_is_asked_about_and_kept_when_told_as_asked(
    talk: Talk, told: str, again: str
) -> None:
    """What the question says to say is read."""
    asked = (await say(talk, told)).reply.text
    assert "71" in asked
    assert await kept(talk, "weight") == []
    await say(talk, again)
    assert [each.value for each in await kept(talk, "weight")] == [71.4]


@pytest.mark.parametrize("text", ["25 kg flour", "I bought 25 kg of flour", "5 km"])
async def test_number_of_another_thing_is_not_asked_about(talk: Talk, text: str) -> None:
    """It says of what it is."""
    assert "your weight" not in (await say(talk, text)).reply.text


@pytest.mark.parametrize(
    ("weight", "run", "question"),
    [
        (
            "I weigh 71.4 kg",
            "I ran 5 km today",
            "how much do I weigh and how much did I run this week?",
        ),
        (
            "Ich wiege 71,4 kg",
            "Ich bin heute 5 km gelaufen",
            "wie viel wiege ich und wie viel bin ich diese Woche gelaufen",
        ),
        ("peso 71,4 kg", "hoy corrí 5 km", "¿cuánto peso y cuánto corrí esta semana?"),
        (
            "je pèse 71,4 kg",
            "j'ai couru 5 km aujourd'hui",
            "combien je pèse et combien ai-je couru cette semaine ?",
        ),
        ("我体重71.4公斤", "今天跑了5公里", "我体重多少，这周跑了多少？"),
    ],
)
async def test_two_questions_in_one_message_are_answered_one_by_one(
    talk: Talk, weight: str, run: str, question: str
) -> None:
    """And not taken for one of how two measures go together."""
    for text in (weight, run):
        await say(talk, text)
    told = (await say(talk, question)).reply.text
    assert "71" in told
    assert "5 " in told


@pytest.mark.parametrize(
    "text",
    [
        "slept like 5 hours, awful",
        "slept something like 5 hours",
        "dormí como 5 horas, fatal",
        "j'ai dormi genre 5 heures, l'horreur",
        "so 5 Stunden geschlafen, furchtbar",
        "昨晚睡了差不多5个小时，很糟",
    ],
)
async def test_number_that_is_said_loosely_is_kept(talk: Talk, text: str) -> None:
    """As people say about how much it was, and how it was."""
    await say(talk, text)
    assert [each.value for each in await kept(talk, "sleep")] == [5]


@pytest.mark.parametrize(
    "text", ["I like 5 hours of sleep", "I slept like 5 people were in the room"]
)
async def test_number_that_is_liked_or_compared_is_not_kept(talk: Talk, text: str) -> None:
    """Nobody has slept so long."""
    await say(talk, text)
    assert await kept(talk, "sleep") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("i ran -5 km", "running"),
        ("weight -70 kg", "weight"),
        ("gewicht -70 kg", "weight"),
        ("peso -70 kg", "weight"),
        ("j'ai couru -5 km", "running"),
        ("我跑了-5公里", "running"),
    ],
)
async def test_number_below_zero_is_not_kept_without_its_sign(
    talk: Talk, text: str, name: str
) -> None:
    """It is said that it can hardly be right."""
    outcome = await say(talk, text)

    assert await kept(talk, name) == []
    assert outcome.reply is not None
    assert re.search(r"[-−](5|70)", outcome.reply.text)


@pytest.mark.parametrize(
    "text",
    [
        "i ran 5 km yesterday and 6 km today",
        "ich bin gestern 5 km und heute 6 km gelaufen",
        "ayer corrí 5 km y hoy 6 km",
        "j'ai couru 5 km hier et 6 km aujourd'hui",
        "昨天跑了5公里，今天6公里",
    ],
)
async def test_numbers_of_two_days_are_both_kept(talk: Talk, text: str) -> None:
    """Each on its day."""
    await say(talk, text)

    days = {each.day: each.value for each in await kept(talk, "running")}
    assert days == {today(talk): 6.0, today(talk) - timedelta(days=1): 5.0}


@pytest.mark.parametrize(
    "text",
    [
        "i almost ran 5 km",
        "fast 5 km gelaufen",
        "casi corrí 5 km",
        "j'ai presque couru 5 km",
        "差点跑了5公里",
        "ran 5-6 km",
        "5-6 km gelaufen",
        "corrí 5-6 km",
        "j'ai couru 5-6 km",
        "跑了5-6公里",
    ],
)
async def test_what_was_almost_done_or_is_a_range_is_not_kept(talk: Talk, text: str) -> None:
    """Which number it was, if any, nobody has said."""
    await say(talk, text)

    assert await kept(talk, "running") == []
