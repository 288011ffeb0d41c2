"""Days that a question names."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.lang.named_days import load_named_day_books
from oldfriend.search.date_parser import parse_date_spans

ASKED_AT = int(datetime(2024, 5, 10, 12, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("What did Maria do on 7 July, 2023?", date(2023, 7, 7), date(2023, 7, 8)),
        ("on May 23, 2023", date(2023, 5, 23), date(2023, 5, 24)),
        ("what happened in July 2023?", date(2023, 7, 1), date(2023, 8, 1)),
        ("last December", date(2023, 12, 1), date(2024, 1, 1)),
        ("what did I say yesterday", date(2024, 5, 9), date(2024, 5, 10)),
        ("two weeks ago", date(2024, 4, 22), date(2024, 4, 29)),
        ("the year 2022", date(2022, 1, 1), date(2023, 1, 1)),
        ("am 12.03.2023", date(2023, 3, 12), date(2023, 3, 13)),
        ("2023-03-12", date(2023, 3, 12), date(2023, 3, 13)),
        ("hace dos semanas", date(2024, 4, 22), date(2024, 4, 29)),
        ("letzten Sommer", date(2023, 6, 1), date(2023, 9, 1)),
        ("2023年5月7日", date(2023, 5, 7), date(2023, 5, 8)),
        ("昨天我说了什么", date(2024, 5, 9), date(2024, 5, 10)),
        ("le 3 mars 2024", date(2024, 3, 3), date(2024, 3, 4)),
        ("il y a deux ans", date(2022, 1, 1), date(2023, 1, 1)),
        ("两年前我住在哪里", date(2022, 1, 1), date(2023, 1, 1)),
        ("前年", date(2022, 1, 1), date(2023, 1, 1)),
        ("ten years ago", date(2014, 1, 1), date(2015, 1, 1)),
    ],
)
def test_absolute_and_relative_dates_are_parsed_in_several_languages(text, first, end):
    """Explicit dates, months, years, and what is relative to the asking."""
    span = parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0)[0]

    assert (span.first, span.end) == (first, end)


@pytest.mark.parametrize(
    "text",
    [
        "letzte Woche bin ich mit Marco nach Hamburg gezogen",
        "letzte Woche bin ich mit marco nach hamburg gezogen",
        "last week I moved with Marco",
        "la semana pasada cené con Julio",
        "la semaine dernière avec Avril et Mai Lan",
    ],
)
def test_name_that_is_a_month_elsewhere_is_no_date(text):
    """The time that is told counts, and no other."""
    assert [
        (span.first, span.granularity)
        for span in parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0)
    ] == [(date(2024, 4, 29), "week")]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("em Março", 3),
        ("em marco de 2024", 3),
        ("el 5 de Julio", 7),
        ("im März", 3),
        ("in July", 7),
    ],
)
def test_month_with_a_capital_is_read_where_one_stands(text, month):
    """Behind a word of time, or beside a number."""
    (span,) = parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0)
    assert span.first.month == month


SATURDAY = int(datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what did we talk about on tuesday", 24),
        ("de qué hablamos el martes", 24),
        ("worüber haben wir am dienstagabend geredet", 24),
        ("on a parlé de quoi mardi", 24),
        ("o que eu te contei na terça", 24),
        ("di cosa abbiamo parlato martedi", 24),
        ("周二我们聊了什么", 24),
        ("火曜日に何を話した", 24),
        ("what did i tell you on saturday", 28),
        ("what happened last saturday", 21),
        ("was war letzten samstag", 21),
        ("qué pasó el sábado pasado", 21),
        ("sábado passado", 21),
        ("sabato scorso", 21),
        ("samedi dernier", 21),
        ("tuesday last week", 17),
        ("上周二", 17),
        ("先週の火曜日", 17),
        ("this morning", 28),
        ("ce matin", 28),
        ("stamattina", 28),
        ("今朝", 28),
        ("the day before yesterday", 26),
        ("avant-hier", 26),
        ("antes de ayer", 26),
        ("l'altro ieri", 26),
        ("anteontem", 26),
        ("há dois dias", 26),
        ("due giorni fa", 26),
        ("三日前", 25),
        ("大前天", 25),
    ],
)
def test_weekday_in_a_past_question_is_the_most_recent_one(text: str, day: int) -> None:
    """Today counts, unless it is the last one that is asked for."""
    spans = parse_date_spans(text, asked_at=SATURDAY, zone_offset_s=0, is_past=True)

    assert [(span.first, span.end) for span in spans] == [
        (date(2026, 11, day), date(2026, 11, day) + timedelta(days=1))
    ]


@pytest.mark.parametrize(
    "text", ["next friday", "every monday", "nächsten freitag", "下周三", "lundi prochain"]
)
def test_future_or_recurring_weekday_is_not_parsed_as_past(text: str) -> None:
    """Nor is one that comes again and again."""
    assert parse_date_spans(text, asked_at=SATURDAY, zone_offset_s=0, is_past=True) == ()


@pytest.mark.parametrize("text", ["what am i doing on friday", "am wochenende", "el martes"])
def test_bare_weekday_is_ignored_when_the_question_is_not_about_the_past(text: str) -> None:
    """It may be the next one as well."""
    assert parse_date_spans(text, asked_at=SATURDAY, zone_offset_s=0) == ()


@pytest.mark.parametrize(
    ("today", "text", "first"),
    [
        (28, "at the weekend", 21),
        (29, "at the weekend", 28),
        (29, "last weekend", 21),
        (28, "last weekend", 21),
        (30, "last weekend", 28),
        (27, "this weekend", 21),
    ],
)
def test_weekend_is_parsed_as_the_most_recent_saturday_and_sunday(
    today: int, text: str, first: int
) -> None:
    """The one that was, which on a Sunday still lasts."""
    asked_at = int(datetime(2026, 11, today, 12, tzinfo=UTC).timestamp()) * 1_000_000
    (span,) = parse_date_spans(text, asked_at=asked_at, zone_offset_s=0, is_past=True)

    assert (span.first, (span.end - span.first).days) == (date(2026, 11, first), 2)


@pytest.mark.parametrize("text", ["may I ask?", "we march on", "31 February 2023", "hello"])
def test_text_without_a_valid_date_is_not_parsed(text):
    """ "May" and "march" are words as well."""
    assert parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0) == ()


@pytest.mark.parametrize("text", ["on a monday in may", "the weekend in may"])
def test_weekday_with_a_month_is_parsed_as_the_month_only(text: str) -> None:
    """Only the month is known."""
    spans = parse_date_spans(text, asked_at=SATURDAY, zone_offset_s=0, is_past=True)

    assert [span.granularity for span in spans] == ["month"]


def test_relative_day_uses_the_time_zone_of_the_asker():
    """Just before midnight in Berlin, it is still today there."""
    late = int(datetime(2024, 5, 9, 23, tzinfo=UTC).timestamp()) * 1_000_000

    assert parse_date_spans("today", asked_at=late, zone_offset_s=7200)[0].first == date(
        2024, 5, 10
    )


@given(
    st.text(st.sampled_from("0123456789年月日.-/ agovordeinmyst最后last")),
    st.integers(-(10**15), 2 * 10**17),
)
def test_date_parser_accepts_any_text_and_time(text, asked_at):
    """Dates that do not exist are not dates."""
    parse_date_spans(text, asked_at=asked_at, zone_offset_s=0)


@pytest.mark.parametrize(
    ("text", "is_any_year"),
    [
        ("what am I studying this winter", True),
        ("was mache ich diesen Winter", True),
        ("what did I see this spring", False),
        ("what did I study last winter", False),
        ("the winter of 2022", False),
    ],
)
def test_this_season_may_be_the_next_one_unless_it_is_now(text: str, is_any_year: bool) -> None:
    """Asked on 10 May."""
    span = parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0)[0]

    assert span.is_any_year is is_any_year


def test_no_expression_of_days_is_compiled_for_a_text_that_names_none() -> None:
    """In any language: compiling those of all would take longer than the search."""
    books = load_named_day_books()

    assert len(books) > 2
    assert not any(book.any_word.may_match("what was the theme of her party?") for book in books)
