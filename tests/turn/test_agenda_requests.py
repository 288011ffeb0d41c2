"""What is on in some days."""

import pytest

from oldfriend.turn.request_handlers.agenda_requests import read_span
from oldfriend.turn.request_handlers.recap_requests import read_period
from tests.tasks.test_reminders import ZONE, at
from tests.turn.conftest import Talk
from tests.turn.test_measurement_requests import say


@pytest.mark.parametrize(
    ("language", "text", "span"),
    [
        ("en", "What's on this week?", "week"),
        ("en", "what do I have tomorrow", "tomorrow"),
        ("en", "anything today?", "today"),
        ("en", "Do I have anything planned for next week?", "next_week"),
        ("en", "What's on TV tonight?", None),
        ("en", "What's on my mind is the exam.", None),
        ("en", "What did I have today?", None),
        ("de", "Was steht diese Woche an?", "week"),
        ("de", "was habe ich morgen vor?", "tomorrow"),
        ("de", "Steht heute was an?", "today"),
        ("de", "Was habe ich heute gegessen?", None),
        ("es", "¿Qué tengo esta semana?", "week"),
        ("es", "¿tengo algo mañana?", "tomorrow"),
        ("es", "¿algo para hoy?", "today"),
        ("fr", "Qu'est-ce que j'ai cette semaine ?", "week"),
        ("fr", "j'ai quoi demain ?", "tomorrow"),
        ("fr", "quelque chose de prévu aujourd’hui ?", "today"),
        ("zh", "这周有什么安排？", "week"),
        ("zh", "我明天有什么事？", "tomorrow"),
        ("zh", "今天有安排吗？", "today"),
        ("en", "What do I have on Thursday?", "day"),
        ("en", "what's on the weekend?", "weekend"),
        ("en", "anything on 3 December?", "day"),
        ("en", "What do I have to do on Thursday at the office?", None),
        ("en", "What's on at ten on Thursday?", None),
        ("de", "was habe ich am Donnerstag vor?", "day"),
        ("es", "¿Qué tengo el jueves?", "day"),
        ("fr", "qu'est-ce que j'ai jeudi ?", "day"),
        ("zh", "周四有什么安排？", "day"),
        ("zh", "周末有什么安排？", "weekend"),
    ],
)
def test_span_is_read(language: str, text: str, span: str | None) -> None:
    """In the words of each language; nothing else is taken for it."""
    found = read_span(text, language, now=at("2026-11-24T14:00"), zone=ZONE)
    assert (found and found.name) == span


async def test_what_is_on_is_told_by_day(talk: Talk) -> None:
    """Reminders in order, a series for each of its days; what nobody asked for is not quoted."""
    await talk.tell("This week is going to be nice, my sister said.")
    await say(talk, "Remind me tomorrow at 15:00 to call Eva")
    await say(talk, "Remind me every day at 8am to take my pills")
    await say(talk, "Remind me tomorrow at 9am to pay the rent")

    told = (await say(talk, "What do I have tomorrow?")).reply.text
    assert [told.index(each) for each in ("pills", "rent", "Eva")] == sorted(
        told.index(each) for each in ("pills", "rent", "Eva")
    )
    assert "sister" not in told
    next_week = (await say(talk, "What's on next week?")).reply.text
    assert next_week.count("take my pills") == 7
    assert "Eva" not in next_week


async def test_day_that_is_named_is_told(talk: Talk) -> None:
    """Also a weekday, and not the day before or after it."""
    await say(talk, "Remind me on Thursday at 3pm to go to the dentist")

    told = (await say(talk, "What do I have on Thursday?")).reply.text
    assert told.count("15:00: go to the dentist") == 1
    assert "I know of nothing for" in (await say(talk, "anything on Friday?")).reply.text


async def test_series_of_many_times_a_day_is_one_line(talk: Talk) -> None:
    """In its own words, beside what is on once."""
    await say(talk, "Remind me every hour to drink water")
    await say(talk, "Remind me tomorrow at 3pm to call Eva")

    told = (await say(talk, "What's on this week?")).reply.text
    assert told.count("drink water") == 1
    assert "• every hour: drink water" in told
    assert "15:00: call Eva" in told


@pytest.mark.parametrize(
    ("set_by", "asked", "told"),
    [
        (
            "Remind me on Thursday at 3pm of my dentist appointment",
            "when is my dentist appointment?",
            "15:00: my dentist appointment",
        ),
        (
            "Erinnere mich am Freitag um 15 Uhr an den Zahnarzttermin",
            "Wann ist mein Zahnarzttermin?",
            "15:00: den Zahnarzttermin",
        ),
        (
            "Recuérdame el viernes a las 16:00 la cita del dentista",
            "¿Cuándo es mi cita del dentista?",
            "16:00: la cita del dentista",
        ),
        (
            "/remind vendredi à 17h appeler le dentiste",
            "C'est quand le dentiste ?",
            "17:00 : appeler le dentiste",
        ),
        ("周五下午三点提醒我看牙医", "看牙医是什么时候？", "15:00：看牙医"),
    ],
)
async def test_when_something_on_the_list_is_due_is_told(
    talk: Talk, set_by: str, asked: str, told: str
) -> None:
    """From the list, by the words that name it; what is not there is looked for as ever."""
    await say(talk, set_by)
    assert told in (await say(talk, asked)).reply.text
    assert "15:00" not in (await say(talk, "When is my birthday?")).reply.text


