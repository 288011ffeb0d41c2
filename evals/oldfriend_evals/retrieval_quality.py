"""Targets of retrieval, on conversations that it did not learn from."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.search.fusion import load_weights
from oldfriend.search.types import MIN_ANSWER_PROBABILITY
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target, build_unmeasured
from oldfriend_evals.datasets import load_locomo_conversations, load_own_conversations
from oldfriend_evals.retrieval_eval import (
    Case,
    Learned,
    LeftOut,
    Recall,
    compute_abstention,
    compute_recall_with,
    learn_by_fold,
    list_answerable_cases,
    list_kinds_left_out,
    list_unanswerable_cases,
)
from oldfriend_evals.temporary_stores import open_temporary_store
from oldfriend_evals.training_cases import build_lessons

UNSEEN = "found with the weights that ship, which were not learned from it"


class Embedding:
    """An embedder for code that cannot wait; each text is embedded once."""

    def __init__(self, embedder: Embedder, loop: asyncio.AbstractEventLoop) -> None:
        """Embed on a loop that runs in another thread."""
        self._embedder = embedder
        self._loop = loop
        self._known: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One row for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            waiting = asyncio.run_coroutine_threadsafe(self._embedder.embed(new), self._loop)
            self._known.update(zip(new, waiting.result(), strict=True))
        return np.stack([self._known[text] for text in texts])


async def measure_retrieval(scope: Scope) -> list[Measure]:
    """Whether the right messages are found, and whether it is known when there are none."""
    async with open_temporary_store() as app:
        embed = Embedding(app.embedder, asyncio.get_running_loop())
        return await asyncio.to_thread(measure_all, scope.locomo, embed)


def measure_all(locomo: Path | None, embed: Embedding) -> list[Measure]:
    """All of it, with LoCoMo where it is there."""
    ours = load_own_conversations()
    lessons = build_lessons(ours, embed)
    learned = learn_by_fold(lessons.all)
    others = [*list_unanswerable_cases(ours, embed), *lessons.small]
    return [
        *measure_locomo(locomo, embed),
        *build_transfer_measures(lessons.whole, learned),
        *build_abstention_measures(lessons.whole, others, learned),
    ]


def measure_locomo(locomo: Path | None, embed: Embedding) -> list[Measure]:
    """LoCoMo with the weights that ship: its licence forbids to learn from it."""
    if locomo is None or not locomo.exists():
        return [build_unmeasured("finding in LoCoMo", "needs the file: OLDFRIEND_BENCH_DATA")]
    cases = list_answerable_cases(load_locomo_conversations(locomo), embed)
    return build_locomo_measures(compute_recall_with(cases, load_weights().fusion))


def build_locomo_measures(recall: Recall) -> list[Measure]:
    """What is published of others, and the shares around it."""
    numbers = {
        "r@1": (recall.at_1, build_lower_target(49.5)),
        "r@5": (recall.at_5, None),
        "r@10": (recall.at_10, build_lower_target(82.5)),
        "r@20": (recall.at_20, None),
        "session hit@1": (recall.session_at_1, build_lower_target(77.5)),
    }
    return [
        Measure(
            name=f"LoCoMo {name}",
            value=value,
            unit="%",
            target=target,
            note=f"{recall.questions} questions; {UNSEEN}",
        )
        for name, (value, target) in numbers.items()
    ]


def build_transfer_measures(cases: Sequence[Case], learned: Learned) -> list[Measure]:
    """Each kind of conversation, found with what was learned without it."""
    return [build_transfer_measure(left_out) for left_out in list_kinds_left_out(cases, learned)]


def build_transfer_measure(left_out: LeftOut) -> Measure:
    """One kind, which must not be found worse than by the plain sum of words and meaning."""
    ours = left_out.ours
    return Measure(
        name=f"{left_out.kind} r@10",
        value=ours.at_10,
        unit="%",
        reference=left_out.standardised_sum.at_10,
        target=build_lower_target(1),
        note=f"kind left out; r@1 {ours.at_1:.1f}, r@5 {ours.at_5:.1f}, r@20 {ours.at_20:.1f}, "
        f"session {ours.session_at_1:.1f}; {ours.questions} questions; "
        "reference: sum of standardised scores",
    )


def build_abstention_measures(
    answerable: Sequence[Case], others: Sequence[Case], learned: Learned
) -> list[Measure]:
    """Whether it is known that nothing is good enough."""
    told = compute_abstention(answerable, others, threshold=MIN_ANSWER_PROBABILITY, learned=learned)
    return [
        Measure(
            name="nothing good enough: asked of the wrong conversation",
            unit="AUC",
            value=told.wrong_conversation,
            target=build_lower_target(0.90),
            note=f"answers {told.answered:.0%} of what has an answer, "
            f"refuses {told.refused:.0%} of what was asked of the wrong conversation",
        ),
        Measure(
            name="nothing good enough: questions of our own without an answer",
            unit="AUC",
            value=told.no_answer_in_own,
        ),
        Measure(
            name="nothing good enough: questions of a few messages",
            unit="AUC",
            value=told.small_histories,
        ),
    ]
