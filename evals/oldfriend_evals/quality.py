"""Does finding reach what it must, on conversations that it did not learn from?"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oldfriend.llm.embedding import Embedder, Vectors
from oldfriend.search.fusion import load_weights
from oldfriend.search.types import MIN_ANSWER_PROBABILITY
from oldfriend_evals.finding import (
    Case,
    Learned,
    LeftOut,
    Recall,
    abstention,
    answerable_cases,
    kinds_left_out,
    learned_without,
    recall_with,
    unanswerable_cases,
)
from oldfriend_evals.lessons import lessons_of
from oldfriend_evals.material import locomo_conversations, own_conversations
from oldfriend_evals.measuring import Measure, Scope, at_least, not_measured
from oldfriend_evals.stores import temporary_house

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


async def measure_finding(scope: Scope) -> list[Measure]:
    """Whether the right messages are found, and whether it is known when there are none."""
    async with temporary_house() as app:
        embed = Embedding(app.embedder, asyncio.get_running_loop())
        return await asyncio.to_thread(measured, scope.locomo, embed)


def measured(locomo: Path | None, embed: Embedding) -> list[Measure]:
    """All of it, with LoCoMo where it is there."""
    ours = own_conversations()
    lessons = lessons_of(ours, embed)
    learned = learned_without(lessons.all)
    others = [*unanswerable_cases(ours, embed), *lessons.small]
    return [
        *measured_on_locomo(locomo, embed),
        *carried_over(lessons.whole, learned),
        *honesty(lessons.whole, others, learned),
    ]


def measured_on_locomo(locomo: Path | None, embed: Embedding) -> list[Measure]:
    """LoCoMo with the weights that ship: its licence forbids to learn from it."""
    if locomo is None or not locomo.exists():
        return [not_measured("finding in LoCoMo", "needs the file: OLDFRIEND_BENCH_DATA")]
    cases = answerable_cases(locomo_conversations(locomo), embed)
    return on_locomo(recall_with(cases, load_weights().fusion))


def on_locomo(recall: Recall) -> list[Measure]:
    """What is published of others, and the shares around it."""
    numbers = {
        "r@1": (recall.at_1, at_least(49.5)),
        "r@5": (recall.at_5, None),
        "r@10": (recall.at_10, at_least(82.5)),
        "r@20": (recall.at_20, None),
        "session hit@1": (recall.session_at_1, at_least(77.5)),
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


def carried_over(cases: Sequence[Case], learned: Learned) -> list[Measure]:
    """Each kind of conversation, found with what was learned without it."""
    return [carried_to(left_out) for left_out in kinds_left_out(cases, learned)]


def carried_to(left_out: LeftOut) -> Measure:
    """One kind, which must not be found worse than by the plain sum of words and meaning."""
    ours = left_out.ours
    return Measure(
        name=f"{left_out.kind} r@10",
        value=ours.at_10,
        unit="%",
        reference=left_out.standardised_sum.at_10,
        target=at_least(1),
        note=f"kind left out; r@1 {ours.at_1:.1f}, r@5 {ours.at_5:.1f}, r@20 {ours.at_20:.1f}, "
        f"session {ours.session_at_1:.1f}; {ours.questions} questions; "
        "reference: sum of standardised scores",
    )


def honesty(answerable: Sequence[Case], others: Sequence[Case], learned: Learned) -> list[Measure]:
    """Whether it is known that nothing is good enough."""
    told = abstention(answerable, others, threshold=MIN_ANSWER_PROBABILITY, learned=learned)
    return [
        Measure(
            name="nothing good enough: asked of the wrong conversation",
            unit="AUC",
            value=told.wrong_conversation,
            target=at_least(0.90),
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
