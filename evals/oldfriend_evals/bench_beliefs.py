"""Speed of recall for somebody of whom much is believed.

Texts are made up and vectors are random: right for speed, worthless for quality.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.domain.messages import Person
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.recalled import RecallQuery
from oldfriend_evals.bench_learning import store_beliefs
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target, measure_medians_ms
from oldfriend_evals.corpus import FIRST_DAY
from oldfriend_evals.speed import CACHE_WARMING, Setting, open_setting, recall_for_question

Action: TypeAlias = Callable[[AppContext, Person, str], Awaitable[object]]

BUDGET: Final = 2_000
MOST: Final = 6.0
"""Times F."""


async def measure_belief_recall(scope: Scope) -> list[Measure]:
    """Recall and context for somebody of whom much is known."""
    messages, beliefs = (1_000, 500) if scope.quick else (10_000, 5_000)
    async with open_setting(messages) as here:
        await store_beliefs(here.app, here.line, beliefs)
        known = f"{messages:,} messages + {beliefs:,} beliefs"
        return [
            await compare_with_features(here, f"recall among {known}", recall_for_question),
            await compare_with_features(here, f"context from {known}", build_prompt_context),
        ]


async def compare_with_features(here: Setting, name: str, asking: Action) -> Measure:
    """How long something takes for each question, beside F for the same."""
    turns = here.compare_with_plain(partial(asking, here.app, here.line.person))
    await measure_medians_ms(turns[:CACHE_WARMING])
    reference, value = await measure_medians_ms(turns)
    return Measure(
        name=name,
        value=value,
        unit="ms",
        reference=reference,
        target=build_upper_target(MOST),
        note="reference: F, among the messages alone",
    )


async def build_prompt_context(app: AppContext, person: Person, text: str) -> str:
    """What a program puts into a model's prompt."""
    cue = RecallQuery(text=text, language="en", at=FIRST_DAY)
    return await build_context(app.search_deps, person, cue, budget=BUDGET)
