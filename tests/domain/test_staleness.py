"""What changes in a life counts as current for a while; what lasts is never out of date."""

from typing import Any

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.staleness import find_stale_since

NOW = 10_000 * DAY
TWO_YEARS_AGO = NOW - 800 * DAY
LAST_MONTH = NOW - 30 * DAY


def state(**fields: Any) -> StoredBelief:
    """A belief with these fields."""
    return StoredBelief(
        **{
            "id": MemoryId(ObjectId("m")),
            "person": PersonId("p"),
            "kind": "fact",
            "text": "So it is.",
            "language": "en",
            "learned_at": NOW,
            **fields,
        }
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "location", "value": "Ulm"},
        {"key": "home_address", "value": "Hauptstraße 1"},
        {"key": "Lena:location", "value": "Köln", "subject": "other"},
        {"key": "workplace", "value": "Bosch"},
        {"key": "current_job", "value": "nurse"},
        {"key": "age", "value": "33 years"},
        {"key": "relationship_status", "value": "single"},
        {"key": "Tom:relation", "value": "boyfriend", "subject": "other"},
        {"key": "injury", "value": "a broken wrist"},
        {"key": "Lena:pregnancy", "value": "fifth month", "subject": "other"},
        {"key": "in_own_words", "value": "I'm learning Italian at the moment."},
        {"kind": "event", "key": "pregnancy", "value": "pregnant"},
        {"kind": "triple", "key": "lives_in", "value": "Ulm"},
        {"kind": "pattern", "pattern": "behavior"},
        {"kind": "expectation", "value": "a new kitchen"},
    ],
    ids=str,
)
def test_state_last_said_two_years_ago_is_told_as_of_then(fields: dict[str, Any]) -> None:
    """Whoever's it is; one of last month is as it is."""
    assert find_stale_since(state(**fields), TWO_YEARS_AGO, NOW) == TWO_YEARS_AGO
    assert find_stale_since(state(**fields), LAST_MONTH, NOW) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "name", "value": "Nora"},
        {"key": "birthday", "value": "4 May 1990"},
        {"key": "birthplace", "value": "Ulm"},
        {"key": "hometown", "value": "Ulm"},
        {"key": "allergies", "value": "nuts"},
        {"key": "favorite_course", "value": "soup"},
        {"key": "health", "value": "diabetes"},
        {"key": "conditions", "value": "asthma"},
        {"key": "medication", "value": "insulin"},
        {"key": "girlfriend_allergy", "value": "nuts"},
        {"key": "wife_birthday", "value": "4 May"},
        {"key": "partner_name", "value": "Tom"},
        {"key": "home_town", "value": "Ulm"},
        {"key": "learning_style", "value": "by doing"},
        {"key": "Lena:relation", "value": "sister", "subject": "other"},
        {"kind": "triple", "key": "sibling_of", "value": "Lena"},
        {"kind": "preference", "key": "interests", "value": "climbing"},
        {"kind": "pattern", "pattern": "belief"},
        {"kind": "event", "happened_at": TWO_YEARS_AGO},
        {"kind": "note"},
    ],
    ids=str,
)
def test_what_lasts_is_never_out_of_date(fields: dict[str, Any]) -> None:
    """Names, birthdays, family, origin, tastes, what happened, and what was to be remembered."""
    assert find_stale_since(state(**fields), TWO_YEARS_AGO, NOW) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"vouched_at": LAST_MONTH},
        {"holds_from": LAST_MONTH},
        {"holds_until": NOW + DAY},
        {"is_pinned": True},
        {"ended_at": LAST_MONTH, "status": "superseded"},
    ],
    ids=str,
)
def test_state_that_was_confirmed_or_is_known_to_hold_is_current(fields: dict[str, Any]) -> None:
    """By the person's word, its own dates, or a pin; and what has ended is history anyway."""
    home = state(key="location", value="Ulm", **fields)
    assert find_stale_since(home, TWO_YEARS_AGO, NOW) is None


def test_state_without_evidence_counts_from_when_it_was_learned() -> None:
    """It may be written by the person themselves."""
    home = state(key="location", value="Ulm", learned_at=TWO_YEARS_AGO)
    assert find_stale_since(home, 0, NOW) == TWO_YEARS_AGO
