"""Cost of quantized vectors: one large history, whole and quantized in memory."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from oldfriend.app.app_context import AppContext
from oldfriend.domain.messages import Person
from oldfriend.memory.index_cache import IndexCache
from oldfriend_evals.bench_measures import (
    Measure,
    Scope,
    build_lower_target,
    build_upper_target,
    measure_medians_ms,
)
from oldfriend_evals.speed import embed_questions, recall_for_question
from oldfriend_evals.temporary_stores import KnownVectors, build_history, open_temporary_store

NO_ROOM = 1  # bytes
FIRST = 10
WARMING = 3


async def measure_quantization(scope: Scope) -> list[Measure]:
    """Finding in a history that does not fit onto the shelf, beside the same with room enough."""
    size = 20_000 if scope.quick else 200_000
    async with open_temporary_store() as app:
        person = (await build_history(app, size, seed=1)).person
        vectors = embed_questions()
        whole, narrow = (
            replace(
                app,
                embedder=KnownVectors(app.embedder, vectors),
                index_cache=IndexCache(app.embedder.model, limit_bytes=limit),
            )
            for limit in (size * 10_000, NO_ROOM)
        )
        turns = [
            (
                partial(recall_for_question, whole, person, text),
                partial(recall_for_question, narrow, person, text),
            )
            for text in vectors
        ]
        await measure_medians_ms(turns[:WARMING])
        reference, value = await measure_medians_ms(turns)
        same = await compute_overlap(whole, narrow, person, list(vectors))
    name = f"narrow among {size:,} messages"
    return [
        Measure(
            name=f"{name}: recall",
            value=value,
            unit="ms",
            reference=reference,
            target=build_upper_target(4),
            note="reference: whole vectors in memory",
        ),
        Measure(
            name=f"{name}: the first ten", value=same, unit="of 1", target=build_lower_target(0.95)
        ),
        Measure(
            name=f"{name}: memory",
            value=narrow.index_cache.nbytes / 1e6,
            unit="MB",
            reference=whole.index_cache.nbytes / 1e6,
            target=build_upper_target(1 / 3),
        ),
    ]


async def compute_overlap(
    whole: AppContext, narrow: AppContext, person: Person, queries: Sequence[str]
) -> float:
    """Which share of the first ten is the same."""
    same = total = 0
    for query in queries:
        expected, found = [
            {
                each.message.seq
                for each in (await recall_for_question(app, person, query)).messages[:FIRST]
            }
            for app in (whole, narrow)
        ]
        same, total = same + len(expected & found), total + len(expected)
    return same / max(total, 1)
