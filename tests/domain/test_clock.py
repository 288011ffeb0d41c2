"""Moments come in as people write them, and whatever is stored can be shown."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import (
    MAX_TIME,
    MIN_TIME,
    from_micros,
    get_start_of_day,
    is_representable,
    parse_period,
    parse_timestamp,
    to_micros,
    to_micros_with_zone,
)
from oldfriend.domain.errors import InvalidInput

OFFSETS = st.integers(-24 * 60 + 1, 24 * 60 - 1)
ZONES = st.one_of(
    st.sampled_from(["UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Europe/Madrid"]),
    OFFSETS.map(lambda m: f"{'-' if m < 0 else '+'}{abs(m) // 60:02d}:{abs(m) % 60:02d}"),
)


@pytest.mark.parametrize(
    ("text", "at", "zone"),
    [
        ("2024-05-03T18:30", "2024-05-03T16:30:00+00:00", "Europe/Madrid"),
        ("2024-05-03", "2024-05-02T22:00:00+00:00", "Europe/Madrid"),
        ("2024-05-03T18:30+05:30", "2024-05-03T13:00:00+00:00", "+05:30"),
        (" 2024-05-03T18:30Z ", "2024-05-03T18:30:00+00:00", "UTC"),
        ("0002-01-01T00:00Z", "0002-01-01T00:00:00+00:00", "UTC"),
    ],
)
def test_timestamp_is_parsed_with_its_offset_or_in_the_given_zone(
    text: str, at: str, zone: str
) -> None:
    """ISO 8601 with or without an offset."""
    moment, own_zone = parse_timestamp(text, "Europe/Madrid")

    assert (from_micros(moment).isoformat(), own_zone) == (at, zone)


@pytest.mark.parametrize(
    ("text", "begin", "end", "grain"),
    [
        ("2024", "2023-12-31T23:00:00+00:00", "2024-12-31T22:59:59.999999+00:00", "year"),
        ("2024-02", "2024-01-31T23:00:00+00:00", "2024-02-29T22:59:59.999999+00:00", "month"),
        (" 2024-12 ", "2024-11-30T23:00:00+00:00", "2024-12-31T22:59:59.999999+00:00", "month"),
    ],
)
def test_a_month_or_year_is_a_period(text: str, begin: str, end: str, grain: str) -> None:
    """From its first to its last moment by the clocks of a zone."""
    period = parse_period(text, "Europe/Madrid")

    assert period is not None
    assert (*(from_micros(each).isoformat() for each in period[:2]), period[2]) == (
        begin,
        end,
        grain,
    )


@pytest.mark.parametrize("text", ["2024-13", "2024-00", "0001", "9999", "24", "2024-05-03", "May"])
def test_invalid_month_or_year_is_not_a_period(text: str) -> None:
    """Nor one at the end of the calendar."""
    assert parse_period(text, "UTC") is None


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00+14:00",
        "0001-01-01",
        "0001-12-31T23:59Z",
        "9999-01-01T00:00Z",
        "9999-12-31T23:59-12:00",
        "0002-01-01T00:00+14:00",
    ],
)
def test_timestamp_outside_the_supported_years_is_rejected(text: str) -> None:
    """In some zone it would have no date."""
    with pytest.raises(InvalidInput, match="outside the years 2 to 9998"):
        parse_timestamp(text, "Europe/Madrid")


@pytest.mark.parametrize("text", ["", "tomorrow", "2024-13-01", "12:30"])
def test_invalid_timestamp_is_rejected(text: str) -> None:
    """With an example of one."""
    with pytest.raises(InvalidInput, match="Use ISO 8601"):
        parse_timestamp(text, "UTC")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+99:00", "../etc/passwd", "\ud800", "Europe"])
def test_invalid_time_zone_is_rejected(zone: str) -> None:
    """Here, and not when it is to be shown."""
    with pytest.raises(InvalidInput, match="is not a time zone"):
        parse_timestamp("2024-05-03T18:30", zone)


@given(
    st.datetimes(
        timezones=st.one_of(
            st.none(), OFFSETS.map(lambda minutes: timezone(timedelta(minutes=minutes)))
        )
    ),
    ZONES,
    ZONES,
)
def test_accepted_timestamp_round_trips_in_every_zone(
    moment: datetime, zone: str, other: str
) -> None:
    """Exactly: the same moment comes out."""
    try:
        at, own_zone = to_micros_with_zone(moment, zone)
    except InvalidInput:
        assert not 2 < moment.year < 9998

    else:
        assert is_representable(at)
        assert to_micros(from_micros(at, own_zone)) == at == to_micros(from_micros(at, other))


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.one_of(ZONES, st.text(max_size=20)))
def test_any_stored_timestamp_is_shown_clamped_to_the_supported_range(at: int, zone: str) -> None:
    """One odd row must not make the others unreadable; it is shown as near as can be."""
    shown = to_micros(from_micros(at, zone))

    assert shown == min(max(at, MIN_TIME), MAX_TIME)
    assert is_representable(at) == (shown == at)


def test_supported_time_range_is_years_2_to_9998() -> None:
    """From the first moment of the year 2 to the last of the year 9998."""
    assert from_micros(MIN_TIME) == datetime(2, 1, 1, tzinfo=UTC)
    assert from_micros(MAX_TIME) == datetime(9998, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "zone", "days_back", "expected"),
    [
        ("2024-05-03T18:30", "Europe/Madrid", 0, "2024-05-03T00:00+02:00"),
        ("2024-05-03T00:00", "Europe/Madrid", 0, "2024-05-03T00:00+02:00"),
        ("2024-05-03T00:30+02:00", "America/New_York", 0, "2024-05-02T00:00-04:00"),
        ("2024-04-01T09:00", "Europe/Madrid", 1, "2024-03-31T00:00+01:00"),  # of 23 hours
        ("2024-04-01T09:00", "Europe/Madrid", 2, "2024-03-30T00:00+01:00"),
        ("2024-04-26T09:00", "Africa/Cairo", 0, "2024-04-26T01:00+03:00"),  # it begins at one
        ("2024-05-03T18:30", "+05:30", 0, "2024-05-03T00:00+05:30"),
    ],
)
def test_start_of_day_is_local_midnight_despite_dst(
    moment: str, zone: str, days_back: int, expected: str
) -> None:
    """Also where the clocks are put forward or back."""
    at, _ = parse_timestamp(moment, zone)

    assert get_start_of_day(at, zone, days_back=days_back) == parse_timestamp(expected, "UTC")[0]
