"""What does it cost to be searched in few bytes? One large history, whole and narrow in memory."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from oldfriend.app.app_context import AppContext
from oldfriend.domain.messages import Person
from oldfriend.memory.index_cache import IndexCache
from oldfriend_evals.measuring import Measure, Scope, at_least, at_most, medians_ms
from oldfriend_evals.speed import ask, vectors_of_questions
from oldfriend_evals.stores import KnownVectors, line_with_history, temporary_house

NO_ROOM = 1  # bytes
FIRST = 10
WARMING = 3


async def measure_narrow(scope: Scope) -> list[Measure]:
    """Finding in a history that does not fit onto the shelf, beside the same with room enough."""
    size = 20_000 if scope.quick else 200_000
    async with temporary_house() as app:
        person = (await line_with_history(app, size, seed=1)).person
        vectors = vectors_of_questions()
        whole, narrow = (
            replace(
                app,
                embedder=KnownVectors(app.embedder, vectors),
                index_cache=IndexCache(app.embedder.model, limit_bytes=limit),
            )
            for limit in (size * 10_000, NO_ROOM)
        )
        turns = [
            (partial(ask, whole, person, text), partial(ask, narrow, person, text))
            for text in vectors
        ]
        await medians_ms(turns[:WARMING])
        reference, value = await medians_ms(turns)
        same = await share_of_same(whole, narrow, person, list(vectors))
    name = f"narrow among {size:,} messages"
    return [
        Measure(
            name=f"{name}: recall",
            value=value,
            unit="ms",
            reference=reference,
            target=at_most(4),
            note="reference: whole vectors in memory",
        ),
        Measure(name=f"{name}: the first ten", value=same, unit="of 1", target=at_least(0.95)),
        Measure(
            name=f"{name}: memory",
            value=narrow.index_cache.nbytes / 1e6,
            unit="MB",
            reference=whole.index_cache.nbytes / 1e6,
            target=at_most(1 / 3),
        ),
    ]


async def share_of_same(
    whole: AppContext, narrow: AppContext, person: Person, queries: Sequence[str]
) -> float:
    """Which share of the first ten is the same."""
    same = total = 0
    for query in queries:
        expected, found = [
            {each.message.seq for each in (await ask(app, person, query)).messages[:FIRST]}
            for app in (whole, narrow)
        ]
        same, total = same + len(expected & found), total + len(expected)
    return same / max(total, 1)
