"""Replay estimate: an upper bound on what a replay reads and costs, computed before it starts."""

from dataclasses import dataclass, replace

from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.learning.consolidate import would_use_model
from oldfriend.learning.re_extraction import build_reextraction_plan
from oldfriend.learning.summary_rollup import count_words
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import (
    Segment,
    list_segment_messages,
    list_uncut_spans,
)
from oldfriend.replay.copy_log import select_people
from oldfriend.replay.replay_types import RULES_MODEL, ReplayRequest
from oldfriend.replay.steps import ReplayStep, build_steps, load_source_history
from oldfriend.runtime.wiring import estimate_cost
from oldfriend.usage.model_calls import load_answered_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayEstimate:
    """How much is to be read again, and the most that a model would read."""

    segments: int = 0
    words: int = 0
    by_model: int = 0  # segments
    reflections: int = 0  # model-based reflections to run
    tokens_in: int = 0
    tokens_out: int = 0
    decisions: int = 0  # by the person
    cached_responses: int = 0  # recorded answers of this model
    unread: int = 0  # messages in no segment yet, which stay so
    cost: int | None = 0  # millionths of a dollar; None: unknown

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.tokens_in + self.tokens_out

    def add(self, other: "ReplayEstimate") -> "ReplayEstimate":
        """Return the sum of both, without the cost."""
        return ReplayEstimate(
            segments=self.segments + other.segments,
            words=self.words + other.words,
            by_model=self.by_model + other.by_model,
            reflections=self.reflections + other.reflections,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            decisions=self.decisions + other.decisions,
            cached_responses=self.cached_responses + other.cached_responses,
            unread=self.unread + other.unread,
        )


async def estimate_replay(
    tx: Transaction, settings: Settings, request: ReplayRequest, *, model: str | None
) -> ReplayEstimate:
    """Estimate a replay of the source database; ``model`` is the one that would be asked."""
    total = ReplayEstimate()
    effective_model = None if request.model == RULES_MODEL else model
    for person in select_people([each.id for each in await list_people(tx)], request.person):
        total = total.add(
            await estimate_person(tx, settings, request, person, model=effective_model)
        )
    if effective_model is None or not total.tokens:
        return total
    cost = estimate_cost(
        settings, effective_model, tokens_in=total.tokens_in, tokens_out=total.tokens_out
    )
    return replace(total, cost=cost)


async def estimate_person(
    tx: Transaction,
    settings: Settings,
    request: ReplayRequest,
    person: PersonId,
    *,
    model: str | None,
) -> ReplayEstimate:
    """Estimate what is to be read again of one person."""
    history = await load_source_history(tx, person)
    segments = {each.id: each for each in history.segments}
    steps = build_steps(history, mode=request.mode, since=request.since)
    words, by_model = 0, list[Segment]()
    for step in steps:
        if step.segment is None:
            continue
        messages = await list_segment_messages(tx, segments[step.segment])
        words += sum(count_words(each.text) for each in messages)
        if model is not None and step.extractor != "rules" and would_use_model(messages):
            by_model.append(segments[step.segment])
    plan = build_reextraction_plan(by_model, calls=len(by_model), passes=settings.memory.passes)
    has_reflection = model is not None and bool(settings.models.for_role("reflect"))
    reflections = [
        each
        for each in history.reflections
        if has_reflection and each.ran_at >= (request.since or 0)
    ]
    answered = await load_answered_calls(tx, person)
    return ReplayEstimate(
        segments=sum(is_consolidation(step) for step in steps),
        words=words,
        by_model=len(by_model),
        reflections=len(reflections),
        tokens_in=plan.tokens_in + sum(each.tokens_in for each in reflections),
        tokens_out=plan.tokens_out + sum(each.tokens_out for each in reflections),
        decisions=sum(step.kind in {"carry", "uphold"} for step in steps),
        cached_responses=sum(key.model == model for key in answered),
        unread=sum(each.messages for each in await list_uncut_spans(tx, person)),
    )


def is_consolidation(step: ReplayStep) -> bool:
    """Return whether a step reads a segment."""
    return step.kind == "read"
