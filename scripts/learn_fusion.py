"""Learn the weights of `memory/search` anew and write them beside it.

    OLDFRIEND_BENCH_DATA=…/locomo_dev.json.gz python scripts/learn_fusion.py [FILE]

Learns from LoCoMo, our own conversations and the lives together. Without LoCoMo it stops: weights
learned from less would be worse, and nobody would see why. Says at which threshold nine of ten
questions are answered that have an answer: `values.GOOD_ENOUGH`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.search.fusion import SearchWeights
from oldfriend.search.types import Floats
from oldfriend_evals.finding import (
    Case,
    Embed,
    Learned,
    answerable_left_out,
    judged_of,
    learned_without,
    scores_of,
    unanswerable_cases,
)
from oldfriend_evals.learning import as_json, learn_falling_off, learn_fusion, learn_probability
from oldfriend_evals.lessons import lessons_of
from oldfriend_evals.material import (
    life_conversations,
    locomo_conversations,
    own_conversations,
)

LEARNED = Path(__file__).parent.parent / "src/oldfriend/search/learned.json"
ANSWERED = 0.9


def main() -> int:
    """Learn, write, say what was written."""
    data = os.environ.get("OLDFRIEND_BENCH_DATA")  # noqa: TID251  (a script is its own edge)
    if not data:
        print("OLDFRIEND_BENCH_DATA names no LoCoMo file; nothing learned.", file=sys.stderr)  # noqa: T201
        return 1
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else LEARNED
    target.write_text(as_text(learned(Path(data), local_embedder())), "utf-8")
    print(f"wrote {target}")  # noqa: T201
    return 0


def learned(data: Path, embed: Embed) -> dict[str, object]:
    """Everything that is learned, from all conversations."""
    conversations = locomo_conversations(data) + own_conversations() + life_conversations()
    lessons = lessons_of(conversations, embed)
    # Scores are surer on questions that were learned from; what rests on them must not be.
    held_out = learned_without(lessons.all)
    without_answer = unanswerable_cases(conversations, embed)
    judged_cases = [*lessons.whole, *lessons.bare, *without_answer, *lessons.small]
    judged = judged_of(judged_cases, held_out)
    has_answer = np.array([float(bool(case.evidence_count)) for case in judged_cases])
    judgement, shift = learn_probability(judged, has_answer)
    print(f"{ANSWERED:.0%} are answered at {threshold_of(judged_cases, judged):.2f}")  # noqa: T201
    weights = SearchWeights(
        feature_names=lessons.whole[0].names,
        fusion=learn_fusion([case.lesson for case in lessons.all]),
        score_decay=falling_off_of(lessons.whole, held_out),
        answerability_weights=judgement,
        answerability_bias=shift,
    )
    about = (
        f"Learned {datetime.now(UTC):%Y-%m-%d} by scripts/learn_fusion.py from "  # noqa: TID251
        f"{len(lessons.whole)} questions of {len(conversations)} conversations: LoCoMo (five, "
        "CC BY-NC 4.0, not in this repository), evals/conversations and evals/blind. Vectors: "
        "all-MiniLM-L6-v2, int8."
    )
    return as_json(weights, about)


def threshold_of(cases: Sequence[Case], judged: Floats) -> float:
    """The highest threshold at which nine of ten questions with an answer are answered."""
    likely = answerable_left_out(cases, judged)
    has_answer = np.array([bool(case.evidence_count) and not case.is_small for case in cases])
    return float(np.quantile(likely[has_answer], 1 - ANSWERED))


def falling_off_of(cases: Sequence[Case], learned: Learned) -> float:
    """How fast hits become less likely behind the best one."""
    scores = [scores_of(case, learned) for case in cases]
    orders = [np.argsort(-score, kind="stable")[:10] for score in scores]
    behind = [score[order] - score[order[0]] for score, order in zip(scores, orders, strict=True)]
    answers = [case.answers[order] for case, order in zip(cases, orders, strict=True)]
    return learn_falling_off(np.concatenate(behind), np.concatenate(answers))


def as_text(learned: dict[str, object]) -> str:
    """JSON, each weight on a line of its own, the nets' many numbers not."""
    lines = [f" {json.dumps(name)}: {_indented(value)}" for name, value in learned.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _indented(value: object) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = [f"  {json.dumps(name)}: {json.dumps(inner)}" for name, inner in value.items()]
    return "{\n" + ",\n".join(lines) + "\n }"


def local_embedder() -> Embed:
    """The embedder that ships, one text after the other remembered."""
    model = MiniLM(threads=1)
    known: dict[str, Floats] = {}

    def embed(texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, asyncio.run(model.embed(new)), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


if __name__ == "__main__":
    sys.exit(main())
