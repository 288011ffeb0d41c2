"""A limit for a number in the person's own words is told of each time it is passed (L12)."""

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.inbound.accept import ChatContext
from oldfriend.turn.watch_requests import read_asked_limit
from oldfriend.watches.number_limits import is_ended
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
    """Once for each; a number within says nothing, nor does another one beyond right after."""
    await tell(app, clock, chat_context, at("2026-11-18T08:00"), "My weight is 79 kg.")
    await choose(app, chat_context, level="off")
    asked = await tell(
        app, clock, chat_context, at("2026-11-18T09:00"), "Tell me when my weight goes above 80"
    )
    listed = await tell(app, clock, chat_context, at("2026-11-18T09:05"), "/watches")
    counts: list[int] = []
    for day, weight in enumerate(["79.5", "81", "81.2", "79.8", "80.6"], 19):
        await tell(app, clock, chat_context, at(f"2026-11-{day}T08:00"), f"I weigh {weight} kg.")
        await live_until(app, clock, at(f"2026-11-{day}T20:00"))
        counts.append(len(await list_unasked(app, chat_context)))
    said = await list_unasked(app, chat_context)
    ended = await tell(
        app, clock, chat_context, at("2026-11-24T09:00"), "Stop telling me about my weight"
    )
    async with app.db.begin_read() as tx:
        left = await list_watches(tx, chat_context.person.id)

    assert "80 kg" in asked.reply.text
    assert "stop telling me about weight" in asked.reply.text
    assert "weight" in listed.reply.text
    assert counts == [0, 1, 1, 1, 2]
    assert "81 kg" in said[0].text or "81 kg" in said[1].text
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
