"""The time, the day, and how many days it is to or since one: read from the clock alone."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import parse_timestamp
from oldfriend.domain.errors import ModelUnavailable
from oldfriend.memory.people import get_person_by_id
from oldfriend.turn.store_change import ChangeScope
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say

SUNDAY = parse_timestamp("2026-11-29T14:05", "Europe/Lisbon")[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what time is it?", "It is 14:06, Sunday, 29 November 2026."),
        ("Hey, what's the time", "It is 14:06"),
        ("What time is it in Tokyo?", "In Tokyo it is 23:06, Sunday, 29 November 2026."),
        ("what day is it today?", "Today is Sunday, 29 November 2026."),
        ("What's today's date?", "Today is Sunday, 29 November 2026."),
        ("how many days until Christmas?", "26 days until 25 December 2026."),
        ("How long until 3 May?", "155 days until 3 May 2027."),
        ("how many days until Friday?", "5 days until 4 December 2026."),
        ("how many days are left until new year's eve", "32 days until 31 December 2026."),
        ("days since 1 November", "28 days since 1 November 2026."),
        ("how many days till Easter?", "119 days until 28 March 2027."),
        ("Wie viel Uhr ist es?", "Es ist 14:06, Sonntag, der 29. November 2026."),
        ("wie spät ist es in Tokio?", "23:06"),
        ("wie spät ist es in Hintertupfing?", "Ich"),
        ("Welcher Tag ist heute?", "Heute ist Sonntag, der 29. November 2026."),
        ("Wie viele Tage noch bis Weihnachten?", "Bis zum 25. Dezember 2026 sind es 26 Tage."),
        ("wie lange noch bis Freitag?", "Bis zum 4. Dezember 2026 sind es 5 Tage."),
        ("¿Qué hora es?", "Ahora mismo: 14:06, domingo, 29 de noviembre de 2026."),
        ("¿qué día es hoy?", "Hoy es domingo, 29 de noviembre de 2026."),
        ("¿Cuántos días faltan para Navidad?", "Faltan 26 días para el 25 de diciembre de 2026."),
        ("¿cuánto falta para el 3 de mayo?", "Faltan 155 días para el 3 de mayo de 2027."),
        ("Quelle heure est-il ?", "Il est 14:06, dimanche 29 novembre 2026."),
        ("on est quel jour ?", "Aujourd'hui, c'est dimanche 29 novembre 2026."),
        ("Combien de jours avant Noël ?", "26 jours jusqu'au 25 décembre 2026."),
        ("dans combien de jours est le 3 mai ?", "155 jours jusqu'au 3 mai 2027."),
        ("现在几点了？", "现在是2026年11月29日星期日 14:06。"),
        ("今天星期几？", "今天是2026年11月29日星期日。"),
        ("离圣诞节还有几天？", "离2026年12月25日还有 26 天。"),
        ("距离5月3日还有多少天？", "离2027年5月3日还有 155 天。"),
    ],
)
async def test_clock_is_read(talk: Talk, text: str, told: str) -> None:
    """In the person's zone and language, without a model; nothing is made up."""
    talk.clock.now = SUNDAY
    outcome = await say(talk, text)
    if told == "Ich":  # a place without a known zone is not guessed at
        assert "handled" not in outcome.reply.details
        return
    assert outcome.reply.details["handled"] == ["clock"]
    assert told in outcome.reply.text


@pytest.mark.parametrize(
    "text",
    [
        "What time is it that the shop opens?",
        "what time is the dentist?",
        "what day is good for you?",
        "How long until the pizza comes?",
        "how many days until my holiday?",
        "The time is now.",
        "今天几点去看牙医？",
    ],
)
async def test_other_questions_are_left_alone(talk: Talk, text: str) -> None:
    """What the clock does not tell is for the memory."""
    outcome = await say(talk, text)
    assert "handled" not in outcome.reply.details


async def test_guessed_zone_is_named(talk: Talk) -> None:
    """Who never told a zone hears whose clocks those are, and how to set their own."""
    said = await talk.hears("what time is it?")
    unsaid = replace(said, message=replace(said.message, zone="UTC"))
    text = (await talk.turn(unsaid, talk.mind())).reply.text
    assert "UTC" in text
    assert "/zone" in text

    told = replace(unsaid, person=replace(said.person, has_chosen_zone=True))
    assert "UTC" not in (await talk.turn(told, talk.mind())).reply.text


async def test_model_tells_the_time_itself(talk: Talk) -> None:
    """It knows it; only where it cannot answer, the rules do."""
    answered = await talk.turn(await talk.hears("what time is it?"), talk.mind("Time for tea."))
    assert answered.reply.text == "Time for tea."
    assert "handled" not in answered.reply.details

    failed = await talk.turn(
        await talk.hears("what time is it?"), talk.mind(ModelUnavailable("down"))
    )
    assert "It is " in failed.reply.text


async def test_first_reminder_names_a_guessed_zone(talk: Talk) -> None:
    """Once: by whose clocks it will come."""
    for number, text in enumerate(["call Eva", "feed the cat"]):
        said = await talk.hears(f"remind me tomorrow at 15:00 to {text}")
        unsaid = replace(said, message=replace(said.message, zone="UTC"))
        outcome = await talk.turn(unsaid, talk.mind())
        scope = ChangeScope(person=said.person, message=said.message, now=talk.clock())
        async with talk.app.db.begin_write() as tx:
            for each in outcome.changes:
                await each.apply(tx, scope)
        assert ("clocks of UTC" in outcome.reply.text) == (number == 0)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("/zone Lisbon", "Europe/Lisbon"),
        ("/zone +02:00", None),
        ("My time zone is Tokyo", "Asia/Tokyo"),
        ("Meine Zeitzone ist Berlin", "Europe/Berlin"),
        ("Mi zona horaria es Madrid", "Europe/Madrid"),
        ("Mon fuseau horaire est Paris", "Europe/Paris"),
        ("我的时区是上海", "Asia/Shanghai"),
    ],
)
async def test_zone_is_set_on_every_channel(talk: Talk, text: str, zone: str | None) -> None:
    """Also in words; what repeats goes by the new clocks."""
    await say(talk, "Remind me every day at 8am to stretch")
    told = (await say(talk, text)).reply.text
    async with talk.app.db.begin_read() as tx:
        person = await get_person_by_id(tx, talk.chat_context.person.id)
    assert person.has_chosen_zone
    assert zone is None or person.zone == zone
    assert person.zone in told


async def test_unknown_place_changes_no_zone(talk: Talk) -> None:
    """It is said, with what may be meant; and the command alone says how things stand."""
    assert "Nothing has changed" in (await say(talk, "/zone Xyzzyville")).reply.text
    assert "/zone Lisbon" in (await say(talk, "/zone")).reply.text
    async with talk.app.db.begin_read() as tx:
        assert not (await get_person_by_id(tx, talk.chat_context.person.id)).has_chosen_zone
