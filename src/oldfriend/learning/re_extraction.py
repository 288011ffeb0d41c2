"""Re-extraction: counts what no model has read, and estimates what reading it would cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.notifications import Notifier
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.lang.unlearned_languages import list_tagged_languages
from oldfriend.learning.batch_reading import group_into_batches
from oldfriend.learning.learning_scheduler import is_extracted_by_rules
from oldfriend.learning.reading_jobs import enqueue_consolidations, list_planned_readings
from oldfriend.memory.learning_stats import count_read_messages
from oldfriend.memory.readers import RULES_AUTHOR_PREFIX
from oldfriend.memory.segments import Segment, list_segments

OVERHEAD_TOKENS: Final = 4_300
"""Tokens of the instructions, the schema and the known beliefs, per call."""
MARKUP_FACTOR: Final = 1.7
"""Tokens of a message with its labels, per token of the message."""
OUTPUT_TOKENS: Final = 250
"""Tokens that a model writes per call, whatever was said …"""
OUTPUT_FACTOR: Final = 1.1
"""… and per token of the messages. All are measured by ``oldfriend_evals.model_reading``."""
USUAL_BATCH_TOKENS: Final = 1_500
"""Tokens of messages in a call, where many segments are read together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReextractionPlan:
    """Re-extraction plan: what a model would read, and the estimated tokens."""

    segments: tuple[Segment, ...]
    messages: int
    tokens_in: int
    tokens_out: int


async def plan_reextraction(db: Database, settings: Settings, person: PersonId) -> ReextractionPlan:
    """Plan re-extraction of all that no model has read, oldest first.

    Small talk needs no model, and what is planned already is not planned again.
    """
    async with db.begin_read() as tx:
        done = await list_segments(tx, person, status=["done", "trivial"])
        planned = await list_planned_readings(tx, person)
    segments = [
        each
        for each in done
        if is_extracted_by_rules(each)
        and not each.outcome.get("small_talk")
        and (each.id, each.generation, "model") not in planned
    ]
    calls = len(group_into_batches(segments))
    return build_reextraction_plan(segments, calls=calls, passes=settings.memory.passes)


async def count_unlearned_messages(tx: Transaction, person: PersonId) -> int:
    """Count the person's messages in languages that only a model reads, and that none has read."""
    return await count_read_messages(
        tx, person, by=RULES_AUTHOR_PREFIX, not_in=list_tagged_languages()
    )


def format_unlearned_messages(person: Person, count: int) -> LocalizedText:
    """Say that messages wait for a model."""
    return localizable(
        "messages_need_model",
        f"{person.name}: messages in a language that takes a model to understand: {count:,}. They "
        "are kept and can be found; what they tell is learned once a model is connected: "
        "oldfriend connect model",
        name=person.name,
        count=count,
    )


def build_reextraction_plan(
    segments: Sequence[Segment], *, calls: int, passes: int
) -> ReextractionPlan:
    """Estimate the tokens to re-extract these segments in so many calls."""
    message_tokens = sum(each.tokens for each in segments)
    tokens_in, tokens_out = estimate_extraction_tokens(message_tokens, calls=calls, passes=passes)
    return ReextractionPlan(
        segments=tuple(segments),
        messages=sum(each.messages for each in segments),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def estimate_import_calls(message_tokens: int, *, sessions: int) -> int:
    """Estimate in how many calls the sessions of an import are read."""
    return min(sessions, math.ceil(message_tokens / USUAL_BATCH_TOKENS))


def estimate_extraction_tokens(message_tokens: int, *, calls: int, passes: int) -> tuple[int, int]:
    """Estimate the input and output tokens for so many tokens of messages."""
    tokens_in = passes * (MARKUP_FACTOR * message_tokens + OVERHEAD_TOKENS * calls)
    tokens_out = OUTPUT_FACTOR * message_tokens + passes * OUTPUT_TOKENS * calls
    return round(tokens_in), round(tokens_out)


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
