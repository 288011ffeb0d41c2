"""The hostile extractor is a bad one: mostly wrong, always the same, and in the right form."""

from dataclasses import replace
from functools import cache

import pytest

from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.extraction_schema import ALL_PARTS
from oldfriend.learning.llm_extractor import build_extraction_request, extract_with_model
from oldfriend.learning.validate import validate_extraction
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.prompts.prompt import get_prompt
from oldfriend_evals.lives.adversarial_claims import EASY
from oldfriend_evals.lives.adversarial_extractor import GivenClaims, build_adversarial_extractor
from oldfriend_evals.lives.belief_eval import Judge, Judgement
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.life_files import LANGUAGES, load_life
from tests.evals.lives.life_fixtures import Gate, as_read, lived, material_of, places_of

load_once = cache(load_life)


def through_the_gates(extraction: Extraction, material: ExtractionInput) -> Extraction:
    """What is left after checking."""
    return validate_extraction(extraction, material).extraction


def with_what_waits(extraction: Extraction, material: ExtractionInput) -> Extraction:
    """What is left after checking, and what waits for the person's word."""
    checked = validate_extraction(extraction, material)
    waiting = [each.claim for each in checked.unconfirmed]
    return replace(checked.extraction, claims=(*checked.extraction.claims, *waiting))


async def judged(
    life: Life, *, seed: int = 1, share: float = 0.6, gate: Gate = as_read
) -> tuple[Judgement, GivenClaims]:
    """A life read by a hostile extractor, and what came of it."""
    given = GivenClaims()
    model = ScriptedModel(build_adversarial_extractor(life, seed=seed, share=share, given=given))
    store = await lived(life, model, gate=gate)
    return Judge(life, places_of(life)).judge(store.held), given


def request_of(life: Life, day: int) -> CompletionRequest:
    """What is asked about one day."""
    return build_extraction_request(
        material_of(life, life.days[day - 1]), get_prompt("extract/9"), ALL_PARTS
    )


@pytest.mark.parametrize("language", LANGUAGES)
async def test_hostile_extractor_without_poison_is_perfect(language: str):
    judgement, given = await judged(load_once(language), share=0)

    assert given.poison_share == 0
    assert judgement.precision == judgement.recall == judgement.allowed_share == 1
    assert not judgement.duplicates


@pytest.mark.parametrize("language", LANGUAGES)
async def test_hostile_extractor_with_poison_lowers_every_score(language: str):
    judgement, given = await judged(load_once(language))

    assert given.poison_share >= 0.5
    assert given.broken > 0
    assert given.poison.keys() >= EASY.keys()
    assert judgement.precision < 0.7
    assert judgement.duplicate_share > 0.2
    assert judgement.allowed_share < 0.9
    assert judgement.instructed


@pytest.mark.parametrize("language", LANGUAGES)
async def test_validation_gates_stop_forbidden_evidence_and_keep_peaks(language: str):
    """A peak in words that may be another's waits at least."""
    believed, _ = await judged(load_once(language), gate=through_the_gates)
    kept, _ = await judged(load_once(language), gate=with_what_waits)

    assert not believed.forbidden
    assert not kept.lost_peaks


def test_hostile_extractor_is_deterministic_for_a_seed():
    life = load_once("en")
    requests = [request_of(life, day) for day in range(7, 12)]
    first, again, other = (build_adversarial_extractor(life, seed=seed) for seed in (1, 1, 2))

    assert [first(each) for each in requests] == [again(each) for each in requests]
    assert [first(each) for each in requests] != [other(each) for each in requests]


async def test_hostile_extractor_answers_each_of_two_extraction_passes():
    life = load_once("es")

    found = await extract_with_model(
        ScriptedModel(build_adversarial_extractor(life, seed=3, share=0)),
        material_of(life, life.days[0]),
        passes=2,
    )

    assert {claim.key for claim in found.claims} >= {"name", "location", "occupation"}
    assert "Clara" in {named.name for named in found.mentions}


def test_hostile_extractor_returns_valid_json_on_the_retry():
    life = load_once("zh")
    requests = [request_of(life, day) for day in range(1, 33)]
    answer = build_adversarial_extractor(life, seed=5)
    broken = next(request for request in requests if not answer(request).endswith("}"))
    wish = PromptTurn(role="instruction", text="Again, please.")
    again = CompletionRequest(
        purpose="extract",
        prompt="extract/9",
        system_prompt="",
        output=broken.output,
        turns=(*broken.turns, PromptTurn(role="companion", text=answer(broken)), wish),
    )

    assert answer(again).endswith("}")


def test_hostile_extractor_answers_only_extraction_requests():
    asked = CompletionRequest(
        purpose="reply",
        prompt="reply/1",
        system_prompt="",
        turns=(PromptTurn(role="person", text="Hi"),),
    )

    assert build_adversarial_extractor(load_once("en"), seed=1)(asked) == ""
