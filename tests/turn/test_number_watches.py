"""A limit for a number in the person's own words is told of each time it is passed (L12)."""

import re

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import HOUR
from oldfriend.inbound.accept import ChatContext
from oldfriend.lang.language_pack import list_languages
from oldfriend.measurements.measurement_store import find_latest, list_kept_measures
from oldfriend.measurements.measures import MEASURES
from oldfriend.measurements.number_source import NumberSource
from oldfriend.turn.watch_requests import read_asked_limit
from oldfriend.watches.number_limits import is_ended
from oldfriend.watches.watch_phrases import load_watch_phrases
from oldfriend.watches.watch_store import list_watches
from tests.clock import FrozenClock
from tests.proactive.lived_time import at, choose, list_unasked, live_until, tell


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Tell me when my weight goes above 80", ("weight", "above", 80.0, "")),
        ("en", "Please let me know if I weigh less than 150 lb", ("weight", "below", 150.0, "lb")),
        (
            "en",
            "Alert me when my resting pulse is over 90 bpm",
            ("heart_rate", "above", 90.0, "bpm"),
        ),
        ("en", "tell me if I sleep less than 6 hours", ("sleep", "below", 6.0, "h")),
        (
            "de",
            "Sag Bescheid, wenn mein Blutdruck über 140 ist",
            ("blood_pressure", "above", 140.0, ""),
        ),
        (
            "de",
            "Gib mir bitte Bescheid, sobald ich mehr als 80,5 kg wiege",
            ("weight", "above", 80.5, "kg"),
        ),
        ("es", "Avísame cuando mi peso pase de 80 kg", ("weight", "above", 80.0, "kg")),
        ("es", "Dime si duermo menos de 6 horas", ("sleep", "below", 6.0, "h")),
        ("fr", "Préviens-moi quand mon poids dépasse 80 kg", ("weight", "above", 80.0, "kg")),
        (
            "fr",
            "Dis-moi si ma tension est au-dessus de 140",
            ("blood_pressure", "above", 140.0, ""),
        ),
        ("zh", "我的体重超过80公斤时告诉我", ("weight", "above", 80.0, "kg")),
        ("zh", "如果我的血压高于140，请提醒我", ("blood_pressure", "above", 140.0, "")),
        (
            "en",
            "have a go at me if my phone time is ever over 3 hours",
            ("screen_time", "above", 3.0, "h"),
        ),
        (
            "en",
            "if i splash out more than 80 dollars in a day, holler at me",
            ("spending", "above", 80.0, "USD"),
        ),
        (
            "en",
            "tell me if I spend more than 45 pounds a day",
            ("spending", "above", 45.0, "GBP"),
        ),
        ("en", "gimme a yell if my systolic hits over 160", ("blood_pressure", "above", 160.0, "")),
        ("de", "rüttel mich wach wenn ich unter 58 kilo falle", ("weight", "below", 58.0, "kg")),
        (
            "de",
            "wenn der Blutzucker unter 3,9 mmol/l sinkt, gib mir einen Wink",
            ("glucose", "below", 3.9, "mmol/L"),
        ),
        (
            "es",
            "si gasto más de 30 euros al día, ríñeme",
            ("spending", "above", 30.0, "EUR"),
        ),
        (
            "fr",
            "si ma tension du haut passe au-dessus de 15 tu me secoues",
            ("blood_pressure", "above", 150.0, ""),
        ),
        ("zh", "一天花钱超过300块你就数落我", ("spending", "above", 300.0, "CNY")),
    ],
)
def test_limit_is_read_in_its_own_words(
    language: str, text: str, expected: tuple[str, str, float, str]
) -> None:
    """Of any measure, in five languages, with the unit that was told."""
    limit = read_asked_limit(text, language)
    assert limit is not None
    assert (limit.measure.name, limit.condition, limit.value, limit.unit) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Tell me when my weight was above 80"),
        ("en", "Tell me when my dog's weight goes above 80"),
        ("en", "Tell me when my weight goes above 8000"),
        ("en", "My weight is above 80"),
        ("en", "Tell me when the shop opens"),
        ("de", "Sag mir, wann mein Gewicht über 80 war"),
        ("de", "Sag Bescheid, wenn der Blutdruck meiner Mutter über 140 ist"),
        ("es", "Dime cuándo mi peso era más de 80"),
        ("fr", "Dis-moi quand mon poids était au-dessus de 80"),
        ("zh", "告诉我体重什么时候超过80公斤"),
        ("en", "My watch nags me when my heart rate goes over 150"),
        ("en", "let me know if the dog gets over 30 kg"),
        ("en", "tell me if the flight drops below 200 euros"),
        ("en", "Tell me if I have more than 5 emails"),
        ("de", "Meine Frau meckert, wenn ich über 90 Kilo komme"),
        ("de", "Sag Bescheid, wenn die PS5 unter 400 Euro fällt"),
        ("de", "Sag Bescheid, wenn der Hund mehr als 30 Kilo wiegt"),
        ("es", "Mi reloj pita si paso de 10000 pasos"),
        ("es", "Avísame si el perro pasa de 30 kg"),
        ("fr", "Mon coach crie quand je dépasse 150 pulsations"),
        ("fr", "Préviens-moi si le chat dépasse 6 kg"),
        ("zh", "我妈体重超过80公斤的话告诉我"),
        ("zh", "我睡觉少于6小时老婆就念叨"),
    ],
)
def test_other_words_set_no_limit(language: str, text: str) -> None:
    """What is asked about the past, of others, or of nothing that can be."""
    assert read_asked_limit(text, language) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Stop telling me about my weight"),
        ("de", "Sag mir nichts mehr zu meinem Gewicht"),
        ("es", "Deja de avisarme de mi peso"),
        ("fr", "Arrête de surveiller mon poids"),
        ("zh", "不要再提醒我体重了"),
    ],
)
def test_limit_is_ended_by_words(language: str, text: str) -> None:
    """In five languages, and no other measure."""
    assert is_ended(text, "weight", language)
    assert not is_ended(text, "blood_pressure", language)


