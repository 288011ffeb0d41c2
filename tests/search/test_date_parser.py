"""Days that a question names."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
def test_days_are_read_in_several_languages(text, first, end):
    """Explicit dates, months, years, and what is relative to the asking."""
    span = parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0)[0]

    assert (span.first, span.end) == (first, end)


@pytest.mark.parametrize("text", ["may I ask?", "we march on", "31 February 2023", "hello"])
def test_what_is_no_date_is_left_alone(text):
    """ "May" and "march" are words as well."""
    assert parse_date_spans(text, asked_at=ASKED_AT, zone_offset_s=0) == ()


def test_the_day_begins_where_the_asker_lives():
    """Just before midnight in Berlin, it is still today there."""
    late = int(datetime(2024, 5, 9, 23, tzinfo=UTC).timestamp()) * 1_000_000

    assert parse_date_spans("today", asked_at=late, zone_offset_s=7200)[0].first == date(
        2024, 5, 10
    )


@given(
    st.text(st.sampled_from("0123456789年月日.-/ agovordeinmyst最后last")),
    st.integers(-(10**15), 2 * 10**17),
)
def test_no_text_and_no_moment_break_it(text, asked_at):
    """Dates that do not exist are not dates."""
    parse_date_spans(text, asked_at=asked_at, zone_offset_s=0)
