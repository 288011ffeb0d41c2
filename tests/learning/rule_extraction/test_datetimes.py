"""Days and hours in five languages, counted from Wednesday, 7 May 2025."""

from datetime import UTC, datetime, time

import pytest

from oldfriend.domain.clock import SECOND, from_micros, to_micros
from oldfriend.learning.rule_extraction.datetimes import due_in, past_in, without_times
from oldfriend.learning.rule_extraction.rule_loader import load_rule_book
from tests.learning.rule_extraction.message_fixtures import message, said


@pytest.mark.parametrize(
    ("language", "words", "day"),
    [
        ("en", "tomorrow", "2025-05-08"),
        ("en", "on Friday", "2025-05-09"),
        ("en", "on Wednesday", "2025-05-14"),
        ("en", "next week", "2025-05-18"),
        ("en", "next week on Tuesday", "2025-05-13"),
        ("en", "in three days", "2025-05-10"),
        ("en", "on 3 February", "2026-02-03"),
        ("en", "in June", "2025-06-30"),
        ("en", "on the 3rd", "2025-06-03"),
        ("en", "in June next year", "2026-06-30"),
        ("en", "in May of next year", "2026-05-31"),
        ("es", "en junio del año que viene", "2026-06-30"),
        ("fr", "en juin de l'année prochaine", "2026-06-30"),
        ("de", "im Juni nächsten Jahres", "2026-06-30"),
        ("zh", "明年六月", "2026-06-30"),
        ("fr", "le 9", "2025-05-09"),
        ("zh", "27号", "2025-05-27"),
        ("en", "this weekend", "2025-05-11"),
        ("es", "pasado mañana", "2025-05-09"),
        ("es", "mañana por la mañana", "2025-05-08"),
        ("es", "dentro de dos semanas", "2025-05-25"),
        ("fr", "après-demain", "2025-05-09"),
        ("fr", "le mois prochain", "2025-06-30"),
        ("de", "übermorgen", "2025-05-09"),
        ("de", "nächsten Monat", "2025-06-30"),
        ("zh", "下周二", "2025-05-13"),
        ("zh", "六月十二号", "2025-06-12"),
        ("zh", "后天", "2025-05-09"),
        ("zh", "4月7號", "2026-04-07"),
        ("en", "on Tuesday 20 May", "2025-05-20"),
        ("es", "el martes 20", "2025-05-20"),
        ("fr", "mardi 20", "2025-05-20"),
        ("de", "am Dienstag, den 20.", "2025-05-20"),
        ("en", "next Thursday", "2025-05-15"),
        ("en", "next Monday", "2025-05-12"),
        ("de", "nächsten Freitag", "2025-05-16"),
        ("de", "kommenden Freitag", "2025-05-09"),
        ("fr", "jeudi prochain", "2025-05-15"),
        ("es", "el próximo viernes", "2025-05-09"),
    ],
)
def test_future_date_is_due_at_the_end_of_its_last_day(language, words, day):
    """A promise for a week is broken only when the week is over."""
    due = due_in(words, message("", language=language), load_rule_book(language))

    assert due is not None
    assert from_micros(due.at + SECOND).time() == time()
    assert from_micros(due.at).date().isoformat() == day


@pytest.mark.parametrize(
    ("language", "words", "hour", "minute"),
    [
        ("en", "tomorrow at 5pm", 17, 0),
        ("en", "tomorrow at 2.15pm", 14, 15),
        ("en", "tomorrow at 8:30", 8, 30),
        ("en", "tomorrow at noon", 12, 0),
        ("es", "mañana a las cinco y media de la tarde", 17, 30),
        ("fr", "demain à 15h30", 15, 30),
        ("de", "morgen um 10 Uhr", 10, 0),
        ("zh", "明天下午3点半", 15, 30),
        ("en", "tomorrow at 3", 15, 0),
        ("es", "mañana a las tres", 15, 0),
        ("de", "morgen um drei", 15, 0),
        ("fr", "demain à trois heures", 15, 0),
        ("zh", "明天三点", 15, 0),
        ("en", "tomorrow at 3am", 3, 0),
        ("en", "tomorrow morning at 6", 6, 0),
        ("es", "mañana a las seis de la mañana", 6, 0),
        ("de", "morgen früh um 6 Uhr", 6, 0),
        ("fr", "demain à 6h du matin", 6, 0),
        ("zh", "明天早上六点", 6, 0),
        ("de", "morgen um 03:00", 3, 0),
        ("en", "tomorrow at 9", 9, 0),
    ],
)
def test_future_date_with_hour_is_due_at_that_hour(language, words, hour, minute):
    """Who is to be called at five is not called at midnight."""
    due = due_in(words, message("", language=language), load_rule_book(language))

    assert due is not None
    assert due.at == to_micros(datetime(2025, 5, 8, hour, minute, tzinfo=UTC))


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "yesterday"),
        ("en", "some day"),
        ("en", "next Saturday"),
        ("de", "nächsten Sonntag"),
        ("fr", "samedi prochain"),
        ("en", "in a mess"),
        ("en", "on 31 February"),
        ("es", "por la mañana"),
        ("de", "heute Morgen"),
        ("de", "am Morgen"),
        ("zh", "昨天"),
        *(("en", f"in {digit * 5_000} days") for digit in ("7", "0", "٧")),
        ("de", f"in {'7' * 5_000} Wochen"),
        ("es", f"dentro de {'7' * 5_000} días"),
        ("fr", f"dans {'7' * 5_000} jours"),
        ("zh", f"{'7' * 5_000}天后"),
    ],
    ids=lambda words: words[:20],
)
def test_past_vague_or_invalid_date_gives_no_due_date(language, words):
    """A mistaken date is worse than none."""
    due = due_in(words, message("", language=language), load_rule_book(language))

    assert due is None or due.text == "7. Mai 2025"