async def test_each_passing_of_a_limit_is_told_until_it_is_ended(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once for each, by the reply itself, also at night: no message follows in the morning."""
    await tell(app, clock, chat_context, at("2026-11-18T08:00"), "My weight is 79 kg.")
    await choose(app, chat_context, level="off")
    asked = await tell(
        app, clock, chat_context, at("2026-11-18T09:00"), "Tell me when my weight goes above 80"
    )
    listed = await tell(app, clock, chat_context, at("2026-11-18T09:05"), "/watches")
    passed: list[bool] = []
    for day, weight in enumerate(["79.5", "81", "81.2", "79.8", "80.6"], 19):
        told = f"I weigh {weight} kg."
        noted = await tell(app, clock, chat_context, at(f"2026-11-{day}T22:30"), told)
        passed.append("above 80 kg" in noted.reply.text)
        await live_until(app, clock, at(f"2026-11-{day + 1}T12:00"))
    said = await list_unasked(app, chat_context)
    ended = await tell(
        app, clock, chat_context, at("2026-11-24T13:00"), "Stop telling me about my weight"
    )
    async with app.db.begin_read() as tx:
        left = await list_watches(tx, chat_context.person.id)

    assert "80 kg" in asked.reply.text
    assert "stop telling me about weight" in asked.reply.text
    assert "weight" in listed.reply.text
    assert passed == [False, True, False, False, True]
    assert said == []
    assert "weight" in ended.reply.text
    assert left == []


async def test_limit_is_taken_back_by_words(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Before it is passed."""
    await tell(
        app,
        clock,
        chat_context,
        at("2026-11-18T09:00"),
        "Sag Bescheid, wenn mein Blutdruck über 140 ist",
    )
    async with app.db.begin_read() as tx:
        (watch,) = await list_watches(tx, chat_context.person.id)
    ended = await tell(
        app, clock, chat_context, at("2026-11-18T10:00"), "Sag mir nichts mehr zu meinem Blutdruck"
    )
    async with app.db.begin_read() as tx:
        left = await list_watches(tx, chat_context.person.id)
    assert (watch.condition, watch.threshold) == ("above", 140)
    assert "Blutdruck" in ended.reply.text
    assert left == []


ASKED: dict[str, str] = {
    "weight": "Tell me when my weight goes below 60 kg",
    "blood_pressure": "Tell me when my systolic goes above 140",
    "blood_pressure de": "Sag Bescheid, wenn mein oberer Wert über 140 geht",
    "blood_pressure es": "Avísame si la presión de arriba pasa de 140",
    "glucose": "Tell me when my glucose goes above 130",
    "screen_time": "Tell me when my screen time goes above 4 hours",
    "screen_time es": "Avísame si mi tiempo de pantalla pasa de 4 horas",
    "steps": "Tell me when I do fewer than 4000 steps",
    "spending": "Tell me when I spend more than 60 euros in a day",
}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("weight", "61.5", 61.5),
        ("weight", "59,3 kilo heute früh", 59.3),
        ("weight", "back up at 62", 62),
        ("blood_pressure", "142 over 88 this morning", 142),
        ("blood_pressure de", "152 zu 91", 152),
        ("blood_pressure es", "132 con 80", 132),
        ("blood_pressure", "13,2 ce matin.", 132),
        ("blood_pressure", "156 昨晚没睡", 156),
        ("glucose", "118", 118),
        ("glucose", "88 en ayunas.", 88),
        ("screen_time", "265 minutes today apparently", 265),
        ("screen_time", "today 4h50 oh no", 4.8333),
        ("screen_time", "2h10 heut", 2.1667),
        ("steps", "6100", 6100),
        ("steps", "9 800", 9800),
        ("spending", "ok today was 74 in total. tacos were involved", 74),
        ("spending", "34 €, sushis", 34),
        ("spending", "12 fürs essen, brav", 12),
    ],
)
async def test_bare_number_is_a_value_of_what_a_limit_is_for(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    name: str,
    text: str,
    expected: float,
) -> None:
    """While it stands, and it is said."""
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), ASKED[name])
    await tell(app, clock, chat_context, at("2026-11-19T09:00"), text)
    async with app.db.begin_read() as tx:
        kept = await find_latest(tx, chat_context.person.id, name.split(" ")[0])
    assert kept is not None
    assert kept.value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("weight", "my dog is 61.5"),
        ("weight", "meine Schwester hat 61"),
        ("weight", "61 people came"),
        ("weight", "12 kg of flour"),
        ("weight", "is 61 a lot?"),
        ("blood_pressure", "mums was 168/95 yesterday but shes on tablets for it"),
        ("blood_pressure", "mi comadre anda en 160, pero ella no se cuida"),
        ("blood_pressure", "我老公162 死活不吃药"),
        ("blood_pressure", "Mon mari est à 16, il a mangé du saucisson."),
        ("glucose", "the 140 bus was late"),
        ("screen_time", "5 kg"),
        ("screen_time", "mon apprenti 3h, il sortait lui"),
        ("spending", "my flatmate blew 90 today on one dress"),
    ],
)
async def test_number_of_something_else_is_no_value_of_it(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, name: str, text: str
) -> None:
    """Nor one of somebody else."""
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), ASKED[name])
    await tell(app, clock, chat_context, at("2026-11-19T09:00"), text)
    async with app.db.begin_read() as tx:
        kept = await find_latest(tx, chat_context.person.id, name)
        watched = await list_watches(tx, chat_context.person.id)
    assert kept is None
    assert len(watched) == 1


