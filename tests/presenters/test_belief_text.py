"""Beliefs are shown with the days on which they were so where the person lives."""

from datetime import UTC, datetime

import pytest

from oldfriend.domain.clock import DAY, Micros, to_micros
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import StoredBelief
from oldfriend.presenters.belief_text import format_belief_line

SAID = to_micros(datetime(2026, 3, 1, 12, tzinfo=UTC))
FRIDAY_ENDS_IN_RENO = to_micros(datetime(2026, 3, 7, 7, 59, tzinfo=UTC))


def promise(due_at: Micros) -> StoredBelief:
    """Something that is to be done by then."""
    return StoredBelief(
        id=MemoryId(ObjectId(new_id(SAID))),
        person=PersonId("p"),
        kind="commitment",
        text="Promised Tom to send the photos.",
        language="en",
        due_at=due_at,
        learned_at=SAID,
    )


@pytest.mark.parametrize(
    ("zone", "day"), [("America/Los_Angeles", "2026-03-06"), ("UTC", "2026-03-07")]
)
def test_due_date_is_shown_in_the_persons_zone(zone: str, day: str) -> None:
    """The end of a Friday in Reno is no Saturday, also when it is overdue."""
    friday = promise(FRIDAY_ENDS_IN_RENO)

    assert format_belief_line(friday, zone=zone).endswith(f"[due {day}]")
    assert format_belief_line(friday, zone=zone, now=SAID + 30 * DAY).endswith(
        f"[overdue since {day}]"
    )


def test_ended_belief_is_shown_with_its_end_date() -> None:
    """Not until it was heard of; what was rejected ends on the day of the word against it."""
    home = StoredBelief(
        id=MemoryId(ObjectId(new_id(SAID))),
        person=PersonId("p"),
        kind="fact",
        key="location",
        value="Porto",
        text="Lives in Porto.",
        language="en",
        learned_at=SAID,
        holds_until=SAID + 10 * DAY,
        ended_at=SAID + 200 * DAY,
        status="superseded",
    )
    rejected = StoredBelief(
        id=home.id,
        person=home.person,
        kind="fact",
        text="Lives in Porto.",
        language="en",
        learned_at=SAID,
        holds_until=SAID + 300 * DAY,
        ended_at=SAID + DAY,
        status="rejected",
    )

    assert format_belief_line(home, zone="UTC").endswith("[superseded, until 2026-03-11]")
    assert format_belief_line(rejected, zone="UTC").endswith("[rejected, until 2026-03-02]")