@pytest.mark.parametrize(
    ("language", "words", "first"),
    [
        ("en", "last night", "2025-05-06"),
        ("en", "two weeks ago", "2025-04-21"),
        ("en", "on 9 November", "2024-11-09"),
        ("en", "last Saturday, and I am tired today", "2025-05-03"),
        ("en", "on Monday last week", "2025-04-28"),
        ("es", "anteayer", "2025-05-05"),
        ("es", "el sábado pasado, hoy estoy cansada", "2025-05-03"),
        ("fr", "la semaine dernière", "2025-04-28"),
        ("de", "vor drei Tagen", "2025-05-04"),
        ("zh", "上个月", "2025-04-01"),
    ],
)
def test_past_period_begins_on_its_first_day(language, words, first):
    """Counted back from the message."""
    period = past_in(words, message("", language=language), load_rule_book(language))

    assert period is not None
    assert from_micros(period.begins).date().isoformat() == first


def test_time_expressions_are_stripped_from_claim_text():
    """ "Tomorrow" means nothing when it is read next year."""
    assert without_times("call Ana tomorrow at 5pm", load_rule_book("en")) == "call Ana"
    assert without_times("明天给安娜打电话", load_rule_book("zh")) == "给安娜打电话"


@pytest.mark.parametrize(
    ("language", "words", "rest"),
    [
        ("en", "fix the bike by Sunday", "fix the bike"),
        ("en", "fix the bike before tomorrow", "fix the bike"),
        ("en", "stand by Ana", "stand by Ana"),
        ("es", "arreglar la bici antes del domingo", "arreglar la bici"),
        ("es", "llamar antes de cenar", "llamar antes de cenar"),
        ("fr", "réparer le vélo avant dimanche", "réparer le vélo"),
        ("fr", "manger avant de partir", "manger avant de partir"),
        ("de", "bis Sonntag das Rad zu reparieren", "das Rad zu reparieren"),
        ("de", "bis zum Ende zu bleiben", "bis zum Ende zu bleiben"),
        ("zh", "周日之前修好自行车", "修好自行车"),
        ("zh", "吃饭之前洗手", "吃饭之前洗手"),
        ("es", "el viernes 4 de diciembre le llevo el libro", "le llevo el libro"),
        ("fr", "je lui apporte le livre vendredi 4 décembre", "je lui apporte le livre"),
        ("de", "am Freitag, dem 4. Dezember bringe ich das Buch", "dem bringe ich das Buch"),
        ("en", "on Friday the 4th of December I bring the book", "I bring the book"),
    ],
)
def test_preposition_is_stripped_only_together_with_its_time_expression(
    language: str, words: str, rest: str
) -> None:
    """And only then."""
    assert without_times(words, load_rule_book(language)) == rest


@pytest.mark.parametrize(
    ("language", "text", "what", "hour"),
    [
        ("en", "Tomorrow at 3pm I have a dentist appointment.", "a dentist appointment", 15),
        ("es", "Mañana a las 15 tengo cita con el dentista.", "cita con el dentista", 15),
        ("fr", "Demain à 15 heures j'ai rendez-vous chez le dentiste.", "rendez-vous", 15),
        ("de", "Morgen um 15 Uhr habe ich einen Zahnarzttermin.", "einen Zahnarzttermin", 15),
        ("zh", "明天下午三点我有个牙医预约。", "牙医预约", 15),
    ],
)
def test_leading_time_expression_sets_the_due_date_of_an_expectation(
    language: str, text: str, what: str, hour: int
) -> None:
    """As often as behind it."""
    (claim,) = said(text, language=language).claims

    assert what in claim.text
    assert claim.due_at == to_micros(datetime(2025, 5, 8, hour, tzinfo=UTC))


