"""What speaks a little more for a belief: its time is asked for, or it moved somebody."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from oldfriend.domain.clock import DAY, to_micros
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import EvidenceStats, MemoryState, StoredBelief
from oldfriend.search import SearchQuery
from oldfriend.search.belief_weight import (
    MAX_EMOTION_BOOST,
    TIME_BOOST,
    BeliefRanker,
    compute_emotion_boost,
)
from oldfriend.search.score import give_score
from oldfriend.search.scorers import typed_decay

NOW = to_micros(datetime(2024, 6, 1, tzinfo=UTC))
MAY = to_micros(datetime(2023, 5, 7, 12, tzinfo=UTC))


def memory(**fields: object) -> StoredBelief:
    """A promise, whose worth does not fade."""
    plain = StoredBelief(
        id=MemoryId(ObjectId("m")),
        person=PersonId("p"),
        kind="commitment",
        text="x",
        language="en",
        learned_at=NOW,
    )
    return replace(plain, **fields)


def score(each: StoredBelief, text: str, close: float = 0.5, zone_offset_s: int = 0) -> float:
    """What it scores as an answer."""
    standing = EvidenceStats(
        strength=1.0, confidence=1.0, times_seen=1, first_seen=NOW - DAY, last_seen=NOW - DAY
    )
    question = SearchQuery(text=text, language="en", asked_at=NOW, zone_offset_s=zone_offset_s)
    known = MemoryState(memory=each, stats=standing, base_seq=1)
    ranker = BeliefRanker(question, typed_decay)
    return ranker.weigh(give_score(close), known, is_named=False).value


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"due_at": MAY}, "What was to be done on 7 May 2023?"),
        ({"due_at": MAY}, "¿Qué había que hacer el 7 de mayo de 2023?"),
        ({"due_at": MAY}, "2023年5月7日要做什么？"),
        ({"due_at": MAY}, "What was to be done in May?"),  # of any year
        ({"happened_at": MAY - DAY, "happened_until": MAY + DAY}, "on 2023-05-07"),
        ({"holds_from": MAY - 90 * DAY, "holds_until": MAY + 90 * DAY}, "on 2023-05-07"),
        ({"holds_from": MAY}, "What changed in May 2023?"),
    ],
)
def test_belief_matching_the_asked_time_gets_the_time_boost(
    fields: dict[str, object], text: str
) -> None:
    """ACCEPTANCE G21."""
    assert score(memory(**fields), text) == pytest.approx(0.5 * TIME_BOOST)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"due_at": MAY}, "What was to be done?"),
        ({"due_at": MAY}, "What was to be done in June 2023?"),
        ({}, "What was to be done in May 2023?"),
        ({"holds_from": MAY - 90 * DAY}, "in May 2023"),  # and is so today as well
    ],
)
def test_belief_not_matching_the_asked_time_gets_no_boost(
    fields: dict[str, object], text: str
) -> None:
    """No time is named, it is another, or it has none of its own."""
    assert score(memory(**fields), text) == 0.5


def test_asked_day_is_interpreted_in_the_time_zone_of_the_asker() -> None:
    """At 23:30 UTC on the 6th it is the 7th in Berlin."""
    late = memory(due_at=to_micros(datetime(2023, 5, 6, 23, 30, tzinfo=UTC)))

    assert score(late, "on 2023-05-07") == 0.5
    assert score(late, "on 2023-05-07", zone_offset_s=7_200) > 0.5


def test_emotion_boost_by_impact_and_tags_is_capped() -> None:
    """ACCEPTANCE G21: it must not crowd out what is merely true."""
    assert compute_emotion_boost(memory()) == 1.0
    assert (
        compute_emotion_boost(memory(impact=-10))
        == compute_emotion_boost(memory(impact=10))
        == pytest.approx(MAX_EMOTION_BOOST)
    )
    assert compute_emotion_boost(memory(tags=("grief",))) == pytest.approx(1.05)
    assert compute_emotion_boost(memory(impact=9, tags=("grief", "love"))) < MAX_EMOTION_BOOST


def test_belief_score_is_capped_at_one() -> None:
    """Scores of messages and beliefs are compared, from 0 to 1."""
    assert score(memory(due_at=MAY, impact=10), "on 2023-05-07", close=1.0) == 1.0


def test_emotion_boost_by_arousal_is_capped() -> None:
    """And never more than a tenth (ACCEPTANCE G21)."""
    assert compute_emotion_boost(memory(arousal=0)) == 1.0
    assert 1.0 < compute_emotion_boost(memory(arousal=6)) < MAX_EMOTION_BOOST
    assert compute_emotion_boost(memory(arousal=10, impact=10)) == pytest.approx(MAX_EMOTION_BOOST)
