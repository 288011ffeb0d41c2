"""The oracle judge: tells from the truth whether two sentences say the same.

For those that are wordings of one belief it says yes. Knows nothing of how it is asked but the
label around each sentence.
"""

import json
import re
from collections.abc import Callable
from typing import Final

from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend_evals.lives.life import BeliefId, Life

_SENTENCE: Final = re.compile(r"<sentence [^>]*>(.*?)</sentence>", re.DOTALL)


def build_oracle_judge(life: Life) -> Callable[[CompletionRequest], str]:
    """Answers whether two sentences are wordings of one belief of a life."""
    beliefs = {_flatten(text): belief.id for belief in life.truth.beliefs for text in belief.texts}

    def answer(request: CompletionRequest) -> str:
        meant = [beliefs.get(sentence) for sentence in _parse_sentences(request)]
        is_same = len(meant) > 1 and meant[0] is not None and len(set(meant)) == 1
        return json.dumps(_build_verdict(is_same, meant))

    return answer


def _build_verdict(is_same: bool, meant: list[BeliefId | None]) -> dict[str, object]:
    differences = [] if is_same else [f"one is about {meant[0]}"] if meant else []
    return {"differences": differences, "core_intent_match": is_same, "is_same": is_same}


def _parse_sentences(request: CompletionRequest) -> list[str]:
    asked = " ".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))
    return [_flatten(found) for found in _SENTENCE.findall(asked)]


def _flatten(text: str) -> str:
    return " ".join(text.split())
