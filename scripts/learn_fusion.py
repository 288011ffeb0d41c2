"""Learn the weights of search anew and write them where they ship, with their checksum.

    [OLDFRIEND_BENCH_DATA=…/locomo_dev.json.gz] python scripts/learn_fusion.py [FILE]

Learns from our own conversations and the lives, and says how well each kind of them is found with
what the others taught, and at which threshold nine of ten questions are answered that have an
answer: `MIN_ANSWER_PROBABILITY`. LoCoMo (CC BY-NC) is never learned from: where its file is named,
it measures what was learned.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from oldfriend.llm.adapters.minilm import MiniLM
from oldfriend.search.fusion import WEIGHTS_FILE, FusionModel, SearchWeights
from oldfriend.search.spelling import LANGUAGES, get_lexicon_path
from oldfriend.search.types import MIN_ANSWER_PROBABILITY, Floats
from oldfriend_evals.checksums import write_checksums
from oldfriend_evals.datasets import (
    load_life_conversations,
    load_locomo_conversations,
    load_own_conversations,
)
from oldfriend_evals.fusion_training import (
    learn_falling_off,
    learn_fusion,
    learn_probability,
    to_json,
)
from oldfriend_evals.retrieval_eval import (
    Case,
    Embed,
    Learned,
    Recall,
    build_judgement_inputs,
    compute_abstention,
    compute_recall_with,
    compute_scores,
    judge_left_out,
    learn_by_fold,
    list_answerable_cases,
    list_kinds_left_out,
    list_unanswerable_cases,
)
from oldfriend_evals.training_cases import build_lessons

ANSWERED = 0.9


def main() -> int:
    """Learn, write, say what was written and how good it is."""
    embed = local_embedder()
    weights, about = learn(embed)
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else WEIGHTS_FILE
    target.write_text(as_text(to_json(weights, about)), "utf-8")
    if target == WEIGHTS_FILE:
        lexica = [get_lexicon_path(language).name for language in LANGUAGES]
        write_checksums(target.parent, [target.name, *lexica])
    say(f"wrote {target}")
    data = os.environ.get("OLDFRIEND_BENCH_DATA")  # noqa: TID251  (a script is its own edge)
    if data:
        say(describe("LoCoMo, measured only", measure_locomo(Path(data), embed, weights.fusion)))
    return 0


def learn(embed: Embed) -> tuple[SearchWeights, str]:
    """Return everything that is learned, and what it was learned from."""
    conversations = load_own_conversations() + load_life_conversations()
    lessons = build_lessons(conversations, embed)
    # Scores are surer on questions that were learned from; what rests on them must not be.
    held_out = learn_by_fold(lessons.all)
    without_answer = list_unanswerable_cases(conversations, embed)
    for line in describe_left_out(lessons.whole, [*without_answer, *lessons.small], held_out):
        say(line)
    judged_cases = [*lessons.whole, *lessons.bare, *without_answer, *lessons.small]
    judged = build_judgement_inputs(judged_cases, held_out)
    has_answer = np.array([float(bool(case.evidence_count)) for case in judged_cases])
    judgement, shift = learn_probability(judged, has_answer)
    say(f"{ANSWERED:.0%} are answered at {threshold_of(judged_cases, judged):.2f}")
    weights = SearchWeights(
        feature_names=lessons.whole[0].names,
        fusion=learn_fusion([case.lesson for case in lessons.all]),
        score_decay=falling_off_of(lessons.whole, held_out),
        answerability_weights=judgement,
        answerability_bias=shift,
    )
    about = (
        f"Learned {datetime.now(UTC):%Y-%m-%d} by scripts/learn_fusion.py from "  # noqa: TID251
        f"{len(lessons.whole)} questions of {len(conversations)} conversations that were written "
        "for Oldfriend: evals/conversations and evals/blind. Vectors: all-MiniLM-L6-v2, int8."
    )
    return weights, about


def describe_left_out(
    answerable: Sequence[Case], others: Sequence[Case], held_out: Learned
) -> Iterator[str]:
    """Yield how well each kind is found, and what has no answer is told, by what others taught."""
    for kind in list_kinds_left_out(answerable, held_out):
        yield describe(kind.kind, kind.ours)
    told = compute_abstention(
        answerable, others, threshold=MIN_ANSWER_PROBABILITY, learned=held_out
    )
    yield (
        f"area under the curve: wrong conversation {told.wrong_conversation:.3f}, "
        f"near misses {told.no_answer_in_own:.3f}, a few messages {told.small_histories:.3f}"
    )


def describe(name: str, found: Recall) -> str:
    """Return a line about how well something is found."""
    return (
        f"{name}: {found.whole_at_10} of {found.questions} wholly among ten; "
        f"r@1 {found.at_1:.1f}, r@10 {found.at_10:.1f}"
    )


def measure_locomo(data: Path, embed: Embed, fusion: FusionModel) -> Recall:
    """Return how well LoCoMo is found, which nothing was learned from."""
    return compute_recall_with(
        list_answerable_cases(load_locomo_conversations(data), embed), fusion
    )


def say(line: str) -> None:
    """Print a line at once: learning takes minutes."""
    print(line, flush=True)  # noqa: T201


def threshold_of(cases: Sequence[Case], judged: Floats) -> float:
    """The highest threshold at which nine of ten questions with an answer are answered."""
    likely = judge_left_out(cases, judged)
    has_answer = np.array([bool(case.evidence_count) and not case.is_small for case in cases])
    return float(np.quantile(likely[has_answer], 1 - ANSWERED))


def falling_off_of(cases: Sequence[Case], learned: Learned) -> float:
    """How fast hits become less likely behind the best one."""
    scores = [compute_scores(case, learned) for case in cases]
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
