"""How a belief stands is computed from its evidence, and from nothing else."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import EvidenceId, MessageId, ObjectId
from oldfriend.domain.memories import Evidence, EvidenceSignal, EvidenceStance
from oldfriend.memory.evidence import MAX_STRENGTH, compute_evidence_stats


def heard(
    day: float,
    *,
    stance: EvidenceStance = "supports",
    signal: EvidenceSignal = "explicit",
    sure: float = 0.7,
    message: str = "",
) -> Evidence:
    """Words that were said on a day, in a message of their own."""
    return Evidence(
        id=EvidenceId(f"e{day}"),
        object_id=ObjectId("o"),
        message=MessageId(message or f"m{day}"),
        version=1,
        quote="words",
        author="p",
        trust="person",
        signal=signal,
        stance=stance,
        confidence=sure,
        said_at=int(day * DAY),
        zone="UTC",
    )


def stands(*evidence: Evidence) -> tuple[float, float, int]:
    """Strength, confidence and times seen, rounded."""
    standing = compute_evidence_stats(evidence)
    assert standing is not None
    return round(standing.strength, 2), round(standing.confidence, 2), standing.times_seen


def test_single_evidence_gives_its_own_confidence_and_strength_one() -> None:
    """And has a strength of one."""
    assert stands(heard(0, sure=0.85)) == (1.0, 0.85, 1)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([heard(0), heard(0.01)], (1.0, 0.8, 2)),  # said twice in a row
        ([heard(0), heard(7)], (1.63, 0.8, 2)),
        ([heard(0), heard(7, signal="implicit")], (1.32, 0.8, 2)),
        ([heard(0), heard(60)], (2.0, 0.8, 2)),
        ([heard(0), heard(60, stance="contradicts")], (1.0, 0.5, 1)),
        ([heard(0), heard(1), heard(2), heard(3), heard(4)], (1.53, 0.95, 5)),
        (
            [heard(0, message="m"), heard(9, message="m")],
            (1.0, 0.7, 1),
        ),  # one message, quoted twice
    ],
)
def test_spaced_repetition_raises_strength_and_contradiction_lowers_confidence(
    evidence: list[Evidence], expected: tuple[float, float, int]
) -> None:
    """Repetition at once hardly counts; a contradiction makes it less sure."""
    assert stands(*evidence) == expected


def test_belief_without_supporting_evidence_has_no_stats() -> None:
    """Nor on words against it alone."""
    assert compute_evidence_stats([]) is None
    assert compute_evidence_stats([heard(0, stance="contradicts")]) is None


@given(
    st.lists(
        st.tuples(
            st.floats(0, 4000),
            st.sampled_from(["supports", "contradicts"]),
            st.sampled_from(["explicit", "implicit"]),
            st.floats(0, 1),
        ),
        max_size=40,
    ),
    st.randoms(),
)
def test_evidence_stats_are_independent_of_order_and_bounded(
    told: list[tuple[float, EvidenceStance, EvidenceSignal, float]], random: Random
) -> None:
    """And no amount of it leaves the scales."""
    evidence = [
        replace(
            heard(day, stance=stance, signal=signal, sure=sure),
            id=EvidenceId(f"{number:03}"),
            message=MessageId(f"m{number}"),
        )
        for number, (day, stance, signal, sure) in enumerate(told)
    ]
    standing = compute_evidence_stats(evidence)
    random.shuffle(evidence)
    assert compute_evidence_stats(evidence) == standing
    if standing is not None:
        assert 1.0 <= standing.strength <= MAX_STRENGTH
        assert 0.0 <= standing.confidence <= 1.0
        assert standing.first_seen <= standing.last_seen
