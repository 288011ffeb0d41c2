"""The pairs are whole: 90 days, two who know each other, and a truth that stands in their words."""

from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from oldfriend.domain.clock import from_micros
from oldfriend_evals.lives.belief_eval import Judge
from oldfriend_evals.lives.group_simulation import list_days
from oldfriend_evals.lives.knowledge_eval import compute_resolved_share, list_leaks, list_secrets
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.life_files import PAIRS, load_life
from oldfriend_evals.lives.questions import load_questions
from tests.evals.lives.life_fixtures import places_of, truth_held
from tests.evals.lives.test_entity_eval import known

load_once = cache(load_life)
NAMES = [name for pair in PAIRS.values() for name in pair]


@pytest.fixture(params=NAMES)
def life(request: pytest.FixtureRequest) -> Life:
    return load_once(request.param)


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[Life, Life]:
    one, other = PAIRS[request.param]
    return load_once(one), load_once(other)


def test_pair_covers_90_days_with_one_frequent_and_one_rare_talker(
    pair: tuple[Life, Life],
):
    one, other = pair

    assert len(list_days(pair)) in {89, 90}
    assert 45 <= len(one.days) <= 65
    assert 15 <= len(other.days) <= 25
    assert max((b.date - a.date).days for a, b in pairwise(one.days)) >= 7


def test_pair_messages_are_in_time_order_except_imported_ones(life: Life):
    said = [line for line in life.lines if not line.is_imported]

    assert all(one.spoken.at < other.spoken.at for one, other in pairwise(said))
    assert all(from_micros(line.spoken.at, line.spoken.zone).date() == line.day for line in said)


def test_pair_shares_group_messages_and_names_each_other(pair: tuple[Life, Life]):
    one, other = pair
    said = {line.spoken.text for line in one.lines} & {line.spoken.text for line in other.lines}

    assert len(said) >= 3
    assert {name for each in one.truth.names for name in each.names} & {
        other.person,
        *other.person.split(),
        *(other.truth.names[0].names),
    }


@pytest.mark.parametrize("name", NAMES)
def test_judge_scores_the_truth_as_perfect(name: str):
    life = load_once(name)
    judgement = Judge(life, places_of(life)).judge(
        [truth_held(life, belief) for belief in life.truth.beliefs]
    )

    assert judgement.precision == judgement.recall == judgement.allowed_share == 1
    assert not judgement.duplicates
    assert not judgement.instructed


def test_beliefs_current_on_a_day_score_perfectly_as_of_that_day(life: Life):
    judge = Judge(life, places_of(life))

    for day in life.days[::10]:
        current = [truth_held(life, belief) for belief in life.truth.list_current(day.date)]
        assert judge.as_of(day.date, current) == 1


def test_only_one_value_per_key_is_true_on_chosen_days(life: Life):
    for then in life.truth.then:
        current = [
            belief.values
            for belief in life.truth.list_current(then.day)
            if (belief.key, belief.subject) == (then.key, "person")
        ]

        assert len(current) == 1
        assert then.value in current[0]


def test_superseding_belief_has_the_key_of_its_predecessor(life: Life):
    by_id = {belief.id: belief for belief in life.truth.beliefs}

    assert len(by_id) == len(life.truth.beliefs)
    for belief in by_id.values():
        former = by_id[belief.supersedes] if belief.supersedes else None
        assert former is None or (former.end and former.end.how, former.key) == (
            "superseded",
            belief.key,
        )


def test_pair_has_fulfilled_and_expired_commitments_and_expectations(pair: tuple[Life, Life]):
    ends = Counter(
        belief.end.how
        for belief in pair[0].truth.beliefs
        if belief.kind in {"commitment", "expectation"} and belief.end
    )

    assert ends["fulfilled"] >= 5
    assert ends["expired"]


def test_life_has_positive_and_negative_peak_events(life: Life):
    peaks = life.truth.peaks

    assert len(peaks) >= 3
    assert min(peak.impact for peak in peaks) <= -6
    assert max(peak.impact for peak in peaks) >= 5


def test_pair_has_a_trap_for_every_fault(pair: tuple[Life, Life]):
    faults = {trap.fault for trap in pair[0].truth.traps}

    assert faults >= {
        "measurement",
        "one-off",
        "hypothetical",
        "suggestion",
        "joke",
        "sarcasm",
        "another's",
        "refused",
        "secret",
        "outside",
        "instruction",
    }
    assert any(
        trap.fault == "instruction" and said.spoken.trust == "person"
        for trap in pair[0].truth.traps
        for said in pair[0].lines
        if said.id == trap.line
    )


def test_relations_moods_and_opinions_refer_to_existing_messages(life: Life):
    said = {line.id: line for line in life.lines}
    names = {name for called in life.truth.names for name in called.names}
    truth = life.truth

    assert truth.ties
    assert all({tie.one, tie.other} <= names and tie.line in said for tie in truth.ties)
    assert all(alias.line in said for called in truth.names for alias in called.later)
    assert all(said[stand.line].spoken.trust == "companion" for stand in truth.stands)
    assert all(said[bait].spoken.trust == "person" for each in truth.stands for bait in each.baits)
    assert all(stand.baits for stand in truth.stands if stand.topic != "polyester")
    sessions = {(line.day, line.chat) for line in life.lines if not line.is_imported}
    felt = [each.line for each in truth.moods]
    assert len(felt) == len(set(felt))
    assert len(felt) >= 0.8 * len(sessions)


def test_entrusted_secret_is_said_by_one_person_only(pair: tuple[Life, Life]):
    for one, other in (pair, pair[::-1]):
        truths = [text for belief in other.truth.beliefs for text in belief.texts]
        said = [line.spoken.text for line in other.lines]

        assert one.truth.entrusted
        assert list_leaks(one, [line.spoken.text for line in one.lines])
        assert list_leaks(one, [*truths, *said]) == []


def test_questions_refer_to_existing_beliefs(life: Life):
    name = next(name for name in NAMES if load_once(name) is life)
    questions = load_questions(name)
    ids = {belief.id for belief in life.truth.beliefs}

    assert len(questions) >= 14
    assert all(question.beliefs <= ids for question in questions)
    assert any(not question.beliefs for question in questions)


def test_resolved_share_requires_all_names_on_one_entity():
    life = load_once("en.maeve")
    everybody = [known(called.names[0], *called.names[1:]) for called in life.truth.names]
    apart = [known(name) for called in life.truth.names for name in called.names]

    assert compute_resolved_share(everybody, life) == 1
    assert compute_resolved_share(apart, life) == 0


def test_secrets_in_finds_a_leaked_password():
    life = load_once("en.maeve")

    (slip,) = list_secrets(life, ["The password is Biscuit!Freesia91.", "Lives in Heaton."])
    assert slip.words == "Biscuit!Freesia91"
