"""The lives are whole: a month of talk, and a truth that stands in its words."""

from collections import Counter
from datetime import timedelta
from itertools import chain, pairwise

import pytest

from oldfriend.domain.clock import from_micros
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.life_files import LANGUAGES, PAIRS, load_life


@pytest.fixture(params=LANGUAGES)
def life(request: pytest.FixtureRequest) -> Life:
    return load_life(request.param)


def test_life_has_32_consecutive_days_of_8_to_25_messages(life: Life):
    dates = [day.date for day in life.days]
    counts = [len(day.lines) for day in life.days]

    assert dates == [dates[0] + timedelta(days=number) for number in range(32)]
    assert min(counts) >= 8
    assert max(counts) <= 25


def test_life_uses_at_least_three_chats(life: Life):
    assert len({(line.channel, line.chat) for line in life.lines}) >= 3


def test_life_messages_are_in_time_order_except_imported_ones(life: Life):
    said = [line for line in life.lines if not line.is_imported]
    imported = [line for line in life.lines if line.is_imported]

    assert all(one.spoken.at < other.spoken.at for one, other in pairwise(said))
    assert all(from_micros(line.spoken.at, line.spoken.zone).date() == line.day for line in said)
    assert imported
    assert max(line.spoken.at for line in imported) < min(line.spoken.at for line in said)


def test_life_has_messages_of_every_trust_class(life: Life):
    classes = Counter(line.spoken.trust for line in life.lines)

    assert classes.keys() == {"person", "companion", "other", "outside"}
    assert all(
        line.spoken.details.get("forwarded_from")
        for line in life.lines
        if line.spoken.trust == "outside"
    )


def test_life_has_enough_beliefs_of_every_kind_and_traps(life: Life):
    kinds = Counter(belief.kind for belief in life.truth.beliefs)

    assert len(life.truth.beliefs) >= 90
    assert min(kinds.values()) >= 5
    assert len(kinds) == 6
    assert len(life.truth.traps) >= 20


@pytest.mark.parametrize("name", [*LANGUAGES, *chain(*PAIRS.values())])
def test_every_true_belief_quotes_a_message_of_an_allowed_trust_class(name: str):
    life = load_life(name)
    said = {line.id: line.spoken for line in life.lines}

    for belief in life.truth.beliefs:
        for quote in belief.quotes:
            spoken = said[quote.line]
            may_tell = {"person", "other"} if belief.subject == "other" else {"person"}
            assert quote.text in spoken.text
            assert spoken.trust in ({"companion"} if belief.subject == "companion" else may_tell)


def test_superseding_belief_has_the_key_of_its_ended_predecessor(life: Life):
    by_id = {belief.id: belief for belief in life.truth.beliefs}

    assert len(by_id) == len(life.truth.beliefs)
    for belief in by_id.values():
        assert belief.end is None or belief.end.on >= belief.known_on
        if belief.supersedes is not None:
            former = by_id[belief.supersedes]
            assert former.end is not None
            assert former.end.how == "superseded"
            assert former.key == belief.key


def test_life_has_fulfilled_and_expired_commitments(life: Life):
    ends = Counter(
        belief.end.how
        for belief in life.truth.beliefs
        if belief.kind == "commitment" and belief.end
    )

    assert ends["fulfilled"]
    assert ends["expired"]
    assert any(belief.subject == "companion" for belief in life.truth.beliefs)


def test_life_has_positive_and_negative_peak_events(life: Life):
    peaks = life.truth.peaks

    assert len(peaks) >= 4
    assert min(peak.impact for peak in peaks) == -10
    assert max(peak.impact for peak in peaks) >= 7
    assert all(peak.kind == "event" and peak.is_required for peak in peaks)


def test_only_one_fact_per_key_is_true_on_a_day(life: Life):
    """Facts have one value for each key; the old home ends where the new one begins."""
    for day in life.days:
        keys = Counter(
            belief.key for belief in life.truth.list_current(day.date) if belief.kind == "fact"
        )
        assert set(keys.values()) == {1}


def test_imported_location_does_not_supersede_the_current_one(life: Life):
    last = life.days[-1].date
    homes = [belief for belief in life.truth.beliefs if belief.key == "location"]
    current = [belief for belief in homes if belief.is_current(last)]

    assert len(homes) == 3
    assert len(current) == 1
    assert current[0].supersedes is not None


def test_life_has_two_people_with_the_same_name(life: Life):
    names = [called.name for called in life.truth.names]

    assert len(names) == len(set(names))
    assert any(one != other and one in other for one in names for other in names)


def test_outside_messages_with_instructions_are_traps(life: Life):
    outside = {line.id for line in life.lines if line.spoken.trust == "outside"}
    orders = {trap.line for trap in life.truth.traps if trap.fault == "instruction"}

    assert len(outside) >= 2
    assert orders == outside


def test_life_has_a_trap_for_every_fault(life: Life):
    faults = {trap.fault for trap in life.truth.traps}

    assert faults >= {
        "measurement",
        "one-off",
        "hypothetical",
        "suggestion",
        "joke",
        "sarcasm",
        "question",
        "another's",
        "refused",
        "secret",
        "outside",
        "instruction",
    }
