"""How fast does it recall for somebody of whom much is believed? Beside F (see ``speed``).

Texts are made up and vectors are random: right for speed, worthless for quality.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.domain.messages import Person
from oldfriend.turn.memory_context import build_context
from oldfriend.turn.recalled import RecallQuery
from oldfriend_evals.believing import believe
from oldfriend_evals.corpus import FIRST_DAY
from oldfriend_evals.measuring import Measure, Scope, at_most, medians_ms
from oldfriend_evals.speed import CACHE_WARMING, Setting, ask, setting

Asking: TypeAlias = Callable[[AppContext, Person, str], Awaitable[object]]

BUDGET: Final = 2_000
MOST: Final = 6.0
"""Times F."""


async def measure_remembering(scope: Scope) -> list[Measure]:
    """Recall and context for somebody of whom much is known."""
    messages, beliefs = (1_000, 500) if scope.quick else (10_000, 5_000)
    async with setting(messages) as here:
        await believe(here.app, here.line, beliefs)
        known = f"{messages:,} messages + {beliefs:,} beliefs"
        return [
            await beside_f(here, f"recall among {known}", ask),
            await beside_f(here, f"context from {known}", put_together),
        ]


async def beside_f(here: Setting, name: str, asking: Asking) -> Measure:
    """How long something takes for each question, beside F for the same."""
    turns = here.beside_plain(partial(asking, here.app, here.line.person))
    await medians_ms(turns[:CACHE_WARMING])
    reference, value = await medians_ms(turns)
    return Measure(
        name=name,
        value=value,
        unit="ms",
        reference=reference,
        target=at_most(MOST),
        note="reference: F, among the messages alone",
    )


async def put_together(app: AppContext, person: Person, text: str) -> str:
    """What a program puts into a model's prompt."""
    cue = RecallQuery(text=text, language="en", at=FIRST_DAY)
    return await build_context(app.search_deps, person, cue, budget=BUDGET)