@pytest.mark.parametrize("text", ["On Thursday I work at Siemens.", "Tomorrow I live in Porto."])
def test_future_time_before_a_state_yields_no_claim(text: str) -> None:
    """Only what is to come is told behind a time to come."""
    assert said(text).claims == ()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I quit my job and start at Bosch in May."),
        ("es", "He dejado mi trabajo y empiezo en Bosch en mayo."),
        ("fr", "J'ai démissionné et je commence chez Bosch en mai."),
        ("de", "Ich habe gekündigt und fange im Mai bei Bosch an."),
        ("zh", "我辞职了，五月去新公司上班。"),
    ],
)
def test_quitting_is_dated_at_the_message_and_not_at_the_next_jobs_start(
    language: str, text: str
) -> None:
    """It was said today."""
    (told,) = [each for each in said(text, language=language).claims if each.kind == "fact"]

    assert told.holds_from == message(text).at


@pytest.mark.parametrize(
    ("language", "text", "ends"),
    [
        ("en", "I live in Bruges until June.", (6, 1)),
        ("en", "I live in Bruges until the end of June.", (6, 30)),
        ("es", "Vivo en Brujas hasta finales de junio.", (6, 30)),
        ("fr", "J'habite à Bruges jusqu'à fin juin.", (6, 30)),
        ("de", "Ich wohne in Brügge bis Ende Juni.", (6, 30)),
        ("zh", "我在布鲁日住到六月底。", (6, 30)),
    ],
)
def test_until_month_ends_at_its_start_or_end_as_stated(
    language: str, text: str, ends: tuple[int, int]
) -> None:
    """As it is said."""
    (home,) = said(text, language=language).claims

    assert home.holds_until is not None
    day = from_micros(home.holds_until, "UTC")
    assert (day.month, day.day) == ends


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I work at Siemens until noon every Monday."),
        ("en", "I work at Siemens until five on Monday."),
        ("en", "I work at Siemens until Friday every week."),
        ("de", "Ich arbeite bei Siemens bis 17 Uhr am Freitag."),
        ("de", "Ich arbeite bei Siemens bis Freitag, jede Woche."),
        ("es", "Trabajo en Siemens hasta las cinco los viernes."),
        ("es", "Trabajo en Siemens hasta las cinco el viernes."),
        ("fr", "Je travaille chez Siemens jusqu'à 17 heures le vendredi."),
        ("zh", "我住在布鲁日到五点，每周一。"),
    ],
)
def test_recurring_until_time_does_not_end_a_fact(language: str, text: str) -> None:
    """It is so each week."""
    (fact,) = said(text, language=language).claims

    assert fact.holds_until is None


@pytest.mark.parametrize(
    ("language", "text", "ends"),
    [
        ("en", "I live in Bruges until June next year.", (2026, 6, 1)),
        ("en", "I live in Bruges until the 12th of June.", (2025, 6, 12)),
        ("en", "I work at Siemens until Friday at noon.", (2025, 5, 9)),
        ("es", "Vivo en Brujas hasta junio del año que viene.", (2026, 6, 1)),
        ("fr", "J'habite à Bruges jusqu'à la fin du mois de juin.", (2025, 6, 30)),
        ("de", "Ich wohne in Brügge bis zum 12. Juni.", (2025, 6, 12)),
        ("de", "Ich wohne in Brügge bis nächstes Jahr.", (2026, 1, 1)),
        ("zh", "我在布鲁日住到明年六月。", (2026, 6, 1)),
    ],
)
def test_until_date_with_year_or_day_sets_holds_until(
    language: str, text: str, ends: tuple[int, int, int]
) -> None:
    """With its year."""
    (fact,) = said(text, language=language).claims

    assert fact.holds_until is not None
    day = from_micros(fact.holds_until, "UTC")
    assert (day.year, day.month, day.day) == ends


def test_last_stated_until_date_wins_and_both_quotes_are_kept() -> None:
    """Both sentences tell it."""
    (home,) = said("I live in Bruges until June.", "I live in Bruges until December.").claims

    assert home.holds_until is not None
    assert from_micros(home.holds_until, "UTC").month == 12
    assert len(home.quotes) == 2


@pytest.mark.parametrize(
    ("language", "words", "grain"),
    [
        ("en", "We're flying to Madeira in December.", "month"),
        ("es", "En diciembre nos vamos a Lisboa.", "month"),
        ("en", "I have an interview on Friday.", ""),
    ],
)
def test_due_date_keeps_its_month_grain(language, words, grain):
    """A claim keeps how precisely its time was said."""
    (claim,) = [each for each in said(words, language=language).claims if each.due_at]

    assert claim.grain == grain