async def test_bare_number_is_kept_for_no_limit_if_none_stands(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """It could be of anything."""
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), "118")
    async with app.db.begin_read() as tx:
        assert await list_kept_measures(tx, chat_context.person.id) == []


@pytest.mark.parametrize(
    ("name", "told", "corrected"),
    [
        ("glucose", "114", "vertippt, nicht 114 sondern 141"),
        ("screen_time es", "3 horas", "lei mal lo d hoy, no son 3 sino 6 horas"),
        ("screen_time", "2h", "erreur, jregardais la veille, aujourd'hui cé pas 2h, cé 6h"),
        ("steps", "6100", "看反了 今天不是6100 是1600"),
    ],
)
async def test_right_value_that_passes_the_limit_is_told(
    app: AppContext,
    chat_context: ChatContext,
    clock: FrozenClock,
    name: str,
    told: str,
    corrected: str,
) -> None:
    """Within an hour, with the value that it is."""
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), ASKED[name])
    await tell(app, clock, chat_context, at("2026-11-19T09:05"), told)
    await tell(app, clock, chat_context, at("2026-11-19T09:10"), corrected)
    await live_until(app, clock, at("2026-11-19T09:20"))
    assert len(await list_unasked(app, chat_context)) == 1


async def test_money_of_a_day_is_added_up_by_currency(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Each day by itself."""
    await tell(app, clock, chat_context, at("2026-11-18T09:00"), ASKED["spending"])
    passed: list[bool] = []
    for moment, text in [
        ("2026-11-19T10:00", "40 €"),
        ("2026-11-19T12:00", "$30"),
        ("2026-11-20T10:00", "35 €"),
        ("2026-11-20T12:00", "30 €"),
    ]:
        noted = await tell(app, clock, chat_context, at(moment), text)
        await live_until(app, clock, at(moment) + HOUR)

        passed.append("65" in noted.reply.text)
    assert passed == [False, False, False, True]
    assert await list_unasked(app, chat_context) == []


@pytest.mark.parametrize("language", list_languages("watches"))
def test_limit_is_ended_by_the_words_that_its_reply_names(language: str) -> None:
    """For every measure."""
    phrases = load_watch_phrases(language)
    for name in MEASURES:
        title = phrases.name_measure(NumberSource(name=name, unit=""))
        said = phrases.say("number_above", limit="1", measure=title)
        (quoted,) = re.findall("[“„«](?:\\s|\u00a0)*(.+?)(?:\\s|\u00a0)*[”“»]", said)
        assert is_ended(quoted, name, language), quoted
