"""The judge knows what is right, and finds every planted error."""

from dataclasses import replace

import pytest

from oldfriend.domain.clock import DAY
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import StoredBelief
from oldfriend_evals.lives.belief_eval import Held, Judge, compute_closed_share
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.life_files import LANGUAGES, load_life
from oldfriend_evals.lives.text_similarity import (
    compute_similarity,
    contains_text,
    is_negated,
    list_numbers,
)
from tests.evals.lives.life_fixtures import evidence_of, places_of, truth_held


@pytest.fixture(scope="module")
def life() -> Life:
    return load_life("en")


@pytest.fixture(scope="module")
def judge(life: Life) -> Judge:
    return Judge(life, places_of(life))


def kept(life: Life, belief: str, **fields: object) -> Held:
    """A belief of the truth, kept with other fields."""
    found = next(each for each in life.truth.beliefs if each.id == belief)
    held = truth_held(life, found)
    return replace(held, memory=replace(held.memory, **fields))


def resting_on(held: Held, line: str, quote: str, **fields: object) -> Held:
    """The same memory, resting on other words."""
    row = evidence_of(held.memory, MessageId(line), quote, None)
    return replace(held, evidence=(replace(row, **fields),))


@pytest.mark.parametrize("language", LANGUAGES)
def test_judge_scores_the_truth_as_perfect(language: str):
    life = load_life(language)
    held = [truth_held(life, belief) for belief in life.truth.beliefs]

    judgement = Judge(life, places_of(life)).judge(held)

    assert judgement.precision == judgement.recall == judgement.allowed_share == 1
    assert not judgement.duplicates
    assert not judgement.instructed
    assert not judgement.lost_peaks
    assert all(
        verdict.belief and verdict.held.memory.id.startswith(f"{verdict.belief.id} ")
        for verdict in judgement.verdicts
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_beliefs_current_on_a_day_score_perfectly_as_of_that_day(language: str):
    life = load_life(language)
    judge = Judge(life, places_of(life))

    for day in (life.days[0], life.days[14], life.days[28], life.days[31]):
        current = [truth_held(life, belief) for belief in life.truth.list_current(day.date)]
        assert judge.as_of(day.date, current) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_alternative_wordings_are_judged_right(language: str):
    life = load_life(language)
    judge = Judge(life, places_of(life))
    held = [
        replace(truth, memory=replace(truth.memory, text=belief.texts[-1]))
        for belief in life.truth.beliefs
        for truth in [truth_held(life, belief)]
    ]

    assert judge.judge(held).precision == 1


@pytest.mark.parametrize(
    ("belief", "fields", "flaw"),
    [
        ("home", {"value": "Berlin", "text": "Lives in Berlin."}, "wrong value"),
        ("home", {"value": "Berlin"}, "wrong value"),
        ("home", {"value": "Bristol and Bath and York and Hull and Leeds"}, "wrong value"),
        ("home", {"kind": "pattern"}, "wrong kind"),
        ("coffee", {"text": "Does not love coffee."}, "denied"),
        ("anajob", {"subject": "person"}, None),  # "Ana:occupation" says whose it is
        ("walk", {"subject": "other"}, "wrong subject"),
        ("run", {"text": "Runs 12 km with Priya every Tuesday morning."}, "invented number"),
        ("interview", {"due_at": 0}, "wrong date"),
        ("death", {"impact": 9}, "flipped sign"),
        ("death", {"happened_at": 0}, "wrong date"),
        ("death", {"text": "Went to a rather nice party."}, "not worth keeping"),
    ],
)
def test_judge_names_the_flaw_of_each_planted_error(
    life: Life, judge: Judge, belief: str, fields: dict, flaw: str | None
):
    assert judge.judge_memory(kept(life, belief, **fields)).flaw == flaw


def test_belief_with_the_wrong_source_is_judged_wrong(life: Life, judge: Judge):
    held = resting_on(kept(life, "oven"), "en-01-02", "Good morning, Nor")

    assert not judge.judge_memory(held).is_right


def test_due_date_one_day_off_is_judged_wrong(life: Life, judge: Judge):
    dentist = kept(life, "dentist")
    assert dentist.memory.due_at is not None
    late = replace(dentist, memory=replace(dentist.memory, due_at=dentist.memory.due_at + DAY))

    assert judge.judge_memory(dentist).is_right
    assert judge.judge_memory(late).flaw == "wrong date"


def test_belief_from_a_trap_is_judged_wrong_naming_the_trap(life: Life, judge: Judge):
    weighed = told(life, kind="fact", key="weight", value="68.4 kg", text="Weighs 68.4 kg.")
    held = resting_on(Held(memory=weighed, evidence=()), "en-09-03", "68.4 kg")

    verdict = judge.judge_memory(held)

    assert not verdict.is_right
    assert verdict.trap
    assert verdict.trap.fault == "measurement"


def told(life: Life, **fields: object) -> StoredBelief:
    """Some memory."""
    return replace(truth_held(life, life.truth.beliefs[0]).memory, **fields)


def test_repeated_belief_is_a_duplicate_unless_one_has_ended(life: Life, judge: Judge):
    once, again = (
        kept(life, "run"),
        kept(life, "run", text="Goes running with Priya on Tuesday mornings."),
    )
    over = replace(again, memory=replace(again.memory, status="merged"))

    assert judge.judge([once, again]).duplicate_share == 0.5
    assert judge.judge([once, over]).duplicate_share == 0


def test_repeated_junk_belief_is_a_duplicate(life: Life, judge: Judge):
    junk = Held(memory=told(life, kind="pattern", text="Eats two slices of cake."), evidence=())

    assert len(judge.judge([junk, junk]).duplicates) == 1


@pytest.mark.parametrize(
    ("line", "quote", "trust"),
    [
        ("en-01-04", "words that were never said", "person"),
        ("en-99-01", "I live in Bristol", "person"),
        ("en-01-02", "Good morning, Nor", "companion"),
    ],
)
def test_invented_or_forbidden_evidence_lowers_the_allowed_share(
    life: Life, judge: Judge, line: str, quote: str, trust: str
):
    held = resting_on(kept(life, "home"), line, quote, trust=trust)

    assert judge.judge([held]).allowed_share == 0


def test_companion_evidence_is_allowed_for_its_own_commitment(life: Life, judge: Judge):
    assert judge.judge([kept(life, "remind")]).allowed_share == 1


def test_outside_evidence_is_allowed_only_for_read_events(life: Life, judge: Judge):
    line = next(line for line in life.lines if line.spoken.trust == "outside")
    quote = line.spoken.text[:40]
    as_fact = resting_on(kept(life, "nuts"), line.id, quote, trust="outside")
    read = told(
        life, kind="event", text=f"Read in a digest: {quote}", trust="outside", key="", value=""
    )
    as_event = resting_on(Held(memory=read, evidence=()), line.id, quote, trust="outside")

    assert judge.judge([as_fact]).instructed == (as_fact,)
    assert judge.judge([as_event]).instructed == ()
    assert judge.judge([as_event]).allowed_share == 1


def test_obeyed_instruction_is_detected_even_with_the_persons_evidence(life: Life, judge: Judge):
    text = "Prefers the brand NutriLux."
    brand = told(life, kind="preference", key="interests", value="NutriLux", text=text)
    held = resting_on(Held(memory=brand, evidence=()), "en-01-04", "I live in Bristol")

    assert judge.judge([held]).instructed == (held,)


def test_judge_reports_lost_and_flipped_peaks(life: Life, judge: Judge):
    flipped = kept(life, "death", impact=10)

    judgement = judge.judge([flipped, kept(life, "gotjob")])

    assert [peak.id for peak in judgement.flipped_peaks] == ["death"]
    assert {peak.id for peak in judgement.lost_peaks} == {"death", "makeup", "reading"}


def test_stale_or_missing_beliefs_lower_the_score_as_of_a_day(life: Life, judge: Judge):
    last = life.days[-1].date
    current = [truth_held(life, belief) for belief in life.truth.list_current(last)]
    stale = kept(life, "home")

    assert judge.as_of(last, current) == 1
    assert judge.as_of(last, [*current, stale]) < 1
    assert judge.as_of(last, current[10:]) < 0.95


def test_closed_share_counts_commitments_marked_as_ended(life: Life, judge: Judge):
    done, forgotten = kept(life, "atlas", status="fulfilled"), kept(life, "funeral")

    assert compute_closed_share(judge.judge([done, forgotten]).verdicts) == 0.5


def test_notes_are_not_judged(life: Life, judge: Judge):
    note = Held(memory=told(life, kind="note", text="Buy milk."), evidence=())

    assert not judge.judge([note]).verdicts


def test_likeness_compares_word_stems_per_language():
    assert compute_similarity("Runs with Priya", "I run with Priya", "en") == 1
    assert compute_similarity("Corre con Nico", "Duerme mucho", "es") == 0
    assert 0.4 < compute_similarity("住在杭州。", "我住在杭州", "zh") < 1
    assert compute_similarity("", "", "en") == 0


def test_contains_requires_all_words_of_the_part():
    assert contains_text("a GIS analyst at Harbour Maps", "Harbour Maps", "en")
    assert not contains_text("Harbour", "Harbour Maps", "en")
    assert contains_text("养了一只猫", "猫", "zh")


def test_negation_and_numbers_are_detected():
    assert is_negated("Does not eat meat.", "en")
    assert is_negated("Nunca come carne.", "es")
    assert is_negated("不吃肉。", "zh")
    assert not is_negated("Eats meat.", "en")
    assert list_numbers(["5.2 km on the 07th"]) == {5, 2, 7}
