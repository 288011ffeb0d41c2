"""Re-extraction: counts rule-read segments a model could read better, and estimates the cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.notifications import Notifier
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.ids import PersonId
from oldfriend.learning.learning_scheduler import is_extracted_by_rules
from oldfriend.learning.reading_jobs import enqueue_consolidations
from oldfriend.memory.segments import Segment, list_segments

OVERHEAD_TOKENS: Final = 2_600
"""Tokens of the instructions, known beliefs and preceding messages, per segment."""
MARKUP_FACTOR: Final = 1.4
"""Tokens of a message with its labels, per token of the message."""
OUTPUT_TOKENS: Final = 700
"""Tokens that a model writes per segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReextractionPlan:
    """Re-extraction plan: what a model would read, and the estimated tokens."""

    segments: tuple[Segment, ...]
    messages: int
    tokens_in: int
    tokens_out: int


async def plan_reextraction(db: Database, settings: Settings, person: PersonId) -> ReextractionPlan:
    """Plan re-extraction of all segments read by rules, oldest first; small talk needs no model."""
    async with db.begin_read() as tx:
        done = await list_segments(tx, person, status=["done"])
    segments = tuple(filter(is_extracted_by_rules, done))
    return build_reextraction_plan(segments, passes=settings.memory.passes)


def build_reextraction_plan(segments: Sequence[Segment], *, passes: int) -> ReextractionPlan:
    """Estimate the tokens to re-extract these segments."""
    message_tokens = sum(each.tokens for each in segments)
    tokens_in, tokens_out = estimate_extraction_tokens(
        message_tokens, segment_count=len(segments), passes=passes
    )
    return ReextractionPlan(
        segments=tuple(segments),
        messages=sum(each.messages for each in segments),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def estimate_extraction_tokens(
    talk_tokens: int, *, segment_count: int, passes: int
) -> tuple[int, int]:
    """Estimate the input and output tokens for so many tokens of messages."""
    return round(
        passes * (MARKUP_FACTOR * talk_tokens + OVERHEAD_TOKENS * segment_count)
    ), passes * OUTPUT_TOKENS * segment_count


async def schedule_reextraction(
    db: Database, clock: Clock, notifier: Notifier, plan: ReextractionPlan
) -> None:
    """Schedule re-extraction by a model, in order; until then the rules' results stand."""
    async with db.begin_write() as tx:
        await enqueue_consolidations(
            tx, plan.segments, now=clock(), extractor="model", together=True
        )
        await tx.notify()
    notifier.notify()
