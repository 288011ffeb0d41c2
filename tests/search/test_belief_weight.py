"""A belief that answers is worth more the better it stands, and less with time."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, MemoryKind, MemoryState, StoredBelief
from oldfriend.search.belief_weight import PATTERN_DECAY, compute_belief_weight, compute_retention
from oldfriend.search.scorers import SCORERS, Scorer, typed_decay

NOW = 1_700_000_000_000_000
STANDING = EvidenceStats(
    strength=1.0, confidence=0.8, times_seen=1, first_seen=NOW - DAY, last_seen=NOW - DAY
)


def known(
    kind: MemoryKind, *, days: int = 1, confidence: float = 0.8, **fields: object
) -> MemoryState:
    """A belief that was last said so many days ago."""
    memory = StoredBelief(
        id=MemoryId(ObjectId("m")),
        person=PersonId("p"),
        kind=kind,
        text="x",
        language="en",
        learned_at=NOW,
    )
    standing = replace(STANDING, last_seen=NOW - days * DAY, confidence=confidence)
    return MemoryState(memory=replace(memory, **fields), stats=standing, base_seq=1)


@pytest.mark.parametrize("pattern", PATTERN_DECAY)
def test_pattern_retention_halves_per_half_life_down_to_its_floor(pattern: str) -> None:
    """ACCEPTANCE G12."""
    decay = PATTERN_DECAY[pattern]
    halved = compute_retention(
        known("pattern", days=round(decay.half_life)), decay, NOW, typed_decay
    )
    forgotten = compute_retention(known("pattern", days=100_000), decay, NOW, typed_decay)

    assert halved == pytest.approx(decay.floor + (1 - decay.floor) / 2, abs=0.001)
    assert forgotten == pytest.approx(decay.floor)


@pytest.mark.parametrize("scorer", SCORERS.values(), ids=SCORERS)
def test_pinned_belief_does_not_decay(scorer: Scorer) -> None:
    """However long ago it was said, and whoever scores."""
    old = known("pattern", days=5_000, pattern="emotion")
    pinned = known("pattern", days=5_000, pattern="emotion", is_pinned=True)
    new = known("pattern", days=0, pattern="emotion")

    assert compute_belief_weight(pinned, NOW, scorer=scorer) == compute_belief_weight(
        new, NOW, scorer=scorer
    )
    assert (
        compute_belief_weight(old, NOW, scorer=scorer)
        < compute_belief_weight(pinned, NOW, scorer=scorer) / 4
    )


def test_pattern_weight_grows_with_strength_and_confidence() -> None:
    """ACCEPTANCE J3."""
    strong = known("pattern", days=90, confidence=0.8)
    strong = replace(strong, stats=replace(strong.stats, strength=15.0))

    assert compute_belief_weight(strong, NOW) > compute_belief_weight(
        known("pattern", days=90), NOW
    )
    assert compute_belief_weight(known("pattern", confidence=0.9), NOW) > compute_belief_weight(
        known("pattern"), NOW
    )


def test_event_weight_grows_with_impact_named_entity_and_emotion() -> None:
    """ACCEPTANCE J4."""
    small = compute_belief_weight(known("event", days=60, impact=1), NOW)

    assert compute_belief_weight(known("event", days=60, impact=-9), NOW) > small
    assert compute_belief_weight(known("event", days=60, impact=1), NOW, is_named=True) > small
    assert compute_belief_weight(known("event", days=60, impact=1, tags=("grief",)), NOW) > small


def test_fact_weight_decays_slowly_and_grows_with_importance() -> None:
    """ACCEPTANCE J5: two thirds of what it was worth are left after ten years."""
    new, old = (
        compute_belief_weight(known("fact"), NOW),
        compute_belief_weight(known("fact", days=3_650), NOW),
    )

    assert old > 0.66 * new
    assert compute_belief_weight(known("fact", importance=1.0), NOW) > new


def test_disputed_belief_weighs_half_and_superseded_zero_as_current() -> None:
    """ACCEPTANCE W9; what was superseded is found only where the past is asked for."""
    active = compute_belief_weight(known("fact"), NOW)

    assert compute_belief_weight(known("fact", status="disputed"), NOW) == active / 2
    assert compute_belief_weight(known("fact", status="superseded"), NOW) == 0
    assert 0 < compute_belief_weight(known("fact", status="superseded", ended_at=NOW), NOW) < active


def test_open_commitment_does_not_decay() -> None:
    """It is open as long as it is."""
    assert compute_belief_weight(known("commitment", days=400), NOW) == 1.0
