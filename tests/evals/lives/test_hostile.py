"""The hostile extractor is a bad one: mostly wrong, always the same, and in the right form."""

from functools import cache

import pytest

from oldfriend.background.checking import check
from oldfriend.background.extraction import Extraction, Material
from oldfriend.background.form import EVERYTHING
from oldfriend.background.reading import read_by_model, request_for
from oldfriend.evals.lives.hostile import Given, hostile
from oldfriend.evals.lives.judging import Judge, Judgement
from oldfriend.evals.lives.life import Life
from oldfriend.evals.lives.loading import LANGUAGES, load_life
from oldfriend.evals.lives.poison import EASY
from oldfriend.llm.model import Request, Turn
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.prompts.prompt import get_prompt
from tests.evals.lives.living import Gate, as_read, lived, material_of, places_of

load_once = cache(load_life)


def through_the_gates(extraction: Extraction, material: Material) -> Extraction:
    """What is left after checking."""
    return check(extraction, material).extraction


async def judged(
    life: Life, *, seed: int = 1, share: float = 0.6, gate: Gate = as_read
) -> tuple[Judgement, Given]:
    """A life read by a hostile extractor, and what came of it."""
    given = Given()
    model = ScriptedModel(hostile(life, seed=seed, share=share, given=given))
    store = await lived(life, model, gate=gate)
    return Judge(life, places_of(life)).judge(store.held), given


def request_of(life: Life, day: int) -> Request:
    """What is asked about one day."""
    return request_for(material_of(life, life.days[day - 1]), get_prompt("extract/4"), EVERYTHING)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_without_poison_it_tells_the_truth(language: str):
    judgement, given = await judged(load_once(language), share=0)

    assert given.poison_share == 0
    assert judgement.precision == judgement.recall == judgement.allowed_share == 1
    assert not judgement.duplicates


@pytest.mark.parametrize("language", LANGUAGES)
async def test_more_than_half_of_it_is_wrong_and_that_shows(language: str):
    judgement, given = await judged(load_once(language))

    assert given.poison_share >= 0.5
    assert given.broken > 0
    assert given.poison.keys() >= EASY.keys()
    assert judgement.precision < 0.7
    assert judgement.duplicate_share > 0.2
    assert judgement.allowed_share < 0.9
    assert judgement.instructed


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_gates_let_no_forbidden_evidence_and_no_lost_peak_through(language: str):
    judgement, _ = await judged(load_once(language), gate=through_the_gates)

    assert not judgement.forbidden
    assert not judgement.lost_peaks


def test_the_same_request_gets_the_same_answer_and_another_seed_another():
    life = load_once("en")
    request = request_of(life, 7)

    assert hostile(life, seed=1)(request) == hostile(life, seed=1)(request)
    assert hostile(life, seed=1)(request) != hostile(life, seed=2)(request)


async def test_two_passes_get_what_each_asks_for():
    life = load_once("es")

    found = await read_by_model(
        ScriptedModel(hostile(life, seed=3, share=0)), material_of(life, life.days[0]), passes=2
    )

    assert {claim.key for claim in found.claims} >= {"name", "location", "occupation"}
    assert "Clara" in {named.name for named in found.names}


def test_what_is_no_json_is_json_when_it_is_asked_for_again():
    life = load_once("zh")
    requests = [request_of(life, day) for day in range(1, 33)]
    answer = hostile(life, seed=5)
    broken = next(request for request in requests if not answer(request).endswith("}"))
    wish = Turn(role="house", text="Again, please.")
    again = Request(
        purpose="extract", prompt="extract/4", stable="", output=broken.output,
        turns=(*broken.turns, Turn(role="companion", text=answer(broken)), wish),
    )  # fmt: skip

    assert answer(again).endswith("}")


def test_it_answers_nothing_but_what_is_to_be_extracted():
    asked = Request(
        purpose="reply", prompt="reply/1", stable="", turns=(Turn(role="person", text="Hi"),)
    )

    assert hostile(load_once("en"), seed=1)(asked) == ""
