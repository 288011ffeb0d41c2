"""Exact words, with who, when and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import TimeGrain, parse_period, parse_timestamp
from oldfriend.presenters.belief_text import format_details
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.turn.belief_texts import format_dated_memory, format_open_promise
from oldfriend.turn.memory_context import format_belief_line
from oldfriend.turn.prompt_labels import format_belief_days, format_due_time
from oldfriend.turn.quotes import MAX_QUOTE_CHARS, extract_excerpt, format_day_span, format_moment
from tests.learning.segment_fixtures import believed

LONG = (
    "We talked for hours. The harbour was quiet and grey all morning long. "
    "Then Matilde said that the boat would be called Tanager after a bird. "
    + "Nobody disagreed with that idea at all. "
    * 12
)


def test_excerpt_of_a_short_text_is_the_whole_text() -> None:
    """Line breaks become spaces; nothing else changes."""
    assert extract_excerpt("My cat\nis called  Miso.", ["cat"]) == "My cat is called Miso."


def test_excerpt_of_a_long_text_is_the_matching_sentence() -> None:
    """And it is shown that something was left out on both sides."""
    shown = extract_excerpt(LONG, ["boat", "tanager"])

    assert shown.startswith("… Then Matilde said that the boat would be called Tanager")
    assert shown.endswith("…")
    assert len(shown) <= MAX_QUOTE_CHARS + 4


@given(st.text(max_size=2000), st.lists(st.text(min_size=1, max_size=8), max_size=4))
def test_excerpt_contains_only_words_of_the_text(text: str, words: list[str]) -> None:
    """The companion never makes words up (whatever the text)."""
    shown = extract_excerpt(text, words).removeprefix("… ").removesuffix(" …").strip("…")

    assert " ".join(shown.split()) in " ".join(text.split())
    assert len(shown) <= MAX_QUOTE_CHARS + 2


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "3 May 2024 at 18:05"),
        ("es", "3 de mayo de 2024 a las 18:05"),
        ("de", "3. Mai 2024 um 18:05 Uhr"),
        ("fr", "3 mai 2024 à 18 h 05"),
        ("zh", "2024年5月3日 18:05"),
    ],
)
def test_timestamp_is_formatted_by_language_in_the_message_time_zone(
    language: str, written: str
) -> None:
    """By the clocks of the place where it was said."""
    at, _ = parse_timestamp("2024-05-03T16:05:00+00:00", "UTC")

    assert format_moment(load_phrases(language), at, "Europe/Madrid") == written
    assert language in OFFLINE_LANGUAGES


@pytest.mark.parametrize(
    ("language", "first", "last", "written"),
    [
        ("en", "2024-05-03", "2024-05-03", "3 May 2024"),
        ("en", "2024-05-01", "2024-05-31", "May 2024"),
        ("es", "2024-02-01", "2024-02-29", "febrero de 2024"),
        ("zh", "2023-12-01", "2023-12-31", "2023年12月"),
        ("de", "2023-01-01", "2023-12-31", "2023"),
        ("zh", "2023-01-01", "2023-12-31", "2023年"),
        ("fr", "2024-05-03", "2024-05-07", "3 mai 2024 – 7 mai 2024"),
        ("en", "2023-01-01", "2024-12-31", "1 January 2023 – 31 December 2024"),
    ],
)
def test_date_span_is_formatted_as_month_or_year_in_any_time_zone(
    language: str, first: str, last: str, written: str
) -> None:
    """Three years ago was not on the first of January; nor was it for whoever has moved since."""
    begins, _ = parse_timestamp(f"{first}T00:00:00", "Europe/Madrid")
    ends, _ = parse_timestamp(f"{last}T23:59:59", "Europe/Madrid")

    for zone in ("Europe/Madrid", "Europe/Lisbon", "Asia/Shanghai", "America/New_York"):
        assert format_day_span(load_phrases(language), begins, ends, zone) == written


@pytest.mark.parametrize(
    ("language", "grain", "told"),
    [
        ("en", "", "Bakes. (since 1 May 2019)"),
        ("en", "month", "Bakes. (since May 2019)"),
        ("en", "year", "Bakes. (since 2019)"),
        ("fr", "month", "Bakes. (depuis mai 2019)"),
        ("es", "year", "Bakes. (desde 2019)"),
        ("zh", "month", "Bakes.（自2019年5月起）"),
    ],
)
def test_belief_date_is_formatted_at_its_granularity(
    language: str, grain: TimeGrain, told: str
) -> None:
    """By the offline companion, in prompts, and on the command line."""
    since = parse_timestamp("2019-05-01", "Europe/Lisbon")[0]
    known = believed("k", "fact", "Bakes.", key="occupation", holds_from=since, grain=grain)
    day = {"": "2019-05-01", "month": "2019-05", "year": "2019"}[grain]

    assert format_dated_memory(known.memory, load_phrases(language), "Europe/Lisbon") == told
    assert format_belief_days(known, "Europe/Lisbon") == {"since": day}
    assert f"holds from: {day}" in format_details(known.memory, None, "Europe/Lisbon")


def test_due_date_of_month_granularity_is_shown_without_a_day() -> None:
    """Nor at a time of day."""
    period = parse_period("2025-02", "UTC")
    assert period is not None
    known = believed("k", "expectation", "Bakes.", due_at=period[1], grain="month")

    assert format_due_time(known.memory, "UTC") == "2025-02"
    assert format_belief_line(known, "UTC", now=0).endswith("due 2025-02)")
    told = format_open_promise(known, load_phrases("en"), now=0, zone="UTC")
    assert "February 2025" in told
    assert "28" not in told