@pytest.mark.parametrize(
    "asked",
    [
        "when is my dentist appointment?",
        "wann hab ich meinen Zahnarzttermin?",
        "¿cuándo es mi cita con el dentista?",
        "c'est quand mon rendez-vous chez le dentiste ?",
        "我的牙医预约是什么时候？",
    ],
)
async def test_calendar_entry_is_told_by_what_it_is_about(talk: Talk, asked: str) -> None:
    """Its title is in the language of the calendar, and says nothing of an appointment."""
    await say(talk, "Remind me on Thursday at 3pm: Zahnarzt Klee")
    await say(talk, "Remind me on Friday at 5pm: Friseur Herr Blum")

    told = (await say(talk, asked)).reply.text
    assert "Zahnarzt Klee" in told
    assert "Blum" not in told


async def test_spanish_note_is_no_task(talk: Talk) -> None:
    """A plumber to remember is nothing to do."""
    await say(talk, "nota: el fontanero bueno es Pepe, de la calle Mayor")
    assert "fontanero" not in (await say(talk, "/tasks")).reply.text


async def test_nothing_on_is_said(talk: Talk) -> None:
    """Rather than something that has nothing to do with it."""
    await talk.tell("Today my sister came.")
    outcome = await say(talk, "anything today?")

    assert "I know of nothing for today." in outcome.reply.text
    assert "sister" not in outcome.reply.text


@pytest.mark.parametrize(
    ("language", "text", "back"),
    [
        ("en", "What happened this week?", "this_week"),
        ("en", "how was my week?", "this_week"),
        ("en", "give me a weekly recap", "this_week"),
        ("en", "What did I do last week?", "last_week"),
        ("en", "What happened to you this week?", None),
        ("en", "How was your week?", None),
        ("es", "¿qué he hecho esta semana?", "this_week"),
        ("de", "Was habe ich letzte Woche gemacht?", "last_week"),
        ("de", "was war diese Woche los?", "this_week"),
        ("fr", "qu'est-ce que j'ai fait cette semaine ?", "this_week"),
        ("zh", "我这周都做了什么？", "this_week"),
        ("en", "recap of last week", "last_week"),
        ("de", "Zusammenfassung der letzten Woche", "last_week"),
        ("es", "resumen de la semana pasada", "last_week"),
        ("fr", "bilan de la semaine dernière", "last_week"),
        ("zh", "上周总结", "last_week"),
        ("en", "what did I do today?", "today"),
        ("de", "Was habe ich heute gemacht?", "today"),
        ("es", "¿qué he hecho hoy?", "today"),
        ("fr", "qu'est-ce que j'ai fait aujourd'hui ?", "today"),
        ("zh", "我今天做了什么？", "today"),
        ("en", "what did I do yesterday?", "yesterday"),
        ("en", "what did Tom do today?", None),
    ],
)
def test_week_to_look_back_on_is_read(language: str, text: str, back: str | None) -> None:
    """In the words of each language; nothing else is taken for it."""
    assert read_period(text, language) == back


async def test_week_is_told_from_what_is_stored(talk: Talk) -> None:
    """What was done, what it counted for, and the diary; where there is nothing, as ever."""
    assert "This week:" not in (await say(talk, "What happened this week?")).reply.text
    await say(talk, "add buy milk to my list")
    await say(talk, "/done 1")
    await say(talk, "My goal is to run twice a week")
    await say(talk, "/goal did 1")
    await say(talk, "Dear diary, we walked along the sea.")

    told = (await say(talk, "What happened this week?")).reply.text
    assert "• Done: buy milk" in told
    assert "• For your goal “run twice a week”: 1 ×" in told
    assert "• Diary entries: 1" in told


async def test_recap_holds_numbers_and_says_that_there_is_nothing(talk: Talk) -> None:
    """The first and the last of a week, or what adds up."""
    assert "I know of nothing from last week." in (await say(talk, "recap of last week")).reply.text
    for each in ("/log weight 72 kg", "/log weight 71.4 kg", "/log water 1 l", "/log water 0.5 l"):
        await say(talk, each)

    told = (await say(talk, "weekly recap")).reply.text
    assert "• weight: 71.4 kg" in told
    assert "• water: 1.5 l" in told


async def test_day_is_told_from_what_is_stored_and_from_what_was_said(talk: Talk) -> None:
    """What was done, the numbers, and the words of that day."""
    await say(talk, "/log weight 72 kg")
    await say(talk, "I went to the market with Tom")
    told = (await say(talk, "what did I do today?")).reply.text
    assert "Today:\n• weight: 72 kg" in told
    assert "market with Tom" in told
