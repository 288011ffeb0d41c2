"""What is to be said once keeps its key wherever the person goes."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.proactive.goal_impulses import WatchedGoal, collect_goals
from oldfriend.proactive.impulse_sources import collect_due
from tests.proactive.lived_time import at

NORA = Person(id=PersonId("p"), name="Nora", is_owner=True, language="en", zone="Europe/Lisbon")
LATE = at("2026-11-01T23:30")
"""Tomorrow already, one zone further east."""


def list_keys(zone: str) -> list[str]:
    """The keys of a goal and of a promise that are due late in the evening."""
    person = replace(NORA, zone=zone)
    goal = WatchedGoal(id="g", period=None, priority=5, deadline=None, told_at=LATE)
    due = replace(goal, id="d", deadline=LATE + 90 * DAY)
    memories = [
        StoredBelief(
            id=MemoryId(ObjectId(kind)),
            person=person.id,
            kind=kind,
            text="I call Ana.",
            language="en",
            due_at=LATE,
            zone="Europe/Lisbon",
            learned_at=LATE - DAY,
        )
        for kind in ("commitment", "expectation")
    ]
    found = [*collect_goals(person, [goal, due]), *collect_due(person, memories)]
    return [each.key for each in found]


@pytest.mark.parametrize("zone", ["Europe/Madrid", "America/New_York", "Asia/Tokyo"])
def test_nothing_is_asked_about_twice_after_a_change_of_zone(zone: str) -> None:
    """What was asked at six in Lisbon is not asked again at six in Madrid."""
    keys = list_keys("Europe/Lisbon")
    assert len(set(keys)) == len(keys) > 5
    assert list_keys(zone) == keys
