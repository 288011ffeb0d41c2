"""Who reads makes up who is tied to whom, and what the companion thinks: the gates refuse it."""

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final

import pytest

from oldfriend.learning.extraction import Extraction
from oldfriend.learning.llm_extractor import extract_with_model
from oldfriend.learning.validate import validate_extraction
from oldfriend.llm.model import CompletionRequest
from oldfriend.llm.scripted import ScriptedModel
from oldfriend_evals.lives.adversarial_relations import (
    OPINIONS,
    TIES,
    build_misleading_reader,
    list_names,
    list_told_relations,
)
from oldfriend_evals.lives.life_files import PAIRS, load_life
from oldfriend_evals.lives.prompt_parser import parse_prompt
from oldfriend_evals.lives.relation_eval import build_relation_item
from tests.evals.lives.life_fixtures import material_of

load_once = cache(load_life)
NAMES: Final = [name for pair in PAIRS.values() for name in pair]


def told(found: Extraction) -> int:
    """How many ties and opinions there are."""
    return len(found.relations) + sum(claim.kind == "opinion" for claim in found.claims)


async def passed(life_name: str, answer: Callable[[CompletionRequest], str]) -> tuple[int, int]:
    """How many of the ties and opinions of a reader pass, and how many there were."""
    life, through, given = load_once(life_name), 0, 0
    for day in life.days:
        material = material_of(life, day)
        found = await extract_with_model(ScriptedModel(answer), material)
        given += told(found)
        through += told(validate_extraction(found, material).extraction) if told(found) else 0
    return through, given


@pytest.mark.parametrize("falsehood", [*TIES, *OPINIONS])
async def test_false_relations_and_opinions_are_refused_by_the_gates(falsehood: str) -> None:
    """Other ties, turned ones, between others, by the companion; opinions of nobody's own.

    9 of 213 passed before the gate was mended on just these.
    """
    counts: Counter[str] = Counter()
    for name in NAMES:
        through, given = await passed(name, build_misleading_reader(load_once(name), falsehood))
        counts.update(through=through, given=given)

    assert counts["given"] > 0
    assert counts["through"] == 0


async def test_true_relations_pass_the_gates() -> None:
    """The same two, tied as the words say: at least 41 of 50; two stand in words in doubt."""
    through = 0
    for name in NAMES:

        def answer(request: CompletionRequest, name: str = name) -> str:
            life = load_once(name)
            asked = parse_prompt(request, life)
            found: dict[str, object] = {each: [] for each in asked.parts}
            found |= {
                "names": list_names(life, asked.lines),
                "summary": "",
                "mood": None,
                "self_check": {"missed_peak": "none", "attribution": "all theirs"},
                "ties": [
                    build_relation_item(each.one, each.tie, each.other, each, life, asked.lines)
                    for each in list_told_relations(life, asked.lines)
                ],
            }
            return json.dumps(found, ensure_ascii=False)

        through += (await passed(name, answer))[0]

    assert through >= 41
