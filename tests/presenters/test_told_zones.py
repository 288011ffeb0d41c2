"""A day, month or year that was said stays that, and a clock time its own, whoever looks from
where.
"""

from dataclasses import replace

import pytest

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.belief_times import is_overdue
from oldfriend.domain.clock import MINUTE, Micros, TimeGrain, parse_period, parse_timestamp
from oldfriend.domain.memories import MemoryState
from oldfriend.presenters.belief_schemas import Belief, BeliefSchema, content_as_json
from oldfriend.presenters.belief_text import format_belief_line, format_details
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.turn.belief_texts import format_dated_memory, format_open_promise
from oldfriend.turn.memory_context import format_belief_line as format_prompt_line
from oldfriend.turn.prompt_labels import format_belief_days, format_due_time
from tests.learning.segment_fixtures import believed

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland")
DUE = {"": "2026-12-04T23:59:59.999999", "month": "2027-02", "year": "2027"}
DAYS = {"": "2026-12-04", "month": "2027-02", "year": "2027"}
WRITTEN = {"": "4 December 2026", "month": "February 2027", "year": "2027"}


def due(grain: TimeGrain) -> MemoryState:
    """Something that was promised in UTC for a day, a month or a year."""
    period = parse_period(DUE[grain], "UTC")
    at = parse_timestamp(DUE[grain], "UTC")[0] if period is None else period[1]
    return believed("k", "commitment", "Will pay.", due_at=at, grain=grain, zone="UTC")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("grain", ["", "month", "year"])
def test_said_date_is_shown_as_said_in_every_zone(grain: TimeGrain, zone: str) -> None:
    """By the command line, the API, programs, prompts and the offline companion."""
    known = due(grain)
    details = BeliefDetails(content=known.memory, standing=known.stats, evidence=())
    shown = BeliefSchema.from_domain(details, zone=zone, now=0)
    at = Belief.from_domain(details, zone, now=0).due_at
    told = format_open_promise(known, load_phrases("en"), now=0, zone=zone)

    assert format_belief_line(known.memory, zone=zone).endswith(f"[due {DAYS[grain]}]")
    assert (shown.due_at or "").startswith(DAYS[grain])
    assert shown.zone == "UTC"
    assert str(content_as_json(known.memory, zone=zone)["due_at"]).startswith(DAYS[grain])
    assert at is not None
    assert at.isoformat().startswith(DAYS[grain])
    assert format_due_time(known.memory, zone) == (DAYS[grain] if grain else "2026-12-04 23:59")
    assert f"due {DAYS[grain]}" in format_prompt_line(known, zone, now=0)
    assert WRITTEN[grain] in told
    assert "at" not in told


@pytest.mark.parametrize("zone", ZONES)
def test_said_beginning_is_shown_as_said_in_every_zone(zone: str) -> None:
    """Of a state and of an event."""
    begins, ends = (parse_timestamp(f"2026-11-27{each}", "UTC")[0] for each in ("", "T23:59:59"))
    state = believed("k", "fact", "Bakes.", key="occupation", holds_from=begins, zone="UTC")
    event = believed("e", "event", "Ran.", happened_at=begins, happened_until=ends, zone="UTC")

    assert format_belief_days(state, zone) == {"since": "2026-11-27"}
    assert format_belief_days(event, zone) == {"on": "2026-11-27"}
    assert "holds from: 2026-11-27" in format_details(state.memory, None, zone)
    assert "27 November 2026" in format_dated_memory(state.memory, load_phrases("en"), zone)


def test_clock_time_is_shown_as_said_with_its_zone_where_clocks_differ() -> None:
    """The train leaves at 18:20, wherever one reads of it."""
    at = parse_timestamp("2026-12-05T18:20", "UTC")[0]
    train = believed("k", "expectation", "The train leaves.", due_at=at, zone="UTC")
    book = load_phrases("en")

    assert format_due_time(train.memory, "UTC") == "2026-12-05 18:20"
    assert format_due_time(train.memory, "Africa/Abidjan") == "2026-12-05 18:20"
    assert format_due_time(train.memory, "Europe/Berlin") == "2026-12-05 18:20 UTC"
    assert "due 2026-12-05 18:20 UTC)" in format_prompt_line(train, "Europe/Berlin", now=0)
    assert "5 December 2026 at 18:20 UTC" in format_open_promise(
        train, book, now=0, zone="Europe/Berlin"
    )
    assert "18:20 UTC" not in format_open_promise(train, book, now=0, zone="UTC")


@pytest.mark.parametrize(
    ("due_at", "zone", "until"),
    [
        ("2026-12-04T23:59:59.999999", "UTC", "2026-12-04T23:59:59.999999+00:00"),
        ("2026-12-04T23:59:59.999999", "Europe/Berlin", "2026-12-04T23:59:59.999999+01:00"),
        ("2026-12-04T23:59:59.999999", "America/New_York", "2026-12-04T23:59:59.999999-05:00"),
        ("2026-12-04T18:20", "Europe/Berlin", "2026-12-04T18:20+00:00"),
    ],
)
def test_belief_is_overdue_after_its_day_where_the_person_is(
    due_at: str, zone: str, until: str
) -> None:
    """A clock time is the same moment everywhere."""
    known = believed("k", "commitment", "Pay.", due_at=parse_timestamp(due_at, "UTC")[0])
    memory, ends = replace(known.memory, zone="UTC"), parse_timestamp(until, "UTC")[0]

    assert not is_overdue(memory, zone, now=ends)
    assert is_overdue(memory, zone, now=Micros(ends + MINUTE))
